//! State by state: what was done, what is proposed, and how sure its value is.

use crate::evaluation::Estimate;
use crate::learned::Fit;
use crate::settings::LearnSettings;
use crate::supported_policy::is_supported;
use backsweep_log::Counts;

/// One state that was left at least once.
#[derive(Clone, Debug, PartialEq)]
pub struct StateComparison {
    /// Its position in the counts.
    pub state: u32,
    /// The number of times that training cases left it.
    pub visits: i64,
    /// The pair that was logged most often.
    pub logged: usize,
    /// The pair that is proposed: the chosen one or, where none is supported, the logged one.
    pub proposed: usize,
    /// `true` if any action is supported here.
    pub supported: bool,
    /// The value of the state under the policy.
    pub value: f64,
    /// The difference that deciding by the policy here, rather than as logged, makes to the value.
    pub gain: f64,
    /// The gain times the logged policy's discounted visits per case. Over all states these add up to the gain in the model.
    pub contribution: f64,
    /// The share of the decisions that the policy moves to other actions.
    pub moved: f64,
}

/// The smallest share of a state's decisions that counts as a change.
pub(crate) const MIN_MOVED: f64 = 1e-9;

/// An action that looks better than the policy's but was seen too rarely to be considered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    /// The state.
    pub state: u32,
    /// The pair.
    pub pair: usize,
    /// By how much it looks better.
    pub promise: f64,
}

pub(crate) fn rows(counts: &Counts, fit: &Fit, discount: f64) -> Vec<StateComparison> {
    let model = &fit.model;
    let visits = fit.logged.evaluated.visits(model, discount);
    let row = |state: usize| {
        let pairs = model.pairs_of(state);
        // Among equal counts, the first action, so that the result is deterministic.
        let logged = pairs.clone().min_by_key(|&pair| std::cmp::Reverse(model.n[pair]))?;
        let chosen = fit.supported.chosen[state];
        let change = |pair: usize| fit.supported.probabilities[pair] - fit.logged.probabilities[pair];
        let gain = pairs.clone().map(|pair| change(pair) * fit.q[pair]).sum::<f64>();
        Some(StateComparison {
            state: state as u32,
            visits: model.visits(state),
            logged,
            proposed: chosen.unwrap_or(logged),
            supported: chosen.is_some(),
            value: fit.supported.evaluated.values[state],
            gain,
            contribution: visits[state] * gain,
            moved: pairs.map(|pair| change(pair).max(0.0)).sum(),
        })
    };
    let mut rows: Vec<StateComparison> = (0..counts.states.len()).filter_map(row).collect();
    rows.sort_by(|a, b| b.contribution.total_cmp(&a.contribution).then(a.state.cmp(&b.state)));
    rows
}

/// Unsupported actions that look better than the policy's, most promising first.
pub fn refused(fit: &Fit, settings: &LearnSettings) -> Vec<Refused> {
    let mut found = Vec::new();
    for state in 0..fit.model.n_states() {
        for pair in fit.model.pairs_of(state) {
            let promise = fit.q[pair] - fit.supported.evaluated.values[state];
            if !is_supported(&fit.model, settings, pair) && promise > 0.0 {
                found.push(Refused { state: state as u32, pair, promise });
            }
        }
    }
    found.sort_by(|a, b| b.promise.total_cmp(&a.promise).then(a.pair.cmp(&b.pair)));
    found
}

/// The spread of rewards within a log: counts keep only sums, so the spread around a mean is assumed as wide as the
/// range allows.
#[derive(Clone, Copy, Debug)]
pub struct RewardRange {
    low: f64,
    high: f64,
}

impl RewardRange {
    /// The range of the mean rewards of all rows.
    pub fn new(counts: &Counts) -> Self {
        let means = counts.rows.iter().map(|row| counts.reward(row.reward_sum) / row.n as f64);
        let (low, high) = means.fold((0.0_f64, 0.0_f64), |(low, high), mean| (low.min(mean), high.max(mean)));
        Self { low, high }
    }

    /// A pair's value with a 95 % interval from its count and the spread of its outcomes.
    ///
    /// The variance of rewards with mean m within [l, h] is at most (h − m)(m − l) (Bhatia & Davis 2000); that of the values of
    /// next states is known. The deviations are added, as if the two were perfectly correlated.
    pub fn estimate(&self, fit: &Fit, discount: f64, pair: usize) -> Estimate {
        let (model, value) = (&fit.model, fit.q[pair]);
        let n = model.n[pair] as f64;
        if model.n[pair] < 2 {
            return Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let values = &fit.supported.evaluated.values;
        let mean_next = (value - model.rewards[pair]) / discount;
        let (mut squares, mut n_arcs) = (0.0, 0.0);
        for arc in model.arcs_of(pair) {
            let (n_arc, next) = (model.arc_n[arc] as f64, values[model.next[arc] as usize]);
            squares += n_arc * (next - mean_next).powi(2);
            n_arcs += n_arc;
        }
        squares += (n - n_arcs) * mean_next.powi(2);
        let reward = model.rewards[pair];
        let of_rewards = ((self.high - reward) * (reward - self.low)).max(0.0).sqrt();
        let deviation = discount * (squares / n).sqrt() + of_rewards;
        let half = 1.96 * deviation / (n - 1.0).sqrt();
        Estimate { value, low: value - half, high: value + half }
    }
}
