//! Attempts in rounds: every method that continues from given values gets a share of the work, and the best gets most.
//!
//! An attempt ends with a proven width and with its rate: by how much a sweep's work narrowed the interval in its second
//! half. The attempt with the best rate goes on for as long as it is expected to need, at most for as long as everything
//! before took. Between its turns another method is tried for half of what was spent so far. Values are passed on, so that
//! work is lost only where a method does not fit at all.

use super::krylov;
use super::model::FlatModel;
use super::portfolio::sampled_arcs;
use super::proof::Shift;
use super::sweeps::{self, Goal, Partial, Reached, SweepEnd};

/// The first turn, in sweeps over all choices: enough for a policy that looks ahead.
const SHORT: f64 = 8.0;

/// From this share of a policy's probability on that leads one way along the numbers, other methods are tried early.
const DIRECTED: f64 = 0.8;

/// The first two turns where the shape says nothing: values that flow through a model take a while until intervals narrow.
const LONG: f64 = 32.0;

/// A method that continues from given values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Runner {
    Simultaneous,
    InPlace,
    Krylov,
}

impl Runner {
    fn name(self) -> &'static str {
        match self {
            Self::Simultaneous => "simultaneous",
            Self::InPlace => "in-place",
            Self::Krylov => "krylov",
        }
    }

    /// Runs the method until `goal` is reached or its patience is at an end.
    pub fn run(self, model: &FlatModel, values: Vec<f64>, goal: &Goal) -> Reached {
        match self {
            Self::Simultaneous => {
                sweeps::modified_policy_iteration(model, values, Partial::Simultaneous, goal)
            }
            Self::InPlace => sweeps::modified_policy_iteration(model, values, Partial::InPlace, goal),
            Self::Krylov => krylov::iterate(model, values, goal),
        }
    }
}

/// A runner with its record.
struct Entry {
    runner: Runner,
    /// The latest rate: natural logarithms of the width per sweep. `None` before the first turn.
    rate: Option<f64>,
    /// True if the latest rate is about that of the turn before, so that it can be trusted.
    is_steady: bool,
    /// True once the method makes no progress at all.
    is_dead: bool,
    n_turns: u32,
}

/// The methods with their records, and the best values so far.
pub(super) struct Race {
    entries: Vec<Entry>,
    best: Reached,
    /// The work so far, in sweeps over all choices.
    total: f64,
    iterations: u64,
    turn: usize,
    budget: f64,
    /// True if the policy of the first turn leads one way along the numbers; `None` before it.
    is_directed: Option<bool>,
}

impl Race {
    /// Begins with values that nothing is known about; the first turn decides how much others may try.
    pub fn new(model: &FlatModel, values: Vec<f64>) -> Self {
        use Runner::{InPlace, Krylov, Simultaneous};
        let ends = model.facts.has_terminal || (0..model.n_states()).any(|state| model.is_end(state));
        // Self loops keep simultaneous sweeps where they are; sweeps in place divide them out.
        let (order, budget) = match (ends, self_loops(model) > 0.5) {
            (true, _) => ([InPlace, Simultaneous, Krylov], LONG),
            (false, true) => ([InPlace, Krylov, Simultaneous], SHORT),
            (false, false) => ([Simultaneous, InPlace, Krylov], SHORT),
        };
        let entry = |runner| Entry { runner, rate: None, is_steady: false, is_dead: false, n_turns: 0 };
        let shift = Shift { down: f64::NEG_INFINITY, up: f64::INFINITY };
        let end = SweepEnd::Slow;
        let best = Reached { values, policy: Vec::new(), shift, iterations: 0, spent: 0.0, rate: 0.0, end };
        Self {
            entries: order.map(entry).into(),
            best,
            total: 0.0,
            iterations: 0,
            turn: 0,
            budget,
            is_directed: None,
        }
    }

    /// True if no method can do more, or none needs to.
    pub fn is_over(&self) -> bool {
        self.best.end != SweepEnd::Slow || self.entries.iter().all(|entry| entry.is_dead)
    }

