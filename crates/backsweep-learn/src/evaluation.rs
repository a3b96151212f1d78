//! What a policy is worth: every estimate with its interval.

use crate::bootstrap::{Sums, intervals, jackknife, total};
use crate::chain::{self, Chain, Logged, Rows};
use crate::learned::Fit;
use crate::memory::Memory;
use crate::off_policy::{HeldOut, Selected};
use crate::settings::Settings;
use crate::table::Table;
use backsweep_log::{Counts, End};
use std::fmt;

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The lower end; minus infinity if there is too little data for one.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl fmt::Display for Estimate {
    /// `0.8125 [0.8011, 0.8240]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low.is_finite() && self.high.is_finite() {
            write!(f, "{} [{}, {}]", figure(self.value), figure(self.low), figure(self.high))
        } else {
            write!(f, "{} [no interval]", figure(self.value))
        }
    }
}

/// A number with so many decimals, without a minus sign before 0.
pub(crate) fn decimals(x: f64, n: usize) -> String {
    let text = format!("{x:.n$}");
    let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// A number for people: four decimals below 100, fewer above.
pub(crate) fn figure(x: f64) -> String {
    match x.abs() {
        size if size < 100.0 => decimals(x, 4),
        size if size < 10_000.0 => decimals(x, 2),
        _ => decimals(x, 0),
    }
}

/// An estimate of the policy, and how much it is above what was logged in the same cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// The policy's value.
    pub policy: Estimate,
    /// That minus the logged return of the same cases, resampled together.
    pub gain: Estimate,
}

/// One group of held-out decisions: what was predicted for the logged policy, and what followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// How many cases.
    pub n: usize,
    /// The mean prediction.
    pub predicted: f64,
    /// The mean return that followed.
    pub observed: Estimate,
}

/// All that is said about the worth of a policy.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Cases to learn from, and held out.
    pub n_cases: [i64; 2],
    /// Steps to learn from, and held out.
    pub n_steps: [i64; 2],
    /// The logged policy in the model fitted to the training cases.
    pub logged_training: Estimate,
    /// The logged policy on held-out data: the mean return of whole cases or, from counts alone, in the model fitted to them.
    pub logged: Option<Estimate>,
    /// The policy in the model that it was learned from: too good, since it was chosen there.
    pub training: Estimate,
    /// The policy in the model of held-out data.
    pub held_out: Option<Against>,
    /// The share of the policy's decisions for which held-out data has a row; the others use the training row.
    pub covered: f64,
    /// By weighted importance sampling; only from whole cases.
    pub importance: Option<Against>,
    /// Doubly robust; only from whole cases.
    pub doubly_robust: Option<Against>,
    /// How many cases the weights of importance sampling are worth.
    pub effective_cases: f64,
    /// The share of the policy's ways through a case that held-out cases went, at most: the upper end of the mean weight, which is 1 if
    /// they went all of them.
    pub reached: f64,
    /// The share of visits to states with a supported action.
    pub supported: f64,
    /// The share of logged decisions that the policy would change.
    pub changed: f64,
    /// What the previous action says about what follows a state and an action; only from whole cases.
    pub memory: Option<Memory>,
    /// Predictions against what followed, lowest first; only from whole cases.
    pub calibration: Vec<Calibration>,
}

/// Groups of the calibration, and the fewest cases that make one.
const GROUPS: usize = 10;
const MIN_GROUP: usize = 20;

