//! The best mean reward per step inside an end component, between proven bounds.
//!
//! For any numbers v, one per state: if no choice gives `reward + mean v after − v before` above `high`, no policy earns more
//! than `high` per step; if in every state the policy's choice gives at least `low`, that policy earns at least `low` per
//! step, from every state (both by summing over a long run, where v telescopes). Relative value iteration makes the two meet;
//! every step stays in place with probability 1/2, which removes periodicity. Where that is slow, v comes from policy
//! iteration: the greedy policy, led to one state from everywhere, evaluated by elimination (reward and time until that
//! state).

use super::elimination::Equations;
use super::objective::SolveTask;
use super::reduced::{down, up};
use super::view::{UNIT, View};
use crate::scc::{Components, NONE};

/// Sweeps before policy iteration is tried.
const PATIENCE: u64 = 300;

/// Evaluations without progress before policy iteration is abandoned.
const FRUITLESS: u64 = 20;

/// Multiplications granted to policy iteration in one end component.
const MAX_MULTIPLICATIONS: u64 = 1_000_000_000;

/// Bounds on the mean reward, and a policy that earns at least the lower one.
pub(crate) struct Gain {
    /// From below.
    pub low: f64,
    /// From above.
    pub high: f64,
    /// The choices of the members, in their order.
    pub policy: Vec<u32>,
    /// Sweeps.
    pub iterations: u64,
    /// The numbers v of the members that the latest bounds are from.
    pub relative: Vec<f64>,
}

/// A policy that leads to one state from everywhere, its mean reward and relative values.
struct Led {
    mean: f64,
    relative: Vec<f64>,
    policy: Vec<u32>,
}

/// A connected part of a model: members with the choices that stay among them.
pub(crate) struct RecurrentClass<'p> {
    /// The model.
    pub view: &'p View<'p>,
    /// The states.
    pub members: &'p [u32],
    /// The choices that count; all of them stay among the members, and every member (or the set it is merged with) has one.
    pub inside: &'p dyn Fn(usize) -> bool,
    /// The reward of each choice.
    pub reward: &'p dyn Fn(usize) -> [f64; 2],
    /// The state under which each state's number is kept: states merged into one have the same.
    pub head: &'p dyn Fn(usize) -> usize,
}

