//! Solves a reduced problem component by component, successors first, and re-solves parts of it after a change.

use super::component::Component;
use super::objective::SolveTask;
use super::pass::{ComponentPass, Resolve};
use super::reduced::{ReducedMdp, ReducedRow};
use super::sweeps::widest;
use crate::scc::{Components, NONE};
use std::collections::{BTreeMap, BTreeSet};

/// A reduced problem with its components in order: what stays where only numbers change.
pub(super) struct OrderedProblem {
    pub reduced: ReducedMdp,
    pub components: Components,
    /// The place of each state within its component.
    pub rank: Vec<u32>,
    /// Bounds that hold for every state beforehand.
    pub bounds: [f64; 2],
}

/// Bounds and policy of every state: its value is at least `lower`, and so is that of the policy, and at most `upper`.
#[derive(Clone, Default)]
pub(super) struct PolicyBounds {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub policy: Vec<u32>,
}

/// Hints that make the next solve of a component cheaper. Nothing in them is trusted.
#[derive(Clone)]
pub(super) struct ComponentMemory {
    /// Where sweeps begin.
    pub x: Vec<f64>,
    /// Weights that carried a proof over sweeps, for the lower and the upper side; 0 where there was none.
    pub weights: [Vec<f64>; 2],
    /// The number of sweeps that each swept component took.
    pub sweeps: BTreeMap<u32, u64>,
    /// The size of the largest component for which sweeps were too slow, and the work of its elimination.
    pub eliminated: Option<(usize, u64)>,
}

/// A reduced problem and its solution.
pub(crate) struct Solver {
    problem: OrderedProblem,
    found: PolicyBounds,
    memory: ComponentMemory,
    /// The width that the bounds of a component were allowed.
    width: f64,
    /// Sweeps and eliminations.
    pub iterations: u64,
    /// The decisions so far.
    pub explanation: Vec<String>,
}

/// The state that [`Solver::restore`] goes back to.
pub(crate) struct SolverState(PolicyBounds, ComponentMemory);

impl Solver {
    /// Solves to within `task.tolerance` if rounding allows; `bounds` hold for every state beforehand. Sweeps begin at `x`. `None` if
    /// the work was stopped before the order of states was known.
    pub fn solve(
        reduced: ReducedMdp,
        bounds: [f64; 2],
        x: Vec<f64>,
        weights: [Vec<f64>; 2],
        task: &SolveTask,
    ) -> Option<Self> {
        let n = reduced.shape.n();
        let components = Components::find_unless(
            n,
            |_| true,
            |s| reduced.shape.arcs_of_state(s),
            |a| reduced.targets[a],
            task.stop,
        )?;
        let mut rank = vec![0; n];
        for component in 0..components.len() {
            for (i, &s) in components.states_of(component).iter().enumerate() {
                rank[s as usize] = i as u32;
            }
        }
        let eliminated = task.warm.and_then(|warm| warm.eliminated);
        let memory = ComponentMemory { x, weights, sweeps: BTreeMap::new(), eliminated };
        let mut solver = Self {
            problem: OrderedProblem { reduced, components, rank, bounds },
            found: PolicyBounds::default(),
            memory,
            width: task.tolerance,
            iterations: 0,
            explanation: Vec::new(),
        };
        solver.run(task);
        Some(solver)
    }

    fn run(&mut self, task: &SolveTask) {
        let n = self.n();
        let [least, most] = self.problem.bounds;
        let proper = self.problem.reduced.proper_policy();
        // Components pass on their widths, so each aims below the tolerance, and lower still if that was not enough.
        let mut width = task.tolerance;
        let mut before = f64::INFINITY;
        loop {
            let start = PolicyBounds { lower: vec![least; n], upper: vec![most; n], policy: proper.clone() };
            let mut pass = ComponentPass::new(&self.problem, &mut self.memory, start, width, None, task);
            pass.run();
            self.iterations += pass.iterations + 1;
            let widest = widest(&pass.found.lower, &pass.found.upper);
            if widest < before || before == f64::INFINITY {
                self.width = width;
                self.explanation = pass.explain();
                self.found = pass.found;
            }
            if widest <= 2.0 * task.tolerance || widest >= 0.9 * before || (task.stop)() {
                return;
            }
            before = widest;
            width /= 64.0;
        }
    }

    /// The number of states.
    pub fn n(&self) -> usize {
        self.problem.rank.len()
    }

