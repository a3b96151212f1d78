//! How a repair works inside: checking and making changes, small backups until the queue is empty, and starting afresh.

use super::queue::Queue;
use super::{Change, Repair, Repaired};
use crate::discounted::model::{in_range, mean};
use crate::discounted::proof::largest;
use crate::discounted::solve_values;
use crate::{Direction, Limits, NO_CHOICE};

/// After this many small backups Q is computed from its row again, so that rounding stays counted and small.
const REFRESH: u32 = 64;

/// Roundings per small backup, in units of the largest value: product, product, sum, difference, each at most twice that.
const PER_SMALL_BACKUP: f64 = 8.0;

/// How to take a change back.
pub(super) enum Undo {
    Outcomes(usize, Vec<(u32, f64)>),
    Reward(usize, f64),
    Added(usize),
    Removed(usize),
}

/// Why small backups ended.
#[derive(PartialEq)]
pub(super) enum Settled {
    Done,
    Stopped,
    TooMuch,
}

impl Repair {
    /// Checks changes in order, each against the model that those before it leave.
    pub(super) fn check(&self, changes: &[Change]) -> Result<(), String> {
        let mut n_choices = self.rows.n_choices();
        let mut removed: Vec<u32> = Vec::new();
        let mut facts = self.facts;
        for (i, change) in changes.iter().enumerate() {
            let exists = |choice: u32| {
                let here = (choice as usize) < n_choices && !removed.contains(&choice);
                if here && self.rows.removed.get(choice as usize) != Some(&true) {
                    return Ok(());
                }
                Err(format!(
                    "change {i}: choice {choice} does not exist or was removed; expected one of the model's choices, below \
                     {n_choices}"
                ))
            };
            let mut fits = |outcomes: &[(u32, f64)], reward: f64| {
                facts.add(check_outcomes(i, outcomes, self.rows.n_states())?, outcomes.len(), reward);
                if !in_range(reward) {
                    return Err(format!(
                        "change {i}: the reward is {reward}; expected a number from -1e150 to 1e150"
                    ));
                }
                if facts.most_factor(self.discount) >= 1.0 {
                    return Err(format!(
                        "change {i}: the discount times the sum of probabilities is not below 1; scale them to sum to 1"
                    ));
                }
                Ok(())
            };
            match change {
                Change::Outcomes { choice, outcomes } => {
                    exists(*choice)?;
                    fits(outcomes, 0.0)?;
                }
                Change::Reward { choice, reward } => {
                    exists(*choice)?;
                    fits(&[], *reward)?;
                }
                Change::Add { state, reward, outcomes } => {
                    if *state as usize >= self.rows.n_states() {
                        return Err(format!(
                            "change {i}: state {state} does not exist; expected a state below {}",
                            self.rows.n_states()
                        ));
                    }
                    fits(outcomes, *reward)?;
                    n_choices += 1;
                }
                Change::Remove { choice } => {
                    exists(*choice)?;
                    removed.push(*choice);
                }
            }
        }
        Ok(())
    }

    /// Makes a checked change and queues the state it touches.
    pub(super) fn make(&mut self, change: &Change) -> Undo {
        let (choice, undo) = match change {
            Change::Outcomes { choice, outcomes } => {
                let choice = *choice as usize;
                (choice, Undo::Outcomes(choice, self.rows.set_outcomes(choice, outcomes)))
            }
            Change::Reward { choice, reward } => {
                let choice = *choice as usize;
                (choice, Undo::Reward(choice, std::mem::replace(&mut self.rows.rewards[choice], *reward)))
            }
            Change::Add { state, reward, outcomes } => {
                let choice = self.rows.add_choice(*state as usize, *reward);
                self.rows.set_outcomes(choice, outcomes);
                self.q.push(0.0);
                self.n_small.push(0);
                (choice, Undo::Added(choice))
            }
            Change::Remove { choice } => {
                let choice = *choice as usize;
                self.rows.remove_choice(choice);
                (choice, Undo::Removed(choice))
            }
        };
        self.count(choice);
        self.refresh(choice);
        self.queue.push(self.rows.owner[choice] as usize);
        undo
    }

