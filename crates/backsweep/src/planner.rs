//! Everything for authors of planners, and for programs that plan without an agent.
//!
//! | to | use |
//! |---|---|
//! | write a planner | [`Planner`]: six methods are enough; [`Values`] has the arithmetic, [`PriorityQueue`] the queue |
//! | store and restore it | [`Storable`] and a [`PlannerKind`](crate::PlannerKind) of its own |
//! | add bonuses to rewards | [`Bonuses`] |
//! | plan without an agent, or read what only one planner has | [`ReversedFullBackups`], [`SmallBackups`], [`plan()`] |
//! | see how far it got, and how exact the values are | [`Counters`], [`audit()`] |

pub use backsweep_core::{
    ArcId, Array, Bonuses, BoxedClone, Change, Counters, Cycle, MAX_REWARD, MAX_VALUE, MIN_WEIGHT,
    MovedPairs, Pair, PairValue, Planner, Predecessor, PriorityQueue, QueueKind, QueueView,
    ReversedFullBackups, SmallBackups, Snapshot, Storable, Successor, Sweeping, Values, audit, plan,
    prefetch_run,
};
