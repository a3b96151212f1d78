//! One pass over the components of a reduced problem, successors first, each by the method that suits it.

use super::ComponentMethod;
use super::component::Component;
use super::objective::SolveTask;
use super::proof::{Bounds, by_elimination, is_lower, is_upper};
use super::solver::{ComponentMemory, OrderedProblem, PolicyBounds};
use super::sweeps::{Sweeper, widest};

/// Components up to this many states are eliminated without trying sweeps first: at most a few milliseconds each.
const MAX_STATES_ELIMINATED_UNSWEPT: usize = 300;

/// Multiplications granted to the elimination of a component: a few seconds.
const MAX_ELIMINATION_WORK: u64 = 2_000_000_000;

/// Sweeps before elimination is tried.
const MAX_SWEEPS_BEFORE_ELIMINATION: u64 = 2000;

/// Sweeps that a re-solve may always take.
const MIN_RESOLVE_SWEEPS: u64 = 20;

/// Sweeps for an upper bound where elimination proved none.
const MAX_SWEEPS_FOR_UPPER_BOUND: u64 = 20_000;

/// Sweeps where no other method is left.
const MAX_SWEEPS: u64 = 10_000_000;

/// Stands for the number of sweeps of a component for which elimination was needed.
const NEEDED_ELIMINATION: u64 = u64::MAX;

/// The methods that solved components, for the explanation.
#[derive(Default)]
struct Tally {
    single: usize,
    eliminated: usize,
    swept: usize,
    largest: usize,
    unproven: usize,
}

/// The state that solving a component begins with and leaves behind.
struct Iterate {
    /// A choice per state.
    policy: Vec<u32>,
    /// Values: where sweeps begin.
    x: Vec<f64>,
    /// Weights that may carry a proof over sweeps, for the lower and the upper side.
    weights: [Vec<f64>; 2],
}

/// After a change; the solution is close to the previous one.
#[derive(Clone, Copy)]
pub(super) struct Resolve {
    /// True if a component is solved at any cost. Otherwise it is abandoned if that does not seem to pay.
    pub patient: bool,
}

/// One pass over all components, or over some again.
pub(super) struct ComponentPass<'a> {
    problem: &'a OrderedProblem,
    memory: &'a mut ComponentMemory,
    pub found: PolicyBounds,
    pub iterations: u64,
    tally: Tally,
    width: f64,
    resolve: Option<Resolve>,
    task: &'a SolveTask<'a>,
}

impl<'a> ComponentPass<'a> {
    /// Starts from `found`, aiming for bounds at most `width` wide in addition to the widths of constants.
    pub fn new(
        problem: &'a OrderedProblem,
        memory: &'a mut ComponentMemory,
        found: PolicyBounds,
        width: f64,
        resolve: Option<Resolve>,
        task: &'a SolveTask<'a>,
    ) -> Self {
        Self { problem, memory, found, iterations: 0, tally: Tally::default(), width, resolve, task }
    }

    /// Solves all components.
    pub fn run(&mut self) {
        let mut local = Component::default();
        let mut stopped = false;
        for component in 0..self.problem.components.len() {
            let states = self.cut(component, &mut local);
            if states.len() == 1 {
                self.solve_singleton(&local, states[0] as usize);
                stopped |= component % 65536 == 65535 && (self.task.stop)();
                continue;
            }
            stopped = stopped || (self.task.stop)();
            self.tally.largest = self.tally.largest.max(states.len());
            if stopped || !is_known(&local) || !self.solve_component(component, &local) {
                self.back_up(&local, states);
            }
        }
    }

    /// Re-solves a component after a change to one of its rows or (`!direct`) to what it leads to. False if that takes too
    /// long; its bounds are meaningless then.
    pub fn resolve(&mut self, component: usize, local: &mut Component, direct: bool) -> bool {
        let states = self.cut(component, local);
        if states.len() > 1 && (!is_known(local) || (!direct && self.still_holds(local, states))) {
            return is_known(local);
        }
        let [least, most] = self.problem.bounds;
        for &s in states {
            (self.found.lower[s as usize], self.found.upper[s as usize]) = (least, most);
        }
        if states.len() == 1 {
            self.solve_singleton(local, states[0] as usize);
            return true;
        }
        self.tally.largest = self.tally.largest.max(states.len());
        self.solve_component(component, local)
    }

