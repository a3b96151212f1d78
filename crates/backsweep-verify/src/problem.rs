//! The problem that remains after graph analysis: states that count as one are merged, and everything known is one of two
//! extra states, worth 0 and 1.

use crate::graph::Graph;
use crate::rows::{Interval, RowSum, Wide, scale_and_missing};

/// The rest of a problem: groups of states and their choices.
pub struct Remainder {
    /// The group of each state, if it is undecided.
    pub group: Vec<Option<u32>>,
    /// Where the choices of each group begin.
    pub choices: Vec<u32>,
    /// The model's number of each choice.
    pub original: Vec<u32>,
    /// Where the arcs of each choice begin.
    pub arcs: Vec<u32>,
    /// The group that each arc leads to; the two after the last are known.
    pub targets: Vec<u32>,
    /// Its probability, to be divided by the choice's `scale`.
    pub probabilities: Vec<f64>,
    /// The reward of each choice.
    pub rewards: Vec<Interval>,
    /// The sum that the probabilities of each choice stand for 1 by; 1 if the choice may end the episode.
    pub scale: Vec<Wide>,
    /// The probability with which each choice ends the episode.
    pub missing: Vec<Wide>,
}

/// Values as sums of a large and a small part: differences between nearly equal values keep their digits.
#[derive(Clone)]
pub struct SplitValues {
    pub large: Vec<f64>,
    pub small: Vec<f64>,
}

/// The problem to solve.
pub struct RemainderParts<'a> {
    pub graph: &'a Graph<'a>,
    /// The undecided states.
    pub open: &'a [bool],
    /// End components that count as one.
    pub merged: &'a [Option<u32>],
    /// Which of the others are worth 1; the rest is worth 0.
    pub one: &'a [bool],
    /// The reward of each choice.
    pub rewards: &'a [Interval],
    /// The value of staying in each of the merged components forever, where it is allowed; may be empty.
    pub stay: &'a [Option<Interval>],
}

impl Remainder {
    /// Adds the allowed choices, except those without reward that stay in their group, where nothing happens.
    pub fn new(parts: &RemainderParts, allowed: impl Fn(usize) -> bool) -> Self {
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
            rewards: Vec::new(),
            scale: Vec::new(),
            missing: Vec::new(),
        };
        let n_groups = members.len() as u32;
        for (at, states) in members.iter().enumerate() {
            for &state in states {
                for choice in mdp.choices_of(state as usize).filter(|&choice| allowed(choice)) {
                    let stays = |&target: &u32| problem.group[target as usize] == Some(at as u32);
                    let merged = parts.merged[state as usize].is_some();
                    let stays = !graph.ends[choice] && graph.targets(choice).iter().all(stays);
                    if merged && stays && parts.rewards[choice].is_zero() {
                        continue;
                    }
                    problem.add(parts, choice, n_groups);
                }
            }
            let component = parts.merged[states[0] as usize];
            let stay = component.and_then(|component| parts.stay.get(component as usize));
            if let Some(&Some(worth)) = stay {
                problem.rewards.push(worth);
                problem.missing.push(1.0.into());
                problem.scale.push(1.0.into());
                // Not a choice of the model.
                problem.original.push(mdp.n_choices() as u32);
                problem.arcs.push(problem.targets.len() as u32);
            }
            problem.choices.push(problem.original.len() as u32);
        }
        problem
    }

    fn add(&mut self, parts: &RemainderParts, choice: usize, n_groups: u32) {
        let mdp = parts.graph.mdp;
        let arcs = mdp.arcs_of(choice);
        let probabilities = &mdp.probabilities()[arcs.clone()];
        let (scale, missing) = scale_and_missing(probabilities, parts.graph.ends[choice]);
        self.probabilities.extend_from_slice(probabilities);
        for arc in arcs {
            let target = mdp.targets()[arc] as usize;
            self.targets.push(self.group[target].unwrap_or(n_groups + u32::from(parts.one[target])));
        }
        self.missing.push(missing);
        self.scale.push(scale);
        self.rewards.push(parts.rewards[choice]);
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

    /// Returns whether a choice may lead to what is known, or end the episode.
    pub fn may_leave(&self, choice: usize) -> bool {
        let n = self.n_groups() as u32;
        self.missing[choice].hi > 0.0 || self.arcs_of(choice).any(|arc| self.targets[arc] >= n)
    }

    /// Returns whether two choices of a group are the same but for their numbers.
    pub fn same_row(&self, a: usize, b: usize) -> bool {
        let row = |choice: usize| {
            let arcs = self.arcs_of(choice);
            (
                &self.targets[arcs.clone()],
                &self.probabilities[arcs],
                self.rewards[choice],
                self.missing[choice],
            )
        };
        a == b || row(a) == row(b)
    }

    /// The mean of errors after a choice, rounded up.
    pub fn mean(&self, choice: usize, errors: &[f64]) -> f64 {
        let error = |arc: usize| errors.get(self.targets[arc] as usize).copied().unwrap_or(0.0);
        1.01 * self.arcs_of(choice).map(|arc| self.probabilities[arc] * error(arc)).sum::<f64>()
    }

    /// The value of a choice of a group beyond the value of the group, with rounding counted.
    pub fn gain(&self, group: usize, choice: usize, x: &SplitValues) -> Interval {
        let Interval { lo, hi } = self.rewards[choice];
        let least = self.beyond(group, choice, x, lo);
        if lo == hi { least } else { Interval { hi: self.beyond(group, choice, x, hi).hi, ..least } }
    }

    /// The same without the choice's reward.
    pub fn drift(&self, group: usize, choice: usize, x: &SplitValues) -> Interval {
        self.beyond(group, choice, x, 0.0)
    }

    fn beyond(&self, group: usize, choice: usize, x: &SplitValues, reward: f64) -> Interval {
        let own = x.of(group);
        let mut drift = RowSum::default();
        for arc in self.arcs_of(choice) {
            drift.add(self.probabilities[arc], x.of(self.targets[arc] as usize).minus(own));
        }
        if reward != 0.0 {
            drift.add_wide(self.scale[choice], reward.into());
        }
        let missing = self.missing[choice];
        if missing.hi > 0.0 {
            // Probabilities and what is missing sum to 1 exactly, so the group's own value is taken off with what is missing,
            // which is known as well as a sum around 1 is.
            drift.add_wide(missing, Wide::default().minus(own));
            drift.blur(own.hi);
        }
        drift.over(self.scale[choice])
    }
}

impl SplitValues {
    pub fn of(&self, group: usize) -> Wide {
        Wide::sum(self.large[group], self.small[group])
    }
}
