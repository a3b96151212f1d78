//! Logs made in memory: simulated or written out by hand.

use backsweep::Random;
use backsweep_learn::{Cases, LearnSettings, Learned, learn};
use backsweep_log::{Case, CaseEnd, CaseStart, CaseStep, CountRow, Counts};
use std::collections::BTreeMap;

/// Never stops.
pub const GO_ON: &(dyn Fn() -> bool + Sync) = &|| false;

/// One case by numbers of states and actions; rewards in thousandths.
pub fn case(fold: u8, steps: &[(u32, u32, i64)], end: CaseEnd) -> Case {
    let steps = steps
        .iter()
        .map(|&(state, action, reward)| CaseStep { state, action, reward, propensity: 0 })
        .collect();
    Case { fold, steps, end }
}

/// The counts of cases, in thousandths.
pub fn count(n_states: u32, n_actions: u32, cases: &[Case]) -> Counts {
    let mut rows = BTreeMap::new();
    let mut starts: BTreeMap<(u32, u8), i64> = BTreeMap::new();
    for case in cases {
        for (t, step) in case.steps.iter().enumerate() {
            let next = match (case.steps.get(t + 1), case.end) {
                (Some(next), _) => Some(next.state),
                (None, CaseEnd::Truncated(state)) => Some(state),
                (None, CaseEnd::Terminated) => None,
            };
            let row: &mut (i64, i64) = rows.entry((step.state, step.action, next, case.fold)).or_default();
            *row = (row.0 + 1, row.1 + step.reward);
        }
        *starts.entry((case.steps[0].state, case.fold)).or_default() += 1;
    }
    Counts {
        states: (0..n_states).map(|state| format!("s{state:03}")).collect(),
        actions: (0..n_actions).map(|action| format!("a{action:02}")).collect(),
        rows: rows
            .into_iter()
            .map(|((state, action, next, fold), (n, reward_sum))| CountRow {
                state,
                action,
                next,
                fold,
                n,
                reward_sum,
            })
            .collect(),
        starts: starts.into_iter().map(|((state, fold), n)| CaseStart { state, fold, n }).collect(),
        decimals: 3,
        ..Counts::default()
    }
}

/// Learns, or panics with the reason.
pub fn learned(counts: &Counts, cases: &[Case], settings: &LearnSettings) -> Learned {
    learn(counts, Cases { cases, decimals: 3, ..Cases::default() }, settings, GO_ON).unwrap()
}

/// A known world: probabilities and rewards of every state and action. The probability missing from a row's sum ends the case.
pub struct World {
    pub p: Vec<Vec<Vec<f64>>>,
    /// The reward of reaching each state (the last entry: of ending), per state and action.
    pub reward: fn(usize, usize, Option<usize>) -> i64,
    pub start: usize,
}

impl World {
    pub fn n_actions(&self) -> usize {
        self.p[0].len()
    }

    /// A case under a policy, cut after `most` steps.
    pub fn run(&self, policy: &[Vec<f64>], most: usize, fold: u8, random: &mut Random) -> Case {
        let (mut state, mut steps) = (self.start, Vec::new());
        loop {
            let action = draw(&policy[state], random);
            let row = &self.p[state][action];
            let next = Some(draw(row, random)).filter(|&next| next < row.len());
            steps.push((state as u32, action as u32, (self.reward)(state, action, next)));
            match next {
                None => return case(fold, &steps, CaseEnd::Terminated),
                Some(next) if steps.len() == most => {
                    return case(fold, &steps, CaseEnd::Truncated(next as u32));
                }
                Some(next) => state = next,
            }
        }
    }

    /// The value of every state under a policy, by plain sweeps of its chain, in units of reward 1.
    pub fn values(&self, policy: &[Vec<f64>], discount: f64) -> Vec<f64> {
        let n = self.p.len();
        let nothing = vec![0.0; n];
        let mean = |state: usize, of: &dyn Fn(usize) -> f64| -> f64 {
            (0..self.n_actions()).map(|action| policy[state][action] * of(action)).sum()
        };
        let rewards: Vec<f64> = (0..n).map(|s| mean(s, &|a| self.q(s, a, discount, &nothing))).collect();
        let chain: Vec<Vec<f64>> = (0..n)
            .map(|s| (0..n).map(|next| discount * mean(s, &|a| self.p[s][a][next])).collect())
            .collect();
        let mut values = nothing;
        loop {
            let mut change: f64 = 0.0;
            for state in 0..n {
                let on: f64 = chain[state].iter().zip(&values).map(|(p, value)| p * value).sum();
                change = change.max((rewards[state] + on - values[state]).abs());
                values[state] = rewards[state] + on;
            }
            if change < 1e-12 {
                return values;
            }
        }
    }

    pub fn q(&self, state: usize, action: usize, discount: f64, values: &[f64]) -> f64 {
        let row = &self.p[state][action];
        let on: f64 = (0..row.len())
            .map(|next| {
                row[next]
                    * ((self.reward)(state, action, Some(next)) as f64 / 1000.0 + discount * values[next])
            })
            .sum();
        on + (1.0 - row.iter().sum::<f64>()) * (self.reward)(state, action, None) as f64 / 1000.0
    }

    /// The best values, by plain sweeps.
    pub fn best(&self, discount: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.p.len()];
        for _ in 0..800 {
            let old = values.clone();
            for (state, value) in values.iter_mut().enumerate() {
                let q = (0..self.n_actions()).map(|a| self.q(state, a, discount, &old));
                *value = q.fold(f64::NEG_INFINITY, f64::max);
            }
        }
        values
    }
}

/// A random index with these probabilities; their number with the probability missing from 1.
pub fn draw(p: &[f64], random: &mut Random) -> usize {
    let mut u = random.unit();
    for (i, p) in p.iter().enumerate() {
        if u < *p {
            return i;
        }
        u -= p;
    }
    p.len()
}

/// A learned policy as a full table; states that the log does not know follow `otherwise`.
pub fn full_policy(learned: &Learned, otherwise: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let model = &learned.fit.model;
    let mut policy = otherwise.to_vec();
    for (state, row) in policy.iter_mut().enumerate() {
        if !model.pairs_of(state).is_empty() {
            row.fill(0.0);
            model.pairs_of(state).for_each(|pair| {
                row[model.actions[pair] as usize] = learned.fit.supported.probabilities[pair]
            });
        }
    }
    policy
}