impl Evaluation {
    pub(crate) fn new(
        counts: &Counts,
        cases: &Selected,
        fit: &Fit,
        settings: &Settings,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, String> {
        let Fit { table, logged, plan, .. } = fit;
        let discount = settings.discount;
        let train = !settings.hold_out;
        let by_training =
            |policy: Policy, chain: &Chain| by_folds(counts, train, table, policy, chain, discount).estimate;
        let steps = table.n_steps() as f64;
        let in_supported = |state: &usize| plan.chosen[*state].is_some();
        let supported: i64 =
            (0..table.n_states()).filter(in_supported).map(|state| table.visits(state)).sum();
        let moved =
            |pair: usize| table.n[pair] as f64 * (1.0 - plan.policy[pair] / logged.policy[pair]).max(0.0);
        let mut evaluation = Self {
            n_cases: [if counts.starts.is_empty() { 0 } else { table.n_cases }, 0],
            n_steps: [table.n_steps(), 0],
            logged_training: by_training(Policy::Logged, &logged.chain),
            logged: None,
            training: by_training(Policy::Given(&plan.policy), &plan.chain),
            held_out: None,
            covered: 0.0,
            importance: None,
            doubly_robust: None,
            effective_cases: 0.0,
            reached: 0.0,
            supported: supported as f64 / steps,
            changed: (0..table.n.len()).map(moved).sum::<f64>() / steps,
            memory: None,
            calibration: Vec::new(),
        };
        let other = Table::new(counts, settings.hold_out)?;
        if other.n_cases == 0 || counts.starts.is_empty() {
            return Ok(evaluation);
        }
        evaluation.n_cases[1] = other.n_cases;
        evaluation.n_steps[1] = other.n_steps();
        let model = HeldOutModel::new(&other, fit, settings, &counts.states, stop)?;
        let by_fold =
            by_folds(counts, settings.hold_out, &other, Policy::Given(&model.policy), &model.chain, discount);
        evaluation.covered = model.covered;
        if cases.cases.is_empty() {
            // Without discount, the few held-out folds may not end by themselves; then they cannot be compared.
            let Ok(logged) = Logged::new(&other, settings, &counts.states, stop) else {
                return Ok(evaluation);
            };
            let by_fold_logged =
                by_folds(counts, settings.hold_out, &other, Policy::Logged, &logged.chain, discount);
            evaluation.logged = Some(by_fold_logged.estimate);
            evaluation.held_out = Some(by_fold.against(&by_fold_logged));
            return Ok(evaluation);
        }
        let found = HeldOut::new(cases, fit, discount);
        let influences = model.influences(cases, &other, &by_fold, discount);
        let resampled = Resampled::new(&found, &influences, by_fold.estimate.value);
        evaluation.logged = Some(resampled.logged);
        evaluation.held_out = Some(resampled.model);
        evaluation.effective_cases = found.effective_sample_size();
        evaluation.importance = (evaluation.effective_cases > 0.0).then_some(resampled.importance);
        evaluation.reached = resampled.reached;
        evaluation.doubly_robust = Some(resampled.doubly_robust);
        evaluation.memory = found.memory;
        evaluation.calibration = calibration(found.predictions);
        Ok(evaluation)
    }
}

/// All estimates on the same resampled cases.
struct Resampled {
    logged: Estimate,
    importance: Against,
    doubly_robust: Against,
    model: Against,
    reached: f64,
}

impl Resampled {
    fn new(found: &HeldOut, influences: &[f64], in_model: f64) -> Self {
        let sums: Vec<Sums<6>> = (0..found.returns.len())
            .map(|i| {
                let w = found.weights[i];
                [1.0, found.returns[i], w, w * found.policy_returns[i], found.doubly_robust[i], influences[i]]
            })
            .collect();
        let scale = found.log_scale.exp();
        let statistics = |[n, returns, weight, weighted, robust, influence]: &Sums<6>| {
            let (logged, importance) = (returns / n, weighted / weight);
            let (robust, model) = (robust / n, in_model + influence / n);
            let mean_weight = scale * weight / n;
            [
                logged,
                importance,
                importance - logged,
                robust,
                robust - logged,
                model,
                model - logged,
                mean_weight,
            ]
        };
        let (values, ends) = (statistics(&total(&sums)), intervals(&sums, statistics));
        let estimate = |i: usize| Estimate { value: values[i], low: ends[i].0, high: ends[i].1 };
        let against = |i: usize| Against { policy: estimate(i), gain: estimate(i + 1) };
        let (logged, reached) = (estimate(0), ends[7].1.clamp(0.0, 1.0));
        let returns = || found.policy_returns.iter().copied();
        let (worst, best) =
            (returns().fold(f64::INFINITY, f64::min), returns().fold(f64::NEG_INFINITY, f64::max));
        // What no held-out case did may return anything from the worst to the best that was seen. Without this the interval is narrow and
        // wrong where long cases have so small a chance to be logged that only short ones, which end well, carry weight.
        let widened = |of: Estimate, less: f64| Estimate {
            low: reached * of.low + (1.0 - reached) * (worst - less),
            high: reached * of.high + (1.0 - reached) * (best - less),
            ..of
        };
        let sampled = against(1);
        let importance =
            Against { policy: widened(sampled.policy, 0.0), gain: widened(sampled.gain, logged.value) };
        Self { logged, importance, doubly_robust: against(3), model: against(5), reached }
    }
}

/// The policy in the model of held-out data; where that has no row, the training row is used.
struct HeldOutModel {
    chain: Chain,
    /// The probability of each pair of the held-out table.
    policy: Vec<f64>,
    covered: f64,
}

impl HeldOutModel {
    fn new(
        other: &Table,
        fit: &Fit,
        settings: &Settings,
        names: &[String],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, String> {
        // Without discount, held-out rows alone may go round in circles; states from which they never end use their training rows.
        let mut by_training = vec![false; fit.table.n_states()];
        let (rows, policy, share_covered) = loop {
            let found = Self::rows(other, fit, &by_training)?;
            let ends = chain::ends(&found.0.mdp, |state| state);
            let mut more = false;
            for (by_training, ends) in by_training.iter_mut().zip(ends) {
                let add = settings.discount == 1.0 && !ends && !*by_training;
                *by_training |= add;
                more |= add;
            }
            if !more {
                break found;
            }
        };
        let chain = Chain::solve(rows, settings, names, stop)?;
        let visits = chain.visits(other, settings.discount);
        let covered: f64 = visits.iter().zip(&share_covered).map(|(visits, share)| visits * share).sum();
        let covered = covered / visits.iter().sum::<f64>();
        Ok(Self { chain, policy, covered })
    }

    /// The policy's rows, its probability for each held-out pair, and the share of each state's decisions that held-out rows cover.
    fn rows(other: &Table, fit: &Fit, by_training: &[bool]) -> Result<(Rows, Vec<f64>, Vec<f64>), String> {
        let Fit { table, logged, plan, .. } = fit;
        let mut rows = Rows::new(table.n_states());
        let mut policy = vec![0.0; other.n.len()];
        let mut share_covered = vec![0.0; table.n_states()];
        let own = other.logged_policy();
        for (state, covered) in share_covered.iter_mut().enumerate() {
            let pairs = table.pairs_of(state);
            if pairs.is_empty() {
                // Training says nothing about this state, so the policy leaves it as it was logged.
                let held_out = if by_training[state] { 0..0 } else { other.pairs_of(state) };
                if held_out.is_empty() {
                    rows.add_reward(logged.unseen);
                }
                for pair in held_out {
                    policy[pair] = own[pair];
                    rows.mix(own[pair], other, pair, 0.0);
                }
            }
            for pair in pairs.filter(|&pair| plan.policy[pair] > 0.0) {
                let share = plan.policy[pair];
                let twin = other.pair(state as u32, table.actions[pair]).filter(|_| !by_training[state]);
                match twin {
                    Some(twin) => {
                        policy[twin] = share;
                        *covered += share;
                        rows.mix(share, other, twin, 0.0);
                    }
                    None => rows.mix(share, table, pair, 0.0),
                }
            }
            rows.end_choice()?;
            rows.end_state()?;
        }
        Ok((rows, policy, share_covered))
    }

    /// What each case adds to the value in this model, relative to the mean (the infinitesimal jackknife).
    fn influences(&self, selected: &Selected, other: &Table, by_fold: &ByFolds, discount: f64) -> Vec<f64> {
        let values = &self.chain.values;
        let mut influences: Vec<f64> = selected
            .cases
            .iter()
            .map(|case| {
                let start = case
                    .steps
                    .first()
                    .map_or(0.0, |step| values[step.state as usize] - by_fold.estimate.value);
                let steps = case.steps.iter().enumerate().filter_map(|(t, step)| {
                    let pair = other.pair(step.state, step.action)?;
                    let next = match (case.steps.get(t + 1), case.end) {
                        (Some(next), _) => values[next.state as usize],
                        (None, End::Truncated(state)) => values[state as usize],
                        (None, End::Terminated) => 0.0,
                    };
                    let surprise = selected.reward(step) + discount * next - by_fold.q[pair];
                    Some(by_fold.weights[pair] * surprise)
                });
                start + steps.sum::<f64>()
            })
            .collect();
        // Exactly 0 on average if the cases are those that were counted; a little rounding is left.
        let mean = influences.iter().sum::<f64>() / influences.len().max(1) as f64;
        influences.iter_mut().for_each(|x| *x -= mean);
        influences
    }
}

/// A value in a model with what each fold adds to it.
struct ByFolds {
    estimate: Estimate,
    influences: Vec<f64>,
    /// How much a surprise at each pair moves the sum over cases.
    weights: Vec<f64>,
    q: Vec<f64>,
}

impl ByFolds {
    fn against(&self, logged: &Self) -> Against {
        let gain = self.estimate.value - logged.estimate.value;
        let influences: Vec<f64> =
            self.influences.iter().zip(&logged.influences).map(|(a, b)| a - b).collect();
        Against { policy: self.estimate, gain: around(gain, jackknife(&influences)) }
    }
}

fn around(value: f64, half: f64) -> Estimate {
    Estimate { value, low: value - half, high: value + half }
}

/// Whose value is estimated.
#[derive(Clone, Copy)]
enum Policy<'a> {
    /// A policy that is given, by the probability of each pair.
    Given(&'a [f64]),
    /// The logged one, which is itself estimated: what was done in a state adds to the uncertainty.
    Logged,
}

/// A policy's mean value over starts, with an interval from how much each fold moves it.
fn by_folds(
    counts: &Counts,
    folds: u16,
    table: &Table,
    policy: Policy,
    chain: &Chain,
    discount: f64,
) -> ByFolds {
    let values = &chain.values;
    let value = table.mean_start(values);
    let visits = chain.visits(table, discount);
    let n_cases = table.n_cases as f64;
    let (mut weights, mut q) = (vec![0.0; table.n.len()], vec![0.0; table.n.len()]);
    for (state, visits) in visits.iter().enumerate() {
        for pair in table.pairs_of(state) {
            (weights[pair], q[pair]) = match policy {
                Policy::Given(policy) => {
                    (visits * policy[pair] / table.n[pair] as f64, table.pair_value(pair, discount, values))
                }
                Policy::Logged => (visits / table.visits(state) as f64, values[state]),
            };
            weights[pair] *= n_cases;
        }
    }
    let mut sums = [0.0; backsweep_log::FOLDS];
    let mut seen = [false; backsweep_log::FOLDS];
    for start in &counts.starts {
        sums[usize::from(start.fold)] += start.n as f64 * (values[start.state as usize] - value);
    }
    for row in counts.rows.iter().filter(|row| folds >> row.fold & 1 == 1) {
        seen[usize::from(row.fold)] = true;
        let Some(pair) = table.pair(row.state, row.action) else { continue };
        let next = row.next.map_or(0.0, |next| values[next as usize]);
        let surprise = counts.reward(row.reward_sum) + row.n as f64 * (discount * next - q[pair]);
        sums[usize::from(row.fold)] += weights[pair] * surprise;
    }
    let influences: Vec<f64> =
        (0..sums.len()).filter(|&fold| seen[fold]).map(|fold| sums[fold] / n_cases).collect();
    ByFolds { estimate: around(value, jackknife(&influences)), influences, weights, q }
}

fn calibration(mut predictions: Vec<(f64, f64)>) -> Vec<Calibration> {
    // A stable sort: among equal predictions the order must say nothing about what followed.
    predictions.sort_by(|a, b| a.0.total_cmp(&b.0));
    let size = predictions.len().div_ceil(GROUPS).max(MIN_GROUP);
    let mut rest = &predictions[..];
    let mut found = Vec::new();
    while rest.len() >= MIN_GROUP {
        let last = rest[size.min(rest.len()) - 1].0;
        let mut end = rest.partition_point(|pair| pair.0 <= last);
        if rest.len() - end < MIN_GROUP {
            end = rest.len();
        }
        let (now, later) = rest.split_at(end);
        rest = later;
        let n = now.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| now.iter().map(of).sum::<f64>() / n;
        let observed = mean(&|pair| pair.1);
        let variance = mean(&|pair| (pair.1 - observed).powi(2)) * n / (n - 1.0);
        found.push(Calibration {
            n: now.len(),
            predicted: mean(&|pair| pair.0),
            observed: around(observed, 1.96 * (variance / n).sqrt()),
        });
    }
    found
}