impl RecurrentClass<'_> {
    /// Bounds at most `width` apart if rounding and time allow; `settled` may end the work earlier.
    ///
    /// `v` is scratch of the size of the model, left at 0 for the members.
    pub fn gain(
        &self,
        v: &mut [f64],
        width: f64,
        settled: impl Fn(f64, f64) -> bool,
        task: &SolveTask,
    ) -> Gain {
        let mut best = Gain {
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            policy: Vec::new(),
            iterations: 0,
            relative: Vec::new(),
        };
        let mut next = vec![(f64::NEG_INFINITY, 0_u32, f64::NEG_INFINITY); self.members.len()];
        let mut progress = (f64::INFINITY, 0_u64);
        let mut work = MAX_MULTIPLICATIONS;
        // The policy last evaluated, if any.
        let mut policy: Vec<u32> = Vec::new();
        let is_large = self.members.len() > 1 << 12;
        loop {
            next.fill((f64::NEG_INFINITY, u32::MAX, f64::NEG_INFINITY));
            let mut high = f64::NEG_INFINITY;
            for (i, &c) in policy.iter().enumerate().filter(|p| *p.1 != NONE) {
                let [low, _, middle] = self.change(c as usize, v, v[self.members[i] as usize]);
                next[i] = (middle, c, low);
            }
            for &s in self.members {
                let s = s as usize;
                let head = (self.head)(s);
                let place = &mut next[self.position(s as u32)];
                for c in self.view.choices(s).filter(|&c| (self.inside)(c)) {
                    let [low, top, middle] = self.change(c, v, v[head]);
                    high = high.max(top);
                    // Policy iteration keeps a choice unless another is better by more than rounding.
                    let margin = if policy.is_empty() {
                        0.0
                    } else {
                        1e-13 * (v[head].abs() + middle.abs() + place.0.abs())
                    };
                    if low > place.2 + margin {
                        *place = (middle, c as u32, low);
                    }
                }
            }
            let low = next.iter().filter(|p| p.1 != u32::MAX).fold(f64::INFINITY, |m, p| m.min(p.2));
            best.iterations += 1;
            best.high = best.high.min(high);
            if low > best.low || best.policy.is_empty() {
                best.low = low;
                best.policy = next.iter().map(|p| p.1).collect();
            }
            let gap = best.high - best.low;
            if gap < 0.99 * progress.0 {
                progress = (gap, best.iterations);
            }
            // Ten thousand sweeps without one per cent of progress: only rounding is left, or it would take too long.
            if gap <= width
                || settled(best.low, best.high)
                || best.iterations > progress.1 + 10_000
                || ((is_large || best.iterations.is_multiple_of(16)) && (task.stop)())
            {
                break;
            }
            if best.iterations >= PATIENCE && work > 0 {
                if best.iterations.saturating_sub(progress.1.max(PATIENCE)) > FRUITLESS {
                    work = 0;
                } else {
                    policy = next.iter().map(|p| p.1).collect();
                    if self.evaluate(&mut policy, v, &mut work, task) {
                        continue;
                    }
                    work = 0;
                }
                policy.clear();
            }
            let reference = next.iter().find(|p| p.1 != u32::MAX).map_or(0.0, |p| p.0);
            for (i, &s) in self.members.iter().enumerate() {
                if next[i].1 != u32::MAX {
                    v[s as usize] += 0.5 * (next[i].0 - reference);
                }
            }
        }
        best.relative = self.members.iter().map(|&s| v[(self.head)(s as usize)]).collect();
        self.members.iter().for_each(|&s| v[s as usize] = 0.0);
        best
    }

    /// Replaces v by the relative values of a policy; false if that is too much work. A policy may end up in one of several
    /// recurrent classes; the one that earns most counts, and all states are directed there.
    fn evaluate(&self, policy: &mut Vec<u32>, v: &mut [f64], work: &mut u64, task: &SolveTask) -> bool {
        let m = self.members.len();
        let first: Vec<usize> =
            (0..m).scan(0, |at, i| Some(std::mem::replace(at, *at + self.arcs(policy[i]).count()))).collect();
        let targets: Vec<u32> = policy.iter().flat_map(|&c| self.arcs(c)).map(|a| a.0 as u32).collect();
        let range = |i: usize| first[i]..first.get(i + 1).copied().unwrap_or(targets.len());
        let classes = Components::find(m, |i| policy[i] != NONE, range, |a| targets[a]);
        let closed = |&class: &usize| {
            classes
                .states_of(class)
                .iter()
                .all(|&i| range(i as usize).all(|a| classes.of[targets[a] as usize] == class as u32))
        };
        let mut into: Vec<Vec<(u32, u32)>> = vec![Vec::new(); m];
        for &s in self.members {
            for c in self.view.choices(s as usize).filter(|&c| (self.inside)(c)) {
                self.arcs(c as u32).for_each(|(t, _)| into[t].push((self.position(s) as u32, c as u32)));
            }
        }
        let mut best: Option<Led> = None;
        for class in (0..classes.len()).filter(closed) {
            let home = classes.states_of(class)[0] as usize;
            match self.relative(policy.to_vec(), home, &into, work, task) {
                Some(next) if best.as_ref().is_none_or(|b| next.mean > b.mean) => best = Some(next),
                Some(_) => {}
                None => break,
            }
        }
        let Some(best) = best else {
            return false;
        };
        self.members.iter().zip(best.relative).for_each(|(&s, x)| v[s as usize] = x);
        *policy = best.policy;
        true
    }

    /// The place among the members where a state's number is kept.
    fn position(&self, state: u32) -> usize {
        self.members.partition_point(|&t| t < (self.head)(state as usize) as u32)
    }

    /// The arcs of a choice, if it is one, as places among the members.
    fn arcs(&self, c: u32) -> impl Iterator<Item = (usize, f64)> {
        let range = if c == NONE { 0..0 } else { self.view.arcs(c as usize) };
        range.map(|a| (self.position(self.view.mdp.targets()[a]), self.view.mdp.probabilities()[a]))
    }

    /// The mean reward and the relative values of a policy that is led to `home` from everywhere. States from which it does
    /// not lead there take the shortest way, so that there is only one mean.
    fn relative(
        &self,
        mut policy: Vec<u32>,
        home: usize,
        into: &[Vec<(u32, u32)>],
        work: &mut u64,
        task: &SolveTask,
    ) -> Option<Led> {
        let m = self.members.len();
        let arcs = |c: u32| self.arcs(c);
        // First along the policy, then along any choice.
        let mut reached = vec![false; m];
        reached[home] = true;
        let mut queue = vec![home];
        for own in [true, false] {
            let mut next = 0;
            while next < queue.len() {
                for &(i, c) in &into[queue[next]] {
                    if !reached[i as usize] && (!own || policy[i as usize] == c) {
                        reached[i as usize] = true;
                        policy[i as usize] = c;
                        queue.push(i as usize);
                    }
                }
                next += 1;
            }
        }
        let mut equations = Equations {
            rows: Vec::with_capacity(m),
            exits: Vec::with_capacity(m),
            constants: Vec::with_capacity(m),
            row_errors: 0.0,
        };
        let reward = |c: u32| {
            let [low, high] = (self.reward)(c as usize);
            low + (high - low) / 2.0
        };
        for (i, &c) in policy.iter().enumerate() {
            let (mut row, mut exit, mut constants) = (Vec::new(), 1.0, [0.0; 3]);
            if i != home && c != NONE {
                exit = 0.0;
                for (t, p) in arcs(c).filter(|a| a.0 != i) {
                    match row.iter_mut().find(|(u, _): &&mut (u32, f64)| *u as usize == t) {
                        _ if t == home => exit += p,
                        Some(entry) => entry.1 += p,
                        None => row.push((t as u32, p)),
                    }
                }
                constants = [reward(c).max(0.0), (-reward(c)).max(0.0), 1.0];
            }
            equations.rows.push(row);
            equations.exits.push(exit);
            equations.constants.push(constants);
        }
        let solved = equations.solve(work, task.stop).ok()?;
        let (mut earned, mut steps) = (reward(policy[home]), 1.0);
        for (t, p) in arcs(policy[home]).filter(|a| a.0 != home) {
            let [plus, minus, time] = solved.values[t];
            earned += p * (plus - minus);
            steps += p * time;
        }
        let mean = earned / steps;
        let mut relative: Vec<f64> =
            solved.values.iter().map(|[plus, minus, time]| plus - minus - mean * time).collect();
        relative[home] = 0.0;
        relative.iter().all(|x| x.is_finite()).then_some(Led { mean, relative, policy })
    }

    /// `reward + mean v after − v before` of a choice: lower bound, upper bound, middle.
    fn change(&self, c: usize, v: &[f64], before: f64) -> [f64; 3] {
        let [low, high] = (self.reward)(c);
        let (mut sum, mut size, mut terms) = (0.0, 0.0, 6.0);
        for a in self.view.arcs(c) {
            let term = self.view.mdp.probabilities()[a] * v[(self.head)(self.view.mdp.targets()[a] as usize)];
            sum += term;
            size += term.abs();
            terms += 1.0;
        }
        let error =
            (size + before.abs() + low.abs().max(high.abs())) * (terms * UNIT * 1.01 + self.view.slack);
        let middle = low + (high - low) / 2.0 + sum - before;
        if size == 0.0 && before == 0.0 {
            return [low, high, middle];
        }
        [down(low + (sum - before) - error), up(high + (sum - before) + error), middle]
    }
}
