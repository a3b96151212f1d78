//! Repairs an answer after a change: small backups from the touched states, with a bound that needs no full sweep.
//!
//! Invariants: Q of every choice is right up to accounted rounding, and for every state that is not queued, `|max Q - V|` is
//! at most the goal. A backup of a state passes its change on to the Q of the choices that lead to it, one multiplication
//! and addition per arc, and queues their states where that breaks the inequality. Once the queue is empty, no residual
//! exceeds the goal plus rounding, so every value is proven to within (goal + rounding) / (1 - discount), however little of
//! the model was read.
//!
//! Costs without discount, each at least c > 0, are kept the same way, and the bound is relative: see [`costs`]. For other
//! questions without discount, a change may not matter ([`unaffected`]), or only the components that depend on it are
//! solved again ([`reuse`]); otherwise everything is, with sweeps that start from the previous values.

mod check;
mod costs;
mod queue;
mod reuse;
mod rows;
mod unaffected;
mod what_if;
mod work;

use crate::discounted::model::{Facts, FlatModel, in_range};
use crate::discounted::{self, Effort, How};
use crate::undiscounted::{KeptSolver, Resolved, View, WarmStart};
use crate::{Error, Limits, Result, Solution, reward_error};
use backsweep_mdp::{Change, Direction, Mdp, NO_CHOICE, Objective, Question};
use costs::Costs;
use queue::Queue;
use rows::LiveRows;
pub use what_if::WhatIf;

/// The outcome of a repair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repaired {
    /// True if every value is proven to within the tolerance.
    pub converged: bool,
    /// The number of state backups.
    pub backups: u64,
    /// True if so much was touched that the model was solved from scratch.
    pub solved_afresh: bool,
}

/// Values for [`Repair::resume`] and [`solve_from`](crate::solve_from), as a solver left them.
///
/// The middle of an interval would not do: moving all values by the same amount breaks them where the model ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The value of each state, multiplied by -1 to minimize. Any finite numbers are allowed; inaccurate ones cost time.
    pub values: Vec<f64>,
}

impl Start {
    /// Checks that there is one value per state, in range.
    pub(crate) fn check(&self, expected: usize) -> Result<()> {
        let found = self.values.len();
        if found != expected {
            return Err(Error::StartLength { found, expected });
        }
        match self.values.iter().position(|value| !in_range(*value)) {
            Some(state) => Err(Error::StartValue { state, found: self.values[state] }),
            None => Ok(()),
        }
    }
}

/// The means by which an answer is kept up to date.
#[derive(Clone)]
enum Upkeep {
    /// Discounted values, by small backups.
    Discounted(f64),
    /// Total costs until an end, by small backups.
    Costs(Costs),
    /// Any other answer without discount, solved again after each change.
    Solve,
}

/// The mass that ends each choice, as [`View`] has it.
struct Ends {
    of_choices: Vec<f64>,
    slack: f64,
}

/// A solved model that takes changes.
pub struct Repair {
    rows: LiveRows,
    upkeep: Upkeep,
    /// The question without discount; `None` if there is a discount. Its rewards are by the choices of `rows`.
    resolved: Option<Resolved>,
    /// The answer of the latest solve, if small backups do not keep it: [`Upkeep::Solve`].
    solved: Option<Solution>,
    /// The solver behind that answer, if it can take changes.
    kept: Option<KeptSolver>,
    /// Help for the next solve besides the values.
    warm: WarmStart,
    /// Without discount: the mass that ends each choice, once it is known.
    ends: Option<Ends>,
    /// 1 to maximize, -1 to minimize; `values` and `q` are multiplied by it.
    sign: f64,
    tolerance: f64,
    facts: Facts,
    /// No reward is further than this from the one it stands for.
    reward_error: f64,
    /// The same for rewards set by changes; 0 if they are exact.
    change_error: f64,
    values: Vec<f64>,
    policy: Vec<u32>,
    /// NaN where nothing has asked for it since the latest solve.
    q: Vec<f64>,
    /// The choices whose Q is known, if they are few: all that a new solution has to clear.
    known: Vec<u32>,
    /// Small backups of each Q since it was last computed from its row.
    n_small: Vec<u32>,
    queue: Queue,
    /// No state outside the queue has a residual above this, rounding apart.
    promise: f64,
    /// No finite value exceeds this in absolute terms.
    largest_value: f64,
    /// The work of small backups, in arcs that sweeps read, before the model is solved again.
    budget: u64,
    /// The effort of the dearest discounted solve so far.
    dearest: Effort,
    /// The work of the latest repair, in arcs that sweeps read.
    work: u64,
    /// The origin of the values: iterations and decisions of the latest solve, or that they were repaired.
    effort: (u64, Vec<String>),
}

