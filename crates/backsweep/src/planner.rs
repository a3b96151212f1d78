//! Planners: they keep values near the optimum of the model, a little work at a time.
//!
//! All planners share one unit of work, the *update cycle*: take the most urgent element and do its backups. [`plan`] is
//! the one loop that runs cycles within a [`Budget`].

mod moore_atkeson;
mod pass;
mod peng_williams;
mod reversed_full_backups;
mod rows;
mod small_backups;
mod swept;
mod value_iteration;
mod wiering_schmidhuber;

pub use moore_atkeson::MooreAtkeson;
pub use peng_williams::PengWilliams;
pub use reversed_full_backups::ReversedFullBackups;
pub use small_backups::SmallBackups;
pub use swept::Swept;
pub use value_iteration::ValueIteration;
pub use wiering_schmidhuber::WieringSchmidhuber;

use crate::{Arc, Change, Error, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};
use std::fmt;

/// How an update cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycle {
    /// There was nothing to do: the queue is empty.
    Idle,
    /// One cycle was carried out.
    Done,
    /// The limit was reached; the next call goes on where this one stopped. Values are consistent in between.
    Cut,
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
    /// Exact recomputations of a pair to take out rounding errors.
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
        match snapshot.u64s("counters")? {
            // No run counts that far; counting on from there would overflow.
            counters if counters.iter().any(|&n| n > u64::MAX / 2) => {
                Err(Snapshot::problem("counters", "a number is above 2^63"))
            }
            &[cycles, small_backups, full_backups, idle_pops, refreshes] => {
                Ok(Self { cycles, small_backups, full_backups, idle_pops, refreshes })
            }
            _ => Err(Snapshot::problem("counters", "it has not 5 items")),
        }
    }
}

/// A control planner.
///
/// The order of calls: the model is changed first, then the planner is told, with [`observe`](Self::observe) after
/// [`Model::record`], [`refresh`](Self::refresh) after [`Model::set_outcomes`], [`row_moved`](Self::row_moved) after
/// [`Model::add_action`]. States that were added are taken in by any of these and by [`grow`](Self::grow). Always with the
/// same model: [`crate::Agent`] sees to all of it.
pub trait Planner: fmt::Debug + Send + Sync {
    /// The planner's name in [`PLANNERS`].
    fn name(&self) -> &'static str;

    /// The settings it was built with.
    fn settings(&self) -> &Settings;

    /// The values computed so far.
    fn values(&self) -> &Values;

    /// Takes in all states and pairs that the model has and the planner has not yet.
    fn grow(&mut self, model: &Model);

    /// Restores the values after the model changed by one transition.
    fn observe(&mut self, model: &Model, change: &Change);

    /// Restores the values after the outcomes of a pair were set anew.
    fn refresh(&mut self, model: &Model, pair: Pair);

    /// Takes over the values of a row of pairs that got new ids.
    fn row_moved(&mut self, model: &Model, moved: &MovedRow);

    /// Carries out one update cycle, or goes on with the one that was cut. Planners with cycles that can be cut return after
    /// about `limit` backups; the others finish the cycle.
    fn update_cycle(&mut self, model: &Model, limit: usize) -> Cycle;

    /// The highest priority on the queue; `None` if there is nothing to do.
    fn top_priority(&self) -> Option<f64>;

    /// Whether there is nothing to do.
    fn is_idle(&self) -> bool {
        self.top_priority().is_none()
    }

    /// The state that the next cycle takes off the queue, or whose value it passes on; `None` if there is none, or the planner has
    /// no queue.
    fn next_state(&mut self, _model: &Model) -> Option<State> {
        None
    }

    /// The priority of a state on the queue, 0 if it is not queued.
    fn priority(&self, _state: State) -> f64 {
        0.0
    }

    /// How many elements are queued.
    fn queue_length(&self) -> usize;

    /// What was done so far.
    fn counters(&self) -> Counters;

    /// U: the value of an arc's next state on which the pair's Q is built at this moment, so that
    /// Q = R̂ + γ Σ P̂ U holds exactly. `None` for planners that keep no such relation.
    fn seen(&self, _state: State, _arc: Arc) -> Option<f64> {
        None
    }

    /// Changes the threshold. Elements that the old one kept off the queue are looked for: O(states).
    fn set_threshold(&mut self, model: &Model, threshold: f64);

    /// Puts back the settings as they were before [`set_threshold`](Self::set_threshold) lowered the threshold. Values stay. A
    /// planner whose `set_threshold` looks at everything once more need not do so here: what the lower threshold kept off the
    /// queue is below the old one too.
    fn restore_settings(&mut self, model: &Model, settings: &Settings) {
        self.set_threshold(model, settings.threshold);
    }

