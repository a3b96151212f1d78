//! The internals of a repair: making changes, small backups until the queue is empty, and solving from scratch.

use super::queue::Queue;
use super::{Change, Margin, Repair, Repaired, Upkeep};
use crate::discounted::model::mean;
use crate::discounted::{self, Effort, How};
use crate::undiscounted::{ends_and_slack, missing_mass};
use crate::{Limits, Solution, Start};
use backsweep_mdp::{Direction, NO_CHOICE};

/// After this many small backups Q is recomputed from its row, so that rounding stays accounted for and small.
const REFRESH: u32 = 64;

/// A small backup passes a change on to an arc in the time in which sweeps read about this many. Finding a state or a row takes
/// as long.
pub(super) const READS_PER_ARC: u64 = 10;

/// Small backups get this part of what a fresh solve costs.
const PART_OF_SOLVE: f64 = 0.06;

/// The work that is always granted, in arcs that sweeps read: less than what a solve takes besides its sweeps.
pub(super) const FREE_READS: u64 = 2_000;

/// A solve aims at this part of the tolerance, so that what it leaves proves the tolerance to small backups too.
pub(super) const SHARE_OF_SOLVE: f64 = 0.48;

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
                self.q.push(f64::NAN);
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
        self.update_end(choice);
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

    /// Takes a changed row into account in what the arrays without discount need besides.
    fn update_end(&mut self, choice: usize) {
        if let Some(ends) = &mut self.ends {
            let (end, off) = ends_and_slack(missing_mass(self.rows.row(choice).1));
            ends.of_choices.resize(self.rows.n_choices(), 0.0);
            ends.of_choices[choice] = end;
            ends.slack = ends.slack.max(off);
        }
    }

    /// Undoes a change; the caller restores the values.
    pub(super) fn unmake(&mut self, undo: Undo) {
        match undo {
            Undo::Outcomes(choice, outcomes) => {
                self.rows.set_outcomes(choice, &outcomes);
                self.update_end(choice);
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
            }
            Undo::Removed(choice) => self.rows.restore_choice(choice),
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
        if self.q[choice].is_nan() {
            self.known.push(choice as u32);
        }
        self.q[choice] = self.backup(choice);
        self.work += READS_PER_ARC + self.rows.row(choice).0.len() as u64;
    }

    /// The value of a choice by its row.
    fn backup(&self, choice: usize) -> f64 {
        if !self.counts(choice) {
            return f64::NEG_INFINITY;
        }
        let (targets, probabilities) = self.rows.row(choice);
        let mean = mean(targets, probabilities, &self.values, false);
        self.sign * self.rows.rewards[choice] + self.discount() * mean
    }

    /// The best choice of a state and its Q.
    pub(super) fn best(&self, state: usize) -> (f64, u32) {
        let mut best = (f64::NEG_INFINITY, NO_CHOICE);
        for choice in self.rows.choices_of(state) {
            let known = self.q[choice];
            let q = if known.is_nan() { self.backup(choice) } else { known };
            if q > best.0 {
                best = (q, choice as u32);
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
        // As above; if the model were refused, small backups would continue instead.
        if self.rows.update_arrays().is_ok() {
            let (mdp, ids) = self.rows.arrays();
            let gathered: Vec<f64>;
            let rewards = if self.rows.is_in_order() {
                &self.rows.rewards
            } else {
                gathered = ids.iter().map(|&id| self.rows.rewards[id as usize]).collect();
                &gathered
            };
            let how = How::Again(&self.values, self.dearest);
            let solved = discounted::solve(
                mdp,
                rewards,
                discount,
                direction,
                how,
                &Limits { tolerance: SHARE_OF_SOLVE * limits.tolerance, ..*limits },
            );
            if let Ok((mut solved, start, effort)) = solved {
                solved.policy.iter_mut().filter(|c| **c != NO_CHOICE).for_each(|c| *c = ids[*c as usize]);
                return self.take_over(solved, start, effort, limits);
            }
        }
        self.settle(limits, u64::MAX).0
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
        let granted = (PART_OF_SOLVE * self.dearest.sweeps * n_arcs as f64) as u64;
        self.budget = granted.clamp(FREE_READS, 4 * READS_PER_ARC * n_arcs + FREE_READS);
        self.effort = (solved.iterations, solved.explanation.clone());
        self.solved = None;
        self.install(start.values, std::mem::take(&mut solved.policy));
        if self.trust(effort.residual) {
            return 0;
        }
        let (backups, settled) = if solved.converged {
            (0, Settled::TooMuch)
        } else {
            self.inspect_all();
            self.settle(limits, self.budget)
        };
        if settled != Settled::Done && solved.converged {
            // The solution is proven as it is; small backups would take longer to prove theirs.
            let left = (1.0 - self.facts.most_factor(self.discount())).next_down();
            let off = self.reward_error / left * (1.0 + 8.0 * f64::EPSILON);
            if off > 0.0 {
                for state in (0..solved.lower.len()).filter(|&state| self.policy[state] != NO_CHOICE) {
                    solved.lower[state] = (solved.lower[state] - off).next_down();
                    solved.upper[state] = (solved.upper[state] + off).next_up();
                }
            }
            solved.converged =
                solved.lower.iter().zip(&solved.upper).all(|(l, u)| u - l <= 2.0 * limits.tolerance);
            self.values = (0..solved.lower.len()).map(|state| self.sign * solved.value(state)).collect();
            solved.policy.clone_from(&self.policy);
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
        let needed = self.needed();
        let lower = self.promise > needed;
        if lower {
            // With room to spare, so that small changes to the model do not lead here again.
            self.promise = (0.8 * needed).max(self.rounding());
        }
        lower
    }

    /// The largest goal that proves the tolerance, or what rounding allows.
    fn needed(&self) -> f64 {
        let tolerance = 0.99 * self.tolerance;
        let residual = match &self.upkeep {
            Upkeep::Costs(costs) => costs.residual_for(tolerance, self.largest_value),
            _ => tolerance * (1.0 - self.facts.most_factor(self.discount())),
        };
        (residual - self.rounding()).max(self.rounding())
    }

    /// Takes values whose residuals are known to be at most this, if that proves the tolerance. No choice is read: each is when
    /// a change first reaches it.
    fn trust(&mut self, residual: f64) -> bool {
        self.promise = residual.max(0.8 * self.needed()).max(self.rounding());
        self.converged()
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

    /// Installs a solution, values (signed) and policy, with no Q known, and the order of backups, best values first.
    fn install(&mut self, values: Vec<f64>, policy: Vec<u32>) {
        let n = self.rows.n_states();
        (self.values, self.policy) = (values, policy);
        let finite = self.values.iter().map(|v| v.abs()).filter(|v| v.is_finite());
        self.largest_value = finite.fold(0.0, f64::max);
        self.known.drain(..).for_each(|choice| self.q[choice as usize] = f64::NAN);
        self.q.resize(self.rows.n_choices(), f64::NAN);
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
    }

    /// Installs a solution whose residuals are not known. Reads all arcs.
    pub(super) fn adopt(&mut self, values: Vec<f64>, policy: Vec<u32>) {
        self.install(values, policy);
        self.inspect_all();
    }

    /// Computes Q of all choices and queues every state that exceeds the goal.
    fn inspect_all(&mut self) {
        self.promise = f64::INFINITY;
        self.lower_goal();
        for state in 0..self.values.len() {
            let mut next = self.rows.first_of(state);
            while let Some(choice) = next {
                self.refresh(choice);
                next = self.rows.next_of(choice);
            }
            self.queue_if_above(state);
        }
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

    /// Small backups until the queue is empty, or until the work of this repair exceeds `budget`. Returns the number of backups.
    pub(super) fn settle(&mut self, limits: &Limits, budget: u64) -> (u64, Settled) {
        let mut backups = 0;
        let budget = self.work.saturating_add(budget);
        let end = loop {
            let Some(state) = self.queue.pop() else { break Settled::Done };
            backups += 1;
            if backups % 4096 == 1 && (limits.stop)() {
                self.queue.push(state);
                break Settled::Stopped;
            }
            self.learn(state);
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
            self.pass_on(state, change);
            if self.work > budget {
                break Settled::TooMuch;
            }
        };
        (backups, end)
    }

    /// Computes those Q of a state that are not known.
    fn learn(&mut self, state: usize) {
        let mut next = self.rows.first_of(state);
        while let Some(choice) = next {
            if self.q[choice].is_nan() {
                self.refresh(choice);
            }
            next = self.rows.next_of(choice);
        }
    }

    /// Corrects Q of every choice that leads to a state by the change of its value; queues the states that exceed the goal.
    #[inline]
    fn pass_on(&mut self, state: usize, change: f64) {
        let mut touched = 0;
        let mut unsure = Vec::new();
        let discount = self.discount();
        for arc in self.rows.arcs_into(state) {
            touched += 1;
            if arc.probability == 0.0 {
                continue;
            }
            let choice = arc.choice as usize;
            // NaN, where it is not known, stays NaN.
            let q = self.q[choice] + discount * arc.probability * change;
            self.q[choice] = q;
            self.n_small[choice] += 1;
            if self.n_small[choice] >= REFRESH || q.is_nan() {
                unsure.push(arc.choice);
            }
            let owner = self.rows.owner[choice] as usize;
            let above = q - self.values[owner];
            if above > self.promise || (above < -self.promise && self.policy[owner] == arc.choice) {
                self.queue.push(owner);
            }
        }
        self.work += READS_PER_ARC * (touched + 1);
        for choice in unsure {
            self.refresh(choice as usize);
            let owner = self.rows.owner[choice as usize] as usize;
            let above = self.q[choice as usize] - self.values[owner];
            if above > self.promise || (above < -self.promise && self.policy[owner] == choice) {
                self.queue.push(owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backsweep::Random;
    use backsweep_bench::families::{self, Family, MazeModel, applied};
    use backsweep_mdp::{Mdp, Objective, Rewards};

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
        let models: [(&str, Family); 6] = [
            ("random, 0.99", families::garnet(1000, 3, 6, 1)),
            ("random, 0.999", Family { discount: 0.999, ..families::garnet(1000, 3, 6, 2) }),
            ("maze", MazeModel::new(40, 3).family()),
            ("queues", applied::tandem_queue(40, 0.99)),
            ("torus", applied::torus(30, 0.99)),
            ("layers", families::layered(100, 50, 4)),
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
