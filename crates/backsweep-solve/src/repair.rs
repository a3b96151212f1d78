//! The answer again after a change: small backups from the touched states, with a bound that needs no full sweep.
//!
//! Kept at all times: Q of every choice up to counted rounding, and for every state that is not queued, `|max Q - V|` at
//! most the goal. A backup of a state passes its change on to the Q of the choices that lead to it, one multiplication and
//! addition per arc, and queues their states where that breaks the promise. Once the queue is empty, no residual exceeds the
//! goal plus rounding, so every value is proven to within (goal + rounding) / (1 - discount), whatever part of the model
//! was looked at.

mod queue;
mod rows;
mod work;

use crate::discounted::model::{Facts, Model, in_range};
use crate::discounted::solve_values;
use crate::{Direction, Limits, NO_CHOICE, Solution};
use backsweep_io::mdp::Mdp;
use queue::Queue;
use rows::Rows;

/// One change of a model. Choices keep their ids; one that is added gets the next free id.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Replaces the outcomes of a choice: target states with their probabilities.
    Outcomes {
        /// The choice.
        choice: u32,
        /// The new outcomes, which sum to at most 1.
        outcomes: Vec<(u32, f64)>,
    },
    /// Replaces the reward of a choice.
    Reward {
        /// The choice.
        choice: u32,
        /// The new reward.
        reward: f64,
    },
    /// Adds a choice to a state.
    Add {
        /// The state.
        state: u32,
        /// The reward.
        reward: f64,
        /// The outcomes, which sum to at most 1.
        outcomes: Vec<(u32, f64)>,
    },
    /// Removes a choice from its state.
    Remove {
        /// The choice.
        choice: u32,
    },
}

/// How a repair went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repaired {
    /// Whether every value is proven to within the tolerance.
    pub converged: bool,
    /// States backed up, each as often as it was.
    pub backups: u64,
    /// Whether so much was touched that the model was solved afresh.
    pub solved_afresh: bool,
}

/// What a change would do.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// The value of each state without the change (middle of its interval).
    pub before: Vec<f64>,
    /// The value of each state with the change.
    pub after: Vec<f64>,
    /// All values of both are within this of the truth.
    pub bound: f64,
    /// The states where the policy takes another choice.
    pub policy_changes: Vec<u32>,
    /// The choice that the policy takes with the change in each of these states, or [`NO_CHOICE`].
    pub choices_after: Vec<u32>,
    /// How the repair went.
    pub repaired: Repaired,
}

/// Values for [`Repair::resume`], as a solver left them.
///
/// The middle of an interval would not do: moving all values by the same amount breaks them where the model ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The value of each state, multiplied by -1 to minimize. Any finite numbers are allowed: those far off cost time.
    pub values: Vec<f64>,
}

/// A solved model that takes changes.
pub struct Repair {
    rows: Rows,
    /// 1 to maximize, -1 to minimize; `values` and `q` are multiplied by it.
    sign: f64,
    discount: f64,
    tolerance: f64,
    facts: Facts,
    values: Vec<f64>,
    policy: Vec<u32>,
    q: Vec<f64>,
    /// Small backups of each Q since it was last computed from its row.
    n_small: Vec<u32>,
    queue: Queue,
    /// No state outside the queue has a residual above this, rounding apart.
    promise: f64,
    /// No value exceeds this in absolute terms.
    largest_value: f64,
    /// Arcs that small backups may touch in a repair before solving afresh is cheaper.
    budget: u64,
}

impl Repair {
    /// Solves a model and keeps it ready for changes.
    ///
    /// # Errors
    /// As [`solve_discounted`](crate::solve_discounted).
    pub fn new(
        mdp: &Mdp,
        rewards: &[f64],
        discount: f64,
        direction: Direction,
        limits: &Limits,
    ) -> Result<Self, String> {
        let half = Limits { tolerance: 0.5 * limits.tolerance, ..*limits };
        let (values, policy) = solve_values(mdp, rewards, discount, direction, &half)?;
        let mut repair = Self::unsolved(mdp, rewards, discount, direction, limits);
        repair.adopt(values, policy);
        repair.settle(limits, u64::MAX);
        Ok(repair)
    }

    /// Takes over what [`Query::solve_for_repair`](crate::Query::solve_for_repair) left, also if rows of the model have changed
    /// since; the states are those of the model that was solved. Says how many states were backed up.
    ///
    /// # Errors
    /// As [`solve_discounted`](crate::solve_discounted), and if the number of states differs.
    pub fn resume(
        mdp: &Mdp,
        rewards: &[f64],
        discount: f64,
        direction: Direction,
        start: Start,
        limits: &Limits,
    ) -> Result<(Self, Repaired), String> {
        Model::new(mdp, rewards, discount, direction)?;
        let (n, found) = (mdp.n_states(), start.values.len());
        if found != n {
            return Err(format!("expected values of {n} states, found {found}"));
        }
        if let Some(bad) = start.values.iter().position(|value| !in_range(*value)) {
            let value = start.values[bad];
            return Err(format!(
                "the value of state {bad} is {value}; expected a number from -1e150 to 1e150"
            ));
        }
        let mut repair = Self::unsolved(mdp, rewards, discount, direction, limits);
        repair.adopt(start.values, vec![NO_CHOICE; n]);
        for state in 0..n {
            repair.policy[state] = repair.best(state).1;
        }
        let repaired = repair.repair(limits);
        Ok((repair, repaired))
    }

