//! The methods by name.

use std::fmt;
use std::str::FromStr;

/// A method for discounted values. Without one, [`solve_discounted`](crate::solve_discounted) chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
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
pub const METHODS: [Method; 7] = [
    Method::Backward,
    Method::Elimination,
    Method::Outward,
    Method::Simultaneous,
    Method::InPlace,
    Method::Krylov,
    Method::Components,
];

impl Method {
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
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        METHODS.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let known = METHODS.map(Method::name).join(", ");
            format!("unknown method {name:?}; expected one of {known}")
        })
    }
}
