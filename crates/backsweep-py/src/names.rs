//! Python objects as names of states and actions: any hashable object, mapped to a dense id and back.
//!
//! Two names are the same if they compare equal in Python, as in a `dict` (so 1, 1.0 and True are one name). Whole numbers
//! never reach Python's hashing: small ones are looked up in a table, others in a hash map. A `dict` holds the rest; whole
//! numbers are added to it only when an object that might equal one is looked up.

use crate::errors::{self, show};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use rustc_hash::FxHashMap;

/// No id.
const NONE: u32 = u32::MAX;
/// Whole numbers below this, or below eight times the number of names, are looked up in a table.
const ALWAYS_DENSE: usize = 1 << 20;

/// The key by which a name is looked up.
pub enum Key<'py> {
    /// A whole number, or an object equal to one. If the object is not an `int`, it is kept to show to the user.
    Int(i64, Option<Bound<'py, PyAny>>),
    Object(Bound<'py, PyAny>),
}

/// A name as it was first written.
pub enum Named {
    Int(i64),
    Object(Py<PyAny>),
}

#[derive(Default)]
pub struct Names {
    /// `names[id]` is the name of `id`.
    names: Vec<Named>,
    /// `dense[i]` is the id of the whole number `i`, or NONE.
    dense: Vec<u32>,
    /// Whole numbers outside the table.
    sparse: FxHashMap<i64, u32>,
    /// All objects, and the first `n_synced` names of any kind.
    objects: Option<Py<PyDict>>,
    n_synced: usize,
}

/// The role in messages: "state" or "action".
pub type Role = &'static str;

/// Turns an object into what it is looked up by.
#[inline]
pub fn key<'py>(object: &Bound<'py, PyAny>, role: Role) -> PyResult<Key<'py>> {
    if object.is_exact_instance_of::<PyInt>() {
        return Ok(match object.extract::<i64>() {
            Ok(number) => Key::Int(number, None),
            Err(_) => Key::Object(object.clone()),
        });
    }
    key_of_other(object, role)
}

fn key_of_other<'py>(object: &Bound<'py, PyAny>, role: Role) -> PyResult<Key<'py>> {
    if object.is_exact_instance_of::<PyString>() || object.is_exact_instance_of::<PyTuple>() {
        return Ok(Key::Object(object.clone()));
    }
    if let Ok(flag) = object.cast_exact::<PyBool>() {
        return Ok(Key::Int(i64::from(flag.is_true()), Some(object.clone())));
    }
    if let Ok(number) = object.cast_exact::<PyFloat>() {
        let number = number.value();
        if number.is_nan() {
            return Err(nan(object, role));
        }
        // Within these bounds, every whole float equals exactly one int.
        if number.trunc() == number && number.abs() < 9e15 {
            return Ok(Key::Int(number as i64, Some(object.clone())));
        }
        return Ok(Key::Object(object.clone()));
    }
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return array_key(array, role);
    }
    if is_numpy_scalar(object)? {
        if is_time(object)? {
            return Ok(Key::Object(object.clone()));
        }
        let item = object.call_method0("item")?;
        // A few scalars (long double, datetime) have no counterpart in Python: `item` returns the scalar itself.
        return if is_numpy_scalar(&item)? { Ok(Key::Object(item)) } else { key(&item, role) };
    }
    Ok(Key::Object(object.clone()))
}

/// An array of whole numbers, flags or text becomes a tuple; others are refused.
fn array_key<'py>(array: &Bound<'py, PyUntypedArray>, role: Role) -> PyResult<Key<'py>> {
    let kind = array.dtype().kind();
    if !matches!(kind, b'i' | b'u' | b'b' | b'U' | b'S') {
        return Err(errors::wrong_type(format!(
            "{role} is an array of {}: {}; expected a hashable object; round it to whole numbers (array.astype(int)) \
             or pass tuple(array.tolist())",
            array.dtype(),
            show(array.as_any())
        )));
    }
    key(&tupled(&array.call_method0("tolist")?)?, role)
}

fn tupled<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match object.cast_exact::<PyList>() {
        Ok(list) => {
            let items = list.iter().map(|item| tupled(&item)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(object.py(), items)?.into_any())
        }
        Err(_) => Ok(object.clone()),
    }
}

/// Times are not confused with the numbers (or, for NaT, the `None`) that `item` returns for them.
pub fn is_time(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static DATE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static SPAN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    Ok(object.is_instance(DATE.import(py, "numpy", "datetime64")?)?
        || object.is_instance(SPAN.import(py, "numpy", "timedelta64")?)?)
}

