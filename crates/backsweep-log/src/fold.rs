//! Folds of cases: parts of about the same size, chosen by the md5 of a case's name, because every engine that can count
//! has md5. It is not used for security.

use md5::{Digest, Md5};

/// The number of folds. The fold of a case is the first hexadecimal digit of the md5 of its name.
pub const FOLDS: usize = 16;

/// Folds as bits: bit f is fold f.
pub type Folds = u16;

/// The md5 of a case's name.
pub(crate) type CaseKey = [u8; 16];

/// The key of a case.
pub(crate) fn case_key(name: &[u8]) -> CaseKey {
    Md5::digest(name).into()
}

/// The fold of a case.
#[inline]
pub(crate) fn fold(case: &CaseKey) -> usize {
    usize::from(case[0] >> 4)
}
