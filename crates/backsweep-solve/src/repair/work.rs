//! The internals of a repair: making changes, small backups until the queue is empty, and solving from scratch.

use super::queue::Queue;
use super::{Change, Flat, Margin, Repair, Repaired, Upkeep};
use crate::discounted::model::mean;
use crate::discounted::{self, Effort, How};
use crate::undiscounted::{ends_and_slack, missing_mass};
use crate::{Limits, Result, Solution, Start};
use backsweep_mdp::{Direction, Mdp, NO_CHOICE};

/// After this many small backups Q is recomputed from its row, so that rounding stays accounted for and small.
const REFRESH: u32 = 64;

/// A small backup passes a change on to an arc in the time in which sweeps read about this many.
const READS_PER_ARC: u64 = 10;

/// Small backups get this part of what a fresh solve costs: one over 10.
const PART_OF_SOLVE: u64 = 10;

/// Every so often, small backups prove a fresh solution although they gave up on the one before.
const RETRIED: u32 = 16;

/// Arcs that are always granted, so that models of a few states are repaired: well below a tenth of a millisecond.
pub(super) const FREE_ARCS: u64 = 4_000;

/// Roundings per small backup, in units of the largest value: product, product, sum, difference, each at most twice that.
const PER_SMALL_BACKUP: f64 = 8.0;

/// The reverse of a change.
pub(super) enum Undo {
    Outcomes(usize, Vec<(u32, f64)>),
    Reward(usize, f64, Option<[f64; 2]>),
    Added(usize),
    Removed(usize),
}

impl Undo {
    /// The choice that was changed.
    pub fn choice(&self) -> usize {
        match *self {
            Self::Outcomes(choice, _)
            | Self::Reward(choice, ..)
            | Self::Added(choice)
            | Self::Removed(choice) => choice,
        }
    }
}

/// Why small backups ended.
#[derive(PartialEq)]
pub(super) enum Settled {
    Done,
    Stopped,
    TooMuch,
}

impl Repair {
    /// Makes a checked change and queues the state it touches.
    pub(super) fn make(&mut self, change: &Change) -> Undo {
        let (choice, undo) = match change {
            Change::Outcomes { choice, outcomes } => {
                let choice = *choice as usize;
                (choice, Undo::Outcomes(choice, self.rows.set_outcomes(choice, outcomes)))
            }
            Change::Reward { choice, reward } => {
                let choice = *choice as usize;
                let old = std::mem::replace(&mut self.rows.rewards[choice], *reward);
                (choice, Undo::Reward(choice, old, self.set_bounds(choice, *reward)))
            }
            Change::Add { state, reward, outcomes } => {
                let choice = self.rows.add_choice(*state as usize, *reward);
                self.rows.set_outcomes(choice, outcomes);
                self.q.push(0.0);
                self.n_small.push(0);
                self.set_bounds(choice, *reward);
                (choice, Undo::Added(choice))
            }
            Change::Remove { choice } => {
                let choice = *choice as usize;
                self.rows.remove_choice(choice);
                (choice, Undo::Removed(choice))
            }
        };
        self.update_flat(choice, matches!(change, Change::Add { .. } | Change::Remove { .. }));
        self.count(choice);
        if self.solved.is_none() {
            self.refresh(choice);
            self.queue.push(self.rows.owner[choice] as usize);
        }
        undo
    }

    /// Sets the reward that a question without discount is about; returns the previous one.
    fn set_bounds(&mut self, choice: usize, reward: f64) -> Option<[f64; 2]> {
        let resolved = self
            .resolved
            .as_mut()
            .filter(|resolved| !resolved.rewards.is_empty() || resolved.kind.has_rewards())?;
        resolved.rewards.resize(resolved.rewards.len().max(choice + 1), [0.0; 2]);
        let error = self.change_error;
        let bounds = if error > 0.0 { [reward - error, reward + error] } else { [reward; 2] };
        Some(std::mem::replace(&mut resolved.rewards[choice], bounds))
    }

    /// Drops choices that were added and removed again.
    pub(super) fn forget_choices(&mut self, n_choices: usize) {
        self.rows.forget_choices(n_choices);
        if let Some(resolved) = &mut self.resolved {
            resolved.rewards.truncate(n_choices);
        }
    }