    /// A repair without values.
    fn unsolved(mdp: &Mdp, rewards: &[f64], discount: f64, direction: Direction, limits: &Limits) -> Self {
        let mut repair = Self {
            rows: Rows::new(mdp, rewards),
            sign: if direction == Direction::Maximize { 1.0 } else { -1.0 },
            discount,
            tolerance: limits.tolerance,
            facts: Facts { has_terminal: true, ..Facts::NONE },
            values: Vec::new(),
            policy: Vec::new(),
            q: Vec::new(),
            n_small: Vec::new(),
            queue: Queue::new(Vec::new(), 1),
            promise: f64::INFINITY,
            largest_value: 0.0,
            budget: 4 * mdp.n_arcs() as u64 + 10_000,
        };
        for choice in 0..repair.rows.n_choices() {
            repair.count(choice);
        }
        repair
    }

    /// Applies changes in order and repairs the values. All are checked before the first is made.
    ///
    /// # Errors
    /// If a change names a state or choice that does not exist, or has numbers out of range. Nothing is changed then.
    pub fn apply(&mut self, changes: &[Change], limits: &Limits) -> Result<Repaired, String> {
        self.check(changes)?;
        for change in changes {
            self.make(change);
        }
        Ok(self.repair(limits))
    }

    /// Answers what changes would do, without keeping them.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn what_if(&mut self, changes: &[Change], limits: &Limits) -> Result<WhatIf, String> {
        self.check(changes)?;
        let (values, policy) = (self.values.clone(), self.policy.clone());
        let (q, n_small) = (self.q.clone(), self.n_small.clone());
        let numbers = (self.facts, self.largest_value, self.promise, self.tolerance);
        let (bound_before, unfinished) = (self.bound(), !self.queue.is_empty());
        let n_choices = self.rows.n_choices();
        let undo: Vec<work::Undo> = changes.iter().map(|change| self.make(change)).collect();
        let repaired = self.repair(limits);
        let signed = |values: &[f64]| values.iter().map(|v| self.sign * v).collect::<Vec<f64>>();
        let differs = |&state: &usize| policy[state] != self.policy[state];
        let changed: Vec<usize> = (0..policy.len()).filter(differs).collect();
        let answer = WhatIf {
            before: signed(&values),
            after: signed(&self.values),
            bound: bound_before.max(self.bound()),
            policy_changes: changed.iter().map(|&state| state as u32).collect(),
            choices_after: changed.iter().map(|&state| self.policy[state]).collect(),
            repaired,
        };
        for change in undo.into_iter().rev() {
            self.unmake(change);
        }
        self.rows.forget_choices(n_choices);
        (self.values, self.policy, self.q, self.n_small) = (values, policy, q, n_small);
        (self.facts, self.largest_value, self.promise, self.tolerance) = numbers;
        self.queue.clear();
        if unfinished {
            self.requeue();
        }
        Ok(answer)
    }

    /// The value of a state, within [`bound`](Self::bound) of the truth.
    pub fn value(&self, state: usize) -> f64 {
        self.sign * self.values[state]
    }

    /// The choice that the policy takes in a state, or [`NO_CHOICE`].
    pub fn choice(&self, state: usize) -> u32 {
        self.policy[state]
    }

    /// Every value is proven to be within this of the truth. Looks at all choices if the latest repair was stopped.
    pub fn bound(&self) -> f64 {
        let residual =
            if self.queue.is_empty() { self.promise } else { self.largest_residual() } + self.rounding();
        let factor = self.facts.most_factor(self.discount);
        residual / (1.0 - factor).next_down() * (1.0 + 8.0 * f64::EPSILON)
    }

    /// Values with intervals and policy, as a fresh solve returns them.
    pub fn solution(&self) -> Solution {
        let bound = self.bound();
        let ends = |s: usize| self.policy[s] == NO_CHOICE;
        let n = self.rows.n_states();
        Solution {
            lower: (0..n).map(|s| if ends(s) { 0.0 } else { (self.value(s) - bound).next_down() }).collect(),
            upper: (0..n).map(|s| if ends(s) { 0.0 } else { (self.value(s) + bound).next_up() }).collect(),
            policy: self.policy.clone(),
            converged: self.queue.is_empty() && bound <= self.tolerance,
            iterations: 0,
            explanation: vec!["repaired by small backups".to_owned()],
        }
    }

    /// The model as it is now, its rewards, and the id here of each of its choices.
    pub fn model(&self) -> (Mdp, Vec<f64>, Vec<u32>) {
        self.rows.flat()
    }
}
