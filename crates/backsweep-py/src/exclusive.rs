//! One caller at a time: an object that refuses a second call while the first is in progress, always with the same message.

use crate::errors;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// The contents of a Python object. Planning releases the interpreter, so another thread can call in meanwhile; so can the
/// `__hash__` or `__eq__` of a name.
pub struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Access for one call.
    #[inline]
    pub fn lock(&self) -> PyResult<MutexGuard<'_, T>> {
        self.0.try_lock().map_err(|refused| match refused {
            TryLockError::WouldBlock => PyRuntimeError::new_err(
                "this object is busy: another thread is inside a call to it, or the __hash__ or __eq__ of a name called it \
                 back; expected one call at a time: give each thread its own copy, or guard it with a lock",
            ),
            TryLockError::Poisoned(_) => errors::broken(),
        })
    }

    /// For Python's garbage collector, which may run in the middle of a call: nothing is visited then.
    pub fn traverse(
        &self,
        visit: impl FnOnce(&T) -> Result<(), pyo3::PyTraverseError>,
    ) -> Result<(), pyo3::PyTraverseError> {
        self.0.try_lock().map_or(Ok(()), |value| visit(&value))
    }
}