pub fn is_numpy_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static GENERIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    object.is_instance(GENERIC.import(object.py(), "numpy", "generic")?)
}

impl Key<'_> {
    /// The user's spelling.
    pub fn show(&self) -> String {
        match self {
            Self::Int(number, None) => number.to_string(),
            Self::Int(_, Some(object)) | Self::Object(object) => show(object),
        }
    }
}

impl Names {
    /// The whole numbers from 0 to n - 1, each its own id.
    pub fn numbers(n: usize) -> Self {
        let names = (0..n as i64).map(Named::Int).collect();
        Self { names, dense: (0..n as u32).collect(), ..Self::default() }
    }

    /// Returns whether the names are the whole numbers from 0 on, each its own id.
    pub fn are_numbers(&self) -> bool {
        let is_its_id = |(id, name): (i64, &Named)| matches!(name, Named::Int(number) if *number == id);
        (0..).zip(&self.names).all(is_its_id)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn named(&self) -> &[Named] {
        &self.names
    }

    /// The id of a name that is known.
    #[inline]
    pub fn id(&mut self, py: Python<'_>, key: &Key<'_>, role: Role) -> PyResult<Option<u32>> {
        match key {
            Key::Int(number, _) => {
                if let Some(&id) = usize::try_from(*number).ok().and_then(|i| self.dense.get(i))
                    && id != NONE
                {
                    return Ok(Some(id));
                }
                self.sparse_id(py, *number, role)
            }
            Key::Object(object) => {
                self.sync(py)?;
                self.object_id(object, role)
            }
        }
    }

    fn sparse_id(&self, py: Python<'_>, number: i64, role: Role) -> PyResult<Option<u32>> {
        if !self.sparse.is_empty()
            && let Some(&id) = self.sparse.get(&number)
        {
            return Ok(Some(id));
        }
        match &self.objects {
            None => Ok(None),
            // An object may be equal to the number: Fraction(2, 1), say.
            Some(_) => self.object_id(&number.into_pyobject(py)?.into_any(), role),
        }
    }

    fn object_id(&self, object: &Bound<'_, PyAny>, role: Role) -> PyResult<Option<u32>> {
        let Some(objects) = &self.objects else {
            // There is nothing to find, but an invalid object must not pass as a new name.
            object.hash().map_err(|error| unhashable(error, object, role))?;
            return refuse_nan(object, role).map(|()| None);
        };
        let found = objects.bind(object.py()).get_item(object);
        match found.map_err(|error| unhashable(error, object, role))? {
            Some(id) => Ok(Some(id.extract()?)),
            None => refuse_nan(object, role).map(|()| None),
        }
    }

    /// Adds to the `dict` the whole numbers that it lacks.
    fn sync(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.n_synced < self.names.len() {
            let objects = self.objects.get_or_insert_with(|| PyDict::new(py).unbind()).bind(py);
            for (id, name) in self.names.iter().enumerate().skip(self.n_synced) {
                objects.set_item(name.object(py)?, id)?;
            }
            self.n_synced = self.names.len();
        }
        Ok(())
    }

    /// Gives the next id to a name that [`id`](Self::id) did not find.
    pub fn insert(&mut self, py: Python<'_>, key: Key<'_>) -> PyResult<u32> {
        let id = self.names.len() as u32;
        match key {
            Key::Int(number, object) => {
                match usize::try_from(number) {
                    Ok(i) if i < ALWAYS_DENSE.max(8 * self.names.len()) => {
                        if self.dense.len() <= i {
                            self.dense.resize((i + 1).max(2 * self.dense.len()), NONE);
                        }
                        self.dense[i] = id;
                    }
                    _ => {
                        self.sparse.insert(number, id);
                    }
                }
                self.names.push(object.map_or(Named::Int(number), |object| Named::Object(object.unbind())));
            }
            Key::Object(object) => {
                let objects = self.objects.get_or_insert_with(|| PyDict::new(py).unbind());
                objects.bind(py).set_item(&object, id)?;
                if self.n_synced == self.names.len() {
                    self.n_synced += 1;
                }
                self.names.push(Named::Object(object.unbind()));
            }
        }
        Ok(id)
    }

    /// The id of a name, and whether the name is new.
    #[inline]
    pub fn id_or_insert(&mut self, py: Python<'_>, key: Key<'_>, role: Role) -> PyResult<(u32, bool)> {
        match self.id(py, &key, role)? {
            Some(id) => Ok((id, false)),
            None => Ok((self.insert(py, key)?, true)),
        }
    }

    /// The id of a small whole number, without a lookup in the `dict`; for loops over columns.
    #[inline]
    pub fn dense_id(&self, number: i64) -> Option<u32> {
        let id = *self.dense.get(usize::try_from(number).ok()?)?;
        (id != NONE).then_some(id)
    }

    /// The name as an object.
    #[inline]
    pub fn object<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyAny>> {
        match self.names.get(id as usize) {
            Some(name) => name.object(py),
            None => Err(errors::error(py, format!("no name has the id {id}"))),
        }
    }

    /// The key by which the name is looked up in another table.
    pub fn key<'py>(&self, py: Python<'py>, id: usize, role: Role) -> PyResult<Key<'py>> {
        match self.names.get(id) {
            Some(Named::Int(number)) => Ok(Key::Int(*number, None)),
            Some(Named::Object(object)) => key(object.bind(py), role),
            None => Err(errors::error(py, format!("no {role} has the id {id}"))),
        }
    }

    /// The user's spelling of the name.
    pub fn show(&self, py: Python<'_>, id: u32) -> String {
        self.object(py, id).map_or_else(|_| format!("#{id}"), |object| show(&object))
    }

    /// All names, as a list.
    pub fn list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let objects = self.names.iter().map(|name| name.object(py)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, objects)
    }

    /// A copy with the same objects.
    pub fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        let names = self.names.iter().map(|name| match name {
            Named::Int(number) => Named::Int(*number),
            Named::Object(object) => Named::Object(object.clone_ref(py)),
        });
        let objects = match &self.objects {
            Some(objects) => Some(objects.bind(py).copy()?.unbind()),
            None => None,
        };
        Ok(Self {
            names: names.collect(),
            dense: self.dense.clone(),
            sparse: self.sparse.clone(),
            objects,
            n_synced: self.n_synced,
        })
    }

    /// A copy with deep copies of the objects.
    pub fn deep_copied<'py>(&self, py: Python<'py>, memo: &Bound<'py, PyAny>, role: Role) -> PyResult<Self> {
        let deepcopy = py.import("copy")?.getattr("deepcopy")?;
        let mut copy = Self::default();
        for name in &self.names {
            let object = deepcopy.call1((name.object(py)?, memo))?;
            copy.id_or_insert(py, key(&object, role)?, role)?;
        }
        if copy.len() != self.len() {
            return Err(errors::error(
                py,
                format!("deep copies of different {role}s are equal; names must stay different when copied"),
            ));
        }
        Ok(copy)
    }

    /// For Python's garbage collector.
    pub fn traverse(&self, visit: &pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        if let Some(objects) = &self.objects {
            visit.call(objects)?;
        }
        for name in &self.names {
            if let Named::Object(object) = name {
                visit.call(object)?;
            }
        }
        Ok(())
    }
}

