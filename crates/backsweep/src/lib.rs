//! **Backsweep**: planning by prioritized sweeping with small backups.
//!
//! An agent counts its observations in a [`Model`](planner::Model) and keeps a value per state and action in
//! [`Values`](planner::Values). A *full backup* recomputes a value from all successors. A *small backup* updates it for the one
//! successor that changed: it takes constant time, gives what a full backup would give, and has no step size (van Seijen & Sutton
//! 2013). Prioritized sweeping with small backups keeps all values near the optimum of the model, in about a microsecond per step.
//! [`Agent::audit`] says how near.
//!
//! ```text
//! environment ──step──▶ transition ──record──▶ model ──observe, update cycles──▶ planner ──▶ values ──▶ policy ──▶ environment
//! ```
//!
//! ```
//! use backsweep::{Action, Agent, Budget, Next, Settings, State};
//! let mut agent = Agent::new(Settings { discount: 0.9, ..Settings::default() })?;
//! agent.add_states([2, 2, 2])?; // three states with two actions each: back and forth
//! agent.observe(State(0), Action(1), 0.0, State(1))?;
//! agent.observe(State(1), Action(1), 0.0, State(2))?;
//! agent.observe(State(2), Action(1), 1.0, Next::Terminated)?;
//! agent.plan(Budget::Cycles(2));
//! assert!((agent.value(State(0)) - 0.81).abs() < 1e-12); // the reward, two steps away
//! # Ok::<(), backsweep::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | learn while acting | [`Agent`], with [`Agent::step`] or [`run_episode`](episode::run_episode) on your own [`Environment`](episode::Environment) |
//! | learn from transitions in your own loop | [`Agent::act`], [`Agent::observe`], [`Agent::plan`] with a [`Budget`] |
//! | explore in few steps, or in a world that changes | [`Agent::with_exploration`], [`Explore`](explore::Explore), [`Forgetting`](explore::Forgetting) |
//! | plan in a known problem | [`Agent::set_outcomes`] and [`Agent::plan`]; for proven values, files and large models, the crate `backsweep-solve` |
//! | know how near the optimum the values are | [`Agent::audit`] |
//! | stop and resume | [`save`]: a whole agent in one file |
//! | predict the values of a policy | the crate `backsweep-predict` |
//! | write a planner, or plan without an agent | [`planner`] |
//!
//! Outside [`save`] there is no input or output, no clock and no global random generator. Each mutable thing
//! has one writer: the model is written by [`Model::record`](planner::Model::record), values and queue by their planner.

mod agent;
mod environment;
pub mod episode;
mod explanation;
pub mod explore;
mod forget;
mod policy;
pub mod save;

pub use agent::Agent;
pub use backsweep_core::{
    Action, Budget, Error, Next, PlannerKind, Random, Result, Settings, State, Transition,
};

pub mod planner {
    //! Everything for authors of planners, and for programs that plan without an agent or read a model.
    //!
    //! | to | use |
    //! |---|---|
    //! | read what was observed, or state what is known | [`Model`], [`Outcome`] |
    //! | write a planner | [`Planner`]: six methods are enough; [`Values`] has the arithmetic, [`PriorityQueue`] the queue |
    //! | store and restore it | [`Storable`] and a [`PlannerKind`](crate::PlannerKind) of its own |
    //! | add bonuses to rewards | [`Bonuses`] |
    //! | plan without an agent, or read what only one planner has | [`ReversedFullBackups`], [`SmallBackups`], [`plan()`] |
    //! | see how far it got, and how exact the values are | [`Planned`], [`Counters`], [`audit()`] |

    pub use backsweep_core::{
        ArcId, Array, Audit, Bonuses, BoxedClone, Change, Counters, Cycle, MAX_REWARD, MAX_VALUE, MIN_WEIGHT,
        Model, MovedPairs, Outcome, Pair, PairValue, Planned, Planner, Predecessor, PriorityQueue, QueueKind,
        QueueView, ReversedFullBackups, SmallBackups, Snapshot, Storable, Successor, Sweeping, Values, audit,
        plan, prefetch_run,
    };
}

pub mod report {
    //! Reports of an agent about itself.

    pub use crate::agent::MemoryUse;
    pub use crate::explanation::{ActionExplanation, Explanation};
}

/// The example of the page on Rust runs too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reference/rust.md")]
struct FirstPage;

/// So does the one of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CrateReadme;
