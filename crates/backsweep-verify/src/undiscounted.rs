//! Enclosures of reachability and total rewards.

use crate::enclosure::{Enclosure, Guess};
use crate::exact;
use crate::graph::Graph;
use crate::linear;
use crate::longrun::{DOUBTFUL_LOOP, loops, signs_changed};
use crate::problem::{Remainder, RemainderParts, SplitValues};
use crate::rows::Interval;
use backsweep_mdp::Direction;

/// Rounds of policy iteration, for values and for weights.
const ROUNDS: usize = 100;

/// The probability of reaching the goal.
pub fn reach(graph: &Graph, direction: Direction, guess: &Guess) -> Enclosure {
    let maximize = direction == Direction::Maximize;
    let (possible, certain) = match maximize {
        true => (graph.may_reach(), graph.can_surely_reach()),
        false => (graph.must_maybe_reach(), graph.must_surely_reach()),
    };
    let open: Vec<bool> =
        possible.iter().zip(&certain).map(|(possible, certain)| *possible && !certain).collect();
    // For a minimum, the undecided part has no end component: a policy could stay in it and miss the goal for certain.
    let merged = if maximize { graph.end_components(&open, |_| true) } else { vec![None; open.len()] };
    let rewards = vec![Interval::point(0.0); graph.mdp.n_choices()];
    let parts =
        RemainderParts { graph, open: &open, merged: &merged, one: &certain, rewards: &rewards, stay: &[] };
    let problem = Remainder::new(&parts, |_| true);
    let mut enclosure = solve(&problem, maximize, guess);
    for state in (0..open.len()).filter(|&state| !open[state]) {
        enclosure.fix(state, f64::from(u8::from(certain[state])));
    }
    // A probability stays between 0 and 1 despite rounding.
    enclosure.lo.iter_mut().for_each(|lo| *lo = lo.max(0.0));
    enclosure.hi.iter_mut().for_each(|hi| *hi = hi.min(1.0));
    enclosure
}

/// The total reward until the goal. A minimum is -infinity wherever a loop that earns below 0 can be reached without losing the
/// certainty of the goal: it can be used any number of times first, so that no policy attains it.
pub fn total(graph: &Graph, rewards: &[Interval], direction: Direction, guess: &Guess) -> Enclosure {
    let maximize = direction == Direction::Maximize;
    let n = graph.mdp.n_states();
    let finite = if maximize { graph.must_surely_reach() } else { graph.can_surely_reach() };
    let mut open: Vec<bool> = (0..n).map(|state| finite[state] && !graph.goal[state]).collect();
    let stays = |choice: usize| {
        !graph.ends[choice] && graph.targets(choice).iter().all(|&target| finite[target as usize])
    };
    // For a maximum nothing leaves, and there is no end component: every policy reaches the goal.
    let free = |choice: usize| stays(choice) && rewards[choice].is_zero();
    let (merged, endless) = if maximize {
        (vec![None; n], vec![false; n])
    } else {
        let merged = graph.end_components(&open, free);
        let all = graph.end_components(&open, stays);
        let (earning, doubtful) = loops(graph, &all, &merged, &signs_changed(rewards, -1.0), guess.budget);
        let (endless, unsure) = (graph.backward(&earning, stays), graph.backward(&doubtful, stays));
        open.iter_mut().zip(endless.iter().zip(&unsure)).for_each(|(open, (a, b))| *open &= !a && !b);
        (merged, endless)
    };
    let parts =
        RemainderParts { graph, open: &open, merged: &merged, one: &vec![false; n], rewards, stay: &[] };
    let problem = Remainder::new(&parts, stays);
    let mut enclosure = solve(&problem, maximize, guess);
    for state in (0..n).filter(|&state| !open[state]) {
        match () {
            () if graph.goal[state] => enclosure.fix(state, 0.0),
            () if !finite[state] => enclosure.fix(state, f64::INFINITY),
            () if endless[state] => enclosure.fix(state, f64::NEG_INFINITY),
            () => {
                enclosure.set(state, Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY });
                enclosure.remark = Some(DOUBTFUL_LOOP.to_owned());
            }
        }
    }
    enclosure
}

