//! Values without discount: reachability, total reward, a number of steps, the long run.
//!
//! Graph analysis decides what does not depend on numbers (probability 0 and 1, infinite values) exactly. The rest is
//! solved one strongly connected component at a time, successors first, by policy iteration with an elimination that never
//! subtracts, or by sweeps; every bound is proven by a final check with all rounding accounted for. `docs/SOLVING.md` has
//! the arguments.

mod attempt;
mod average;
mod elimination;
mod gain;
mod graph;
mod horizon;
mod howard;
mod kept;
mod level;
mod local;
mod mec;
mod objective;
mod proof;
mod reach;
mod reduced;
mod resolved;
mod shape;
mod solver;
mod sweeps;
mod total;
mod view;

use crate::{Error, Result};
pub(crate) use kept::{KeptSolver, NewRow};
pub(crate) use objective::{Task, Warm};
pub(crate) use reduced::ReducedRow;
pub(crate) use resolved::{Kind, Resolved};
pub(crate) use view::{UNIT, View, ends_and_slack, missing_mass};

/// How strongly connected components of several states are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ComponentMethod {
    /// Elimination for small components, sweeps for others; elimination again where sweeps take too long.
    #[default]
    Automatic,
    /// Policy iteration, each policy evaluated by elimination without subtractions, however long it takes.
    Elimination,
    /// Gauss–Seidel sweeps with bounds guessed and proven from time to time.
    Sweeps,
}

impl ComponentMethod {
    /// The method with this name.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "elimination" => Ok(Self::Elimination),
            "sweeps" => Ok(Self::Sweeps),
            _ => Err(Error::UnknownMethod { found: name.to_owned(), discounted: false }),
        }
    }
}
