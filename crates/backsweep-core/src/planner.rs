//! Planners keep values near the optimum of the model, a little work at a time.
//!
//! All planners share one unit of work, the *update cycle*: take the most urgent element and do its
//! backups. [`plan`] is the one loop that runs cycles within a [`Budget`].
//!
//! | to | use |
//! |---|---|
//! | let an agent plan | [`PlannerKind`]: a planner by name, how to build it and how to restore it |
//! | plan without an agent, or read what only one planner has | [`ReversedFullBackups`], [`SmallBackups`] |
//! | say how long to plan | [`Budget`]: cycles, until a tolerance, or until a callback says stop |
//! | see how far it got | [`Planned`], [`Counters`], [`QueueView`] |
//! | write a planner | [`Planner`]: the first six methods are enough |

mod kind;
mod sweeping;

pub use kind::PlannerKind;
pub use sweeping::{ReversedFullBackups, SmallBackups, Sweeping};

use crate::{ArcId, Change, Model, MovedPairs, Pair, Result, Settings, Snapshot, State, Values};
use std::fmt;

/// The end of an update cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycle {
    /// Nothing was done: the queue is empty, or rounding keeps what is left from ever being
    /// finished.
    Idle,
    /// One cycle was completed.
    Done,
    /// The limit was reached; the next call resumes where this one stopped. Values are consistent
    /// in between.
    Cut,
}

/// The work that a planner has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Update cycles.
    pub cycles: u64,
    /// Small backups: one changed successor of one pair, O(1).
    pub small_backups: u64,
    /// Full backups: all successors of one pair.
    pub full_backups: u64,
    /// Cycles whose element turned out to change nothing.
    pub idle_pops: u64,
    /// Exact recomputations of a pair, to remove rounding errors.
    pub refreshes: u64,
    /// Terms P̂·V that were added up: one per small backup and per observation of a planner on small
    /// backups, one per outcome in everything that recomputes a pair. The unit in which all
    /// planners' work compares.
    pub additions: u64,
}

/// No run counts that far. Stored counts are at most this, so that those that are read can grow.
const MAX_COUNT: u64 = 1 << 62;

impl Counters {
    /// Small and full backups together.
    pub fn backups(&self) -> u64 {
        self.small_backups + self.full_backups
    }

    /// Stores the counts.
    pub fn store(&self, snapshot: &mut Snapshot) {
        let Self { cycles, small_backups, full_backups, idle_pops, refreshes, additions } = *self;
        let counts = [cycles, small_backups, full_backups, idle_pops, refreshes];
        snapshot.put("counters", counts.map(|n| n.min(MAX_COUNT)).to_vec());
        snapshot.put("counters.additions", vec![additions.min(MAX_COUNT)]);
    }

    /// The [stored](Self::store) counts.
    ///
    /// # Errors
    /// If the snapshot does not hold counts.
    pub fn restore(snapshot: &Snapshot) -> Result<Self> {
        let counts @ [cycles, small_backups, full_backups, idle_pops, refreshes] =
            snapshot.counts("counters")?;
        // Files of earlier programs do not hold it.
        let [additions] = match snapshot.get("counters.additions") {
            Some(_) => snapshot.counts("counters.additions")?,
            None => [0],
        };
        if counts.iter().chain(&[additions]).any(|&n| n > MAX_COUNT) {
            return Err(Snapshot::problem("counters", "a number is above 2^62"));
        }
        Ok(Self { cycles, small_backups, full_backups, idle_pops, refreshes, additions })
    }
}

/// A control planner.
///
/// The model changes first, then the planner follows: call [`observe`](Self::observe) after
/// [`Model::record`], [`refresh`](Self::refresh) after [`Model::set_outcomes`] and whatever else
/// replaces the outcomes of a pair, and [`pairs_moved`](Self::pairs_moved) after
/// [`Model::add_action`]. Each of these also makes room for new states, as [`grow`](Self::grow)
/// does. Always pass the same model. An agent takes care of all this.
///
/// | methods | a planner of your own |
/// |---|---|
/// | `values`, `grow`, `observe`, `refresh`, `update_cycle`, `top_priority` | must have them, and `#[derive(Clone, Debug)]` |
/// | `refresh_all`, `pairs_moved`, `is_idle` | has them: they follow from the six, unless the planner keeps copies of outcomes |
/// | `counters`, `bytes`, `queue`, `backed_up_value`, `loss_bound`, `bonuses`, `storable` | offers what it has; `None` says that it does not |
pub trait Planner: BoxedClone + fmt::Debug + Send + Sync {
    /// The values computed so far. [`Values`] has the arithmetic that planners share.
    fn values(&self) -> &Values;

