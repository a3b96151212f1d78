//! Objectives without discount, and how they map to a reduced problem and back.

use super::ComponentMethod;
use super::kept::KeptSolver;
use super::mec::EndComponents;
use super::reduced::{ReducedMdp, Reduction};
use super::solver::Solver;
use super::view::View;
use crate::scc::NONE;
use backsweep_mdp::NO_CHOICE;

/// The goal and the method of a solve.
#[derive(Clone, Copy)]
pub(crate) struct SolveTask<'a> {
    /// Every value should be within this of the truth.
    pub tolerance: f64,
    /// Ends the work.
    pub stop: &'a dyn Fn() -> bool,
    /// The method for components.
    pub method: ComponentMethod,
    /// Help from an earlier answer.
    pub warm: Option<&'a WarmStart>,
    /// True if the solver is kept, for changes.
    pub keep: bool,
}

/// Help from an earlier answer for nearly the same model. Nothing in it is trusted.
#[derive(Clone, Default)]
pub(crate) struct WarmStart {
    /// The value of every state, multiplied by -1 to minimize: where sweeps begin.
    pub values: Vec<f64>,
    /// Weights that carried proofs, of the lower and the upper side; empty or one per state.
    pub weights: [Vec<f64>; 2],
    /// The size of the largest component for which sweeps were too slow, and the work of its elimination.
    pub eliminated: Option<(usize, u64)>,
}

/// An answer under construction: bounds and policy of every state of the model.
pub(crate) struct Draft {
    /// From below.
    pub lower: Vec<f64>,
    /// From above.
    pub upper: Vec<f64>,
    /// A choice per state.
    pub policy: Vec<u32>,
    /// Sweeps and eliminations.
    pub iterations: u64,
    /// The decisions so far.
    pub explanation: Vec<String>,
    /// Why nothing is known about some states, if that is not for lack of time or digits.
    pub unknown: Option<String>,
    /// The solver behind the bounds, if it is to be kept and can be.
    pub kept: Option<KeptSolver>,
    /// Help for the next answer, apart from values, if the solver is to be kept.
    pub warm: WarmStart,
}

impl Draft {
    /// Nothing known but `least` and `most`.
    pub fn unknown(n: usize, [least, most]: [f64; 2]) -> Self {
        Self {
            lower: vec![least; n],
            upper: vec![most; n],
            policy: vec![NO_CHOICE; n],
            iterations: 0,
            explanation: Vec::new(),
            unknown: None,
            kept: None,
            warm: WarmStart::default(),
        }
    }

    /// Nothing known, because the work was stopped during graph analysis. Bounds within the tolerance are an answer all the same,
    /// and then any policy is.
    pub fn stopped(view: &View, bounds: [f64; 2], task: &SolveTask) -> Self {
        let mut draft = Self::unknown(view.n(), bounds);
        draft.stop_at(view, bounds, task, |_| true);
        draft
    }

    /// Leaves these states at the bounds that hold beforehand.
    fn stop_at(&mut self, view: &View, bounds: [f64; 2], task: &SolveTask, of: impl Fn(usize) -> bool) {
        let is_narrow = bounds[0] == bounds[1] || bounds[1] - bounds[0] <= 2.0 * task.tolerance;
        for state in (0..view.n()).filter(|&state| of(state)) {
            [self.lower[state], self.upper[state]] = bounds;
            if is_narrow {
                self.policy[state] = view.choices(state).next().map_or(NO_CHOICE, |c| c as u32);
            }
        }
        self.explanation.push("stopped during graph analysis".to_string());
    }

    /// Sets a state's value exactly.
    pub fn set(&mut self, state: usize, value: f64) {
        (self.lower[state], self.upper[state]) = (value, value);
    }

    /// Turns largest values of negated rewards into smallest values.
    pub fn negate(&mut self) {
        std::mem::swap(&mut self.lower, &mut self.upper);
        for x in self.lower.iter_mut().chain(&mut self.upper) {
            // Plus 0 makes −0 into 0.
            *x = 0.0 - *x;
        }
    }
}

/// An interval times a sign.
pub(crate) fn signed([low, high]: [f64; 2], sign: f64) -> [f64; 2] {
    if sign > 0.0 { [low, high] } else { [0.0 - high, 0.0 - low] }
}

/// The undecided states of a question, their end components that count as one state, and the rest of the reduced problem.
pub(crate) struct ReducedProblem<'q> {
    /// The model.
    pub view: &'q View<'q>,
    /// Which states are undecided.
    pub undecided: &'q [bool],
    /// Groups of undecided states that count as one.
    pub groups: Option<&'q EndComponents>,
    /// Which choices of undecided states may be taken; those inside groups never are.
    pub allowed: &'q dyn Fn(usize) -> bool,
    /// The reward of each choice, to be maximised.
    pub reward: &'q dyn Fn(usize) -> [f64; 2],
    /// The worth of staying in a group forever, if it is possible.
    pub stay: Option<&'q dyn Fn(usize) -> [f64; 2]>,
    /// Bounds that hold beforehand.
    pub bounds: [f64; 2],
}