    pub(super) fn direction(&self) -> Direction {
        if self.sign > 0.0 { Direction::Maximize } else { Direction::Minimize }
    }

    /// The value of a reward one step later, relative to now.
    pub(super) fn discount(&self) -> f64 {
        match self.upkeep {
            Upkeep::Discounted(discount) => discount,
            _ => 1.0,
        }
    }

    /// Keeps the flat arrays up to date where only the row of a choice has changed; drops them if choices have.
    fn update_flat(&mut self, choice: usize, choices_changed: bool) {
        let Some(Flat { mdp, ids, ends, slack }) = self.flat.as_mut().filter(|_| !choices_changed) else {
            self.flat = None;
            return;
        };
        let of_state = mdp.choices_of(self.rows.owner[choice] as usize);
        let Some(place) = of_state.into_iter().find(|&place| ids[place] as usize == choice) else { return };
        let (targets, probabilities) = self.rows.row(choice);
        let (end, off) = ends_and_slack(missing_mass(probabilities));
        ends[place] = end;
        *slack = slack.max(off);
        // The change was checked. If its row were refused, the arrays would be built again.
        if mdp.replace_row(place, targets, probabilities).is_err() {
            self.flat = None;
        }
    }

    /// Undoes a change; the caller restores the values.
    pub(super) fn unmake(&mut self, undo: Undo) {
        match undo {
            Undo::Outcomes(choice, outcomes) => {
                self.rows.set_outcomes(choice, &outcomes);
                self.update_flat(choice, false);
            }
            Undo::Reward(choice, reward, bounds) => {
                self.rows.rewards[choice] = reward;
                if let (Some(resolved), Some(bounds)) = (&mut self.resolved, bounds) {
                    resolved.rewards[choice] = bounds;
                }
            }
            Undo::Added(choice) => {
                self.rows.set_outcomes(choice, &[]);
                self.rows.remove_choice(choice);
                self.flat = None;
            }
            Undo::Removed(choice) => {
                self.rows.restore_choice(choice);
                self.flat = None;
            }
        }
    }

    /// Includes a choice in the bounds over all rows.
    pub(super) fn count(&mut self, choice: usize) {
        let (_, probabilities) = self.rows.row(choice);
        self.facts.add(probabilities.iter().sum(), probabilities.len(), self.rows.rewards[choice]);
        self.count_cost(choice);
    }