    /// Runs the methods in turn until the race is over, or `pause` sweeps were spent without an end in sight. `say` is told
    /// of every turn.
    pub fn run(&mut self, model: &FlatModel, pause: f64, goal: &Goal, say: &mut dyn FnMut(String)) {
        while !self.is_over() && self.total < goal.patience {
            let (turn, budget) = (self.turn, self.budget.min(goal.patience - self.total).max(1.0));
            let patient = Goal { patience: budget, ..*goal };
            let runner = self.entries[turn].runner;
            let before = self.best.shift.width();
            let reached = runner.run(model, self.best.values.clone(), &patient);
            self.total += reached.spent;
            self.iterations += reached.iterations;
            let (width, total) = (reached.shift.width(), self.total);
            say(format!("{}: intervals {width:.1e} wide after {total:.0} sweeps", runner.name()));
            let entry = &mut self.entries[turn];
            entry.n_turns += 1;
            let rate = (before / width).ln() / reached.spent.max(1.0);
            let rate = reached.rate.max(if rate.is_finite() { rate } else { 0.0 });
            entry.is_steady = entry.rate.is_some_and(|last| last < 3.0 * rate && rate < 3.0 * last);
            entry.rate = Some(rate);
            entry.is_dead = reached.end == SweepEnd::Slow && reached.spent < 0.5 * budget;
            // Widths are alike while values still flow through the model, and the newer values are then the better ones.
            if width <= before * 1.5 || reached.end == SweepEnd::Stopped {
                self.best = reached;
            }
            if self.is_directed.is_none() && self.best.end == SweepEnd::Slow {
                let is_directed = sweeps::one_way_share(model, &self.best.policy) >= DIRECTED;
                if is_directed {
                    // Krylov's method solves such chains in a few iterations.
                    self.entries[1..].sort_by_key(|entry| entry.runner != Runner::Krylov);
                }
                self.is_directed = Some(is_directed);
            }
            let needs = self.choose_next((self.best.shift.width() / goal.width).ln());
            if self.total >= pause && needs > self.total {
                return;
            }
        }
    }

    /// Sets whose turn is next, and for how many sweeps, given the logarithm that is left. Returns how many sweeps the leader
    /// is expected to need.
    fn choose_next(&mut self, left: f64) -> f64 {
        let entries = &self.entries;
        let rate = |i: usize| if entries[i].is_dead { -1.0 } else { entries[i].rate.unwrap_or(0.0).max(0.0) };
        let leader = (0..entries.len()).max_by(|&a, &b| rate(a).total_cmp(&rate(b)).then(b.cmp(&a)));
        let leader = leader.unwrap_or(self.turn);
        let needs = if rate(leader) > 0.0 { left / rate(leader) } else { f64::INFINITY };
        // The one that had the fewest turns, unless the leader is nearly there.
        let rivals = (0..entries.len()).filter(|&i| i != leader && !entries[i].is_dead);
        // After a first turn each, Krylov's method is the one whose turn was too short to show much.
        let later = |i: usize| entries[i].n_turns > 0 && entries[i].runner != Runner::Krylov;
        let rival = rivals.min_by_key(|&i| (entries[i].n_turns, later(i), i));
        let is_directed = self.is_directed.unwrap_or(false);
        let early = !is_directed && self.total < LONG;
        (self.turn, self.budget) = match rival {
            Some(rival) if !early && needs > 1.5 * self.total + 3.0 * SHORT && self.turn == leader => {
                // Krylov's method shows what it can do only after a while, which much work ahead is worth.
                let share = match (entries[rival].runner, entries[leader].is_steady) {
                    (Runner::Krylov, true) => (0.5 * needs).min(3.0 * self.total),
                    (Runner::Krylov, false) => (0.5 * needs).min(self.total),
                    _ => 0.0,
                };
                let least = if is_directed && self.total < LONG { 2.0 * LONG } else { SHORT };
                (rival, (0.5 * self.total).max(share).max(least))
            }
            _ => (leader, (1.25 * needs).clamp(SHORT, self.total.max(LONG - self.total))),
        };
        needs
    }

    /// The values reached, with all work counted.
    pub fn finish(self) -> Reached {
        Reached { spent: self.total, iterations: self.iterations, ..self.best }
    }
}

/// The share of self loops in the probability, by a sample.
fn self_loops(model: &FlatModel) -> f64 {
    let (mut stay, mut all) = (0.0, 0.0);
    for (state, arc) in sampled_arcs(model) {
        all += model.probabilities[arc];
        if model.targets[arc] as usize == state && !model.is_end(state) {
            stay += model.probabilities[arc];
        }
    }
    stay / f64::max(all, f64::MIN_POSITIVE)
}