impl<'q> ReducedProblem<'q> {
    /// A problem in which every choice may be taken, without rewards or groups.
    pub fn new(view: &'q View<'q>, undecided: &'q [bool], bounds: [f64; 2]) -> Self {
        let (allowed, reward) = (&|_| true, &|_| [0.0; 2]);
        Self { view, undecided, groups: None, allowed, reward, stay: None, bounds }
    }

    /// Solves the reduced problem and writes bounds and policy of the undecided states into the draft, whose values of the
    /// others are finite wherever allowed choices lead. States whose policy is to stay in their group forever keep the policy
    /// that they have.
    pub fn answer(&self, draft: &mut Draft, task: &SolveTask) {
        let view = self.view;
        if (task.stop)() {
            return draft.stop_at(view, self.bounds, task, |s| self.undecided[s]);
        }
        let fixed = draft.lower.clone();
        let mut place = vec![NONE; view.n()];
        let mut groups: Vec<u32> = Vec::new();
        let mut place_of_group = vec![NONE; self.groups.map_or(0, |g| g.members.len())];
        for s in (0..view.n()).filter(|&s| self.undecided[s]) {
            let group = self.groups.map_or(NONE, |g| g.of[s]);
            if group != NONE && place_of_group[group as usize] != NONE {
                place[s] = place_of_group[group as usize];
                continue;
            }
            place[s] = groups.len() as u32;
            groups.push(group);
            if group != NONE {
                place_of_group[group as usize] = place[s];
            }
        }
        let inside = |c: usize| self.groups.is_some_and(|g| g.inside[c]);
        let plan = Reduction {
            place: &place,
            n: groups.len(),
            fixed: &fixed,
            allowed: &|c| (self.allowed)(c) && !inside(c),
            reward: self.reward,
            stay: &|r| match (self.stay, groups[r]) {
                (None, _) | (_, NONE) => None,
                (Some(stay), group) => Some(stay(group as usize)),
            },
        };
        let reduced = ReducedMdp::new(view, &plan);
        let reduce = |numbers: &[f64]| {
            let mut start = vec![0.0; groups.len()];
            let with_numbers = if numbers.is_empty() { 0 } else { view.n() };
            let finite = (0..with_numbers).filter(|&s| self.undecided[s] && numbers[s].is_finite());
            finite.for_each(|s| start[place[s] as usize] = numbers[s]);
            start
        };
        let (values, weights) = task
            .warm
            .map_or((&[][..], [&[][..]; 2]), |warm| (&warm.values, [&warm.weights[0], &warm.weights[1]]));
        let solver = Solver::solve(reduced, self.bounds, reduce(values), weights.map(reduce), task);
        let Some(mut solver) = solver else {
            return draft.stop_at(view, self.bounds, task, |s| self.undecided[s]);
        };
        if task.keep {
            let of_state = |r: &u32, weights: &[f64]| if *r == NONE { 0.0 } else { weights[*r as usize] };
            let by_state = |weights: &[f64]| place.iter().map(|r| of_state(r, weights)).collect();
            draft.warm.weights = solver.weights().each_ref().map(|weights| by_state(weights));
            draft.warm.eliminated = solver.eliminated();
        }
        let keep = task.keep && self.groups.is_none_or(|g| g.members.iter().all(|m| m.len() == 1));
        let before = if keep { draft.policy.clone() } else { Vec::new() };
        for s in (0..view.n()).filter(|&s| self.undecided[s]) {
            let r = place[s] as usize;
            let ([low, high], origin) = solver.answer(r);
            (draft.lower[s], draft.upper[s]) = (low, high);
            if origin != NONE && view.owner[origin as usize] as usize == s {
                draft.policy[s] = origin;
                if groups[r] != NONE
                    && let Some(g) = self.groups
                {
                    lead_to(view, s, |c| g.inside[c], &mut draft.policy);
                }
            }
        }
        draft.iterations += solver.iterations;
        draft.explanation.append(&mut solver.explanation);
        if keep {
            draft.kept = Some(KeptSolver::new(solver, place, fixed, before));
        }
    }
}

/// Directs every state of an end component to one of them, which these choices reach with probability 1.
pub(crate) fn lead_to(view: &View, target: usize, inside: impl Fn(usize) -> bool, policy: &mut [u32]) {
    let mut queue = vec![target as u32];
    let mut seen = std::collections::HashSet::from([target as u32]);
    let mut next = 0;
    while next < queue.len() {
        for &c in view.predecessors(queue[next] as usize) {
            let s = view.owner[c as usize];
            if inside(c as usize) && seen.insert(s) {
                policy[s as usize] = c;
                queue.push(s);
            }
        }
        next += 1;
    }
}
