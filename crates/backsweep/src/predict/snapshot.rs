//! Arrays of a stored predictor, checked.

use crate::{Result, Snapshot};

/// Larger numbers than these could overflow in the next step.
const LARGEST: f64 = 1e200;
const MOST_VISITS: u64 = 1 << 53;

/// An array of numbers that can be computed with.
pub(super) fn numbers<'a>(snapshot: &'a Snapshot, name: &str, length: usize) -> Result<&'a [f64]> {
    let items = snapshot.finite(name, length)?;
    match items.iter().position(|x| x.abs() > LARGEST) {
        Some(i) => {
            Err(Snapshot::problem(name, &format!("item {i} is {}; expected at most {LARGEST:e}", items[i])))
        }
        None => Ok(items),
    }
}

/// An array of counts that can be counted on from.
pub(super) fn counts<'a>(snapshot: &'a Snapshot, name: &str, length: usize) -> Result<&'a [u64]> {
    let items = Snapshot::sized(name, snapshot.u64s(name)?, length)?;
    match items.iter().position(|&n| n >= MOST_VISITS) {
        Some(i) => {
            Err(Snapshot::problem(name, &format!("item {i} is {}; expected less than 2^53", items[i])))
        }
        None => Ok(items),
    }
}
