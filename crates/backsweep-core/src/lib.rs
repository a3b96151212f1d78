//! The kernel of **Backsweep**: a [`Model`] of what was observed, [`Values`], a [`PriorityQueue`],
//! and the planners that keep the values near the optimum of the model with small backups.
//!
//! It knows nothing of agents, exploration, policies, episodes or files: those are in the crate
//! `backsweep`, which most users need. It does no input or output, reads no clock and owns no
//! global random generator. Each mutable thing has one writer: the model is written by
//! [`Model::record`], values and queue by their planner.

mod audit;
mod error;
mod id;
mod model;
mod planner;
mod queue;
mod random;
mod refresh;
mod settings;
mod snapshot;
mod store;
mod transition;
mod values;

pub use audit::{Audit, audit};
pub use error::{Error, Result};
pub use id::{Action, ArcId, Pair, State};
pub use model::{Change, MAX_REWARD, MIN_WEIGHT, Model, MovedPairs, Predecessor, Successor};
pub use planner::{
    Bonuses, BoxedClone, Budget, Counters, Cycle, Planned, Planner, PlannerKind, QueueView,
    ReversedFullBackups, SmallBackups, Storable, Sweeping, plan,
};
pub use queue::{PriorityQueue, QueueKind};
pub use random::Random;
pub use settings::{Optimism, Settings};
pub use snapshot::{Array, Snapshot};
pub use store::prefetch_run;
pub use transition::{Next, Outcome, Transition};
pub use values::{MAX_VALUE, PairValue, Values};