impl Named {
    #[inline]
    pub fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Int(number) => Ok(number.into_pyobject(py)?.into_any()),
            Self::Object(object) => Ok(object.bind(py).clone()),
        }
    }
}

/// A name must equal itself, or it would never be found again. Python treats the same NaN inside two tuples as equal, so
/// tuples are searched.
fn refuse_nan(object: &Bound<'_, PyAny>, role: Role) -> PyResult<()> {
    let mut open = vec![object.clone()];
    while let Some(object) = open.pop() {
        if object.is_exact_instance_of::<PyString>() || object.is_exact_instance_of::<PyInt>() {
            continue;
        }
        if let Ok(items) = object.cast::<PyTuple>() {
            open.extend(items.iter());
        } else if !object.eq(&object).unwrap_or(true) {
            return Err(nan(&object, role));
        }
    }
    Ok(())
}

fn nan(object: &Bound<'_, PyAny>, role: Role) -> PyErr {
    errors::value(format!(
        "{role} {} cannot be a name: it is not equal to itself; use None or a string instead",
        show(object)
    ))
}

/// Python's own complaint, with advice.
fn unhashable(error: PyErr, object: &Bound<'_, PyAny>, role: Role) -> PyErr {
    if !error.is_instance_of::<PyTypeError>(object.py()) {
        return error;
    }
    errors::wrong_type(format!(
        "{role} {} cannot be a name: {}; expected a hashable object such as an int, a string or a tuple",
        show(object),
        error.value(object.py())
    ))
}
