//! Names between Python and files: plain data natively, other objects through the caller's encoder. Never a pickle.

use crate::errors::{self, show, type_name};
use crate::names::{Named, is_numpy_scalar, is_time};
use backsweep::save::Name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString, PyTuple};

/// A function that turns other objects into plain data, or plain data back into objects.
pub type Translate<'a, 'py> = &'a Bound<'py, PyAny>;

/// The depth to which files may nest tuples.
const MAX_DEPTH: usize = 100;

/// A name as plain data.
pub fn to_plain<'py>(py: Python<'py>, name: &Named, encode: Option<Translate<'_, 'py>>) -> PyResult<Name> {
    match name {
        Named::Int(number) => Ok(Name::Int(*number)),
        Named::Object(object) => object_to_plain(object.bind(py), encode, 0),
    }
}

fn object_to_plain<'py>(
    object: &Bound<'py, PyAny>,
    encode: Option<Translate<'_, 'py>>,
    depth: usize,
) -> PyResult<Name> {
    if depth > MAX_DEPTH {
        return Err(errors::value(format!("a name has tuples nested more than {MAX_DEPTH} deep")));
    }
    if object.is_none() {
        return Ok(Name::None);
    }
    if let Ok(flag) = object.cast_exact::<PyBool>() {
        return Ok(Name::Bool(flag.is_true()));
    }
    if object.is_exact_instance_of::<PyInt>() {
        return match object.extract() {
            Ok(number) => Ok(Name::Int(number)),
            Err(_) => big_int(object),
        };
    }
    if let Ok(number) = object.cast_exact::<PyFloat>() {
        return Ok(Name::Float(number.value()));
    }
    if let Ok(text) = object.cast_exact::<PyString>()
        && let Ok(text) = text.to_str()
    {
        return Ok(Name::Text(text.to_owned()));
    }
    if let Ok(bytes) = object.cast_exact::<PyBytes>() {
        return Ok(Name::Bytes(bytes.as_bytes().to_vec()));
    }
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        let names = tuple.iter().map(|item| object_to_plain(&item, encode, depth + 1));
        return names.collect::<PyResult<_>>().map(Name::Tuple);
    }
    if is_numpy_scalar(object)? && !is_time(object)? {
        let item = object.call_method0("item")?;
        if !is_numpy_scalar(&item)? {
            return object_to_plain(&item, encode, depth);
        }
    }
    match encode {
        Some(encode) => {
            let plain = encode.call1((object,))?;
            object_to_plain(&plain, None, depth + 1).map(|name| Name::Encoded(Box::new(name))).map_err(
                |error| {
                    let message = format!(
                        "encode({}) returned {}, which cannot be saved either: {}",
                        show(object),
                        show(&plain),
                        error.value(object.py())
                    );
                    errors::wrong_type(message)
                },
            )
        }
        None => Err(errors::wrong_type(format!(
            "name {} of type {} cannot be saved: files hold int, float, str, bytes, bool, None and tuples of them; pass \
             encode=, a function that turns the name into one of these (and decode= when loading)",
            show(object),
            type_name(object)
        ))),
    }
}

fn big_int(object: &Bound<'_, PyAny>) -> PyResult<Name> {
    let bits: usize = object.call_method0("bit_length")?.extract()?;
    let signed = PyDict::new(object.py());
    signed.set_item("signed", true)?;
    let bytes = object.call_method("to_bytes", (bits / 8 + 1, "little"), Some(&signed))?;
    Ok(Name::BigInt(bytes.extract()?))
}

/// The object that plain data stands for.
pub fn to_object<'py>(
    py: Python<'py>,
    name: &Name,
    decode: Option<Translate<'_, 'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match name {
        Name::None => py.None().into_bound(py),
        Name::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Name::Int(number) => number.into_pyobject(py)?.into_any(),
        Name::BigInt(bytes) => {
            let signed = PyDict::new(py);
            signed.set_item("signed", true)?;
            let bytes = PyBytes::new(py, bytes);
            py.get_type::<PyInt>().call_method("from_bytes", (bytes, "little"), Some(&signed))?
        }
        Name::Float(number) => PyFloat::new(py, *number).into_any(),
        Name::Text(text) => PyString::new(py, text).into_any(),
        Name::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Name::Tuple(names) => {
            let items = names.iter().map(|name| to_object(py, name, decode)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, items)?.into_any()
        }
        Name::Encoded(name) => {
            let plain = to_object(py, name, None)?;
            match decode {
                Some(decode) => decode.call1((plain,))?,
                None => {
                    return Err(errors::wrong_type(format!(
                        "a name was saved through an encoder, as {}; pass decode=, the function that turns it back into \
                         the name",
                        show(&plain)
                    )));
                }
            }
        }
    })
}