/// Encloses the values of a problem.
pub fn solve(problem: &Remainder, maximize: bool, guess: &Guess) -> Enclosure {
    let n = problem.n_groups();
    let mut search = PolicySearch {
        problem,
        sign: if maximize { 1.0 } else { -1.0 },
        budget: guess.budget,
        width: guess.width,
    };
    let mut enclosure = Enclosure::unknown(problem.group.len());
    let mut large = vec![0.0; n + 2];
    large[n + 1] = 1.0;
    for (state, group) in problem.group.iter().enumerate() {
        if let Some(group) = group {
            let value = guess.values[state];
            large[*group as usize] = if value.is_finite() { value } else { 0.0 };
        }
    }
    let Some(mut policy) = search.first_policy(guess.policy) else {
        enclosure.remark = Some("found no policy that leaves the undecided states".to_owned());
        return enclosure;
    };
    let x = SplitValues { large, small: vec![0.0; n + 2] };
    let exact = search.enclose_exactly(&mut policy.clone(), x.clone());
    match exact.map_or_else(|| search.enclose(&mut policy, x), Ok) {
        Ok((x, off)) => {
            for (state, group) in problem.group.iter().enumerate() {
                if let Some(group) = group.map(|group| group as usize) {
                    let value = Interval::point(x.large[group]).plus(Interval::point(x.small[group]));
                    enclosure.set(state, value.plus(Interval { lo: -off[group], hi: off[group] }));
                }
            }
        }
        Err(remark) => enclosure.remark = Some(remark),
    }
    enclosure
}

struct PolicySearch<'a> {
    problem: &'a Remainder,
    /// 1 for a maximum, −1 for a minimum.
    sign: f64,
    budget: u64,
    width: f64,
}