    /// Extracts a component, with the bounds of what it leads to; returns its states.
    fn cut(&self, component: usize, local: &mut Component) -> &'a [u32] {
        let problem = self.problem;
        let OrderedProblem { reduced, components, rank, .. } = problem;
        local.cut(reduced, components, rank, component, [&self.found.lower, &self.found.upper]);
        components.states_of(component)
    }

    /// Returns whether the bounds of a component still hold with its new constants. The policy is still proper, because only
    /// constants changed.
    fn still_holds(&self, local: &Component, states: &[u32]) -> bool {
        let of = |numbers: &[f64]| states.iter().map(|&s| numbers[s as usize]).collect::<Vec<f64>>();
        is_upper(local, &of(&self.found.upper))
            && is_lower(local, &self.policy_of(local, states), &of(&self.found.lower))
    }

    fn policy_of(&self, local: &Component, states: &[u32]) -> Vec<u32> {
        let choice = |(i, &s): (usize, &u32)| local.local_choice(i, self.found.policy[s as usize]);
        states.iter().enumerate().map(choice).collect()
    }

    /// A component of several states. False if it was abandoned.
    fn solve_component(&mut self, number: usize, component: &Component) -> bool {
        let states = self.problem.components.states_of(number);
        let of = |numbers: &[f64]| states.iter().map(|&s| numbers[s as usize]).collect::<Vec<f64>>();
        let mut iterate = Iterate {
            policy: self.policy_of(component, states),
            x: of(&self.memory.x),
            weights: self.memory.weights.each_ref().map(|weights| of(weights)),
        };
        let Some(bounds) = self.solve_cycle(number, component, &mut iterate) else { return false };
        for (i, &s) in states.iter().enumerate() {
            let s = s as usize;
            self.memory.x[s] = iterate.x[i];
            let weights = self.memory.weights.iter_mut().zip(&iterate.weights);
            weights.for_each(|(kept, weight)| kept[s] = weight[i]);
            // What was proven is no worse than what was known beforehand, or is not used.
            self.found.lower[s] = self.found.lower[s].max(bounds.lower[i]);
            self.found.upper[s] = self.found.upper[s].min(bounds.upper[i]);
            self.found.policy[s] = component.reduced_choice(iterate.policy[i]);
        }
        true
    }

    /// A state by itself: each choice is worth its constant.
    fn solve_singleton(&mut self, local: &Component, state: usize) {
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
    fn back_up(&mut self, local: &Component, states: &[u32]) {
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

    /// A component with cycles through several states: swept, eliminated, or first one and then the other. `None` if it was
    /// abandoned.
    fn solve_cycle(&mut self, number: usize, component: &Component, iterate: &mut Iterate) -> Option<Bounds> {
        let method = self.task.method;
        let n = component.shape.n();
        let is_large = n > MAX_STATES_ELIMINATED_UNSWEPT;
        // In a re-solve that need not succeed, whatever costs about as much as a fresh solve is abandoned.
        let may_abandon = self.resolve.is_some_and(|resolve| !resolve.patient);
        // Elimination starts from the policy that is known to be proper, not from one that unfinished sweeps left.
        let proper = iterate.policy.clone();

        // The history says what will work: how many sweeps this component took when it was solved last, or else, whether
        // sweeps were too slow for one about as large, which after a change of the model is probably the same one.
        let sweeps_before =
            self.memory.sweeps.get(&(number as u32)).copied().filter(|_| self.resolve.is_some());
        let similar_component =
            self.memory.eliminated.filter(|&(size, _)| is_large && 2 * n >= size && n <= 2 * size);
        let sweeps_are_slow = sweeps_before == Some(NEEDED_ELIMINATION)
            || (sweeps_before.is_none() && similar_component.is_some());

        // Sweeps cost a multiplication per arc and usually suffice; elimination may fill the component up. So large
        // components are swept first, unless that is known to be slow.
        let sweeps_first = match method {
            ComponentMethod::Sweeps => true,
            ComponentMethod::Elimination => false,
            ComponentMethod::Automatic => is_large && !sweeps_are_slow,
        };
        let mut swept = None;
        if sweeps_first {
            // A re-solve starts close to the solution: one that needs more than an eighth of the sweeps of a fresh solve
            // does not pay.
            let eighth_of =
                |before: u64| (before / 8).clamp(MIN_RESOLVE_SWEEPS, MAX_SWEEPS_BEFORE_ELIMINATION);
            let max_sweeps =
                sweeps_before.filter(|_| may_abandon).map_or(MAX_SWEEPS_BEFORE_ELIMINATION, eighth_of);
            let warm = self.resolve.is_some() || self.task.warm.is_some();
            let (bounds, sweeps) = self.sweep(component, iterate, max_sweeps, warm);
            self.tally.swept += 1;
            if width(&bounds) <= constants_width(component) + self.width {
                self.memory.sweeps.entry(number as u32).or_insert(sweeps);
                return Some(bounds);
            }
            if (self.task.stop)() || may_abandon {
                return Some(bounds).filter(|_| !may_abandon);
            }
            swept = Some(bounds);
        }
        if method == ComponentMethod::Sweeps {
            return Some(self.sweep_to_end(component, iterate, swept));
        }

        // Elimination takes long where it fills up, so it works within a budget: a few seconds, or, for a component that was
        // not even swept because a similar one was not worth it, eight times what that one took.
        let work_budget = match similar_component.filter(|_| swept.is_none()) {
            _ if method == ComponentMethod::Elimination => u64::MAX,
            Some((_, work)) => work.saturating_mul(8).min(MAX_ELIMINATION_WORK),
            None => MAX_ELIMINATION_WORK,
        };
        match self.eliminate(number, component, proper, work_budget) {
            Some(eliminated) => self.combine(component, iterate, swept, eliminated, may_abandon),
            // Too much work, or all digits lost: sweeps are all that remains.
            None => (!may_abandon).then(|| self.sweep_to_end(component, iterate, swept)),
        }
    }

    /// At most so many sweeps; returns the bounds that they prove and how many were needed.
    fn sweep(
        &mut self,
        component: &Component,
        iterate: &mut Iterate,
        max_sweeps: u64,
        warm: bool,
    ) -> (Bounds, u64) {
        let Iterate { policy, x, weights } = iterate;
        let stop: &dyn Fn() -> bool = &|| (self.task.stop)();
        let mut sweeper =
            Sweeper { local: component, width: self.width, sweeps: max_sweeps, warm, weights, stop };
        let bounds = sweeper.run(x, policy);
        let sweeps = max_sweeps - sweeper.sweeps;
        self.iterations += sweeps;
        (bounds, sweeps)
    }

    /// Policy iteration by elimination from a proper policy, within a budget of multiplications. Returns the bounds and the
    /// policy behind the lower one; `None` if it failed.
    fn eliminate(
        &mut self,
        number: usize,
        component: &Component,
        mut policy: Vec<u32>,
        work_budget: u64,
    ) -> Option<(Bounds, Vec<u32>)> {
        let n = component.shape.n();
        let mut work_left = work_budget;
        let (bounds, rounds) =
            by_elimination(component, &mut policy, &mut work_left, &|| (self.task.stop)()).ok()?;
        self.iterations += rounds;
        self.tally.eliminated += 1;
        if n > MAX_STATES_ELIMINATED_UNSWEPT {
            self.memory.sweeps.insert(number as u32, NEEDED_ELIMINATION);
            if self.memory.eliminated.is_none_or(|(size, _)| size <= n) {
                self.memory.eliminated = Some((n, work_budget - work_left));
            }
        }
        Some((bounds, policy))
    }

    /// Takes the better of what sweeps and elimination proved; `None` if an upper bound is still missing and the component
    /// may be abandoned.
    fn combine(
        &mut self,
        component: &Component,
        iterate: &mut Iterate,
        swept: Option<Bounds>,
        (eliminated, policy): (Bounds, Vec<u32>),
        may_abandon: bool,
    ) -> Option<Bounds> {
        if swept.as_ref().is_some_and(|swept| width(swept) <= width(&eliminated)) {
            return swept;
        }
        iterate.policy = policy;
        iterate.x.copy_from_slice(&eliminated.lower);
        if eliminated.upper.iter().all(|upper| upper.is_finite()) {
            return Some(eliminated);
        }
        if may_abandon {
            return None;
        }
        // The lower bound is the policy's own value. Elimination could not prove an upper one (ties up to rounding), but any
        // upper bound that sweeps prove holds as well.
        let upper = match swept {
            Some(swept) => swept.upper,
            None => {
                let policy = iterate.policy.clone();
                let (bounds, _) = self.sweep(component, iterate, MAX_SWEEPS_FOR_UPPER_BOUND, false);
                iterate.policy = policy;
                bounds.upper
            }
        };
        Some(Bounds { lower: eliminated.lower, upper })
    }

    /// Sweeps for as long as it takes: there is no other method left.
    fn sweep_to_end(
        &mut self,
        component: &Component,
        iterate: &mut Iterate,
        first_attempt: Option<Bounds>,
    ) -> Bounds {
        let policy_before = iterate.policy.clone();
        let (bounds, _) = self.sweep(component, iterate, MAX_SWEEPS, false);
        self.tally.swept += 1;
        match first_attempt {
            Some(first) if width(&first) < width(&bounds) => {
                iterate.policy = policy_before;
                first
            }
            _ => bounds,
        }
    }

    /// The decisions in words.
    pub fn explain(&self) -> Vec<String> {
        let Tally { single, eliminated, swept, largest, unproven } = self.tally;
        let n_components = self.problem.components.len();
        let undecided = self.problem.rank.len();
        let mut explanation = vec![if self.resolve.is_some() {
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

/// Returns whether all constants are finite.
fn is_known(local: &Component) -> bool {
    local.gain.iter().all(|g| g[0].is_finite() && g[1].is_finite())
}

/// The width of the widest bounds.
fn width(bounds: &Bounds) -> f64 {
    widest(&bounds.lower, &bounds.upper)
}

/// The width of the constants: no method can make a component narrower.
fn constants_width(local: &Component) -> f64 {
    local.gain.iter().fold(0.0, |w, g| f64::max(w, g[1] - g[0]))
}
