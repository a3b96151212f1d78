//! Which actions may be taken where, and the best policy among them.
//!
//! Supported actions are the choices of a state. With `keep_logged` (Πb-SPIBB, Laroche et al. 2019) each of them is a mixture:
//! unsupported actions keep their logged probability and the rest goes to the supported one, so the usual solver works
//! unchanged. A state without a supported action has one choice, the logged mixture.

use crate::error::{Error, Result};
use crate::evaluated_policy::{self, EvaluatedPolicy, Logged, MixtureBuilder};
use crate::fitted_model::FittedModel;
use crate::settings::LearnSettings;
use backsweep_mdp::{Mdp, MdpBuilder, Rewards};
use backsweep_solve::Solution;

/// A policy and its values in the fitted model.
pub struct SupportedPolicy {
    /// The probability of each pair of the model.
    pub probabilities: Vec<f64>,
    /// The supported pair chosen in each state; `None` where none is supported or, without discount, none ever ends a case.
    pub chosen: Vec<Option<usize>>,
    /// The policy in the fitted model, without the penalty of pessimism.
    pub evaluated: EvaluatedPolicy,
    /// Proven: in the fitted model, as planned, no policy with the same support is better than this one by more than this.
    pub bound: f64,
}

/// Returns `true` if a pair was seen often enough.
pub fn is_supported(model: &FittedModel, settings: &LearnSettings, pair: usize) -> bool {
    model.n[pair] >= settings.min_count
}

impl SupportedPolicy {
    /// The best supported policy; without discount, the best of those that end.
    ///
    /// # Errors
    /// Without discount, if going on forever pays without bound.
    pub fn new(
        model: &FittedModel,
        logged: &Logged,
        settings: &LearnSettings,
        names: &[String],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        let mut undecided = vec![false; model.n_states()];
        let (mdp, decided) = loop {
            let (mdp, decided) = choices(model, logged, settings, &undecided)?;
            let trapped: Vec<bool> = first_that_ends(&mdp).iter().map(Option::is_none).collect();
            if settings.discount < 1.0 || !trapped.contains(&true) {
                break (mdp, decided);
            }
            // From these no supported action ever ends a case; the logged decisions do, from some of them directly.
            let leads_out = |pair: usize| {
                let n_on: i64 = model.arc_n[model.arcs_of(pair)].iter().sum();
                n_on < model.n[pair] || model.arcs_of(pair).any(|arc| !trapped[model.next[arc] as usize])
            };
            let mut is_stuck = true;
            for (state, undecided) in undecided.iter_mut().enumerate() {
                if trapped[state] && !*undecided && model.pairs_of(state).any(leads_out) {
                    (*undecided, is_stuck) = (true, false);
                }
            }
            if is_stuck {
                break (mdp, decided);
            }
        };
        let solution = evaluated_policy::solve(&mdp, settings, names, stop)?;
        let widths = solution.lower.iter().zip(&solution.upper).map(|(low, high)| high - low);
        let mut bound = widths.fold(0.0, f64::max);
        let mut choices: Vec<usize> = (0..model.n_states())
            .map(|state| {
                let all = mdp.choices_of(state);
                let choice = solution.policy[state] as usize;
                // Where all choices are equal the solver picks none; the first supported action is as good as any.
                if all.contains(&choice) { choice } else { all.start }
            })
            .collect();
        if settings.discount == 1.0 {
            prefer_ends(&mdp, &solution, &mut choices);
            if evaluated_policy::ends(&mdp, |state| choices[state]).contains(&false) {
                let (best, values) = best_that_ends(&mdp, settings, names, stop)?;
                choices = best;
                bound = solution
                    .upper
                    .iter()
                    .zip(values)
                    .fold(0.0, |most, (upper, value)| most.max(upper - value));
            }
        }
        let chosen: Vec<Option<usize>> = choices.iter().map(|&choice| decided[choice]).collect();
        let probabilities = mixture(model, logged, settings, &chosen);
        let evaluated = EvaluatedPolicy::solve(
            evaluated_policy::rows(model, &probabilities, logged.unseen)?,
            settings,
            names,
            stop,
        )?;
        Ok(Self { probabilities, chosen, evaluated, bound })
    }
}

/// The choices of each state in the fitted model, as they are planned with, and the pair that each decides for. Undecided states
/// have one choice, what was logged.
fn choices(
    model: &FittedModel,
    logged: &Logged,
    settings: &LearnSettings,
    undecided: &[bool],
) -> Result<(Mdp, Vec<Option<usize>>)> {
    let penalty = |pair: usize| settings.pessimism / (model.n[pair] as f64).sqrt();
    let mut rows = MixtureBuilder::new(model.n_states());
    let mut decided = Vec::new();
    for (state, undecided) in undecided.iter().enumerate() {
        let pairs = model.pairs_of(state);
        let supported = |pair: &usize| !undecided && is_supported(model, settings, *pair);
        if pairs.is_empty() {
            rows.add_reward(logged.unseen);
        }
        if !pairs.clone().any(|pair| supported(&pair)) {
            pairs.for_each(|pair| rows.mix(logged.probabilities[pair], model, pair, penalty(pair)));
            decided.push(None);
            rows.end_choice();
            rows.end_state();
            continue;
        }
        let kept = kept(model, logged, settings, state);
        for choice in pairs.clone().filter(supported) {
            for pair in pairs.clone().filter(|pair| settings.keep_logged && !supported(pair)) {
                rows.mix(logged.probabilities[pair], model, pair, penalty(pair));
            }
            rows.mix(1.0 - kept, model, choice, penalty(choice));
            decided.push(Some(choice));
            rows.end_choice();
        }
        rows.end_state();
    }
    Ok((rows.finish()?, decided))
}

