//! Two attempts that each keep their state: sweeps, and Krylov's method, which shows what it can do only after a while.
//!
//! Sweeps begin. How fast they narrow the interval says how much more they need; while that is more than was spent, Krylov's
//! method gets a share of it, and the two take turns. What an attempt that loses cost is bounded by what the winner did.

use super::iteration::{Iteration, Reading};
use super::krylov;
use super::model::FlatModel;
use super::proof::Shift;
use super::sweeps::{Goal, Reached, SweepEnd};

/// The first turn, in sweeps over all choices.
const SHORT: f64 = 8.0;

/// The turn in which sweeps show what they can do: values that flow through a model take a while until intervals narrow.
const LONG: f64 = 32.0;

/// The turn of Krylov's method on a chain that leads one way; it ends at once where preconditioning does not solve the chain.
const DIRECTED_TURN: f64 = 128.0;

/// From this share of a policy's probability on that leads one way along the numbers, Krylov's method is tried early: it
/// solves such chains in a few iterations.
const DIRECTED: f64 = 0.8;

/// The name of Krylov's method.
const KRYLOV: &str = "krylov";

/// The attempts with their values.
pub(super) struct Race {
    sweeps: Iteration,
    /// The values of Krylov's method, once it had a turn.
    krylov: Option<Vec<f64>>,
    /// True once an attempt makes no progress at all: sweeps, Krylov's method.
    is_dead: [bool; 2],
    best: Reached,
    /// The work so far, in sweeps over all choices.
    total: f64,
    iterations: u64,
    /// The part of it that Krylov's method took.
    lost: f64,
    /// Expected work until the end: sweeps, Krylov's method.
    needs: [f64; 2],
    /// True if Krylov's method begins, which it does where it won before.
    pub krylov_first: bool,
    /// True if Krylov's method brought the best result.
    pub by_krylov: bool,
}

impl Race {
    pub fn new(model: &FlatModel, values: Vec<f64>) -> Self {
        Self {
            sweeps: Iteration::new(model, values, Reading::of(model)),
            krylov: None,
            is_dead: [false; 2],
            best: Reached {
                values: Vec::new(),
                policy: Vec::new(),
                shift: Shift { down: f64::NEG_INFINITY, up: f64::INFINITY },
                iterations: 0,
                spent: 0.0,
                rate: 0.0,
                end: SweepEnd::Slow,
            },
            total: 0.0,
            iterations: 0,
            lost: 0.0,
            needs: [f64::INFINITY; 2],
            krylov_first: false,
            by_krylov: false,
        }
    }

    /// True if no attempt can do more, or none needs to.
    pub fn is_over(&self) -> bool {
        self.best.end != SweepEnd::Slow || self.is_dead == [true; 2]
    }

    /// Runs the attempts in turn until the race is over, or `pause` sweeps were spent without an end in sight. `say` is told
    /// of every turn.
    pub fn run(&mut self, model: &FlatModel, pause: f64, goal: &Goal, say: &mut dyn FnMut(String)) {
        if self.total == 0.0 && self.krylov_first {
            self.solve_on(model, DIRECTED_TURN, goal, say);
        } else if self.total == 0.0 {
            let first = self.sweeps.values().to_vec();
            self.sweep(model, SHORT, goal, say);
            if !self.is_over() && self.needs[0] > 2.0 * LONG && self.sweeps.one_way_share() >= DIRECTED {
                // From the values that nothing was done to: sweeps have blurred them.
                self.krylov = Some(first);
                self.solve(model, DIRECTED_TURN, true, goal, say);
            }
            if !self.is_over() {
                self.sweep(model, LONG, goal, say);
            }
        }
        while !self.is_over() && self.total < goal.patience {
            let [sweeps, krylov] = self.needs;
            if self.total >= pause && sweeps.min(krylov) > self.total {
                return;
            }
            // Krylov's method may cost half of what sweeps still need. Where that is not known, its first turn is long, since
            // policies have to settle before an interval gets narrow.
            let swept = self.total - self.lost;
            let most = if self.lost == 0.0 { 3.0 * swept } else { 2.0 * swept };
            let turn = (0.5 * sweeps).min(most) - self.lost;
            if !self.is_dead[1] && (self.is_dead[0] || turn > 0.5 * LONG) {
                self.solve_on(model, turn.max(LONG), goal, say);
            }
            if !self.is_over() && !self.is_dead[0] {
                let turn = (1.25 * sweeps).min(self.total).max(LONG);
                self.sweep(model, turn, goal, say);
            }
        }
    }

    fn sweep(&mut self, model: &FlatModel, turn: f64, goal: &Goal, say: &mut dyn FnMut(String)) {
        let patient = Goal { patience: turn.min(goal.patience - self.total).max(1.0), ..*goal };
        let reached = self.sweeps.run(model, &patient);
        self.is_dead[0] = reached.end == SweepEnd::Slow && reached.spent < 0.5 * turn;
        self.needs[0] = needs(&reached, goal);
        self.take(self.sweeps.reading().name(), reached, say);
    }

    /// Krylov's method, and again for as long as it narrows the interval further.
    fn solve_on(&mut self, model: &FlatModel, mut turn: f64, goal: &Goal, say: &mut dyn FnMut(String)) {
        loop {
            let before = self.best.shift.width();
            self.solve(model, turn, false, goal, say);
            let is_ahead = !self.is_dead[1] && self.best.shift.width() < 0.7 * before;
            if !is_ahead || self.is_over() || self.total >= goal.patience {
                return;
            }
            turn = self.total;
        }
    }

    fn solve(
        &mut self,
        model: &FlatModel,
        turn: f64,
        directed: bool,
        goal: &Goal,
        say: &mut dyn FnMut(String),
    ) {
        let patient = Goal { patience: turn.min(goal.patience - self.total).max(1.0), ..*goal };
        let start = self.krylov.take().unwrap_or_else(|| self.sweeps.values().to_vec());
        let reached = krylov::iterate(model, start, directed, &patient);
        self.is_dead[1] = !directed && reached.end == SweepEnd::Slow && reached.spent < 0.5 * turn;
        self.needs[1] = needs(&reached, goal);
        // Values of a chain that does not lead one way after all are far from done.
        self.krylov = (!directed || reached.spent > 0.5 * turn).then(|| reached.values.clone());
        self.lost += reached.spent;
        self.take(KRYLOV, reached, say);
    }

    /// Keeps the better of two results.
    fn take(&mut self, name: &str, reached: Reached, say: &mut dyn FnMut(String)) {
        self.total += reached.spent;
        self.iterations += reached.iterations;
        let (width, total) = (reached.shift.width(), self.total);
        say(format!("{name}: intervals {width:.1e} wide after {total:.0} sweeps"));
        if width <= self.best.shift.width() || reached.end == SweepEnd::Stopped {
            (self.best, self.by_krylov) = (reached, name == KRYLOV);
        }
    }

    /// The values reached, with all work counted.
    pub fn finish(self) -> Reached {
        Reached { spent: self.total, iterations: self.iterations, ..self.best }
    }
}

/// The work until the goal at the latest rate.
fn needs(reached: &Reached, goal: &Goal) -> f64 {
    if reached.rate > 0.0 { (reached.shift.width() / goal.width).ln() / reached.rate } else { f64::INFINITY }
}