impl Repair {
    /// Answers a question and keeps the answer ready for changes; rewards in changes are those that the question is about.
    ///
    /// Discounted values, and total costs that are all above 0, are repaired by small backups. Other answers are
    /// recomputed after a change, by sweeps that start from the previous values.
    ///
    /// # Errors
    /// As [`solve`](crate::solve).
    pub fn new(mdp: &Mdp, question: &Question, limits: &Limits) -> Result<Self> {
        let direction = question.direction;
        if let Objective::Discounted { reward, discount } = &question.objective {
            let rewards = mdp.expected_rewards(reward.as_deref())?;
            let error = reward_error(mdp, mdp.rewards(reward.as_deref())?);
            let closer = Limits { tolerance: work::SHARE_OF_SOLVE * limits.tolerance, ..*limits };
            let (solved, start, effort) =
                discounted::solve(mdp, &rewards, *discount, direction, How::Choose, &closer)?;
            let upkeep = Upkeep::Discounted(*discount);
            let mut repair = Self::start(mdp, &rewards, error, upkeep, direction, limits);
            repair.take_over(solved, start, effort, limits);
            return Ok(repair);
        }
        limits.check()?;
        let view = View::new(mdp)?;
        let resolved = Resolved::new(&view, &question.objective)?;
        let middle = |r: &[f64; 2]| r[0] + (r[1] - r[0]) / 2.0;
        let mut rewards: Vec<f64> = resolved.rewards.iter().map(middle).collect();
        rewards.resize(mdp.n_choices(), 0.0);
        let half = |r: &[f64; 2]| if r[0] < r[1] { (0.5 * (r[1] - r[0])).next_up() } else { 0.0 };
        let error = resolved.rewards.iter().map(half).fold(0.0, f64::max);
        let mut repair = Self::start(mdp, &rewards, error, Upkeep::Solve, direction, limits);
        repair.resolved = Some(resolved);
        repair.answer(limits, false)?;
        Ok(repair)
    }

    /// Continues with values of a question with a discount, even if rows of the model have changed since; the states must be
    /// those of the solved model. Also returns how many states were backed up.
    ///
    /// # Errors
    /// As [`solve`](crate::solve), and if the number of states differs.
    pub fn resume(mdp: &Mdp, question: &Question, start: Start, limits: &Limits) -> Result<(Self, Repaired)> {
        let Objective::Discounted { reward, discount } = &question.objective else {
            let repair = Self::new(mdp, question, limits)?;
            let repaired = Repaired { converged: repair.converged(), backups: 0, solved_afresh: true };
            return Ok((repair, repaired));
        };
        let rewards = mdp.expected_rewards(reward.as_deref())?;
        FlatModel::new(mdp, &rewards, *discount, question.direction, limits.threads)?;
        let expected = mdp.n_states();
        start.check(expected)?;
        let upkeep = Upkeep::Discounted(*discount);
        let mut repair = Self::start(mdp, &rewards, 0.0, upkeep, question.direction, limits);
        repair.adopt(start.values, vec![NO_CHOICE; expected]);
        for state in 0..expected {
            repair.policy[state] = repair.best(state).1;
        }
        let repaired = repair.repair(&[], limits);
        Ok((repair, repaired))
    }

    /// Takes over a checked model.
    fn start(
        mdp: &Mdp,
        rewards: &[f64],
        reward_error: f64,
        upkeep: Upkeep,
        direction: Direction,
        limits: &Limits,
    ) -> Self {
        let mut repair = Self {
            rows: LiveRows::new(mdp, rewards),
            upkeep,
            resolved: None,
            solved: None,
            kept: None,
            warm: WarmStart::default(),
            ends: None,
            sign: direction.sign(),
            tolerance: limits.tolerance,
            facts: Facts { has_terminal: true, ..Facts::NONE },
            reward_error,
            change_error: 0.0,
            values: Vec::new(),
            policy: Vec::new(),
            q: Vec::new(),
            known: Vec::new(),
            n_small: Vec::new(),
            queue: Queue::new(Vec::new(), 1),
            promise: f64::INFINITY,
            largest_value: 0.0,
            budget: work::READS_PER_ARC * mdp.n_arcs() as u64 + work::FREE_READS,
            effort: (0, Vec::new()),
            dearest: Effort::default(),
            work: 0,
        };
        for choice in 0..repair.rows.n_choices() {
            repair.count(choice);
        }
        repair
    }

