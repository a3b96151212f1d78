//! The problem that remains after graph analysis: one in which every policy that matters ends.
//!
//! Its states are those whose value the graph did not decide; an end component that has to be left is one state. The values
//! are the largest that a *proper* policy attains (one that leaves the problem with probability 1 from everywhere). Two facts
//! carry every bound, both by applying a policy's own backup forever, which for a proper policy converges to its value
//! from any start:
//!
//! * if no choice backs `x` up to more than `x`, anywhere, then no proper policy is worth more than `x`;
//! * if the choices of one proper policy back `y` up to no less than `y`, then that policy is worth at least `y`.
//!
//! Smallest values are largest ones with all signs changed; see [`super::objective`].

use super::row_shape::RowShape;
use super::view::{UNIT, View};
use crate::incidence::Incidence;
use crate::scc::NONE;

/// The undecided part of a model: largest values over proper policies.
#[derive(Default)]
pub(crate) struct ReducedMdp {
    /// States, choices and arcs.
    pub shape: RowShape,
    /// The state of this problem that each arc leads to.
    pub targets: Vec<u32>,
    /// The probability of each arc.
    pub probabilities: Vec<f64>,
    /// The worth of each choice besides its arcs: its reward and what it reaches outside, lower and upper bound.
    pub gain: Vec<[f64; 2]>,
    /// The probability with which each choice leaves the problem.
    pub exit: Vec<f64>,
    /// The relative error of `exit`, including the rounding of the model's own probabilities.
    pub exit_error: Vec<f64>,
    /// The model's choice behind each of this problem's, or [`NONE`] for staying in an end component forever.
    pub origin: Vec<u32>,
    /// The relative error of the model's probabilities.
    pub slack: f64,
}

/// The way in which states and choices of the model enter the reduced problem.
pub(crate) struct Reduction<'p> {
    /// The reduced state of each state, or [`NONE`] where the graph decided the value.
    pub place: &'p [u32],
    /// The number of reduced states.
    pub n: usize,
    /// The decided values; finite wherever an allowed choice leads.
    pub fixed: &'p [f64],
    /// Which choices may be taken.
    pub allowed: &'p dyn Fn(usize) -> bool,
    /// The reward of each choice.
    pub reward: &'p dyn Fn(usize) -> [f64; 2],
    /// The worth of staying in a reduced state forever, where that is possible.
    pub stay: &'p dyn Fn(usize) -> Option<[f64; 2]>,
}

/// A choice of the model.
pub(crate) struct ReducedRow<'r> {
    /// The states that it leads to.
    pub targets: &'r [u32],
    /// Their probabilities.
    pub probabilities: &'r [f64],
    /// The probability that it ends the episode.
    pub ends: f64,
    /// Its reward, to be maximised.
    pub reward: [f64; 2],
}

impl ReducedRow<'_> {
    /// The arcs to states of the reduced problem.
    fn arcs(&self, place: &[u32]) -> impl Iterator<Item = (u32, f64)> {
        let all = self.targets.iter().zip(self.probabilities);
        all.map(|(&target, &p)| (place[target as usize], p)).filter(|&(target, _)| target != NONE)
    }

    /// The worth of the choice besides these arcs, the probability with which it leaves, and the relative error of that.
    fn leaving(&self, place: &[u32], fixed: &[f64], slack: f64) -> ([f64; 2], f64, f64) {
        let (mut worth, mut size, mut exit, mut terms) = (0.0, 0.0, 0.0, 0.0);
        for (&target, p) in self.targets.iter().zip(self.probabilities) {
            let target = target as usize;
            if place[target] == NONE {
                terms += 1.0;
                exit += p;
                worth += p * fixed[target];
                size += p * fixed[target].abs();
            }
        }
        let error = size * ((terms + 4.0) * UNIT + slack);
        let [low, high] = self.reward;
        let exit = exit + self.ends;
        // What ends the episode is 1 minus the arcs: its absolute error is theirs.
        let ending = if self.ends > 0.0 { (slack + 2.0 * UNIT) / exit } else { 0.0 };
        ([down(low + (worth - error)), up(high + (worth + error))], exit, ending + (terms + 2.0) * UNIT)
    }
}

