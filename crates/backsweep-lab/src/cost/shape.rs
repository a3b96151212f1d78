//! A made-up model in which the numbers of successors, actions, predecessors and states can be chosen one by one.
//!
//! It is made of groups: a *leader*, its *middle* state, and leaves, from which one pair each leads to the middle:
//!
//! ```text
//! leaf ─┐
//! leaf ─┼─▶ middle ─▶ leader ─▶ end          every pair has its full number of successors: all others are sinks
//! leaf ─┘
//! ```
//!
//! A round changes one state of each of the first sixteen groups, the same in every round. The caches of the machine
//! therefore hold what a cycle touches, and the number of states matters only if the method itself depends on it. The round
//! changes them all at once, so that sixteen elements are the most urgent, and times the cycles that process them; the cycles
//! that follow from these are not timed. The changed state is the middle; for Peng & Williams, whose queue holds triples, it
//! is the leader, so that the middle is what a cycle backs up. In either case a cycle reaches the stated number
//! of predecessors, and with n actions the pair is the greedy one for one leaf in n.

use super::{MEASURED_FOR, backups_of, clock_cost};
use crate::Result;
use crate::setting::RunResult;
use backsweep::planner::{Model, Planner, plan};
use backsweep::{Action, Budget, Next, PlannerKind, Settings, State};
use backsweep_baselines::{PENG_WILLIAMS, VALUE_ITERATION};
use std::time::Instant;

/// The most groups that a round changes.
const MAX_CHANGED_GROUPS: u32 = 16;

/// The sizes of a made-up model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelShape {
    /// Successors of a pair.
    pub successors: u32,
    /// Actions of a state.
    pub actions: u32,
    /// Pairs that lead to a middle state.
    pub predecessors: u32,
    /// States, about: a whole number of groups.
    pub states: u32,
}

impl ModelShape {
    /// The sizes that stay fixed while one grows.
    pub const BASE: Self = Self { successors: 8, actions: 4, predecessors: 16, states: 1000 };

    fn n_groups(&self) -> u32 {
        self.states / (self.predecessors + 2)
    }

    /// The model. Ids begin with the sinks; then come, group by group, the leader, the middle and the leaves.
    fn build(&self) -> Result<Model> {
        let n_states = self.n_groups() * (self.predecessors + 2);
        let sinks = (0..self.successors).map(|_| 0);
        let mut model = Model::with_states(sinks.chain((0..n_states).map(|_| self.actions as usize)))?;
        for group in 0..self.n_groups() {
            let (leader, middle) = (self.leader(group), self.middle(group));
            for action in 0..self.actions {
                self.set(&mut model, leader, action, None, 0.0)?;
                self.set(&mut model, middle, action, (action == 0).then_some(leader), 0.0)?;
                for i in 0..self.predecessors {
                    let to = (action == i % self.actions).then_some(middle);
                    self.set(&mut model, State(middle.0 + 1 + i), action, to, 0.0)?;
                }
            }
        }
        Ok(model)
    }

    fn leader(&self, group: u32) -> State {
        State(self.successors + group * (self.predecessors + 2))
    }

    fn middle(&self, group: u32) -> State {
        State(self.leader(group).0 + 1)
    }

    /// Gives a pair all its successors, equally likely: `to` instead of the first sink. Action 0 is the best by far.
    fn set(&self, model: &mut Model, state: State, action: u32, to: Option<State>, extra: f64) -> Result<()> {
        let reward = extra + if action == 0 { 100.0 } else { 0.0 };
        let probability = 1.0 / f64::from(self.successors);
        let outcomes: Vec<backsweep::planner::Outcome> = (0..self.successors)
            .map(|i| match to {
                Some(to) if i == 0 => to,
                _ => State(i),
            })
            .map(|next| backsweep::planner::Outcome { probability, reward, next: Next::Continue(next) })
            .collect();
        model.set_outcomes(state, Action(action), &outcomes)?;
        Ok(())
    }

    /// Times the cycles of a planner.
    pub(super) fn measure(&self, planner: PlannerKind) -> Result<RunResult> {
        let mut model = self.build()?;
        let mut settings = Settings { discount: 0.9, ..Settings::default() };
        if planner == VALUE_ITERATION {
            settings.threshold = 1e9; // one sweep must not lead to others: any change counts as small enough
        }
        let mut planner = planner.build(settings)?;
        planner.grow(&model);
        plan(&mut *planner, &model, Budget::UNTIL_IDLE);
        let clock = clock_cost();
        let mut result = RunResult::default();
        let begin = Instant::now();
        for round in 0.. {
            let n_cycles = self.change_all(&mut *planner, &mut model, round)?;
            let backups = backups_of(&*planner);
            let cycles = Instant::now();
            for _ in 0..n_cycles {
                planner.update_cycle(&model, usize::MAX);
            }
            let elapsed = cycles.elapsed().saturating_sub(clock);
            // The first rounds warm up the caches.
            if round == 2 {
                result.score = (backups_of(&*planner) - backups) as f64 / n_cycles as f64;
            }
            if round >= 2 {
                result.samples.push(elapsed.as_secs_f64() * 1e6 / n_cycles as f64);
            }
            if result.samples.len() >= 5 && begin.elapsed() >= MEASURED_FOR {
                break;
            }
            plan(&mut *planner, &model, Budget::UNTIL_IDLE);
        }
        Ok(result)
    }

    /// Changes one state of several groups; returns how many cycles that takes to process.
    fn change_all(&self, planner: &mut dyn Planner, model: &mut Model, round: u32) -> Result<u32> {
        let n_changed = self.n_groups().min(MAX_CHANGED_GROUPS);
        for group in 0..n_changed {
            let (state, to) = if planner.kind() == Some(PENG_WILLIAMS) {
                (self.leader(group), None)
            } else {
                (self.middle(group), Some(self.leader(group)))
            };
            self.set(model, state, 0, to, f64::from(1 + round % 2))?;
            let pair = model.pair(state, Action(0))?;
            planner.refresh(model, pair);
        }
        Ok(if planner.kind() == Some(VALUE_ITERATION) { 1 } else { n_changed })
    }
}
