//! Planners keep values near the optimum of the model, a little work at a time.
//!
//! All planners share one unit of work, the *update cycle*: take the most urgent element and do its backups. [`plan`] is
//! the one loop that runs cycles within a [`Budget`].
//!
//! | to | use |
//! |---|---|
//! | let an agent plan | [`PlannerKind`], which names every planner of the library and builds it |
//! | plan without an agent, or read what only one planner has | [`ReversedFullBackups`], [`SmallBackups`] |
//! | say how long to plan | [`Budget`]: cycles, until a tolerance, or until a callback says stop |
//! | see how far it got | [`Planned`], [`Counters`] |
//! | write a planner | [`Planner`]: the first six methods are enough |

mod baseline;
mod kind;
mod moore_atkeson;
mod peng_williams;
mod sweeping;
mod value_iteration;
mod wiering_schmidhuber;

pub use kind::PlannerKind;
pub use sweeping::{ReversedFullBackups, SmallBackups, Sweeping};

use crate::{ArcId, Change, Model, MovedPairs, Pair, Result, Settings, Snapshot, State, Values};
use std::fmt;

/// How an update cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycle {
    /// There was nothing to do: the queue is empty.
    Idle,
    /// One cycle was completed.
    Done,
    /// The limit was reached; the next call resumes where this one stopped. Values are consistent in between.
    Cut,
    /// There is work left, but rounding prevents it from ever being finished. Nothing was done.
    Stalled,
}

/// What a planner has done so far.
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
}

impl Counters {
    /// Small and full backups together.
    pub fn backups(&self) -> u64 {
        self.small_backups + self.full_backups
    }

    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        let Self { cycles, small_backups, full_backups, idle_pops, refreshes } = *self;
        snapshot.put("counters", vec![cycles, small_backups, full_backups, idle_pops, refreshes]);
    }

    pub(crate) fn restore(snapshot: &Snapshot) -> Result<Self> {
        let &[cycles, small_backups, full_backups, idle_pops, refreshes] = snapshot.u64s("counters")? else {
            return Err(Snapshot::problem("counters", "expected 5 items"));
        };
        // No run counts that far; counting on from there would overflow.
        if [cycles, small_backups, full_backups, idle_pops, refreshes].iter().any(|&n| n > u64::MAX / 2) {
            return Err(Snapshot::problem("counters", "a number is above 2^63"));
        }
        Ok(Self { cycles, small_backups, full_backups, idle_pops, refreshes })
    }
}

/// A control planner.
///
/// The model changes first, then the planner follows: call [`observe`](Self::observe) after [`Model::record`],
/// [`refresh`](Self::refresh) after [`Model::set_outcomes`] and whatever else replaces the outcomes of a pair, and [`pairs_moved`](Self::pairs_moved) after [`Model::add_action`].
/// Each of these also takes in new states, as [`grow`](Self::grow) does. Always pass the same model. An agent takes
/// care of all this.
///
/// A planner of your own needs the first six methods and `#[derive(Clone, Debug)]`; [`Values`] has the arithmetic.
pub trait Planner: BoxedClone + fmt::Debug + Send + Sync {
    /// The values computed so far.
    fn values(&self) -> &Values;

    /// Takes in all states and pairs of the model that the planner does not have yet.
    fn grow(&mut self, model: &Model);

    /// Restores the values after the model changed by one transition.
    fn observe(&mut self, model: &Model, change: &Change);

    /// Restores the values after the outcomes of a pair were set.
    fn refresh(&mut self, model: &Model, pair: Pair);

    /// Runs one update cycle, or resumes the one that was cut. Planners whose cycles can be cut return after about
    /// `limit` backups; the others finish the cycle.
    fn update_cycle(&mut self, model: &Model, limit: usize) -> Cycle;

    /// The highest priority on the queue; `None` if there is nothing to do. A planner without priorities returns
    /// [`f64::INFINITY`] while it has work.
    fn top_priority(&self) -> Option<f64>;

    /// Follows the pairs of a state to their new ids.
    fn pairs_moved(&mut self, model: &Model, moved: &MovedPairs) {
        self.grow(model);
        for i in 0..moved.n_pairs {
            self.refresh(model, Pair(moved.to.0 + i));
        }
    }

