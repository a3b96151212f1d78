//! What is left when the graph has decided all that it can: states that count as one are one, everything known is a constant.

use crate::graph::Graph;
use crate::rows::{Interval, Sum, divided};

/// The rest of a problem: groups of states and their choices.
pub struct Problem {
    /// The group of each state, if it is undecided.
    pub group: Vec<Option<u32>>,
    /// Where the choices of each group begin.
    pub choices: Vec<u32>,
    /// The model's number of each choice.
    pub original: Vec<u32>,
    /// Where the arcs of each choice begin.
    pub arcs: Vec<u32>,
    /// The group that each arc leads to.
    pub targets: Vec<u32>,
    /// Its probability.
    pub probabilities: Vec<f64>,
    /// The reward of each choice plus what it leads to that is known.
    pub constants: Vec<Interval>,
    /// The probability with which each choice leads to what is known, or ends the episode.
    pub exits: Vec<f64>,
    /// How far the probabilities of a choice may be off, for [`Sum::interval`].
    pub off: Vec<f64>,
}

/// What is to be solved.
pub struct Parts<'a> {
    pub graph: &'a Graph<'a>,
    /// The undecided states.
    pub open: &'a [bool],
    /// End components that count as one.
    pub merged: &'a [Option<u32>],
    /// The values of the others.
    pub known: &'a [f64],
    /// The reward of each choice.
    pub rewards: &'a [Interval],
}

impl Problem {
    /// Takes in the choices that are allowed, except those that stay in their group, where nothing happens.
    pub fn new(parts: &Parts, allowed: impl Fn(usize) -> bool) -> Self {
        let (graph, mdp) = (parts.graph, parts.graph.mdp);
        let n = mdp.n_states();
        let mut group = vec![None; n];
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut of_component = vec![None; n];
        for state in (0..n).filter(|&state| parts.open[state]) {
            let known = parts.merged[state].and_then(|component| of_component[component as usize]);
            let at = known.unwrap_or(members.len() as u32);
            if known.is_none() {
                members.push(Vec::new());
            }
            if let Some(component) = parts.merged[state] {
                of_component[component as usize] = Some(at);
            }
            members[at as usize].push(state as u32);
            group[state] = Some(at);
        }
        let mut problem = Self {
            group,
            choices: vec![0],
            original: Vec::new(),
            arcs: vec![0],
            targets: Vec::new(),
            probabilities: Vec::new(),
            constants: Vec::new(),
            exits: Vec::new(),
            off: Vec::new(),
        };
        for (at, states) in members.iter().enumerate() {
            for &state in states {
                for choice in mdp.choices_of(state as usize).filter(|&choice| allowed(choice)) {
                    let stays = |&target: &u32| problem.group[target as usize] == Some(at as u32);
                    let merged = parts.merged[state as usize].is_some();
                    if merged && !graph.ends[choice] && graph.targets(choice).iter().all(stays) {
                        continue;
                    }
                    problem.add(parts, choice);
                }
            }
            problem.choices.push(problem.original.len() as u32);
        }
        problem
    }

    fn add(&mut self, parts: &Parts, choice: usize) {
        let mdp = parts.graph.mdp;
        let arcs = mdp.arcs_of(choice);
        let n = arcs.len();
        let sum: f64 = mdp.probabilities[arcs.clone()].iter().sum();
        let (scale, off) = if parts.graph.ends[choice] { (1.0, 0.0) } else { (sum, divided(n)) };
        let mut known = Sum::default();
        let mut exit = if parts.graph.ends[choice] { 1.0 - sum } else { 0.0 };
        let mut any = false;
        for arc in arcs {
            let (target, p) = (mdp.targets[arc] as usize, mdp.probabilities[arc] / scale);
            match self.group[target] {
                Some(group) => {
                    self.targets.push(group);
                    self.probabilities.push(p);
                }
                None => {
                    any = true;
                    exit += p;
                    known.add(p, parts.known[target]);
                }
            }
        }
        let known = if any { known.interval(off) } else { Interval::point(0.0) };
        self.constants.push(known.plus(parts.rewards[choice]));
        self.exits.push(exit);
        self.off.push(off);
        self.original.push(choice as u32);
        self.arcs.push(self.targets.len() as u32);
    }

    pub fn n_groups(&self) -> usize {
        self.choices.len() - 1
    }

    pub fn choices_of(&self, group: usize) -> std::ops::Range<usize> {
        self.choices[group] as usize..self.choices[group + 1] as usize
    }

    pub fn arcs_of(&self, choice: usize) -> std::ops::Range<usize> {
        self.arcs[choice] as usize..self.arcs[choice + 1] as usize
    }

    /// The value of a choice, with rounding counted.
    pub fn backup(&self, choice: usize, x: &[f64]) -> Interval {
        self.mean(choice, x).plus(self.constants[choice])
    }

    /// The mean of `x` over the arcs, with rounding counted.
    pub fn mean(&self, choice: usize, x: &[f64]) -> Interval {
        let mut sum = Sum::default();
        for arc in self.arcs_of(choice) {
            sum.add(self.probabilities[arc], x[self.targets[arc] as usize]);
        }
        sum.interval(self.off[choice])
    }

    /// The middle of a choice's constant.
    pub fn constant(&self, choice: usize) -> f64 {
        let Interval { lo, hi } = self.constants[choice];
        lo + (hi - lo) / 2.0
    }
}