    /// Bounds of a state, and the model's choice, or [`NONE`] for staying in an end component forever.
    pub fn answer(&self, state: usize) -> ([f64; 2], u32) {
        let PolicyBounds { lower, upper, policy } = &self.found;
        let origin = match policy[state] {
            NONE => NONE,
            chosen => self.problem.reduced.origin[chosen as usize],
        };
        ([lower[state], upper[state]], origin)
    }

    /// Weights of states that carried a proof, for the lower and the upper side; 0 where there was none.
    pub fn weights(&self) -> &[Vec<f64>; 2] {
        &self.memory.weights
    }

    /// The size of the largest component for which sweeps were too slow, and the work of its elimination.
    pub fn eliminated(&self) -> Option<(usize, u64)> {
        self.memory.eliminated
    }

    /// Renumbers the model's choices.
    pub fn renumber(&mut self, ids: &[u32]) {
        let known = self.problem.reduced.origin.iter_mut().filter(|origin| **origin != NONE);
        known.for_each(|origin| *origin = ids[*origin as usize]);
    }

    /// The number here of a choice that the model has in a state, if it takes part.
    pub fn choice(&self, state: usize, origin: u32) -> Option<usize> {
        let reduced = &self.problem.reduced;
        reduced.shape.choices_of(state).find(|&c| reduced.origin[c] == origin)
    }

    /// Returns whether `slack` is at most that of the model, and no arc between states goes against the order of components.
    pub fn admits(&self, from: usize, mut to: impl Iterator<Item = u32>, slack: f64) -> bool {
        let of = &self.problem.components.of;
        slack <= self.problem.reduced.slack && to.all(|to| of[to as usize] <= of[from])
    }

    /// Replaces a row; [`resolve`](Self::resolve) then updates the bounds.
    pub fn replace(&mut self, choice: usize, row: &ReducedRow, place: &[u32], fixed: &[f64]) {
        self.problem.reduced.replace(choice, row, place, fixed);
    }

    /// The findings so far.
    pub fn snapshot(&self) -> SolverState {
        SolverState(self.found.clone(), self.memory.clone())
    }

    /// Goes back to what was found before; rows are changed back by the caller.
    pub fn restore(&mut self, SolverState(found, memory): SolverState) {
        (self.found, self.memory) = (found, memory);
    }

    /// Solves again after rows of the states `changed` were replaced: their components, and those before them as long as
    /// bounds move outside the old ones. Returns the states visited, or `None` if that is not enough: nothing holds
    /// then.
    ///
    /// `patient` means that no arc was added or removed: then the cost is at most that of a fresh solve.
    ///
    /// Bounds that have only become narrower are not passed on, since what was proven from the wider ones still holds.
    pub fn resolve(
        &mut self,
        changed: impl Iterator<Item = u32>,
        patient: bool,
        predecessors: impl Fn(u32, &mut dyn FnMut(u32)),
        task: &SolveTask,
    ) -> Option<Vec<u32>> {
        let Self { problem, found, memory, width, .. } = self;
        let components = &problem.components;
        let direct: BTreeSet<u32> = changed.map(|s| components.of[s as usize]).collect();
        let mut waiting = direct.clone();
        let mut pass = ComponentPass::new(
            problem,
            memory,
            std::mem::take(found),
            *width,
            Some(Resolve { patient }),
            task,
        );
        let (mut local, mut seen, mut before) = (Component::default(), Vec::new(), Vec::new());
        while let Some(component) = waiting.pop_first() {
            if (task.stop)() {
                return None;
            }
            let states = components.states_of(component as usize);
            let bounds = |found: &PolicyBounds, s: u32| [found.lower[s as usize], found.upper[s as usize]];
            before.clear();
            before.extend(states.iter().map(|&s| bounds(&pass.found, s)));
            if !pass.resolve(component as usize, &mut local, direct.contains(&component)) {
                return None;
            }
            seen.extend_from_slice(states);
            for (&s, old) in states.iter().zip(&before) {
                let new = bounds(&pass.found, s);
                let narrow = new[0] == new[1] || new[1] - new[0] <= 2.0 * task.tolerance;
                if !narrow {
                    return None;
                }
                if new[0] < old[0] || new[1] > old[1] {
                    predecessors(s, &mut |p| {
                        let of = components.of[p as usize];
                        if of > component {
                            waiting.insert(of);
                        }
                    });
                }
            }
        }
        let (iterations, explanation) = (pass.iterations + 1, pass.explain());
        (self.found, self.iterations, self.explanation) = (pass.found, iterations, explanation);
        Some(seen)
    }
}
