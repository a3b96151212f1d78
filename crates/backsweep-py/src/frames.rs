//! Python data frames as tables for the log reader: `backsweep._frames.Table`, copied in chunks as it is read.

use backsweep_log::{ColumnChunk, ColumnValues, DataFrame, Dictionary};
use numpy::{Element, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// A `Table`, and the first exception that reading it has raised.
pub struct PyFrame {
    table: Py<PyAny>,
    names: Vec<String>,
    n_rows: usize,
    raised: Mutex<Option<PyErr>>,
}

impl fmt::Debug for PyFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows of {:?}", self.n_rows, self.names)
    }
}

impl PyFrame {
    /// The name of the table, and its columns.
    pub fn new(table: &Bound<'_, PyAny>) -> PyResult<(String, Self)> {
        let (names, n_rows) = (table.getattr("names")?.extract()?, table.getattr("n_rows")?.extract()?);
        let frame = Self { table: table.clone().unbind(), names, n_rows, raised: Mutex::new(None) };
        Ok((table.getattr("title")?.extract()?, frame))
    }

    /// The exception that reading has raised, if it did.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().ok().and_then(|mut raised| raised.take())
    }
}

impl DataFrame for PyFrame {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn part(
        &self,
        columns: &[String],
        rows: Range<usize>,
    ) -> Result<Vec<ColumnChunk>, Box<dyn Error + Send + Sync>> {
        Python::attach(|py| {
            let part = || {
                let part = self.table.bind(py).call_method1("part", (columns, rows.start, rows.end))?;
                part.try_iter()?.map(|piece| series(&piece?)).collect::<PyResult<Vec<_>>>()
            };
            part().map_err(|error| {
                let message = error.value(py).to_string();
                // A bad value is reported as for a file, with the name of the table; any other exception is raised as it is.
                if !error.is_instance_of::<PyValueError>(py)
                    && let Ok(mut raised) = self.raised.lock()
                {
                    raised.get_or_insert(error);
                }
                message.into()
            })
        })
    }
}

/// A chunk of a column as in `_frames`: kind, values, which are missing, and anything else the kind needs.
fn series(piece: &Bound<'_, PyAny>) -> PyResult<ColumnChunk> {
    let (kind, values, missing, more): (
        String,
        Bound<'_, PyAny>,
        Option<PyReadonlyArray1<'_, bool>>,
        Bound<'_, PyAny>,
    ) = piece.extract()?;
    let missing = missing.map(|missing| missing.as_array().to_vec());
    let values = match kind.as_str() {
        "text" => {
            let (ends, bytes): (Bound<'_, PyAny>, Bound<'_, PyAny>) = more.extract()?;
            // The first offset is where the first text begins.
            let ends: Vec<i64> = items(&ends)?;
            let begin = ends.first().map_or(0, |&begin| begin.max(0) as usize);
            let bytes: Vec<u8> = items::<u8>(&bytes)?.split_off(begin);
            let ends = ends.iter().skip(1).map(|&end| (end.max(0) as usize).saturating_sub(begin)).collect();
            let dictionary = Dictionary::new(bytes, ends);
            let dictionary =
                dictionary.ok_or_else(|| PyValueError::new_err("a dictionary of texts is inconsistent"))?;
            ColumnValues::Text(
                items::<i32>(&values)?.into_iter().map(|code| code as u32).collect(),
                Arc::new(dictionary),
            )
        }
        "integer" => ColumnValues::Integers(items(&values)?),
        "float" => ColumnValues::Floats(items(&values)?),
        "float32" => ColumnValues::ShortFloats(items(&values)?),
        "flag" => ColumnValues::Flags(items(&values)?),
        "time" => {
            let (name, has_zone): (String, bool) = more.extract()?;
            ColumnValues::Times { units: items(&values)?, scale: unit(&name)?, has_zone }
        }
        "nothing" => ColumnValues::Nothing(more.extract()?),
        other => return Err(PyValueError::new_err(format!("a column has the unknown kind {other:?}"))),
    };
    Ok(ColumnChunk { values, missing })
}

fn items<T: Element + Copy>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let array: PyReadonlyArray1<'_, T> = array.extract()?;
    Ok(match array.as_slice() {
        Ok(slice) => slice.to_vec(),
        Err(_) => array.as_array().to_vec(),
    })
}

/// The number of units of 10⁻¹⁸ s in a unit of time.
fn unit(name: &str) -> PyResult<i128> {
    const SECOND: i128 = 1_000_000_000_000_000_000;
    Ok(match name {
        "D" => 86_400 * SECOND,
        "s" => SECOND,
        "ms" => SECOND / 1_000,
        "us" => SECOND / 1_000_000,
        "ns" => SECOND / 1_000_000_000,
        other => return Err(PyValueError::new_err(format!("times have the unknown unit {other:?}"))),
    })
}