    /// Takes a change back; values are restored by the caller.
    pub(super) fn unmake(&mut self, undo: Undo) {
        match undo {
            Undo::Outcomes(choice, outcomes) => drop(self.rows.set_outcomes(choice, &outcomes)),
            Undo::Reward(choice, reward) => self.rows.rewards[choice] = reward,
            Undo::Added(choice) => {
                self.rows.set_outcomes(choice, &[]);
                self.rows.remove_choice(choice);
            }
            Undo::Removed(choice) => self.rows.restore_choice(choice),
        }
    }

    /// Takes a choice into account in what is true of all rows.
    pub(super) fn count(&mut self, choice: usize) {
        let (_, probabilities) = self.rows.row(choice);
        self.facts.add(probabilities.iter().sum(), probabilities.len(), self.rows.rewards[choice]);
    }

    /// Computes Q of a choice from its row. That of a removed choice is below everything.
    pub(super) fn refresh(&mut self, choice: usize) {
        self.n_small[choice] = 0;
        self.q[choice] = if self.rows.removed[choice] {
            f64::NEG_INFINITY
        } else {
            let (targets, probabilities) = self.rows.row(choice);
            self.sign * self.rows.rewards[choice] + self.discount * mean(targets, probabilities, &self.values)
        };
    }

    /// The best choice of a state and its Q.
    pub(super) fn best(&self, state: usize) -> (f64, u32) {
        let mut best = (f64::NEG_INFINITY, NO_CHOICE);
        for choice in self.rows.choices_of(state) {
            if self.q[choice] > best.0 {
                best = (self.q[choice], choice as u32);
            }
        }
        if best.1 == NO_CHOICE { (0.0, NO_CHOICE) } else { best }
    }

    /// How far a Q may be from the exact backup of the stored values.
    pub(super) fn rounding(&self) -> f64 {
        self.facts.rounding(self.largest_value, PER_SMALL_BACKUP * f64::from(REFRESH))
    }

    /// The largest difference between a state's value and its backup.
    pub(super) fn largest_residual(&self) -> f64 {
        (0..self.values.len()).map(|s| (self.best(s).0 - self.values[s]).abs()).fold(0.0, f64::max)
    }

    /// Repairs after changes were made.
    pub(super) fn repair(&mut self, limits: &Limits) -> Repaired {
        self.tolerance = limits.tolerance;
        self.tighten();
        let (mut backups, settled) = self.settle(limits, self.budget);
        let solved_afresh = settled == Settled::TooMuch;
        if solved_afresh {
            let (mdp, rewards, ids) = self.rows.flat();
            let direction = if self.sign > 0.0 { Direction::Maximize } else { Direction::Minimize };
            let half = Limits { tolerance: 0.5 * limits.tolerance, ..*limits };
            // The changes were checked, so the model is accepted; were it not, small backups would go on instead.
            if let Ok((values, mut policy)) = solve_values(&mdp, &rewards, self.discount, direction, &half) {
                policy.iter_mut().filter(|c| **c != NO_CHOICE).for_each(|c| *c = ids[*c as usize]);
                self.adopt(values, policy);
            }
            backups += self.settle(limits, u64::MAX).0;
        }
        Repaired {
            converged: self.queue.is_empty() && self.bound() <= self.tolerance,
            backups,
            solved_afresh,
        }
    }

    /// Lowers the promise if the tolerance or the model asks for it, and queues the states that break it.
    fn tighten(&mut self) {
        let left = 1.0 - self.facts.most_factor(self.discount);
        let needed = (0.99 * self.tolerance * left - self.rounding()).max(self.rounding());
        if self.promise > needed {
            // With room to spare, so that small changes of the model do not lead here again.
            self.promise = (0.8 * needed).max(self.rounding());
            self.requeue();
        }
    }

    /// Queues every state that breaks the promise; looks at all choices.
    pub(super) fn requeue(&mut self) {
        for state in 0..self.values.len() {
            if (self.best(state).0 - self.values[state]).abs() > self.promise {
                self.queue.push(state);
            }
        }
    }