    /// Stores everything that [`restore_planner`] needs to go on bit for bit. The model and the settings are stored by others.
    fn store(&self, snapshot: &mut Snapshot);

    /// Bytes in use for values and queue (filled, not reserved).
    fn bytes(&self) -> usize;

    /// A copy behind a box.
    fn boxed_clone(&self) -> Box<dyn Planner>;
}

impl Clone for Box<dyn Planner> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// A row of the table of planners. A new planner is one file and one row.
pub struct PlannerEntry {
    /// The name in files and commands.
    pub name: &'static str,
    /// The name in texts and figures.
    pub title: &'static str,
    /// Builds the planner.
    pub build: fn(Settings) -> Result<Box<dyn Planner>>,
    /// Builds it again from what it stored.
    pub restore: fn(Settings, &Model, &Snapshot) -> Result<Box<dyn Planner>>,
}

macro_rules! entry {
    ($name:literal, $title:literal, $planner:ident) => {
        PlannerEntry {
            name: $name,
            title: $title,
            build: |settings| Ok(Box::new($planner::new(settings)?)),
            restore: |settings, model, snapshot| Ok(Box::new($planner::restore(settings, model, snapshot)?)),
        }
    };
}

/// All planners.
pub const PLANNERS: &[PlannerEntry] = &[
    entry!("reversed_full_backups", "reversed full backups", ReversedFullBackups),
    entry!("small_backups", "small backups", SmallBackups),
    entry!("moore_atkeson", "Moore & Atkeson", MooreAtkeson),
    entry!("peng_williams", "Peng & Williams", PengWilliams),
    entry!("wiering_schmidhuber", "Wiering & Schmidhuber", WieringSchmidhuber),
    entry!("value_iteration", "value iteration", ValueIteration),
];

/// The row of [`PLANNERS`] with this name.
///
/// # Errors
/// Lists the names that exist.
pub fn find_planner(name: &str) -> Result<&'static PlannerEntry> {
    PLANNERS.iter().find(|entry| entry.name == name).ok_or_else(|| Error::Unknown {
        what: "planner",
        found: name.to_owned(),
        known: PLANNERS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}

/// Builds a planner by its name in [`PLANNERS`].
pub fn build_planner(name: &str, settings: Settings) -> Result<Box<dyn Planner>> {
    (find_planner(name)?.build)(settings)
}

/// Builds a planner from what it [`stored`](Planner::store).
pub fn restore_planner(
    name: &str,
    settings: Settings,
    model: &Model,
    snapshot: &Snapshot,
) -> Result<Box<dyn Planner>> {
    (find_planner(name)?.restore)(settings, model, snapshot)
}

/// How much planning to do.
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
    /// Until the callback says stop. It is asked before every cycle and, in planners whose cycles can be cut, about every
    /// 8 backups within one. The core reads no clock; the callback may.
    Stop(&'a mut dyn FnMut() -> bool),
}

impl Budget<'_> {
    /// Until nothing is left on the queue.
    pub fn exhaust() -> Self {
        Self::Until { tolerance: 0.0, max_cycles: u64::MAX }
    }
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycles(n) => write!(f, "Cycles({n})"),
            Self::Until { tolerance, max_cycles } => write!(f, "Until({tolerance}, {max_cycles})"),
            Self::Stop(_) => write!(f, "Stop"),
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
}

/// Backups between two questions whether to stop.
const STRIDE: usize = 8;

/// The one planning loop: runs update cycles within a budget. A cycle that an earlier call had to cut is finished first.
pub fn plan(planner: &mut dyn Planner, model: &Model, budget: &mut Budget<'_>) -> Planned {
    let mut cycles = 0;
    let converged = match budget {
        Budget::Cycles(n) => loop {
            if cycles >= *n {
                break planner.is_idle();
            }
            match planner.update_cycle(model, usize::MAX) {
                Cycle::Idle => break true,
                Cycle::Done | Cycle::Cut => cycles += 1,
            }
        },
        Budget::Until { tolerance, max_cycles } => loop {
            if planner.top_priority().is_none_or(|priority| priority <= *tolerance) {
                break true;
            }
            if cycles >= *max_cycles {
                break false;
            }
            if planner.update_cycle(model, usize::MAX) == Cycle::Idle {
                break true;
            }
            cycles += 1;
        },
        Budget::Stop(stop) => loop {
            if stop() {
                break planner.is_idle();
            }
            match planner.update_cycle(model, STRIDE) {
                Cycle::Idle => break true,
                Cycle::Done => cycles += 1,
                Cycle::Cut => {}
            }
        },
    };
    Planned { cycles, converged }
}
