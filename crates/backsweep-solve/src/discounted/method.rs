//! The methods by name.

use crate::{Error, Result};
use std::fmt;

/// A method for discounted values. Without one, the portfolio chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscountedMethod {
    /// One pass, successors first; only for models without cycles other than self loops.
    Backward,
    /// Policy iteration, each policy evaluated by elimination without subtractions; for narrow models.
    Elimination,
    /// Sweeps in place, window by window, outward from the ends.
    Outward,
    /// Modified policy iteration with simultaneous sweeps, moved by the middle of the bound.
    Simultaneous,
    /// Modified policy iteration with sweeps in place, in the order of the state numbers.
    InPlace,
    /// Policy iteration, each policy evaluated approximately by a Krylov method; for chains that mix slowly.
    Krylov,
    /// Strongly connected components, successors first, each by the method that suits it.
    Components,
}

/// All methods, in the order in which the portfolio considers them.
pub const DISCOUNTED_METHODS: [DiscountedMethod; 7] = [
    DiscountedMethod::Backward,
    DiscountedMethod::Elimination,
    DiscountedMethod::Outward,
    DiscountedMethod::Simultaneous,
    DiscountedMethod::InPlace,
    DiscountedMethod::Krylov,
    DiscountedMethod::Components,
];

impl DiscountedMethod {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Backward => "backward",
            Self::Elimination => "elimination",
            Self::Outward => "outward",
            Self::Simultaneous => "simultaneous",
            Self::InPlace => "in-place",
            Self::Krylov => "krylov",
            Self::Components => "components",
        }
    }

    /// The method with this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self> {
        let unknown = || Error::UnknownMethod { found: name.to_owned(), discounted: true };
        DISCOUNTED_METHODS.into_iter().find(|method| method.name() == name).ok_or_else(unknown)
    }
}

impl fmt::Display for DiscountedMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
