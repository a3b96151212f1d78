//! Which actions may be taken where, and the best policy among them.
//!
//! Supported actions are the choices of a state. With `keep_logged` (Πb-SPIBB, Laroche et al. 2019) each of them is a mixture:
//! unsupported actions keep their logged probability and the rest goes to the supported one, so the usual solver works
//! unchanged. A state without a supported action has one choice, the logged mixture.

use crate::chain::{self, Chain, Logged, Rows};
use crate::settings::Settings;
use crate::table::Table;
use backsweep_solve::Solution;

/// A policy and its values in the fitted model.
pub struct Plan {
    /// The probability of each pair of the table.
    pub policy: Vec<f64>,
    /// The supported pair chosen in each state; `None` where none is supported.
    pub chosen: Vec<Option<usize>>,
    /// The policy in the fitted model, without the penalty of pessimism.
    pub chain: Chain,
    /// Proven: in the fitted model, as planned, no policy with the same support is better than this one by more than this.
    pub bound: f64,
}

/// Whether a pair was seen often enough.
pub fn is_supported(table: &Table, settings: &Settings, pair: usize) -> bool {
    table.n[pair] >= settings.min_count
}

impl Plan {
    /// The best supported policy.
    ///
    /// # Errors
    /// Without discount, if the policy never ends from some state of its own model.
    pub fn new(
        table: &Table,
        logged: &Logged,
        settings: &Settings,
        names: &[String],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, String> {
        let n_states = table.n_states();
        let penalty = |pair: usize| settings.pessimism / (table.n[pair] as f64).sqrt();
        let mut rows = Rows::new(n_states);
        // The pair of each choice.
        let mut decided = Vec::new();
        for state in 0..n_states {
            let pairs = table.pairs_of(state);
            let supported = |pair: &usize| is_supported(table, settings, *pair);
            if pairs.is_empty() {
                rows.add_reward(logged.unseen);
            }
            if !pairs.clone().any(|pair| supported(&pair)) {
                pairs.for_each(|pair| rows.mix(logged.policy[pair], table, pair, penalty(pair)));
                decided.push(None);
                rows.end_choice()?;
                rows.end_state()?;
                continue;
            }
            let kept = kept(table, logged, settings, state);
            for choice in pairs.clone().filter(supported) {
                for pair in pairs.clone().filter(|pair| settings.keep_logged && !supported(pair)) {
                    rows.mix(logged.policy[pair], table, pair, penalty(pair));
                }
                rows.mix(1.0 - kept, table, choice, penalty(choice));
                decided.push(Some(choice));
                rows.end_choice()?;
            }
            rows.end_state()?;
        }
        let solution = chain::solve(&rows, settings, names, stop)?;
        let bound = solution.lower.iter().zip(&solution.upper).fold(0.0_f64, |most, (l, u)| most.max(u - l));
        let mut choices: Vec<usize> = (0..n_states)
            .map(|state| {
                let all = rows.mdp.choices_of(state);
                let choice = solution.policy[state] as usize;
                // Where all choices are equal the solver picks none; the first supported action is as good as any.
                if all.contains(&choice) { choice } else { all.start }
            })
            .collect();
        if settings.discount == 1.0 {
            prefer_ends(&rows, &solution, &mut choices);
        }
        let chosen: Vec<Option<usize>> = choices.iter().map(|&choice| decided[choice]).collect();
        let policy = mixture(table, logged, settings, &chosen);
        let chain = Chain::solve(chain::rows(table, &policy, logged.unseen)?, settings, names, stop)?;
        Ok(Self { policy, chosen, chain, bound })
    }
}

/// Replaces the choices of states from which the policy never ends by equally good ones from which it does, if there are any:
/// where all values are equal, the solver may choose a cycle.
fn prefer_ends(rows: &Rows, solution: &Solution, choices: &mut [usize]) {
    let mdp = &rows.mdp;
    let mut ends = chain::ends(mdp, |state| choices[state]);
    let value = |choice: usize| {
        let next =
            mdp.arcs_of(choice).map(|arc| mdp.probabilities[arc] * solution.value(mdp.targets[arc] as usize));
        rows.rewards[choice] + next.sum::<f64>()
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
                    mdp.can_end(*choice) || mdp.arcs_of(*choice).any(|arc| ends[mdp.targets[arc] as usize]);
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
fn kept(table: &Table, logged: &Logged, settings: &Settings, state: usize) -> f64 {
    let kept = |pair: &usize| settings.keep_logged && !is_supported(table, settings, *pair);
    table.pairs_of(state).filter(kept).map(|pair| logged.policy[pair]).sum()
}

/// The probability of each pair, given what was decided.
fn mixture(table: &Table, logged: &Logged, settings: &Settings, chosen: &[Option<usize>]) -> Vec<f64> {
    let mut policy = logged.policy.clone();
    for (state, &choice) in chosen.iter().enumerate() {
        let Some(choice) = choice else { continue };
        for pair in table.pairs_of(state) {
            if !settings.keep_logged || is_supported(table, settings, pair) {
                policy[pair] = 0.0;
            }
        }
        policy[choice] = 1.0 - kept(table, logged, settings, state);
    }
    policy
}