/// A choice per state with which every case ends; `None` for states from which none does.
fn first_that_ends(mdp: &Mdp) -> Vec<Option<usize>> {
    let mut first: Vec<Option<usize>> = vec![None; mdp.n_states()];
    loop {
        let mut changed = false;
        for state in 0..first.len() {
            if first[state].is_none() {
                let leads_out = |choice: &usize| {
                    mdp.can_end(*choice)
                        || mdp.arcs_of(*choice).any(|arc| first[mdp.targets()[arc] as usize].is_some())
                };
                first[state] = mdp.choices_of(state).find(leads_out);
                changed |= first[state].is_some();
            }
        }
        if !changed {
            return first;
        }
    }
}

/// The best policy that ends, and its values: policy iteration from one that does. A choice changes only if that is better by
/// more than the values are uncertain, so that no round enters a cycle from which nothing is gained.
fn best_that_ends(
    mdp: &Mdp,
    settings: &LearnSettings,
    names: &[String],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(Vec<usize>, Vec<f64>)> {
    let start = |(state, choice): (usize, Option<usize>)| choice.unwrap_or(mdp.choices_of(state).start);
    let mut choices: Vec<usize> = first_that_ends(mdp).into_iter().enumerate().map(start).collect();
    let rewards = evaluated_policy::rewards_of(mdp);
    loop {
        let evaluated = EvaluatedPolicy::solve(mdp_of(mdp, &choices)?, settings, names, stop)?;
        let values = evaluated.values;
        let worth = |choice: usize| {
            let next =
                mdp.arcs_of(choice).map(|arc| mdp.probabilities()[arc] * values[mdp.targets()[arc] as usize]);
            rewards[choice] + next.sum::<f64>()
        };
        let mut changed = false;
        for (state, choice) in choices.iter_mut().enumerate() {
            let slack = 4.0 * evaluated.bound + 1e-9 * values[state].abs() + 1e-12;
            let better = mdp.choices_of(state).max_by(|&a, &b| worth(a).total_cmp(&worth(b)));
            if let Some(better) = better.filter(|&better| worth(better) > values[state] + slack) {
                (*choice, changed) = (better, true);
            }
        }
        if !changed {
            return Ok((choices, values));
        }
    }
}

/// The model of one choice per state.
fn mdp_of(mdp: &Mdp, choices: &[usize]) -> Result<Mdp> {
    let mut builder = MdpBuilder::default();
    for &choice in choices {
        mdp.arcs_of(choice).for_each(|arc| builder.add_arc(mdp.targets()[arc], mdp.probabilities()[arc]));
        builder.end_choice();
        builder.end_state();
    }
    let mut policy = builder.finish().map_err(|error| Error::Solver(error.into()))?;
    let rewards = choices.iter().map(|&choice| evaluated_policy::rewards_of(mdp)[choice]).collect();
    policy.rewards = vec![Rewards { choices: rewards, ..Rewards::default() }];
    Ok(policy)
}

/// Replaces the choices of states from which the policy never ends by equally good ones from which it does, if there are any:
/// where all values are equal, the solver may choose a cycle.
fn prefer_ends(mdp: &Mdp, solution: &Solution, choices: &mut [usize]) {
    let mut ends = evaluated_policy::ends(mdp, |state| choices[state]);
    let value = |choice: usize| {
        let next = mdp
            .arcs_of(choice)
            .map(|arc| mdp.probabilities()[arc] * solution.value(mdp.targets()[arc] as usize));
        evaluated_policy::rewards_of(mdp)[choice] + next.sum::<f64>()
    };
    loop {
        let mut changed = false;
        for state in 0..choices.len() {
            if ends[state] {
                continue;
            }
            // Twice the interval: once for the state itself and once for the states its choices lead to.
            let slack = 2.0 * (solution.upper[state] - solution.lower[state])
                + 1e-9 * solution.value(state).abs()
                + 1e-12;
            let leads_out = |choice: &usize| {
                let out =
                    mdp.can_end(*choice) || mdp.arcs_of(*choice).any(|arc| ends[mdp.targets()[arc] as usize]);
                out && value(*choice) >= solution.value(state) - slack
            };
            if let Some(choice) = mdp.choices_of(state).find(leads_out) {
                (choices[state], ends[state], changed) = (choice, true, true);
            }
        }
        if !changed {
            return;
        }
    }
}

/// The total probability of a state's actions that keep their logged probability although others are supported.
fn kept(model: &FittedModel, logged: &Logged, settings: &LearnSettings, state: usize) -> f64 {
    let kept = |pair: &usize| settings.keep_logged && !is_supported(model, settings, *pair);
    model.pairs_of(state).filter(kept).map(|pair| logged.probabilities[pair]).sum()
}

/// The probability of each pair, given what was decided.
fn mixture(
    model: &FittedModel,
    logged: &Logged,
    settings: &LearnSettings,
    chosen: &[Option<usize>],
) -> Vec<f64> {
    let mut policy = logged.probabilities.clone();
    for (state, &choice) in chosen.iter().enumerate() {
        let Some(choice) = choice else { continue };
        for pair in model.pairs_of(state) {
            if !settings.keep_logged || is_supported(model, settings, pair) {
                policy[pair] = 0.0;
            }
        }
        policy[choice] = 1.0 - kept(model, logged, settings, state);
    }
    policy
}
