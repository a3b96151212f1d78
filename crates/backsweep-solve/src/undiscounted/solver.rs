//! Solves a reduced problem component by component, successors first.

use super::Method;
use super::local::Local;
use super::objective::Task;
use super::proof::{Bounds, by_elimination};
use super::reduced::Reduced;
use super::sweeps::{Sweeping, widest};
use crate::scc::Components;

/// Components up to this size are eliminated without trying sweeps first: at most a few milliseconds each.
const SMALL: usize = 300;

/// Multiplications granted to the elimination of a component: a few seconds.
const WORK: u64 = 2_000_000_000;

/// Bounds and policy of a reduced problem.
pub(crate) struct Solved {
    /// The value of each state is at least this, and so is that of the policy.
    pub lower: Vec<f64>,
    /// The value of each state is at most this.
    pub upper: Vec<f64>,
    /// The choice of each state.
    pub policy: Vec<u32>,
    /// Sweeps and eliminations.
    pub iterations: u64,
    /// What was done.
    pub explanation: Vec<String>,
}

/// How components were solved, for the explanation.
#[derive(Default)]
struct Tally {
    single: usize,
    eliminated: usize,
    swept: usize,
    largest: usize,
    unproven: usize,
}

/// Solves to within `task.tolerance` if rounding allows; `[least, most]` holds for every state beforehand. Sweeps begin at `x`.
pub(crate) fn solve(reduced: &Reduced, [least, most]: [f64; 2], mut x: Vec<f64>, task: &Task) -> Solved {
    let n = reduced.shape.n();
    let components =
        Components::find(n, |_| true, |s| reduced.shape.arcs_of_state(s), |a| reduced.targets[a]);
    let mut rank = vec![0; n];
    for component in 0..components.len() {
        for (i, &s) in components.states_of(component).iter().enumerate() {
            rank[s as usize] = i as u32;
        }
    }
    let start = reduced.proper_policy();
    let mut best = Solved {
        lower: vec![least; n],
        upper: vec![most; n],
        policy: start.clone(),
        iterations: 0,
        explanation: Vec::new(),
    };
    // Components pass their widths on, so each aims below the tolerance; lower again if that was not enough.
    let mut width = task.tolerance;
    let mut before = f64::INFINITY;
    loop {
        let mut attempt = Attempt {
            reduced,
            components: &components,
            rank: &rank,
            lower: vec![least; n],
            upper: vec![most; n],
            policy: start.clone(),
            iterations: 0,
            tally: Tally::default(),
            width,
            task,
        };
        attempt.run(&mut x);
        let iterations = best.iterations + attempt.iterations;
        let widest = widest(&attempt.lower, &attempt.upper);
        if widest < before || before == f64::INFINITY {
            best = attempt.finish(components.len());
        }
        best.iterations = iterations;
        if widest <= 2.0 * task.tolerance || widest >= 0.9 * before || (task.stop)() {
            return best;
        }
        before = widest;
        width /= 64.0;
    }
}

/// One pass over all components.
struct Attempt<'a> {
    reduced: &'a Reduced,
    components: &'a Components,
    rank: &'a [u32],
    lower: Vec<f64>,
    upper: Vec<f64>,
    policy: Vec<u32>,
    iterations: u64,
    tally: Tally,
    width: f64,
    task: &'a Task<'a>,
}