    /// Takes over a solution: values (signed), Q, policy, and the order of backups, best values first.
    pub(super) fn adopt(&mut self, values: Vec<f64>, policy: Vec<u32>) {
        let n = self.rows.n_states();
        (self.values, self.policy) = (values, policy);
        self.largest_value = largest(&self.values);
        self.q = vec![0.0; self.rows.n_choices()];
        self.n_small = vec![0; self.rows.n_choices()];
        (0..self.rows.n_choices()).for_each(|choice| self.refresh(choice));
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by(|&a, &b| self.values[b as usize].total_cmp(&self.values[a as usize]));
        let window = self.window(&order);
        self.queue = Queue::new(order, window);
        self.promise = f64::INFINITY;
        self.tighten();
    }

    /// Four times the mean distance between the places of a state and of its successor, of about a thousand choices.
    fn window(&self, order: &[u32]) -> usize {
        let mut place = vec![0_u32; order.len()];
        order.iter().enumerate().for_each(|(i, &state)| place[state as usize] = i as u32);
        let (mut distance, mut n_arcs) = (0_u64, 0_u64);
        for choice in (0..self.rows.n_choices()).step_by(self.rows.n_choices() / 1000 + 1) {
            let from = place[self.rows.owner[choice] as usize];
            for &target in self.rows.row(choice).0 {
                distance += u64::from(from.abs_diff(place[target as usize]));
                n_arcs += 1;
            }
        }
        (4 * distance / n_arcs.max(1)) as usize
    }

    /// Small backups until the queue is empty, or `budget` arcs were touched. Returns the number of backups.
    pub(super) fn settle(&mut self, limits: &Limits, budget: u64) -> (u64, Settled) {
        let (mut backups, mut touched) = (0, 0);
        while let Some(state) = self.queue.pop() {
            backups += 1;
            if backups % 4096 == 1 && (limits.stop)() {
                self.queue.push(state);
                return (backups, Settled::Stopped);
            }
            let (value, choice) = self.best(state);
            self.policy[state] = choice;
            let change = value - self.values[state];
            if change.abs() <= self.promise {
                continue;
            }
            self.values[state] = value;
            self.largest_value = self.largest_value.max(value.abs());
            touched += self.pass_on(state, change);
            if touched > budget {
                return (backups, Settled::TooMuch);
            }
        }
        (backups, Settled::Done)
    }

    /// Corrects Q of every choice that leads to a state by the change of its value; queues those that break the promise.
    #[inline]
    fn pass_on(&mut self, state: usize, change: f64) -> u64 {
        let mut touched = 0;
        let mut tired = Vec::new();
        for arc in self.rows.arcs_into(state) {
            touched += 1;
            if arc.probability == 0.0 {
                continue;
            }
            let choice = arc.choice as usize;
            let q = self.q[choice] + self.discount * arc.probability * change;
            self.q[choice] = q;
            self.n_small[choice] += 1;
            if self.n_small[choice] >= REFRESH {
                tired.push(choice);
            }
            let owner = self.rows.owner[choice] as usize;
            let above = q - self.values[owner];
            if above > self.promise || (above < -self.promise && self.policy[owner] == arc.choice) {
                self.queue.push(owner);
            }
        }
        for choice in tired {
            self.refresh(choice);
            self.queue.push(self.rows.owner[choice] as usize);
        }
        touched
    }
}

/// The sum of the probabilities.
fn check_outcomes(i: usize, outcomes: &[(u32, f64)], n_states: usize) -> Result<f64, String> {
    for &(target, p) in outcomes {
        if !(p > 0.0 && p <= 1.0 + 1e-6) || target as usize >= n_states {
            return Err(format!(
                "change {i}: found probability {p} to state {target}; expected a probability above 0 and at most 1, and a \
                 state below {n_states}"
            ));
        }
    }
    let sum: f64 = outcomes.iter().map(|(_, p)| p).sum();
    if sum > 1.0 + 1e-6 {
        return Err(format!(
            "change {i}: the probabilities sum to {sum}; expected at most 1; scale them down"
        ));
    }
    Ok(sum)
}