    /// Makes room for all states and pairs of the model that the planner does not have yet.
    fn grow(&mut self, model: &Model);

    /// Restores the values after the model changed by one transition.
    fn observe(&mut self, model: &Model, change: &Change);

    /// Restores the values after the outcomes of a pair were set.
    fn refresh(&mut self, model: &Model, pair: Pair);

    /// Restores the values after the outcomes of several pairs were set: no value is computed from
    /// what the planner knew of any of them.
    fn refresh_all(&mut self, model: &Model, pairs: &[Pair]) {
        for &pair in pairs {
            self.refresh(model, pair);
        }
    }

    /// Runs one update cycle, or resumes the one that was cut. Planners whose cycles can be cut
    /// return after about `limit` backups; the others finish the cycle.
    fn update_cycle(&mut self, model: &Model, limit: usize) -> Cycle;

    /// The highest priority on the queue; `None` if there is nothing to do. A planner without
    /// priorities returns [`f64::INFINITY`] while it has work.
    fn top_priority(&self) -> Option<f64>;

    /// Follows the pairs of a state to their new ids.
    fn pairs_moved(&mut self, model: &Model, moved: &MovedPairs) {
        self.grow(model);
        for i in 0..moved.n_pairs {
            self.refresh(model, Pair(moved.to.0 + i));
        }
    }

    /// Returns whether there is nothing to do.
    fn is_idle(&self) -> bool {
        self.top_priority().is_none()
    }

    /// The work done so far, if the planner counts it.
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// Bytes in use for values and queue (filled, not reserved), if the planner knows.
    fn bytes(&self) -> Option<usize> {
        None
    }

    /// The queue, if the planner has one that it shows.
    fn queue(&self) -> Option<&dyn QueueView> {
        None
    }

    /// U: the value of an arc's next state on which the pair's Q is currently built, so that
    /// Q = R̂ + γ Σ P̂ U holds exactly. `None` for planners that keep no such relation.
    fn backed_up_value(&self, _state: State, _arc: ArcId) -> Option<f64> {
        None
    }

    /// The most that a policy greedy in the action values can lose compared with the best one, in
    /// the model with its optimism: 2γp / (1 − γ), where p, the highest priority or the threshold,
    /// bounds the error of every next state's value that a pair uses. Up to rounding, which
    /// [`crate::audit`] includes. O(1). `None` without discount, and for planners whose priorities
    /// prove nothing.
    ///
    /// Why: V = max Q is the full backup of values U with |V − U| ≤ p. So the Bellman residual of V
    /// is at most γp, for the best policy and for the greedy one alike, and V is within γp / (1 −
    /// γ) of the value of either.
    fn loss_bound(&self) -> Option<f64> {
        None
    }

    /// The part of the planner that keeps bonuses, if it can.
    fn bonuses(&mut self) -> Option<&mut dyn Bonuses> {
        None
    }

    /// The part of the planner that can be stored, and restored by its [`PlannerKind`].
    fn storable(&self) -> Option<&dyn Storable> {
        None
    }
}

/// The view of a planner's queue.
pub trait QueueView {
    /// The number of queued elements.
    fn n_queued(&self) -> usize;

    /// The priority of a state, 0 if it is not queued.
    fn priority(&self, model: &Model, state: State) -> f64;

    /// The state that the next cycle pops, or whose value it propagates; `None` if there is none.
    fn next_state(&self, model: &Model) -> Option<State>;
}

