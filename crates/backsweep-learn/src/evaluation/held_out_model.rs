//! The model of held-out data, and what each case adds to a value in it.

use super::by_folds::ByFolds;
use crate::error::Result;
use crate::evaluated_policy::{self, EvaluatedPolicy, MixtureBuilder};
use crate::fitted_model::FittedModel;
use crate::learned::Fit;
use crate::off_policy::SelectedCases;
use crate::settings::LearnSettings;
use backsweep_mdp::Mdp;

/// The policy in the model of held-out data; where that has no row, the training row is used.
pub(super) struct HeldOutModel {
    pub evaluated: EvaluatedPolicy,
    /// The probability of each pair of the held-out model.
    pub policy: Vec<f64>,
    /// The share of the policy's decisions for which held-out data has a row.
    pub covered: f64,
}

impl HeldOutModel {
    pub fn new(
        other: &FittedModel,
        fit: &Fit,
        settings: &LearnSettings,
        names: &[String],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        // Without discount, held-out rows alone may form a cycle; states from which they never end use their training rows.
        let mut by_training = vec![false; fit.model.n_states()];
        let (mdp, policy, share_covered) = loop {
            let found = Self::rows(other, fit, &by_training)?;
            let ends = evaluated_policy::ends(&found.0, |state| state);
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
        let evaluated = EvaluatedPolicy::solve(mdp, settings, names, stop)?;
        let visits = evaluated.visits(other, settings.discount);
        let covered: f64 = visits.iter().zip(&share_covered).map(|(visits, share)| visits * share).sum();
        let covered = covered / visits.iter().sum::<f64>();
        Ok(Self { evaluated, policy, covered })
    }

    /// The policy's rows, its probability for each held-out pair, and the share of each state's decisions that held-out rows cover.
    fn rows(other: &FittedModel, fit: &Fit, by_training: &[bool]) -> Result<(Mdp, Vec<f64>, Vec<f64>)> {
        let Fit { model, logged, supported, .. } = fit;
        let mut rows = MixtureBuilder::new(model.n_states());
        let mut policy = vec![0.0; other.n.len()];
        let mut share_covered = vec![0.0; model.n_states()];
        let own = other.logged_policy();
        for (state, covered) in share_covered.iter_mut().enumerate() {
            let pairs = model.pairs_of(state);
            if pairs.is_empty() {
                // Training says nothing about this state, so the policy keeps the logged decisions.
                let held_out = if by_training[state] { 0..0 } else { other.pairs_of(state) };
                if held_out.is_empty() {
                    rows.add_reward(logged.unseen);
                }
                for pair in held_out {
                    policy[pair] = own[pair];
                    rows.mix(own[pair], other, pair, 0.0);
                }
            }
            for pair in pairs.filter(|&pair| supported.probabilities[pair] > 0.0) {
                let share = supported.probabilities[pair];
                let twin = other.pair(state as u32, model.actions[pair]).filter(|_| !by_training[state]);
                match twin {
                    Some(twin) => {
                        policy[twin] = share;
                        *covered += share;
                        rows.mix(share, other, twin, 0.0);
                    }
                    None => rows.mix(share, model, pair, 0.0),
                }
            }
            rows.end_choice();
            rows.end_state();
        }
        Ok((rows.finish()?, policy, share_covered))
    }

    /// The contribution of each case to the value in this model, relative to the mean (the infinitesimal jackknife).
    pub fn influences(
        &self,
        selected: &SelectedCases,
        other: &FittedModel,
        by_fold: &ByFolds,
        discount: f64,
    ) -> Vec<f64> {
        let values = &self.evaluated.values;
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
                    let next = case.next_state(t).map_or(0.0, |next| values[next as usize]);
                    let surprise = selected.reward(step) + discount * next - by_fold.q[pair];
                    Some(by_fold.weights[pair] * surprise)
                });
                start + steps.sum::<f64>()
            })
            .collect();
        // Exactly 0 on average, up to rounding, if the cases are those that were counted.
        let mean = influences.iter().sum::<f64>() / influences.len().max(1) as f64;
        influences.iter_mut().for_each(|x| *x -= mean);
        influences
    }
}
