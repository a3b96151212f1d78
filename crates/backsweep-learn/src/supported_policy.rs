//! Which actions may be taken where, and the best policy among them.
//!
//! Supported actions are the choices of a state. With `keep_logged` (Πb-SPIBB, Laroche et al. 2019) each of them is a mixture:
//! unsupported actions keep their logged probability and the rest goes to the supported one, so the usual solver works
//! unchanged. A state without a supported action has one choice, the logged mixture.

use crate::error::Result;
use crate::evaluated_policy::{self, EvaluatedPolicy, Logged, MixtureBuilder};
use crate::fitted_model::FittedModel;
use crate::settings::LearnSettings;
use backsweep_mdp::Mdp;
use backsweep_solve::Solution;

/// A policy and its values in the fitted model.
pub struct SupportedPolicy {
    /// The probability of each pair of the model.
    pub probabilities: Vec<f64>,
    /// The supported pair chosen in each state; `None` where none is supported.
    pub chosen: Vec<Option<usize>>,
    /// The policy in the fitted model, without the penalty of pessimism.
    pub evaluated: EvaluatedPolicy,
    /// Proven: in the fitted model, as planned, no policy with the same support is better than this one by more than this.
    pub bound: f64,
}

/// Whether a pair was seen often enough.
pub fn is_supported(model: &FittedModel, settings: &LearnSettings, pair: usize) -> bool {
    model.n[pair] >= settings.min_count
}

impl SupportedPolicy {
    /// The best supported policy.
    ///
    /// # Errors
    /// Without discount, if the policy never ends from some state of its own model.
    pub fn new(
        model: &FittedModel,
        logged: &Logged,
        settings: &LearnSettings,
        names: &[String],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        let n_states = model.n_states();
        let penalty = |pair: usize| settings.pessimism / (model.n[pair] as f64).sqrt();
        let mut rows = MixtureBuilder::new(n_states);
        // The pair of each choice.
        let mut decided = Vec::new();
        for state in 0..n_states {
            let pairs = model.pairs_of(state);
            let supported = |pair: &usize| is_supported(model, settings, *pair);
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
        let mdp = rows.finish()?;
        let solution = evaluated_policy::solve(&mdp, settings, names, stop)?;
        let bound = solution.lower.iter().zip(&solution.upper).fold(0.0_f64, |most, (l, u)| most.max(u - l));
        let mut choices: Vec<usize> = (0..n_states)
            .map(|state| {
                let all = mdp.choices_of(state);
                let choice = solution.policy[state] as usize;
                // Where all choices are equal the solver picks none; the first supported action is as good as any.
                if all.contains(&choice) { choice } else { all.start }
            })
            .collect();
        if settings.discount == 1.0 {
            prefer_ends(&mdp, &solution, &mut choices);
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
