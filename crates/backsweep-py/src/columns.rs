//! Columns of names, rewards and flags as they come from Python: lists, NumPy arrays, and what turns into arrays (pandas,
//! PyTorch).

use crate::errors::{self, show};
use crate::names::{self, Key, Role};
use crate::numbers::{A_REWARD, is_reward, number};
use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString, PyType};
use rustc_hash::FxHashMap;

/// Rows between two checks for Ctrl-C.
pub const ROWS_PER_CHECK: usize = 4096;

/// A column as it is read: an array without masked entries, or the object itself.
pub fn plain<'py>(column: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MASKED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = column.py();
    if column.cast::<PyUntypedArray>().is_err() {
        return match column.hasattr("__array__")? && !names::is_numpy_scalar(column)? {
            true => plain(&py.import("numpy")?.call_method1("asarray", (column,))?, name),
            false => Ok(column.clone()),
        };
    }
    if !column.is_instance(MASKED.import(py, "numpy.ma", "MaskedArray")?)? {
        return Ok(column.clone());
    }
    let hidden = py.import("numpy.ma")?.call_method1("getmaskarray", (column,))?;
    if hidden.call_method0("any")?.is_truthy()? {
        let row: usize = hidden.call_method0("argmax")?.extract()?;
        return Err(errors::value(format!(
            "row {row}: {name} is masked; expected a value in every row; drop masked rows first"
        )));
    }
    py.import("numpy.ma")?.call_method1("getdata", (column,))
}

/// The kind of a one-dimensional array's items, as NumPy abbreviates it: `i`, `f`, `U` …
pub fn array_kind(column: &Bound<'_, PyAny>) -> Option<u8> {
    column.cast::<PyUntypedArray>().ok().filter(|array| array.ndim() == 1).map(|array| array.dtype().kind())
}

pub fn contiguous<'py>(column: &Bound<'py, PyAny>, dtype: &str) -> PyResult<Bound<'py, PyAny>> {
    column.py().import("numpy")?.call_method1("ascontiguousarray", (column, dtype))
}

/// The number of rows that a column claims.
pub fn length(column: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    column.len().map_err(|error| not_a_column(error, column, name))
}

/// The items of a column.
pub fn items<'py>(column: &Bound<'py, PyAny>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let items = column.try_iter().map_err(|error| not_a_column(error, column, name))?.enumerate();
    items.map(|(row, item)| listen(column.py(), row).and(item)).collect()
}

/// Checks for Ctrl-C once per some rows: a column may have any number of them.
#[inline]
pub fn listen(py: Python<'_>, row: usize) -> PyResult<()> {
    if row % ROWS_PER_CHECK == ROWS_PER_CHECK - 1 { py.check_signals() } else { Ok(()) }
}

fn not_a_column(error: PyErr, column: &Bound<'_, PyAny>, name: &str) -> PyErr {
    if error.is_instance_of::<PyTypeError>(column.py()) {
        errors::wrong_type(format!("{name} is {}; expected an array or a list", show(column)))
    } else {
        error
    }
}

/// A column of rewards, each checked; errors say which row is wrong.
pub fn rewards(column: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let py = column.py();
    let rewards: Vec<f64> = match array_kind(column) {
        Some(b'f' | b'i' | b'u' | b'b') => {
            contiguous(column, "float64")?.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec()
        }
        _ => {
            let each = items(column, "rewards")?.into_iter().enumerate().map(|(row, object)| {
                listen(py, row)?;
                number(&object, "reward")
                    .map_err(|error| errors::with_context(py, error, &format!("row {row}: "), ""))
            });
            each.collect::<PyResult<_>>()?
        }
    };
    match rewards.iter().position(|&reward| !is_reward(reward)) {
        None => Ok(rewards),
        Some(row) => {
            Err(errors::value(format!("row {row}: reward is {:?}; expected {A_REWARD}", rewards[row])))
        }
    }
}

/// A column of names.
pub enum NameColumn<'py> {
    /// Whole numbers.
    Ints(PyReadonlyArray1<'py, i64>),
    /// Text of fixed width: row `i` is `names[codes[i]]`. Rows are compared as bytes, without creating an object for each.
    Coded {
        codes: Vec<u32>,
        names: Vec<Bound<'py, PyAny>>,
    },
    Objects(Vec<Bound<'py, PyAny>>),
}

impl<'py> NameColumn<'py> {
    pub fn read(column: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        let Ok(array) = column.cast::<PyUntypedArray>() else {
            return Ok(Self::Objects(items(column, name)?));
        };
        let width = array.dtype().itemsize();
        match array_kind(column) {
            Some(b'i') => Ok(Self::Ints(contiguous(column, "int64")?.extract()?)),
            // Unsigned numbers of 64 bits may not fit.
            Some(b'u') if width < 8 => Ok(Self::Ints(contiguous(column, "int64")?.extract()?)),
            Some(b'U' | b'S') if width > 0 => coded(column, width),
            _ => Ok(Self::Objects(items(column, name)?)),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Ints(numbers) => numbers.as_array().len(),
            Self::Coded { codes, .. } => codes.len(),
            Self::Objects(objects) => objects.len(),
        }
    }

    /// The key by which the name in a row is looked up.
    pub fn key(&self, row: usize, role: Role) -> PyResult<Key<'py>> {
        match self {
            Self::Ints(numbers) => Ok(Key::Int(numbers.as_array()[row], None)),
            Self::Coded { codes, names } => names::key(&names[codes[row] as usize], role),
            Self::Objects(objects) => names::key(&objects[row], role),
        }
    }
}

fn coded<'py>(column: &Bound<'py, PyAny>, width: usize) -> PyResult<NameColumn<'py>> {
    let py = column.py();
    let native = column.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
    let packed = py.import("numpy")?.call_method1("ascontiguousarray", (column, native))?;
    let is_text = array_kind(&packed) == Some(b'U');
    let bytes: PyReadonlyArray1<'py, u8> = packed.call_method1("view", ("uint8",))?.extract()?;
    let bytes = bytes.as_slice().map_err(|_| errors::value("a column is not contiguous"))?;
    let mut seen: FxHashMap<&[u8], u32> = FxHashMap::default();
    let (mut codes, mut names) = (Vec::with_capacity(bytes.len() / width), Vec::new());
    for (row, text) in bytes.chunks_exact(width).enumerate() {
        listen(py, row)?;
        let code = match seen.get(text) {
            Some(&code) => code,
            None => {
                names.push(match fixed_width(py, text, is_text) {
                    Some(name) => name,
                    None => packed.get_item(row)?.call_method0("item")?,
                });
                seen.insert(text, names.len() as u32 - 1);
                names.len() as u32 - 1
            }
        };
        codes.push(code);
    }
    Ok(NameColumn::Coded { codes, names })
}

/// An item of an array of texts or bytes, without the zeros that fill it up; `None` for a text with half of a surrogate pair.
/// NumPy would do the same, but drops a Ctrl-C that comes while it makes a text.
fn fixed_width<'py>(py: Python<'py>, item: &[u8], is_text: bool) -> Option<Bound<'py, PyAny>> {
    if !is_text {
        let end = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        return Some(PyBytes::new(py, &item[..end]).into_any());
    }
    let character = |four: &[u8]| char::from_u32(u32::from_ne_bytes(four.try_into().ok()?));
    let text = item.chunks_exact(4).map(character).collect::<Option<String>>()?;
    Some(PyString::new(py, text.trim_end_matches('\0')).into_any())
}