    /// Computes Q of a choice from its row. A choice that does not count gets −∞.
    pub(super) fn refresh(&mut self, choice: usize) {
        self.n_small[choice] = 0;
        self.q[choice] = if self.counts(choice) {
            let (targets, probabilities) = self.rows.row(choice);
            let mean = mean(targets, probabilities, &self.values, false);
            self.sign * self.rows.rewards[choice] + self.discount() * mean
        } else {
            f64::NEG_INFINITY
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
        if best.1 == NO_CHOICE && self.ends(state) { (0.0, NO_CHOICE) } else { best }
    }

    /// The largest distance of a Q from the exact backup of the stored values.
    pub(super) fn rounding(&self) -> f64 {
        self.facts.rounding(self.largest_value, PER_SMALL_BACKUP * f64::from(REFRESH)) + self.reward_error
    }

    /// The largest difference between a state's value and its backup.
    fn largest_residual(&self) -> f64 {
        let residual = |s: usize| {
            let (value, backup) = (self.values[s], self.best(s).0);
            if value == backup { 0.0 } else { (backup - value).abs() }
        };
        (0..self.values.len()).map(residual).fold(0.0, f64::max)
    }

    /// The largest distance of values from the truth.
    pub(super) fn margin(&self) -> Margin {
        let residual =
            if self.queue.is_empty() { self.promise } else { self.largest_residual() } + self.rounding();
        match &self.upkeep {
            Upkeep::Costs(costs) => costs.margin(residual),
            Upkeep::Discounted(discount) => {
                let left = (1.0 - self.facts.most_factor(*discount)).next_down();
                Margin { absolute: residual / left * (1.0 + 8.0 * f64::EPSILON), relative: 0.0 }
            }
            Upkeep::Solve => Margin { absolute: f64::INFINITY, relative: 0.0 },
        }
    }

    /// Repairs after changes were `made`.
    pub(super) fn repair(&mut self, made: &[Undo], limits: &Limits) -> Repaired {
        self.work = 0;
        let done =
            self.solved.as_ref().is_some_and(|solved| solved.converged) && self.tolerance <= limits.tolerance;
        let mut kept = self.kept.take().filter(|kept| done && self.all_fit(kept, made));
        if let Some(kept) = &mut kept {
            self.replace_rows(kept, made.iter().map(Undo::choice));
        }
        if done && self.unaffected(made) {
            let why = "every choice that was changed is worse than what the policy takes".to_owned();
            (self.effort, self.kept) = ((0, vec![why]), kept);
            return Repaired { converged: true, backups: 0, solved_afresh: false };
        }
        if let Some(mut kept) = kept
            && let Some(backups) = self.reuse(&mut kept, made, limits)
        {
            self.kept = Some(kept);
            return Repaired { converged: true, backups, solved_afresh: false };
        }
        self.tolerance = limits.tolerance;
        let hopeless = match &self.upkeep {
            // An answer that small backups do not keep is solved again.
            Upkeep::Discounted(_) => self.solved.is_some(),
            Upkeep::Costs(costs) => costs.is_stale(),
            Upkeep::Solve => true,
        };
        let (mut backups, mut settled) = (0, Settled::TooMuch);
        // Larger costs need a smaller residual; a second round then starts close to it.
        for _ in 0..if hopeless { 0 } else { 4 } {
            self.tighten();
            let (more, end) = self.settle(limits, self.budget);
            (backups, settled) = (backups + more, end);
            if settled != Settled::Done || self.converged() || matches!(self.upkeep, Upkeep::Discounted(_)) {
                break;
            }
            settled = Settled::TooMuch;
        }
        let solved_afresh = settled == Settled::TooMuch;
        if solved_afresh {
            backups += self.solve_again(limits);
        } else {
            self.effort = (0, vec!["repaired by small backups".to_owned()]);
        }
        Repaired { converged: self.converged(), backups, solved_afresh }
    }

    /// Solves the current model. Returns the number of small backups that followed.
    fn solve_again(&mut self, limits: &Limits) -> u64 {
        let Upkeep::Discounted(discount) = self.upkeep else {
            // The changes were checked, so the model is accepted; if it were not, nothing would be known.
            return self.answer(limits, true).unwrap_or_else(|_| {
                self.forget();
                0
            });
        };
        let direction = self.direction();
        let half = Limits { tolerance: 0.5 * limits.tolerance, ..*limits };
        // As above; if the model were refused, small backups would continue instead.
        if let Ok((mdp, ids)) = self.flatten() {
            let rewards: Vec<f64> = ids.iter().map(|&id| self.rows.rewards[id as usize]).collect();
            let how = How::Again(&self.values, self.dearest);
            let solved = discounted::solve(&mdp, &rewards, discount, direction, how, &half);
            if let Ok((mut solved, start, effort)) = solved {
                solved.policy.iter_mut().filter(|c| **c != NO_CHOICE).for_each(|c| *c = ids[*c as usize]);
                let ends = vec![0.0; ids.len()];
                self.flat = Some(Flat { mdp, ids, ends, slack: 0.0 });
                return self.take_over(solved, start, effort, limits);
            }
        }
        self.settle(limits, u64::MAX).0
    }

    /// The model in flat arrays with the id of each choice: those that were kept up to date, if there are any.
    fn flatten(&mut self) -> Result<(Mdp, Vec<u32>)> {
        if let Some(Flat { mdp, ids, .. }) = self.flat.take() {
            return Ok((mdp, ids));
        }
        let (mdp, _, ids) = self.rows.flat()?;
        Ok((mdp, ids))
    }

    /// Takes over a fresh solution of discounted values. Returns the number of small backups that followed.
    pub(super) fn take_over(
        &mut self,
        mut solved: Solution,
        start: Start,
        effort: Effort,
        limits: &Limits,
    ) -> u64 {
        let n_arcs = self.rows.n_arcs() as u64;
        self.work += (effort.sweeps * n_arcs as f64) as u64;
        // A solve that starts from close values says little about what a fresh one costs, unless it costs more.
        self.dearest.sweeps = self.dearest.sweeps.max(effort.sweeps);
        self.dearest.by_krylov = effort.by_krylov;
        let granted = (self.dearest.sweeps * n_arcs as f64) as u64 / (READS_PER_ARC * PART_OF_SOLVE);
        self.budget = granted.clamp(FREE_ARCS, 4 * n_arcs + FREE_ARCS);
        self.effort = (solved.iterations, solved.explanation.clone());
        // Where small backups gave up lately, they are tried again only now and then.
        let again = self.solved.take().is_some() && !self.n_solved.is_multiple_of(RETRIED);
        self.n_solved += 1;
        let (backups, settled) = if again && solved.converged {
            (0, Settled::TooMuch)
        } else {
            self.adopt(start.values, solved.policy.clone());
            self.settle(limits, self.budget)
        };
        if settled != Settled::Done && solved.converged {
            // The solution is proven as it is; small backups would take longer to prove theirs.
            let left = (1.0 - self.facts.most_factor(self.discount())).next_down();
            let off = self.reward_error / left * (1.0 + 8.0 * f64::EPSILON);
            if off > 0.0 {
                for state in (0..solved.lower.len()).filter(|&state| solved.policy[state] != NO_CHOICE) {
                    solved.lower[state] = (solved.lower[state] - off).next_down();
                    solved.upper[state] = (solved.upper[state] + off).next_up();
                }
            }
            solved.converged =
                solved.lower.iter().zip(&solved.upper).all(|(l, u)| u - l <= 2.0 * limits.tolerance);
            self.values = (0..solved.lower.len()).map(|state| self.sign * solved.value(state)).collect();
            self.policy.clone_from(&solved.policy);
            self.queue.clear();
            self.solved = Some(solved);
        }
        backups
    }

    /// Lowers the goal if the tolerance or the model requires it, and queues the states that exceed it.
    fn tighten(&mut self) {
        if self.lower_goal() {
            self.requeue();
        }
    }

    /// Lowers the goal if the tolerance or the model requires it. Returns whether it did.
    fn lower_goal(&mut self) -> bool {
        let tolerance = 0.99 * self.tolerance;
        let residual = match &self.upkeep {
            Upkeep::Costs(costs) => costs.residual_for(tolerance, self.largest_value),
            _ => tolerance * (1.0 - self.facts.most_factor(self.discount())),
        };
        let needed = (residual - self.rounding()).max(self.rounding());
        let lower = self.promise > needed;
        if lower {
            // With room to spare, so that small changes to the model do not lead here again.
            self.promise = (0.8 * needed).max(self.rounding());
        }
        lower
    }

    /// Queues every state that exceeds the goal; looks at all choices.
    pub(super) fn requeue(&mut self) {
        (0..self.values.len()).for_each(|state| self.queue_if_above(state));
    }

    fn queue_if_above(&mut self, state: usize) {
        if (self.best(state).0 - self.values[state]).abs() > self.promise {
            self.queue.push(state);
        }
    }

    /// Installs a solution: values (signed), Q, policy, and the order of backups, best values first. Reads all arcs.
    pub(super) fn adopt(&mut self, values: Vec<f64>, policy: Vec<u32>) {
        let n = self.rows.n_states();
        (self.values, self.policy) = (values, policy);
        let finite = self.values.iter().map(|v| v.abs()).filter(|v| v.is_finite());
        self.largest_value = finite.fold(0.0, f64::max);
        self.q.resize(self.rows.n_choices(), 0.0);
        self.n_small.resize(self.rows.n_choices(), 0);
        if self.queue.n_places() == n {
            // The order of earlier values is about as good.
            self.queue.clear();
        } else {
            let mut order: Vec<u32> = (0..n as u32).collect();
            order.sort_by(|&a, &b| self.values[b as usize].total_cmp(&self.values[a as usize]));
            let window = self.window(&order);
            self.queue = Queue::new(order, window);
        }
        self.promise = f64::INFINITY;
        self.lower_goal();
        for state in 0..n {
            let mut next = self.rows.first_of(state);
            while let Some(choice) = next {
                self.refresh(choice);
                next = self.rows.next_of(choice);
            }
            self.queue_if_above(state);
        }
        self.work += self.rows.n_arcs() as u64;
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
        let end = loop {
            let Some(state) = self.queue.pop() else { break Settled::Done };
            backups += 1;
            if backups % 4096 == 1 && (limits.stop)() {
                self.queue.push(state);
                break Settled::Stopped;
            }
            let (value, choice) = self.best(state);
            self.policy[state] = choice;
            let change = value - self.values[state];
            if change.abs() <= self.promise || value == self.values[state] {
                continue;
            }
            if !change.is_finite() {
                // A cost has become infinite, or finite.
                break Settled::TooMuch;
            }
            self.values[state] = value;
            self.largest_value = self.largest_value.max(value.abs());
            touched += self.pass_on(state, change);
            if touched > budget {
                break Settled::TooMuch;
            }
        };
        self.work += READS_PER_ARC * touched;
        (backups, end)
    }

    /// Corrects Q of every choice that leads to a state by the change of its value; queues the states that exceed the goal.
    #[inline]
    fn pass_on(&mut self, state: usize, change: f64) -> u64 {
        let mut touched = 0;
        let mut tired = Vec::new();
        let discount = self.discount();
        for arc in self.rows.arcs_into(state) {
            touched += 1;
            if arc.probability == 0.0 {
                continue;
            }
            let choice = arc.choice as usize;
            let q = self.q[choice] + discount * arc.probability * change;
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

#[cfg(test)]
mod tests {
    use super::*;
    use backsweep::Random;
    use backsweep_bench::families::{self, Family, MazeModel, applied};
    use backsweep_mdp::{Objective, Rewards};

    const LIMITS: Limits = Limits { tolerance: 1e-6, relative: 0.0, stop: &|| false, threads: 1 };

    /// A change of any kind to a model.
    fn change(random: &mut Random, ids: &[u32], mdp: &Mdp) -> Change {
        let choice = random.below(ids.len() as u32 - 8) as usize;
        let (targets, probabilities) = mdp.row(choice);
        let other = mdp.targets()[random.below(mdp.n_arcs() as u32) as usize];
        let mut outcomes: Vec<(u32, f64)> =
            targets.iter().copied().zip(probabilities.iter().copied()).collect();
        outcomes[0].0 = other;
        let choice = ids[choice];
        match random.below(8) {
            0 => Change::Add { state: random.below(mdp.n_states() as u32 - 1), reward: -0.5, outcomes },
            1 => Change::Remove { choice },
            2..=4 => Change::Outcomes { choice, outcomes },
            _ => Change::Reward { choice, reward: -2.0 * random.unit() },
        }
    }

    /// Counted in arcs, where those of small backups count ten times: a repair is at most a fifth dearer than a fresh solve of
    /// the same model, however far a change spreads and whatever came before.
    #[test]
    fn no_repair_costs_much_more_than_a_fresh_solve() {
        let models: [(&str, Family); 5] = [
            ("random, 0.99", families::garnet(1000, 3, 6, 1)),
            ("random, 0.999", Family { discount: 0.999, ..families::garnet(1000, 3, 6, 2) }),
            ("maze", MazeModel::new(40, 3).family()),
            ("queues", applied::tandem_queue(40, 0.99)),
            ("torus", applied::torus(30, 0.99)),
        ];
        for (name, Family { mut mdp, discount }) in models {
            mdp.rewards[0].name = "r".to_owned();
            let objective = Objective::Discounted { reward: Some("r".to_owned()), discount };
            let question = objective.maximize();
            let mut repair = Repair::new(&mdp, &question, &LIMITS).unwrap();
            let mut random = Random::from_seed(5);
            let mut local = 0;
            let mut ratios = Vec::new();
            for i in 0..40 {
                let (now, _, ids) = repair.model().unwrap();
                let change = change(&mut random, &ids, &now);
                let repaired = repair.apply(std::slice::from_ref(&change), &LIMITS).unwrap();
                local += usize::from(!repaired.solved_afresh);
                let (mut now, choices, _) = repair.model().unwrap();
                now.rewards = vec![Rewards { name: "r".to_owned(), choices, ..Rewards::default() }];
                let fresh = Repair::new(&now, &question, &LIMITS).unwrap();
                let most = fresh.dearest.sweeps * now.n_arcs() as f64;
                ratios.push((repair.work as f64 / most, i, repaired.solved_afresh));
            }
            ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
            assert!(ratios[0].0 <= 1.2, "{name}: {:.2?}", &ratios[..6]);
            assert!(local > 0, "{name}: nothing was repaired");
        }
    }
}
