//! Counts as a fitted model: per state its actions, per action how often it was seen, its mean reward and where it led.

use crate::error::{Error, Result};
use backsweep_log::{CountRow, Counts};
use std::ops::Range;

/// The model fitted to some folds of [`Counts`], in compressed rows. States and actions have the numbers of the counts.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedModel {
    /// Where the pairs of each state begin; one more entry than there are states.
    pub pairs: Vec<u32>,
    /// The action of each pair, ascending within a state.
    pub actions: Vec<u32>,
    /// The count of each pair, at least 1.
    pub n: Vec<i64>,
    /// The mean reward of each pair.
    pub rewards: Vec<f64>,
    /// Where the arcs of each pair begin; one more entry than there are pairs. Steps that ended have no arc.
    pub arcs: Vec<u32>,
    /// The state that each arc leads to, ascending within a pair.
    pub next: Vec<u32>,
    /// The count of each arc.
    pub arc_n: Vec<i64>,
    /// The number of cases that started in each state. Counts without cases have no starts: then every step counts as a start.
    pub starts: Vec<i64>,
    /// The sum of `starts`.
    pub n_cases: i64,
}

/// Refuses counts that no log has.
fn check(counts: &Counts) -> Result<()> {
    let n_states = counts.states.len();
    let mut last = None;
    for (i, row) in counts.rows.iter().enumerate() {
        let key = (row.state, row.action, row.next, row.fold);
        let problem = if row.state.max(row.next.unwrap_or(0)) as usize >= n_states
            || row.action as usize >= counts.actions.len()
        {
            "names a state or an action that does not exist"
        } else if row.n < 1 || u32::from(row.fold) >= u16::BITS {
            "has a count below 1 or a fold above 15"
        } else if last.is_some_and(|last| last >= key) {
            "is out of order; expected rows sorted by state, action, next and fold, each once"
        } else {
            last = Some(key);
            continue;
        };
        return Err(Error::Row { row: i, problem });
    }
    if counts.starts.iter().any(|start| start.state as usize >= n_states || start.n < 1) {
        return Err(Error::Counts("a start names a state that does not exist, or has a count below 1"));
    }
    let n = counts.rows.iter().map(|row| row.n);
    sum(n, "there are more steps than 64 bits hold")?;
    sum(counts.starts.iter().map(|start| start.n), "there are more starts than 64 bits hold")?;
    Ok(())
}

/// The sum of some numbers, if it fits in 64 bits.
fn sum(numbers: impl Iterator<Item = i64>, problem: &'static str) -> Result<i64> {
    i64::try_from(numbers.map(i128::from).sum::<i128>()).map_err(|_| Error::Counts(problem))
}

impl FittedModel {
    /// The model of the folds whose bit is set.
    ///
    /// # Errors
    /// If a count is not positive, an id does not exist, rows are not sorted, or there are too many.
    pub fn new(counts: &Counts, folds: u16) -> Result<Self> {
        check(counts)?;
        let n_states = counts.states.len();
        let mut model = Self {
            pairs: vec![0],
            actions: Vec::new(),
            n: Vec::new(),
            rewards: Vec::new(),
            arcs: vec![0],
            next: Vec::new(),
            arc_n: Vec::new(),
            starts: vec![0; n_states],
            n_cases: 0,
        };
        let rows: Vec<&CountRow> = counts.rows.iter().filter(|row| folds >> row.fold & 1 == 1).collect();
        for pair in rows.chunk_by(|a, b| (a.state, a.action) == (b.state, b.action)) {
            model.pairs.resize(pair[0].state as usize + 1, model.actions.len() as u32);
            let n = pair.iter().map(|row| row.n).sum();
            let reward = sum(pair.iter().map(|row| row.reward_sum), "a sum of rewards exceeds 64 bits")?;
            model.actions.push(pair[0].action);
            model.n.push(n);
            model.rewards.push(counts.reward(reward) / n as f64);
            for arc in pair.chunk_by(|a, b| a.next == b.next) {
                if let Some(next) = arc[0].next {
                    model.next.push(next);
                    model.arc_n.push(arc.iter().map(|row| row.n).sum());
                }
            }
            let end = u32::try_from(model.next.len());
            model.arcs.push(end.map_err(|_| Error::Counts("there are more than 2³² transitions"))?);
        }
        model.pairs.resize(n_states + 1, model.actions.len() as u32);
        for start in counts.starts.iter().filter(|start| folds >> start.fold & 1 == 1) {
            model.starts[start.state as usize] += start.n;
            model.n_cases += start.n;
        }
        if counts.starts.is_empty() {
            model.starts = (0..n_states).map(|state| model.visits(state)).collect();
            model.n_cases = model.n_steps();
        }
        Ok(model)
    }

    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.pairs.len() - 1
    }

    /// The pairs of a state.
    pub fn pairs_of(&self, state: usize) -> Range<usize> {
        self.pairs[state] as usize..self.pairs[state + 1] as usize
    }

    /// The arcs of a pair.
    pub fn arcs_of(&self, pair: usize) -> Range<usize> {
        self.arcs[pair] as usize..self.arcs[pair + 1] as usize
    }

    /// The pair of an action in a state, if it was seen.
    pub fn pair(&self, state: u32, action: u32) -> Option<usize> {
        let pairs = self.pairs_of(state as usize);
        self.actions[pairs.clone()].binary_search(&action).ok().map(|place| pairs.start + place)
    }

    /// The number of times that a state was left.
    pub fn visits(&self, state: usize) -> i64 {
        self.n[self.pairs_of(state)].iter().sum()
    }

    /// The number of steps.
    pub fn n_steps(&self) -> i64 {
        self.n.iter().sum()
    }

    /// The logged policy: the share of each pair among its state's.
    pub fn logged_policy(&self) -> Vec<f64> {
        let mut policy = Vec::with_capacity(self.n.len());
        for state in 0..self.n_states() {
            let visits = self.visits(state) as f64;
            policy.extend(self.n[self.pairs_of(state)].iter().map(|&n| n as f64 / visits));
        }
        policy
    }

    /// The value of a pair if the states have these values.
    pub fn pair_value(&self, pair: usize, discount: f64, values: &[f64]) -> f64 {
        let arcs = self.arcs_of(pair);
        let next: f64 = arcs.map(|arc| self.arc_n[arc] as f64 * values[self.next[arc] as usize]).sum();
        self.rewards[pair] + discount * next / self.n[pair] as f64
    }

    /// The mean of a value over the states in which cases start.
    pub fn mean_start(&self, values: &[f64]) -> f64 {
        let sum: f64 = self.starts.iter().zip(values).map(|(&n, value)| n as f64 * value).sum();
        sum / self.n_cases as f64
    }
}
