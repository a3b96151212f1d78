//! A solved problem whose rows can be replaced: what graph analysis decided, and the order of components, stay.
//!
//! A row of a decided state, or one that is never taken, may get other probabilities above 0: the graph is unchanged. Let a
//! row of an undecided state change, with all its arcs to states whose value is known or undecided and none against the
//! order of components. What the graph decided elsewhere stays, since it was decided by rows of decided states alone, except
//! that undecided states may have become decided. Their bounds still hold:
//!
//! * The policy behind a lower bound is proven to be proper, by a weight that falls or by elimination, independently of the
//!   graph.
//! * An upper bound is proven by backups of all choices that are *below* it, rounding accounted for. In an end component that a
//!   change has created, the differences between backup and bound have mean 0 in the long run, plus the mean reward there; so
//!   rewards lose on average, and staying is no better than the bound. Where all rewards are 0, or none is below 0, that is a
//!   contradiction: the proof fails, and the model is solved from scratch.
//!
//! More is needed only where staying is worth something other than its rewards: the largest total until a label is infinite
//! where the label may be missed. There, a row must keep all the targets it had, and so creates no end component: the old row
//! would have stayed in it, too.

use super::ObjectiveKind;
use super::objective::SolveTask;
use super::reduced::ReducedRow;
use super::solver::Solver;
use crate::scc::NONE;

/// A solver with its mapping from and to the states of the model.
pub(crate) struct KeptSolver {
    pub solver: Solver,
    /// The reduced state of each state, or [`NONE`] where the graph decided the value.
    place: Vec<u32>,
    /// The state of each reduced state.
    states: Vec<u32>,
    /// The decided values.
    fixed: Vec<f64>,
    /// The choice of each state whose policy is to stay where it is.
    stay: Vec<u32>,
}

/// The change of a row.
pub(crate) struct NewRow<'r> {
    /// Whose row it is.
    pub state: u32,
    /// The choice.
    pub choice: u32,
    /// Its new form.
    pub row: ReducedRow<'r>,
    /// The relative error of its probabilities.
    pub slack: f64,
    /// The targets before.
    pub targets_before: &'r [u32],
    /// True if it could end the episode before.
    pub ended_before: bool,
}

impl KeptSolver {
    pub fn new(solver: Solver, place: Vec<u32>, fixed: Vec<f64>, stay: Vec<u32>) -> Self {
        let mut states = vec![NONE; solver.n()];
        let undecided = place.iter().enumerate().filter(|(_, place)| **place != NONE);
        undecided.for_each(|(s, &place)| states[place as usize] = s as u32);
        Self { solver, place, states, fixed, stay }
    }

    /// Renumbers the choices.
    pub fn renumber(&mut self, ids: &[u32]) {
        self.solver.renumber(ids);
        self.stay.iter_mut().filter(|c| **c != NONE).for_each(|c| *c = ids[*c as usize]);
    }

    /// Returns whether a row can be replaced while the graph analysis stays. `known` says whether the value of a
    /// decided state is a number, `lowest` whether everything is multiplied by -1.
    pub fn fits(
        &self,
        kind: ObjectiveKind,
        lowest: bool,
        new: &NewRow,
        known: impl Fn(usize) -> bool,
    ) -> bool {
        let NewRow { state, choice, row, slack, targets_before, ended_before } = new;
        let place = self.place[*state as usize];
        let same_way = targets_before.iter().all(|t| row.targets.contains(t));
        if place == NONE || self.solver.choice(place as usize, *choice).is_none() {
            // The graph decided what the row does, and the graph stays.
            let no_other = row.targets.iter().all(|t| targets_before.contains(t));
            return same_way
                && no_other
                && *ended_before == (row.ends > 0.0)
                && self.solver.admits(0, [].into_iter(), *slack);
        }
        let decided = |t: &&u32| self.place[**t as usize] == NONE;
        let undecided = row.targets.iter().filter(|t| !decided(t)).map(|&t| self.place[t as usize]);
        let misses = kind == ObjectiveKind::Until && row.ends > 0.0;
        let only_stays = row.ends == 0.0 && row.targets.iter().all(|t| t == state);
        let may_stay = kind == ObjectiveKind::Until && !lowest && !same_way;
        !misses
            && !only_stays
            && !may_stay
            && row.targets.iter().filter(decided).all(|&t| known(t as usize))
            && self.solver.admits(place as usize, undecided, *slack)
    }

    /// Replaces the row of a choice, if it takes part.
    pub fn replace(&mut self, new: &NewRow) {
        let place = self.place[new.state as usize];
        if place != NONE
            && let Some(choice) = self.solver.choice(place as usize, new.choice)
        {
            self.solver.replace(choice, &new.row, &self.place, &self.fixed);
        }
    }

    /// Re-solves what depends on rows of the states `changed`, as [`Solver::resolve`] describes; `predecessors` calls back with
    /// every state that has an arc into a state. Calls back with each state visited, its bounds and its choice. False if that
    /// was not enough: nothing holds then.
    pub fn resolve(
        &mut self,
        changed: impl Iterator<Item = u32>,
        patient: bool,
        predecessors: impl Fn(u32, &mut dyn FnMut(u32)),
        task: &SolveTask,
        mut found: impl FnMut(usize, [f64; 2], u32),
    ) -> bool {
        let Self { solver, place, states, .. } = self;
        let changed = changed.map(|s| place[s as usize]).filter(|&place| place != NONE);
        let before = |r: u32, call: &mut dyn FnMut(u32)| {
            predecessors(states[r as usize], &mut |s| {
                if place[s as usize] != NONE {
                    call(place[s as usize]);
                }
            });
        };
        let Some(seen) = solver.resolve(changed, patient, before, task) else { return false };
        for r in seen {
            let state = self.states[r as usize] as usize;
            let (bounds, origin) = self.solver.answer(r as usize);
            found(state, bounds, if origin == NONE { self.stay[state] } else { origin });
        }
        true
    }
}