    /// Declares that rewards in later changes are rounded numbers, off by at most this.
    pub fn count_reward_error(&mut self, error: f64) {
        self.change_error = self.change_error.max(error.abs());
        self.reward_error = self.reward_error.max(self.change_error);
    }

    /// Applies changes in order and repairs the values. All are checked before the first is made.
    ///
    /// # Errors
    /// If a change names a state or choice that does not exist, or has numbers out of range. Nothing is changed then.
    pub fn apply(&mut self, changes: &[Change], limits: &Limits) -> Result<Repaired> {
        self.check(changes)?;
        let made: Vec<work::Undo> = changes.iter().map(|change| self.make(change)).collect();
        Ok(self.repair(&made, limits))
    }

    /// The value of a state, within [`bound`](Self::bound) of the truth. Infinite if that is proven; NaN if nothing is
    /// known.
    pub fn value(&self, state: usize) -> f64 {
        // Plus 0 makes -0 into 0.
        self.sign * self.values[state] + 0.0
    }

    /// Proven bounds on the value of a state. Reads all choices if the latest repair was stopped.
    pub fn interval(&self, state: usize) -> (f64, f64) {
        self.within(state, self.margin())
    }

    /// The choice that the policy takes in a state, or [`NO_CHOICE`].
    pub fn choice(&self, state: usize) -> u32 {
        self.policy[state]
    }

    /// Every finite value is proven to be within this of the truth. Reads all choices if the latest repair was stopped.
    pub fn bound(&self) -> f64 {
        match (&self.solved, self.margin()) {
            (Some(solved), _) => {
                let half = |(l, u): (&f64, &f64)| if l == u { 0.0 } else { (0.5 * (u - l)).next_up() };
                solved.lower.iter().zip(&solved.upper).map(half).fold(0.0, f64::max)
            }
            (None, Margin { absolute, relative: 0.0 }) => absolute,
            (None, Margin { relative, .. }) => (relative * self.largest_value).next_up(),
        }
    }

    /// Values with intervals and policy, as a fresh solve returns them.
    pub fn solution(&self) -> Solution {
        if let Some(solved) = &self.solved {
            return solved.clone();
        }
        let margin = self.margin();
        let (lower, upper) = (0..self.rows.n_states()).map(|s| self.within(s, margin)).unzip();
        Solution {
            lower,
            upper,
            policy: self.policy.clone(),
            converged: self.converged(),
            iterations: self.effort.0,
            explanation: self.effort.1.clone(),
        }
    }

    fn converged(&self) -> bool {
        match &self.solved {
            Some(solved) => solved.converged,
            None => self.queue.is_empty() && self.bound() <= self.tolerance,
        }
    }

    /// The interval of a state.
    fn within(&self, state: usize, margin: Margin) -> (f64, f64) {
        if let Some(solved) = &self.solved {
            return (solved.lower[state], solved.upper[state]);
        }
        let value = self.values[state];
        if self.policy[state] == NO_CHOICE && value == 0.0 {
            return (0.0, 0.0);
        }
        let (mut low, mut high) = (value, value);
        if value.is_finite() {
            let Margin { absolute, relative } = margin;
            let off = match relative {
                0.0 => absolute,
                f64::INFINITY => f64::INFINITY,
                _ => (relative * value.abs()).next_up(),
            };
            (low, high) = ((value - off).next_down(), (value + off).next_up());
            if relative > 0.0 {
                // Costs are signed: none is above 0.
                high = high.min(0.0);
            }
        }
        if self.sign > 0.0 { (low, high) } else { (0.0 - high, 0.0 - low) }
    }

    /// The model as it is now, its rewards, and the id here of each of its choices.
    ///
    /// # Errors
    /// If changes made it larger than 32 bits can count.
    pub fn model(&self) -> Result<(Mdp, Vec<f64>, Vec<u32>)> {
        self.rows.flat()
    }
}

/// The largest distance of values from the truth: `absolute` for all or, if that is above 0, `relative` times the
/// size of each.
#[derive(Clone, Copy)]
struct Margin {
    absolute: f64,
    relative: f64,
}
