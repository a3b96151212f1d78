//! The entry point: counts in, a policy and what is known about it out.

use crate::chain::Logged;
use crate::evaluation::Evaluation;
use crate::off_policy::{Cases, Selected};
use crate::plan::Plan;
use crate::settings::Settings;
use crate::states::{self, StateRecord};
use crate::table::Table;
use crate::verdict::{self, Verdict};
use backsweep_log::{Counts, End};

/// Everything that was fitted to the training cases.
pub struct Fit {
    /// The counts of the training cases.
    pub table: Table,
    /// The logged policy and its values.
    pub logged: Logged,
    /// The learned policy and its values.
    pub plan: Plan,
    /// The value of each pair if the learned policy follows.
    pub q: Vec<f64>,
}

/// A policy learned from a log, and what it is worth.
pub struct Learned {
    /// How it was learned.
    pub settings: Settings,
    /// What was fitted.
    pub fit: Fit,
    /// What it is worth.
    pub evaluation: Evaluation,
    /// The same in words.
    pub verdict: Verdict,
    /// One row per state that was ever left, largest gain first.
    pub states: Vec<StateRecord>,
}

/// Learns a policy from counts and evaluates it on held-out folds; `cases` are the held-out cases in full (cases of other folds are
/// ignored), or none if only counts are known.
///
/// # Errors
/// If a setting is out of range, the counts are inconsistent, there is nothing to learn from, or values are not defined because a
/// policy never ends in its own model without discount.
pub fn learn(
    counts: &Counts,
    cases: Cases,
    settings: &Settings,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Learned, String> {
    settings.check()?;
    let table = Table::new(counts, !settings.hold_out)?;
    if table.n.is_empty() {
        return Err(
            "the log has no steps to learn from; expected at least one row outside the held-out cases"
                .to_owned(),
        );
    }
    let logged = Logged::new(&table, settings, &counts.states, stop)?;
    let plan = Plan::new(&table, &logged, settings, &counts.states, stop)?;
    let value = |pair: usize| table.pair_value(pair, settings.discount, &plan.chain.values);
    let q = (0..table.n.len()).map(value).collect();
    let fit = Fit { table, logged, plan, q };
    let held_out = Selected::new(cases, settings.hold_out);
    let known = |state: u32| (state as usize) < counts.states.len();
    for case in &held_out.cases {
        let cut_in = if let End::Truncated(state) = case.end { known(state) } else { true };
        if !cut_in || !case.steps.iter().all(|step| known(step.state)) {
            return Err("a held-out case names a state that the counts do not know; expected cases and counts from the same log".to_owned());
        }
    }
    let evaluation = Evaluation::new(counts, &held_out, &fit, settings, stop)?;
    let verdict = verdict::judge(&evaluation);
    let states = states::rows(counts, &fit, settings);
    Ok(Learned { settings: settings.clone(), fit, evaluation, verdict, states })
}