impl Attempt<'_> {
    fn run(&mut self, x: &mut [f64]) {
        let mut local = Local::default();
        let mut stopped = false;
        for component in 0..self.components.len() {
            let states = self.components.states_of(component);
            local.cut(self.reduced, self.components, self.rank, component, [&self.lower, &self.upper]);
            if states.len() == 1 {
                self.single(&local, states[0] as usize);
                stopped |= component % 65536 == 65535 && (self.task.stop)();
                continue;
            }
            stopped = stopped || (self.task.stop)();
            self.tally.largest = self.tally.largest.max(states.len());
            let known = local.gain.iter().all(|g| g[0].is_finite() && g[1].is_finite());
            if stopped || !known {
                self.back_up(&local, states);
                continue;
            }
            let mut policy: Vec<u32> = states
                .iter()
                .enumerate()
                .map(|(i, &s)| local.local_choice(i, self.policy[s as usize]))
                .collect();
            let mut values: Vec<f64> = states.iter().map(|&s| x[s as usize]).collect();
            let bounds = self.entangled(&local, &mut policy, &mut values);
            for (i, &s) in states.iter().enumerate() {
                let s = s as usize;
                x[s] = values[i];
                // What was proven is no worse than what was known beforehand, or is not used.
                self.lower[s] = self.lower[s].max(bounds.lower[i]);
                self.upper[s] = self.upper[s].min(bounds.upper[i]);
                self.policy[s] = local.reduced_choice(policy[i]);
            }
        }
    }

    /// A state by itself: each choice is worth its constant.
    fn single(&mut self, local: &Local, state: usize) {
        let mut best = [f64::NEG_INFINITY; 2];
        let mut chosen = 0;
        for c in local.shape.choices_of(0) {
            let [low, high] = local.gain[c];
            if low > best[0] || best[0] == f64::NEG_INFINITY {
                (best[0], chosen) = (low, c as u32);
            }
            best[1] = best[1].max(high);
        }
        self.tally.single += 1;
        self.policy[state] = local.reduced_choice(chosen);
        self.lower[state] = self.lower[state].max(best[0]);
        self.upper[state] = self.upper[state].min(best[1]);
    }

    /// One backup of the bounds: all that is done for a component after the stop. Largest values are at most what the best
    /// choice backs the upper bound up to. The lower bound stays, as it belongs to a policy.
    fn back_up(&mut self, local: &Local, states: &[u32]) {
        self.tally.unproven += 1;
        let x: Vec<f64> = states.iter().map(|&s| self.upper[s as usize]).collect();
        for (i, &s) in states.iter().enumerate() {
            let backed_up = local
                .shape
                .choices_of(i)
                .map(|c| local.backup_bound(c, local.gain[c][1], &x, 1.0))
                .fold(f64::NEG_INFINITY, |m, b| if b.is_nan() { f64::INFINITY } else { m.max(b) });
            self.upper[s as usize] = self.upper[s as usize].min(backed_up);
        }
    }

    /// A component with cycles through several states: elimination if it is small or sweeps do not end, sweeps otherwise.
    fn entangled(&mut self, local: &Local, policy: &mut Vec<u32>, x: &mut [f64]) -> Bounds {
        let stop: &dyn Fn() -> bool = &|| (self.task.stop)();
        let start = policy.clone();
        let wide = |b: &Bounds| widest(&b.lower, &b.upper);
        let mut swept = None;
        let method = self.task.method;
        let warm = self.task.warm.is_some();
        if method == Method::Sweeps || (method == Method::Automatic && local.shape.n() > SMALL) {
            let mut sweeping = Sweeping { local, width: self.width, sweeps: 2000, warm, stop };
            let bounds = sweeping.run(x, policy);
            self.iterations += 2000 - sweeping.sweeps;
            self.tally.swept += 1;
            if wide(&bounds) <= gain_width(local) + self.width || stop() {
                return bounds;
            }
            swept = Some(bounds);
        }
        if method == Method::Sweeps {
            return self.sweep_on(local, policy, x, swept);
        }
        let mut work = if method == Method::Automatic { WORK } else { u64::MAX };
        let mut improved = start;
        let Ok((bounds, rounds)) = by_elimination(local, &mut improved, &mut work, stop) else {
            return self.sweep_on(local, policy, x, swept);
        };
        self.iterations += rounds;
        self.tally.eliminated += 1;
        if swept.as_ref().is_some_and(|s| wide(s) <= wide(&bounds)) {
            return swept.unwrap_or(bounds);
        }
        *policy = improved;
        x.copy_from_slice(&bounds.lower);
        if bounds.upper.iter().all(|u| u.is_finite()) {
            return bounds;
        }
        // The lower bound is the policy's; an upper one that sweeps proved holds as well.
        let upper = match swept {
            Some(s) => s.upper,
            None => {
                let mut sweeping = Sweeping { local, width: self.width, sweeps: 20_000, warm: false, stop };
                let s = sweeping.run(x, &mut policy.clone());
                self.iterations += 20_000 - sweeping.sweeps;
                s.upper
            }
        };
        Bounds { lower: bounds.lower, upper }
    }

    /// Sweeps for as long as it takes: nothing else can be done.
    fn sweep_on(
        &mut self,
        local: &Local,
        policy: &mut Vec<u32>,
        x: &mut [f64],
        swept: Option<Bounds>,
    ) -> Bounds {
        let stop: &dyn Fn() -> bool = &|| (self.task.stop)();
        let (mut before, mut at_first) = (policy.clone(), swept);
        const ALL: u64 = 10_000_000;
        let mut sweeping = Sweeping { local, width: self.width, sweeps: ALL, warm: false, stop };
        let bounds = sweeping.run(x, policy);
        self.iterations += ALL - sweeping.sweeps;
        self.tally.swept += 1;
        match at_first.take() {
            Some(first) if widest(&first.lower, &first.upper) < widest(&bounds.lower, &bounds.upper) => {
                std::mem::swap(policy, &mut before);
                first
            }
            _ => bounds,
        }
    }

    fn finish(self, n_components: usize) -> Solved {
        let Tally { single, eliminated, swept, largest, unproven } = self.tally;
        let mut explanation = vec![format!(
            "{} undecided states in {n_components} strongly connected components, successors first: {single} single states in \
             closed form, {eliminated} by policy iteration with elimination, {swept} swept; the largest has {} states",
            self.lower.len(),
            largest.max(usize::from(n_components > 0)),
        )];
        if unproven > 0 {
            explanation.push(format!("stopped before {unproven} components were solved"));
        }
        Solved {
            lower: self.lower,
            upper: self.upper,
            policy: self.policy,
            iterations: self.iterations + 1,
            explanation,
        }
    }
}

/// How wide the constants already are: no method makes a component narrower than that.
fn gain_width(local: &Local) -> f64 {
    local.gain.iter().fold(0.0, |w, g| f64::max(w, g[1] - g[0]))
}