impl PolicySearch<'_> {
    /// The claimed policy if it leaves, otherwise one that does by the fewest steps.
    fn first_policy(&self, claimed: &[Option<u32>]) -> Option<Vec<u32>> {
        let n_choices = self.problem.original.iter().max().map_or(0, |most| *most as usize + 1);
        let mut is_claimed = vec![false; n_choices];
        for &choice in claimed.iter().flatten().filter(|choice| (**choice as usize) < n_choices) {
            is_claimed[choice as usize] = true;
        }
        let pick = |group: usize| {
            let mut choices = self.problem.choices_of(group);
            choices
                .find(|&choice| is_claimed[self.problem.original[choice] as usize])
                .map(|choice| choice as u32)
        };
        let policy: Option<Vec<u32>> = (0..self.problem.n_groups()).map(pick).collect();
        policy
            .filter(|policy| self.way_out(policy.iter().copied()).is_some())
            .or_else(|| self.way_out(0..self.problem.original.len() as u32))
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
                if let Some(list) = incoming.get_mut(self.problem.targets[arc] as usize) {
                    list.push(choice);
                }
            }
            let group = owner[choice as usize];
            if self.problem.may_leave(choice as usize) && policy[group].is_none() {
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

    /// Policy iteration with values that are almost exact, until every other choice is proven to be worse. `None` if that
    /// takes too long, or if choices tie up to rounding.
    fn enclose_exactly(&mut self, policy: &mut [u32], mut x: SplitValues) -> Option<(SplitValues, Vec<f64>)> {
        self.improve(policy, &mut x, self.width / 100.0);
        for _ in 0..ROUNDS {
            let (x, off) = exact::values(self.problem, policy)?;
            let mut changed = false;
            for group in 0..policy.len() {
                let current = policy[group] as usize;
                for choice in self.problem.choices_of(group) {
                    if self.problem.same_row(choice, current) {
                        continue;
                    }
                    let blur = off[group] + self.problem.mean(choice, &off);
                    let gain = self.problem.gain(group, choice, &x);
                    let gain = if self.sign > 0.0 { gain } else { -gain };
                    if gain.lo > blur {
                        policy[group] = choice as u32;
                        changed = true;
                        break;
                    }
                    if gain.hi > -blur {
                        return None;
                    }
                }
            }
            if !changed {
                return Some((x, off));
            }
        }
        None
    }

    /// Policy iteration, then a weight, then the proof: values, and how far they may be off.
    fn enclose(&mut self, policy: &mut [u32], mut x: SplitValues) -> Result<(SplitValues, Vec<f64>), String> {
        let mut precision = self.width / 100.0;
        let mut best: Result<(SplitValues, Vec<f64>), String> = Err("the budget is spent".to_owned());
        let mut narrowest = f64::INFINITY;
        for _ in 0..4 {
            self.improve(policy, &mut x, precision);
            self.refine(policy, &mut x, precision);
            if self.way_out(policy.iter().copied()).is_none() {
                return Err("the best policy found does not leave the undecided states".to_owned());
            }
            let mut off = self.off(policy, &x, self.width / 4.0);
            if off.is_err() {
                // A loop that costs hardly anything per step is not nearly best: it never leaves.
                off = self.off(policy, &x, 0.0);
            }
            match off.and_then(|off| self.prove(policy, &x, off)) {
                Ok(off) => {
                    let width = 2.0 * off.iter().fold(0.0f64, |most, off| most.max(*off));
                    if width < narrowest {
                        narrowest = width;
                        best = Ok((x.clone(), off));
                    }
                }
                Err(remark) if best.is_err() => best = Err(remark),
                Err(_) => {}
            }
            if narrowest <= self.width || self.budget == 0 {
                break;
            }
            precision = if precision < 1e-30 { 0.0 } else { precision / 1e4 };
        }
        best
    }

    /// Policy iteration in ordinary arithmetic.
    fn improve(&mut self, policy: &mut [u32], x: &mut SplitValues, precision: f64) {
        for _ in 0..ROUNDS {
            x.small.fill(0.0);
            let constants: Vec<f64> =
                policy.iter().map(|&choice| self.problem.rewards[choice as usize].middle()).collect();
            linear::solve(self.problem, policy, &constants, &mut x.large, precision, &mut self.budget);
            let mut changed = false;
            for (group, taken) in policy.iter_mut().enumerate() {
                let mut best = self.best_case(self.problem.gain(group, *taken as usize, x));
                for choice in self.problem.choices_of(group) {
                    // Clearly better, or policy iteration could cycle.
                    let gain = -self.best_case(-self.problem.gain(group, choice, x));
                    if gain - best > 1e-13 * x.large[group].abs() {
                        *taken = choice as u32;
                        best = gain;
                        changed = true;
                    }
                }
            }
            if !changed || self.budget == 0 {
                return;
            }
        }
    }

    /// The better end of an interval, with its sign changed for a minimum.
    fn best_case(&self, gain: Interval) -> f64 {
        if self.sign > 0.0 { gain.hi } else { -gain.lo }
    }

    /// Finds the small parts: what the policy gains over the large ones, added up along its way.
    fn refine(&mut self, policy: &[u32], x: &mut SplitValues, precision: f64) {
        x.small.fill(0.0);
        let gains: Vec<f64> =
            (0..policy.len()).map(|g| self.problem.gain(g, policy[g] as usize, x).middle()).collect();
        let mut small = vec![0.0; x.small.len()];
        linear::solve(self.problem, policy, &gains, &mut small, precision / 1e3, &mut self.budget);
        if small.iter().all(|small| small.is_finite()) {
            x.small = small;
        }
    }

    /// A bound on the error of values: errors per step added up along the way of the slowest policy that is nearly best.
    fn off(&mut self, policy: &[u32], x: &SplitValues, near: f64) -> Result<Vec<f64>, String> {
        let n = policy.len();
        let size = |gain: Interval| gain.hi.abs().max(gain.lo.abs());
        // A choice whose reward is uncertain, such as staying for a gain, may be better than the policy. That counts once, where
        // it is taken, and not at every step.
        let mut better = vec![0.0; self.problem.original.len()];
        for group in 0..n {
            for choice in self.problem.choices_of(group) {
                better[choice] = 4.0 * self.best_case(self.problem.gain(group, choice, x)).max(0.0);
            }
        }
        let mut errors: Vec<f64> =
            (0..n).map(|g| size(self.problem.gain(g, policy[g] as usize, x))).collect();
        let most = errors.iter().chain(&better).fold(1e-290f64, |most, error| most.max(*error));
        // Large components are swept to a precision that serves the smallest error, so it must not be too small.
        let least = most / 1e3;
        errors.iter_mut().for_each(|error| *error = 4.0 * error.max(least));
        let mut slow = policy.to_vec();
        let mut off = vec![0.0; n + 2];
        for _ in 0..ROUNDS {
            let along: Vec<f64> = (0..n).map(|g| errors[g].max(better[slow[g] as usize])).collect();
            linear::solve(self.problem, &slow, &along, &mut off, least, &mut self.budget);
            if off.iter().any(|off| !(off.is_finite() && *off >= 0.0)) {
                return Err("nearly best choices never leave the undecided states".to_owned());
            }
            let lifted = SplitValues { large: off.clone(), small: vec![0.0; n + 2] };
            let mut changed = false;
            for (group, taken) in slow.iter_mut().enumerate() {
                let error = |choice: usize| errors[group].max(better[choice]);
                let rise = |choice| self.problem.drift(group, choice, &lifted).hi + error(choice);
                let mut most = rise(*taken as usize);
                for choice in self.problem.choices_of(group) {
                    let rise = rise(choice);
                    let risky = rise > most && rise > errors[group] / 2.0;
                    if risky && self.is_near(group, choice, x, near.max(4.0 * off[group])) {
                        *taken = choice as u32;
                        most = rise;
                        changed = true;
                    }
                }
            }
            if !changed || self.budget == 0 {
                off.truncate(n);
                return Ok(off);
            }
        }
        Err("the errors did not settle".to_owned())
    }

    /// Returns whether a choice is so nearly best that errors have to be counted along it.
    fn is_near(&self, group: usize, choice: usize, x: &SplitValues, near: f64) -> bool {
        let gain = self.problem.gain(group, choice, x);
        self.best_case(gain) >= -near
    }

    /// Makes x ± off satisfy every inequality that it needs; returns what is added and subtracted.
    fn prove(&self, policy: &[u32], x: &SplitValues, mut off: Vec<f64>) -> Result<Vec<f64>, String> {
        let n = policy.len();
        let lifted = |off: &[f64], sign: f64| {
            let mut lifted = x.clone();
            (0..n).for_each(|group| lifted.small[group] += sign * off[group]);
            lifted
        };
        for _ in 0..8 {
            let (lo, hi) = (lifted(&off, -1.0), lifted(&off, 1.0));
            let own = |x: &SplitValues, side: f64| (0..n).all(|g| self.holds(g, policy[g] as usize, x, side));
            let all = |x: &SplitValues, side: f64| {
                (0..n).all(|group| {
                    self.problem.choices_of(group).all(|choice| self.holds(group, choice, x, side))
                })
            };
            // A maximum: the policy from below, every choice from above. A minimum: the other way round.
            let proven = if self.sign > 0.0 {
                own(&lo, -1.0) && all(&hi, 1.0)
            } else {
                all(&lo, -1.0) && own(&hi, 1.0)
            };
            if proven {
                // The sums above were rounded: a little more covers that.
                let more = |g: usize| (off[g] + 4.0 * f64::EPSILON * (off[g] + x.small[g].abs())).next_up();
                return Ok((0..n).map(more).collect());
            }
            off.iter_mut().for_each(|off| *off *= 4.0);
        }
        Err("the bounds could not be made to satisfy their inequalities".to_owned())
    }

    /// `side` 1: x is at least the value of the choice; −1: at most.
    fn holds(&self, group: usize, choice: usize, x: &SplitValues, side: f64) -> bool {
        let gain = self.problem.gain(group, choice, x);
        if side > 0.0 { gain.hi <= 0.0 } else { gain.lo >= 0.0 }
    }
}
