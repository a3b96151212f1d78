//! Enclosures of reachability and total rewards.

use crate::enclosure::{Enclosure, Guess};
use crate::graph::Graph;
use crate::linear;
use crate::problem::{Parts, Problem};
use crate::result::Direction;
use crate::rows::Interval;

/// Rounds of policy iteration, for values and for weights.
const ROUNDS: usize = 100;

/// The probability to reach the goal.
pub fn reach(graph: &Graph, direction: Direction, guess: &Guess) -> Enclosure {
    let maximize = direction == Direction::Maximize;
    let (possible, certain) = match maximize {
        true => (graph.may_reach(), graph.can_surely_reach()),
        false => (graph.must_maybe_reach(), graph.must_surely_reach()),
    };
    let open: Vec<bool> = possible.iter().zip(&certain).map(|(possible, certain)| *possible && !certain).collect();
    let known: Vec<f64> = certain.iter().map(|certain| f64::from(u8::from(*certain))).collect();
    // No end component lies in what is open for a minimum: it could be stayed in, and the goal be missed for certain.
    let merged = if maximize { graph.end_components(&open, |_| true) } else { vec![None; open.len()] };
    let rewards = vec![Interval::point(0.0); graph.mdp.n_choices()];
    let parts = Parts { graph, open: &open, merged: &merged, known: &known, rewards: &rewards };
    let problem = Problem::new(&parts, |_| true);
    let mut enclosure = solve(&problem, maximize, guess);
    for state in (0..open.len()).filter(|&state| !open[state]) {
        enclosure.fix(state, known[state]);
    }
    // A probability is one whatever the rounding.
    enclosure.lo.iter_mut().for_each(|lo| *lo = lo.max(0.0));
    enclosure.hi.iter_mut().for_each(|hi| *hi = hi.min(1.0));
    enclosure
}

/// The total reward until the goal.
pub fn total(graph: &Graph, rewards: &[Interval], direction: Direction, guess: &Guess) -> Enclosure {
    let maximize = direction == Direction::Maximize;
    let n = graph.mdp.n_states();
    let finite = if maximize { graph.must_surely_reach() } else { graph.can_surely_reach() };
    let open: Vec<bool> = (0..n).map(|state| finite[state] && !graph.goal[state]).collect();
    let stays = |choice: usize| {
        !graph.ends[choice] && graph.targets(choice).iter().all(|&target| finite[target as usize])
    };
    // For a maximum nothing leaves, and there is no end component: every policy reaches the goal.
    let free = |choice: usize| stays(choice) && rewards[choice].is_zero();
    let merged = if maximize { vec![None; n] } else { graph.end_components(&open, free) };
    let known = vec![0.0; n];
    let problem = Problem::new(&Parts { graph, open: &open, merged: &merged, known: &known, rewards }, stays);
    let mut enclosure = solve(&problem, maximize, guess);
    for state in (0..n).filter(|&state| !open[state]) {
        enclosure.fix(state, if graph.goal[state] { 0.0 } else { f64::INFINITY });
    }
    enclosure
}

/// Encloses the values of a problem.
fn solve(problem: &Problem, maximize: bool, guess: &Guess) -> Enclosure {
    let n = problem.n_groups();
    let mut search = Search { problem, sign: if maximize { 1.0 } else { -1.0 }, budget: guess.budget, width: guess.width };
    let mut enclosure = Enclosure::unknown(problem.group.len());
    let mut w = vec![0.0; n];
    for (state, group) in problem.group.iter().enumerate() {
        if let Some(group) = group {
            let value = guess.values[state];
            w[*group as usize] = if value.is_finite() { value } else { 0.0 };
        }
    }
    let Some(mut policy) = search.first_policy(guess.policy) else {
        enclosure.remark = Some("found no policy that leaves the undecided states".to_owned());
        return enclosure;
    };
    match search.enclose(&mut policy, &mut w) {
        Ok((lo, hi)) => {
            for (state, group) in problem.group.iter().enumerate() {
                if let Some(group) = group {
                    enclosure.set(state, Interval { lo: lo[*group as usize], hi: hi[*group as usize] });
                }
            }
        }
        Err(remark) => enclosure.remark = Some(remark),
    }
    enclosure
}