impl ReducedMdp {
    /// Builds the reduced problem; linear in the model.
    pub fn new(view: &View, plan: &Reduction) -> Self {
        let mut members: Vec<(u32, u32)> =
            (0..view.n()).filter(|&s| plan.place[s] != NONE).map(|s| (plan.place[s], s as u32)).collect();
        members.sort_unstable();
        let mut reduced = Self { slack: view.slack, ..Self::default() };
        let mut next = 0;
        for r in 0..plan.n {
            while next < members.len() && members[next].0 as usize == r {
                for c in view.choices(members[next].1 as usize).filter(|&c| (plan.allowed)(c)) {
                    reduced.add(view, plan, c);
                }
                next += 1;
            }
            if let Some(worth) = (plan.stay)(r) {
                reduced.gain.push(worth);
                reduced.exit.push(1.0);
                reduced.exit_error.push(0.0);
                reduced.origin.push(NONE);
                reduced.shape.end_choice(reduced.targets.len());
            }
            reduced.shape.end_state();
        }
        reduced
    }

    fn add(&mut self, view: &View, plan: &Reduction, c: usize) {
        let row = ReducedRow {
            targets: view.targets(c),
            probabilities: &view.mdp.probabilities()[view.arcs(c)],
            ends: view.ends[c],
            reward: (plan.reward)(c),
        };
        row.arcs(plan.place).for_each(|(target, p)| {
            self.targets.push(target);
            self.probabilities.push(p);
        });
        let (gain, exit, exit_error) = row.leaving(plan.place, plan.fixed, self.slack);
        self.gain.push(gain);
        self.exit.push(exit);
        self.exit_error.push(exit_error);
        self.origin.push(c as u32);
        self.shape.end_choice(self.targets.len());
    }

    /// Replaces the row of a choice. The states stay, and the slack must cover the row.
    pub fn replace(&mut self, choice: usize, row: &ReducedRow, place: &[u32], fixed: &[f64]) {
        let old = self.shape.arcs_of(choice);
        let (targets, probabilities): (Vec<u32>, Vec<f64>) = row.arcs(place).unzip();
        self.shape.resize_choice(choice, targets.len());
        self.targets.splice(old.clone(), targets);
        self.probabilities.splice(old, probabilities);
        (self.gain[choice], self.exit[choice], self.exit_error[choice]) =
            row.leaving(place, fixed, self.slack);
    }

    /// A proper policy: in every state the first choice found that may come closer to leaving, shortest way first.
    /// A state without a way out keeps [`NONE`]; reduced problems are built without such states.
    pub fn proper_policy(&self) -> Vec<u32> {
        let n = self.shape.n();
        let mut owner = vec![0_u32; self.gain.len()];
        for s in 0..n {
            owner[self.shape.choices_of(s)].fill(s as u32);
        }
        let rows = (0..owner.len()).map(|c| self.shape.arcs_of(c));
        let predecessors = Incidence::new(n, &self.targets, rows, |c, _| c as u32);
        let mut policy = vec![NONE; n];
        let mut queue = Vec::with_capacity(n);
        for (c, &s) in owner.iter().enumerate() {
            if self.exit[c] > 0.0 && policy[s as usize] == NONE {
                policy[s as usize] = c as u32;
                queue.push(s);
            }
        }
        let mut head = 0;
        while head < queue.len() {
            let t = queue[head] as usize;
            head += 1;
            for &c in predecessors.of(t) {
                let s = owner[c as usize];
                if policy[s as usize] == NONE {
                    policy[s as usize] = c;
                    queue.push(s);
                }
            }
        }
        policy
    }
}

/// One unit in the last place up, zero kept.
pub(crate) fn up(x: f64) -> f64 {
    if x == 0.0 { x } else { x.next_up() }
}

/// One unit in the last place down, zero kept.
pub(crate) fn down(x: f64) -> f64 {
    if x == 0.0 { x } else { x.next_down() }
}
