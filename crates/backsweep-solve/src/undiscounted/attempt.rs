//! One pass over the components of a reduced problem, successors first, each by the method that suits it.

use super::ComponentMethod;
use super::local::Local;
use super::objective::Task;
use super::proof::{Bounds, by_elimination, is_lower, is_upper};
use super::solver::{Found, Memory, Problem};
use super::sweeps::{Sweeping, widest};

/// Components up to this size are eliminated without trying sweeps first: at most a few milliseconds each.
const SMALL: usize = 300;

/// Multiplications granted to the elimination of a component: a few seconds.
const WORK: u64 = 2_000_000_000;

/// Sweeps before elimination is tried.
const SWEEPS: u64 = 2000;

/// Stands for the sweeps of a component for which elimination was needed.
const TOO_MANY: u64 = u64::MAX;

/// How components were solved, for the explanation.
#[derive(Default)]
struct Tally {
    single: usize,
    eliminated: usize,
    swept: usize,
    largest: usize,
    unproven: usize,
}

/// After a change; the solution is close to the previous one.
#[derive(Clone, Copy)]
pub(super) struct Again {
    /// Whether a component is solved at any cost. Otherwise it is abandoned if that does not seem to pay.
    pub patient: bool,
}

/// One pass over all components, or over some again.
pub(super) struct Attempt<'a> {
    problem: &'a Problem,
    memory: &'a mut Memory,
    pub found: Found,
    pub iterations: u64,
    tally: Tally,
    width: f64,
    again: Option<Again>,
    task: &'a Task<'a>,
}

impl<'a> Attempt<'a> {
    /// Starts from `found`, aiming for bounds at most `width` wide in addition to the widths of constants.
    pub fn new(
        problem: &'a Problem,
        memory: &'a mut Memory,
        found: Found,
        width: f64,
        again: Option<Again>,
        task: &'a Task<'a>,
    ) -> Self {
        Self { problem, memory, found, iterations: 0, tally: Tally::default(), width, again, task }
    }

    /// Solves all components.
    pub fn run(&mut self) {
        let mut local = Local::default();
        let mut stopped = false;
        for component in 0..self.problem.components.len() {
            let states = self.cut(component, &mut local);
            if states.len() == 1 {
                self.single(&local, states[0] as usize);
                stopped |= component % 65536 == 65535 && (self.task.stop)();
                continue;
            }
            stopped = stopped || (self.task.stop)();
            self.tally.largest = self.tally.largest.max(states.len());
            if stopped || !is_known(&local) || !self.several(component, &local) {
                self.back_up(&local, states);
            }
        }
    }

    /// Re-solves a component after a change to one of its rows or (`!direct`) to what it leads to. False if that takes too
    /// long; its bounds are meaningless then.
    pub fn solve_again(&mut self, component: usize, local: &mut Local, direct: bool) -> bool {
        let states = self.cut(component, local);
        if states.len() > 1 && (!is_known(local) || (!direct && self.still_holds(local, states))) {
            return is_known(local);
        }
        let [least, most] = self.problem.bounds;
        for &s in states {
            (self.found.lower[s as usize], self.found.upper[s as usize]) = (least, most);
        }
        if states.len() == 1 {
            self.single(local, states[0] as usize);
            return true;
        }
        self.tally.largest = self.tally.largest.max(states.len());
        self.several(component, local)
    }