/// A planner that adds a bonus to the reward of a pair: Q = R̂ + bonus + γ Σ P̂ U while the pair's
/// model is trusted.
pub trait Bonuses {
    /// Replaces the bonus of a pair. O(1).
    fn set_bonus(&mut self, model: &Model, pair: Pair, bonus: f64);

    /// As [`Planner::observe`], and the pair has this bonus from now on. O(1) amortized.
    fn observe_with_bonus(&mut self, model: &Model, change: &Change, bonus: f64);
}

/// A planner that can be stored, so that the restored one continues bit for bit.
pub trait Storable {
    /// By what name it is stored, and how it is restored.
    fn kind(&self) -> PlannerKind;

    /// The settings that it was built with.
    fn settings(&self) -> Settings;

    /// Stores everything that [`PlannerKind::restore`] needs besides the model and the settings,
    /// which are stored separately.
    fn store(&self, snapshot: &mut Snapshot);
}

impl dyn Planner + '_ {
    /// Which planner this is, if it can be stored.
    pub fn kind(&self) -> Option<PlannerKind> {
        self.storable().map(Storable::kind)
    }

    /// The settings that it was built with, if it can be stored.
    pub fn settings(&self) -> Option<Settings> {
        self.storable().map(Storable::settings)
    }
}

/// Clones a planner behind a box. Every planner that is [`Clone`] has it.
pub trait BoxedClone {
    /// A copy behind a box.
    fn boxed_clone(&self) -> Box<dyn Planner>;
}

impl<P: Planner + Clone + 'static> BoxedClone for P {
    fn boxed_clone(&self) -> Box<dyn Planner> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Planner> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

/// An amount of planning.
#[derive(Clone, Copy)]
pub enum Budget<'a> {
    /// At most this many update cycles.
    Cycles(u64),
    /// Until no priority is above the tolerance, but at most `max_cycles`.
    Until {
        /// The tolerance.
        tolerance: f64,
        /// The cap.
        max_cycles: u64,
    },
    /// Until the callback returns `true`. It is called before every cycle and, in planners whose
    /// cycles can be cut, about every 8 backups within one. The core reads no clock; the callback
    /// may.
    UntilStopped(&'a dyn Fn() -> bool),
}

impl Budget<'_> {
    /// Until nothing is left on the queue.
    pub const UNTIL_IDLE: Self = Self::Until { tolerance: 0.0, max_cycles: u64::MAX };
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycles(n) => write!(f, "Cycles({n})"),
            Self::Until { tolerance, max_cycles } => write!(f, "Until({tolerance}, {max_cycles})"),
            Self::UntilStopped(_) => write!(f, "UntilStopped"),
        }
    }
}

/// The result of [`plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Planned {
    /// Update cycles that were finished.
    pub cycles: u64,
    /// True if planning stopped because nothing was left to do, within the budget's tolerance and
    /// above the threshold of the settings. False also where rounding keeps the rest from ever
    /// being finished. How exact the values are, [`audit`](crate::audit) says; without discount
    /// nothing here proves them.
    pub is_idle: bool,
}

/// Backups between two calls of the callback of [`Budget::UntilStopped`].
const BACKUPS_BETWEEN_CHECKS: usize = 8;

/// The one planning loop: runs update cycles within a budget. A cycle that an earlier call had to
/// cut is finished first.
pub fn plan(planner: &mut dyn Planner, model: &Model, budget: Budget<'_>) -> Planned {
    let mut cycles = 0; // l.13, by three kinds of budget
    let is_idle = loop {
        let (is_over, limit) = match budget {
            Budget::Cycles(n) => (cycles >= n, usize::MAX),
            Budget::Until { tolerance, max_cycles } => {
                if planner.top_priority().is_none_or(|priority| priority <= tolerance) {
                    break true;
                }
                (cycles >= max_cycles, usize::MAX)
            }
            Budget::UntilStopped(stop) => (stop(), BACKUPS_BETWEEN_CHECKS),
        };
        if is_over {
            break planner.is_idle();
        }
        match planner.update_cycle(model, limit) {
            Cycle::Idle => break planner.is_idle(),
            Cycle::Done => cycles += 1,
            Cycle::Cut => {}
        }
    };
    Planned { cycles, is_idle }
}