struct Search<'a> {
    problem: &'a Problem,
    /// 1 for a maximum, −1 for a minimum.
    sign: f64,
    budget: u64,
    width: f64,
}

impl Search<'_> {
    /// The claimed policy if it leaves, otherwise one that does by the fewest steps.
    fn first_policy(&self, claimed: &[Option<u32>]) -> Option<Vec<u32>> {
        let n_choices = self.problem.original.iter().max().map_or(0, |most| *most as usize + 1);
        let mut is_claimed = vec![false; n_choices];
        for &choice in claimed.iter().flatten().filter(|choice| (**choice as usize) < n_choices) {
            is_claimed[choice as usize] = true;
        }
        let pick = |group: usize| {
            let mut choices = self.problem.choices_of(group);
            choices.find(|&choice| is_claimed[self.problem.original[choice] as usize]).map(|choice| choice as u32)
        };
        let policy: Option<Vec<u32>> = (0..self.problem.n_groups()).map(pick).collect();
        policy.filter(|policy| self.way_out(policy.iter().copied()).is_some()).or_else(|| {
            self.way_out(0..self.problem.original.len() as u32)
        })
    }

    /// A policy of these choices that takes every group to an exit with positive probability, and therefore for certain.
    fn way_out(&self, choices: impl Iterator<Item = u32>) -> Option<Vec<u32>> {
        let n = self.problem.n_groups();
        let mut owner = vec![0; self.problem.original.len()];
        (0..n).for_each(|group| self.problem.choices_of(group).for_each(|choice| owner[choice] = group));
        let mut incoming = vec![Vec::new(); n];
        let mut policy = vec![None; n];
        let mut queue = Vec::new();
        for choice in choices {
            for arc in self.problem.arcs_of(choice as usize) {
                incoming[self.problem.targets[arc] as usize].push(choice);
            }
            let group = owner[choice as usize];
            if self.problem.exits[choice as usize] > 0.0 && policy[group].is_none() {
                policy[group] = Some(choice);
                queue.push(group);
            }
        }
        let mut next = 0;
        while next < queue.len() {
            for &choice in &incoming[queue[next]] {
                let group = owner[choice as usize];
                if policy[group].is_none() {
                    policy[group] = Some(choice);
                    queue.push(group);
                }
            }
            next += 1;
        }
        policy.into_iter().collect()
    }

    /// Policy iteration, then a weight, then the proof.
    fn enclose(&mut self, policy: &mut [u32], w: &mut [f64]) -> Result<(Vec<f64>, Vec<f64>), String> {
        let mut precision = self.width / 100.0;
        for _ in 0..4 {
            self.improve(policy, w, precision);
            let h = self.weight(policy, w)?;
            let most = h.iter().fold(1.0f64, |most, h| most.max(*h));
            let proven = self.prove(policy, w, &h);
            match proven {
                Ok((lo, hi, width)) if width <= self.width || precision == 0.0 || self.budget == 0 => return Ok((lo, hi)),
                Err(remark) if precision == 0.0 || self.budget == 0 => return Err(remark),
                _ => {}
            }
            let needed = self.width / (64.0 * most);
            precision = if precision <= needed { 0.0 } else { needed };
        }
        Err("the values did not settle".to_owned())
    }

    /// Policy iteration in ordinary arithmetic.
    fn improve(&mut self, policy: &mut [u32], w: &mut [f64], precision: f64) {
        for _ in 0..ROUNDS {
            let constants: Vec<f64> = policy.iter().map(|&choice| self.problem.constant(choice as usize)).collect();
            linear::solve(self.problem, policy, &constants, w, precision, &mut self.budget);
            let mut changed = false;
            for group in 0..w.len() {
                let own = self.problem.backup(policy[group] as usize, w);
                let mut best = if self.sign > 0.0 { own.hi } else { own.lo };
                for choice in self.problem.choices_of(group) {
                    let value = self.problem.backup(choice, w);
                    // Better beyond doubt, or the policy could go round in circles.
                    let (safe, margin) = if self.sign > 0.0 { (value.lo, best) } else { (value.hi, best) };
                    if self.sign * (safe - margin) > 1e-13 * margin.abs() {
                        policy[group] = choice as u32;
                        best = safe;
                        changed = true;
                    }
                }
            }
            if !changed || self.budget == 0 {
                return;
            }
        }
    }

    /// Whether a choice is so nearly best that its weight has to fall.
    fn is_near(&self, group: usize, choice: usize, w: &[f64]) -> bool {
        let value = self.problem.backup(choice, w);
        let middle = value.lo + (value.hi - value.lo) / 2.0;
        self.sign * (w[group] - middle) <= self.width
    }

    /// The largest expected number of steps among policies that are nearly best.
    fn weight(&mut self, policy: &[u32], w: &[f64]) -> Result<Vec<f64>, String> {
        let mut slow = policy.to_vec();
        let mut h = vec![0.0; policy.len()];
        let ones = vec![1.0; policy.len()];
        for _ in 0..ROUNDS {
            linear::solve(self.problem, &slow, &ones, &mut h, 0.25, &mut self.budget);
            if h.iter().any(|h| !(h.is_finite() && *h > 0.0)) {
                return Err("nearly best choices never leave the undecided states".to_owned());
            }
            let mut changed = false;
            for group in 0..h.len() {
                let mut most = h[group];
                for choice in self.problem.choices_of(group) {
                    let steps = 1.0 + self.problem.mean(choice, &h).hi;
                    if steps > most + 0.5 && self.is_near(group, choice, w) {
                        most = steps;
                        slow[group] = choice as u32;
                        changed = true;
                    }
                }
            }
            if !changed || self.budget == 0 {
                return Ok(h);
            }
        }
        Err("the weights did not settle".to_owned())
    }

    /// Bounds w ± δh that satisfy every inequality that they need, and the widest of them.
    fn prove(&self, policy: &[u32], w: &[f64], h: &[f64]) -> Result<(Vec<f64>, Vec<f64>, f64), String> {
        for (group, &choice) in policy.iter().enumerate() {
            let falls = (h[group] - self.problem.mean(choice as usize, h).hi).next_down();
            if falls < 0.25 {
                return Err("found no weight that falls along the policy; it may take very long to leave".to_owned());
            }
        }
        let mut residual: f64 = 0.0;
        for (group, &choice) in policy.iter().enumerate() {
            let value = self.problem.backup(choice as usize, w);
            residual = residual.max(value.hi - w[group]).max(w[group] - value.lo);
        }
        let mut delta = 8.0 * residual + 1e-300;
        for _ in 0..12 {
            let lo: Vec<f64> = w.iter().zip(h).map(|(w, h)| w - delta * h).collect();
            let hi: Vec<f64> = w.iter().zip(h).map(|(w, h)| w + delta * h).collect();
            let own = |x: &[f64], side: f64| {
                policy.iter().enumerate().all(|(group, &choice)| self.holds(group, choice as usize, x, side))
            };
            let all = |x: &[f64], side: f64| {
                (0..x.len()).all(|group| self.problem.choices_of(group).all(|choice| self.holds(group, choice, x, side)))
            };
            // A maximum: the policy from below, every choice from above. A minimum: the other way round.
            let proven = if self.sign > 0.0 { own(&lo, -1.0) && all(&hi, 1.0) } else { all(&lo, -1.0) && own(&hi, 1.0) };
            if proven {
                let width = lo.iter().zip(&hi).fold(0.0f64, |width, (lo, hi)| width.max(hi - lo));
                return Ok((lo, hi, width));
            }
            delta *= 4.0;
        }
        Err("the bounds could not be made to satisfy their inequalities".to_owned())
    }

    /// `side` 1: x is at least the value of the choice; −1: at most.
    fn holds(&self, group: usize, choice: usize, x: &[f64], side: f64) -> bool {
        let value = self.problem.backup(choice, x);
        if side > 0.0 { value.hi <= x[group] } else { value.lo >= x[group] }
    }
}
