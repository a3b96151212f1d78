//! Values without discount: reachability, total reward, a number of steps, the long run.
//!
//! Graph analysis decides what does not depend on numbers (probability 0 and 1, infinite values) exactly. The rest is
//! solved one strongly connected component at a time, successors first, by policy iteration with an elimination that never
//! subtracts, or by sweeps; every bound is proven by a final check with all rounding accounted for. `docs/explanation/intervals.md` has
//! the arguments.
//!
//! # Words
//!
//! | word | meaning |
//! |---|---|
//! | component | a strongly connected component: states that reach each other. Solved as a whole, after those it leads to ([`component`], [`pass`]) |
//! | end component | states with choices that can keep a run inside forever ([`mec`] finds the maximal ones); where that is free, it counts as one state |
//! | undecided state | a state whose value the graph does not decide |
//! | reduced problem | the undecided states, end components merged, decided successors folded into constants ([`reduced`], [`objective`]) |
//! | proper policy | one that leaves the reduced problem with probability 1 from everywhere |
//! | constant, gain | what a choice is worth besides its arcs, between bounds; the gain of an end component is its mean reward per step ([`gain`]) |
//! | weight | numbers by state that fall along choices: they show that a run ends, and carry proofs over sweeps ([`proof`]) |
//! | sweep | one Gauss–Seidel backup of every state of a component ([`sweeps`]) |
//! | elimination | a policy's linear equations, solved exactly but for rounding, without subtractions ([`elimination`]); with policy improvement: [`howard`] |
//! | warm start | values, weights and sizes from an earlier answer; never trusted, only begun with |
//! | resolve | to solve a component again after a change, close to its previous solution ([`solver`], [`kept`]) |
//! | slack | the largest relative distance between a stored probability and the one it stands for ([`view`]) |

mod average;
mod component;
mod elimination;
mod gain;
mod graph;
mod horizon;
mod howard;
mod kept;
mod level;
mod mec;
mod objective;
mod pass;
mod proof;
mod reach;
mod reduced;
mod resolved;
mod row_shape;
mod solver;
mod sweeps;
mod total;
mod view;

use crate::{Error, Result};
pub(crate) use kept::{KeptSolver, NewRow};
pub(crate) use objective::{SolveTask, WarmStart};
pub(crate) use reduced::ReducedRow;
pub(crate) use resolved::{ObjectiveKind, Resolved};
pub(crate) use view::{UNIT, View, ends_and_slack, missing_mass};

/// The method for strongly connected components of several states.
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