    /// Extracts a component, with the bounds of what it leads to; returns its states.
    fn cut(&self, component: usize, local: &mut Local) -> &'a [u32] {
        let problem = self.problem;
        let Problem { reduced, components, rank, .. } = problem;
        local.cut(reduced, components, rank, component, [&self.found.lower, &self.found.upper]);
        components.states_of(component)
    }

    /// Whether the bounds of a component still hold with its new constants. The policy is still proper, because only
    /// constants changed.
    fn still_holds(&self, local: &Local, states: &[u32]) -> bool {
        let of = |numbers: &[f64]| states.iter().map(|&s| numbers[s as usize]).collect::<Vec<f64>>();
        is_upper(local, &of(&self.found.upper))
            && is_lower(local, &self.local_policy(local, states), &of(&self.found.lower))
    }

    fn local_policy(&self, local: &Local, states: &[u32]) -> Vec<u32> {
        let choice = |(i, &s): (usize, &u32)| local.local_choice(i, self.found.policy[s as usize]);
        states.iter().enumerate().map(choice).collect()
    }

    /// A component of several states. False if it was abandoned.
    fn several(&mut self, component: usize, local: &Local) -> bool {
        let states = self.problem.components.states_of(component);
        let of = |numbers: &[f64]| states.iter().map(|&s| numbers[s as usize]).collect::<Vec<f64>>();
        let mut policy = self.local_policy(local, states);
        let (mut x, mut weights) =
            (of(&self.memory.x), [of(&self.memory.weights[0]), of(&self.memory.weights[1])]);
        let Some(bounds) = self.entangled(component, local, &mut policy, &mut x, &mut weights) else {
            return false;
        };
        for (i, &s) in states.iter().enumerate() {
            let s = s as usize;
            self.memory.x[s] = x[i];
            self.memory.weights.iter_mut().zip(&weights).for_each(|(kept, weight)| kept[s] = weight[i]);
            // What was proven is no worse than what was known beforehand, or is not used.
            self.found.lower[s] = self.found.lower[s].max(bounds.lower[i]);
            self.found.upper[s] = self.found.upper[s].min(bounds.upper[i]);
            self.found.policy[s] = local.reduced_choice(policy[i]);
        }
        true
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
        self.found.policy[state] = local.reduced_choice(chosen);
        self.found.lower[state] = self.found.lower[state].max(best[0]);
        self.found.upper[state] = self.found.upper[state].min(best[1]);
    }

    /// One backup of the bounds: all that is done for a component after the stop. Largest values are at most what the best
    /// choice backs the upper bound up to. The lower bound stays, as it belongs to a policy.
    fn back_up(&mut self, local: &Local, states: &[u32]) {
        self.tally.unproven += 1;
        let x: Vec<f64> = states.iter().map(|&s| self.found.upper[s as usize]).collect();
        for (i, &s) in states.iter().enumerate() {
            let backed_up = local
                .shape
                .choices_of(i)
                .map(|c| local.backup_bound(c, local.gain[c][1], &x, 1.0))
                .fold(f64::NEG_INFINITY, |m, b| if b.is_nan() { f64::INFINITY } else { m.max(b) });
            self.found.upper[s as usize] = self.found.upper[s as usize].min(backed_up);
        }
    }

    /// A component with cycles through several states: elimination if it is small or sweeps do not end, sweeps otherwise.
    /// `None` if it was abandoned.
    fn entangled(
        &mut self,
        component: usize,
        local: &Local,
        policy: &mut Vec<u32>,
        x: &mut [f64],
        weights: &mut [Vec<f64>; 2],
    ) -> Option<Bounds> {
        let stop: &dyn Fn() -> bool = &|| (self.task.stop)();
        let start = policy.clone();
        let wide = |b: &Bounds| widest(&b.lower, &b.upper);
        let mut swept = None;
        let method = self.task.method;
        let warm = self.again.is_some() || self.task.warm.is_some();
        let hasty = self.again.is_some_and(|again| !again.patient);
        let n = local.shape.n();
        let large = n > SMALL;
        let before = self.memory.sweeps.get(&(component as u32)).copied().filter(|_| self.again.is_some());
        // A component about as large as one for which sweeps were too slow is probably the same one.
        let like = self.memory.eliminated.filter(|&(size, _)| large && 2 * n >= size && n <= 2 * size);
        let slow = before == Some(TOO_MANY) || (before.is_none() && like.is_some());
        if method == ComponentMethod::Sweeps || (method == ComponentMethod::Automatic && large && !slow) {
            // An eighth of what a fresh solve took.
            let few = |before: u64| (before / 8).clamp(20, SWEEPS);
            let sweeps = before.filter(|_| hasty).map_or(SWEEPS, few);
            let mut sweeping = Sweeping { local, width: self.width, sweeps, warm, weights, stop };
            let bounds = sweeping.run(x, policy);
            let taken = sweeps - sweeping.sweeps;
            self.iterations += taken;
            self.tally.swept += 1;
            if wide(&bounds) <= gain_width(local) + self.width {
                self.memory.sweeps.entry(component as u32).or_insert(taken);
                return Some(bounds);
            }
            if stop() || hasty {
                return Some(bounds).filter(|_| !hasty);
            }
            swept = Some(bounds);
        }
        if method == ComponentMethod::Sweeps {
            return Some(self.sweep_on(local, policy, x, weights, swept));
        }
        let granted = match like.filter(|_| swept.is_none()) {
            _ if method != ComponentMethod::Automatic => u64::MAX,
            Some((_, work)) => work.saturating_mul(8).min(WORK),
            None => WORK,
        };
        let mut work = granted;
        let mut improved = start;
        let Ok((bounds, rounds)) = by_elimination(local, &mut improved, &mut work, stop) else {
            return (!hasty).then(|| self.sweep_on(local, policy, x, weights, swept));
        };
        self.iterations += rounds;
        self.tally.eliminated += 1;
        if large {
            self.memory.sweeps.insert(component as u32, TOO_MANY);
            if self.memory.eliminated.is_none_or(|(size, _)| size <= n) {
                self.memory.eliminated = Some((n, granted - work));
            }
        }
        if swept.as_ref().is_some_and(|s| wide(s) <= wide(&bounds)) {
            return swept;
        }
        *policy = improved;
        x.copy_from_slice(&bounds.lower);
        if bounds.upper.iter().all(|u| u.is_finite()) {
            return Some(bounds);
        }
        if hasty {
            return None;
        }
        // The lower bound is the policy's; an upper one that sweeps proved holds as well.
        let upper = match swept {
            Some(s) => s.upper,
            None => {
                let mut sweeping =
                    Sweeping { local, width: self.width, sweeps: 20_000, warm: false, weights, stop };
                let s = sweeping.run(x, &mut policy.clone());
                self.iterations += 20_000 - sweeping.sweeps;
                s.upper
            }
        };
        Some(Bounds { lower: bounds.lower, upper })
    }

    /// Sweeps for as long as it takes: there is no other method left.
    fn sweep_on(
        &mut self,
        local: &Local,
        policy: &mut Vec<u32>,
        x: &mut [f64],
        weights: &mut [Vec<f64>; 2],
        swept: Option<Bounds>,
    ) -> Bounds {
        let stop: &dyn Fn() -> bool = &|| (self.task.stop)();
        let (mut before, mut at_first) = (policy.clone(), swept);
        const ALL: u64 = 10_000_000;
        let mut sweeping = Sweeping { local, width: self.width, sweeps: ALL, warm: false, weights, stop };
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

    /// What was done, in words.
    pub fn explain(&self) -> Vec<String> {
        let Tally { single, eliminated, swept, largest, unproven } = self.tally;
        let n_components = self.problem.components.len();
        let undecided = self.problem.rank.len();
        let mut explanation = vec![if self.again.is_some() {
            format!(
                "{} of {undecided} undecided states solved again, with graph and order as before: {single} single states in \
                 closed form, {eliminated} components by policy iteration with elimination, {swept} swept",
                single + largest,
            )
        } else {
            format!(
                "{undecided} undecided states in {n_components} strongly connected components, successors first: {single} \
                 single states in closed form, {eliminated} by policy iteration with elimination, {swept} swept; the largest \
                 has {} states",
                largest.max(usize::from(n_components > 0)),
            )
        }];
        if unproven > 0 {
            explanation.push(format!("stopped before {unproven} components were solved"));
        }
        explanation
    }
}

/// Whether all constants are finite.
fn is_known(local: &Local) -> bool {
    local.gain.iter().all(|g| g[0].is_finite() && g[1].is_finite())
}

/// How wide the constants already are: no method can make a component narrower.
fn gain_width(local: &Local) -> f64 {
    local.gain.iter().fold(0.0, |w, g| f64::max(w, g[1] - g[0]))
}