    /// Replaces the bonus of a pair: Q = R̂ + bonus + γ Σ P̂ U from now on, while the pair's model is
    /// trusted. O(1). Ignored by all but the two planners on small backups.
    fn set_bonus(&mut self, _model: &Model, _pair: Pair, _bonus: f64) {}

    /// As [`observe`](Self::observe), and the pair has this bonus from now on. O(1) amortized.
    fn observe_with_bonus(&mut self, model: &Model, change: &Change, _bonus: f64) {
        self.observe(model, change);
    }

    /// The most that a policy greedy in the action values can lose compared with the best one, in the model with its optimism:
    /// 2γp / (1 − γ), where p, the highest priority or the threshold, bounds the error of every next state's value that a pair
    /// uses. Up to rounding, which [`crate::audit`] includes. O(1). `None` without discount, and for planners
    /// whose priorities prove nothing.
    ///
    /// Why: V = max Q is the full backup of values U with |V − U| ≤ p. So the Bellman residual of V is at most γp, for the
    /// best policy and for the greedy one alike, and V is within γp / (1 − γ) of the value of either.
    fn loss_bound(&self) -> Option<f64> {
        None
    }

    /// Which planner of the library this is; `None` for one of your own. Restoring an agent relies on it.
    fn kind(&self) -> Option<PlannerKind> {
        None
    }

    /// The settings it was built with.
    fn settings(&self) -> Settings {
        let (discount, optimism) = (self.values().discount(), self.values().optimism());
        Settings { discount, optimism, ..Settings::default() }
    }

    /// Whether there is nothing to do.
    fn is_idle(&self) -> bool {
        self.top_priority().is_none()
    }

    /// The state that the next cycle pops, or whose value it propagates; `None` if there is none, or the
    /// planner has no queue.
    fn next_state(&self, _model: &Model) -> Option<State> {
        None
    }

    /// The priority of a state on the queue, 0 if it is not queued.
    fn priority(&self, _model: &Model, _state: State) -> f64 {
        0.0
    }

    /// How many elements are queued; 0 for a planner without a queue.
    fn queue_length(&self) -> usize {
        0
    }

    /// What has been done so far.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    /// U: the value of an arc's next state on which the pair's Q is currently built, so that
    /// Q = R̂ + γ Σ P̂ U holds exactly. `None` for planners that keep no such relation.
    fn backed_up_value(&self, _state: State, _arc: ArcId) -> Option<f64> {
        None
    }

    /// Stores everything that [`PlannerKind::restore`] needs to continue bit for bit. The model and the settings are stored
    /// separately.
    fn store(&self, snapshot: &mut Snapshot) {
        self.values().store(snapshot);
    }

    /// Bytes in use for values and queue (filled, not reserved).
    fn bytes(&self) -> usize {
        self.values().bytes()
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

/// How much planning to do.
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
    /// Until the callback returns `true`. It is called before every cycle and, in planners whose cycles can be cut, about every
    /// 8 backups within one. The core reads no clock; the callback may.
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

/// What [`plan`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Planned {
    /// Update cycles that were finished.
    pub cycles: u64,
    /// Whether planning stopped because nothing was left to do (within the budget's tolerance).
    pub converged: bool,
    /// Whether planning stopped because rounding prevents the rest from ever being finished.
    pub stalled: bool,
}

/// Backups between two calls of the callback of [`Budget::UntilStopped`].
const BACKUPS_BETWEEN_CHECKS: usize = 8;

/// The one planning loop: runs update cycles within a budget. A cycle that an earlier call had to cut is finished first.
pub fn plan(planner: &mut dyn Planner, model: &Model, budget: Budget<'_>) -> Planned {
    let (mut cycles, mut stalled) = (0, false); // l.13, by three kinds of budget
    let converged = loop {
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
            Cycle::Idle => break true,
            Cycle::Done => cycles += 1,
            Cycle::Cut => {}
            Cycle::Stalled => {
                stalled = true;
                break false;
            }
        }
    };
    Planned { cycles, converged, stalled }
}
