//! How far from exact, and how far from optimal at the most.

use crate::{ArcId, Model, Planner};

/// What [`audit`] found. All numbers are recomputed from the model, none taken from the planner's own bookkeeping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Audit {
    /// The largest |Q − (R̂ + γ Σ P̂ U)| over the pairs whose model is believed; 0 for planners that keep no U.
    pub relation: f64,
    /// The same relative to the largest |Q| or |U| (or 1, if that is larger).
    pub relative_relation: f64,
    /// The largest |V(s) − max Q(s,·)|. Zero at all times for planners that keep V up to date; for
    /// [`crate::planner::SmallBackups`], whose V changes only when a state is popped, it measures the work still queued.
    pub maximum: f64,
    /// The Bellman residual: the largest |V(s) − max (R̂ + γ Σ P̂ V)|, optimism taken into account.
    pub residual: f64,
    /// How far rounding can have carried the computed residual from the true one, at the most.
    pub rounding: f64,
    /// No value is further from the optimum of the model (with its optimism) than this: residual / (1 − γ), with what
    /// rounding may add. `None` if the discount is 1.
    pub error_bound: Option<f64>,
}

/// Recomputes everything from the model and compares.
///
/// # Complexity
/// O(states + pairs + arcs).
pub fn audit(model: &Model, planner: &dyn Planner) -> Audit {
    let values = planner.values();
    let mut found = Audit {
        relation: 0.0,
        relative_relation: 0.0,
        maximum: 0.0,
        residual: 0.0,
        rounding: 0.0,
        error_bound: None,
    };
    // A planner keeps the relation for all arcs or for none, so any arc will do to ask.
    let keeps_relation =
        model.states().next().is_some_and(|state| planner.backed_up_value(state, ArcId(0)).is_some());
    let mut scale = 1.0f64;
    // The largest number in the residual; what predecessors have not been told of may be far larger and does not count.
    let mut largest = 1.0f64;
    let mut terms = 1usize;
    for state in model.states() {
        let mut highest_q = f64::NEG_INFINITY;
        let mut highest = f64::NEG_INFINITY;
        for pair in model.pairs(state) {
            let q = values.action_value(pair);
            highest_q = highest_q.max(q);
            if !values.is_known(model, pair) {
                highest = highest.max(values.optimism().value);
                continue;
            }
            terms = terms.max(model.n_successors(pair));
            scale = scale.max(q.abs());
            let mut by_value = 0.0;
            let mut by_seen = keeps_relation.then_some(0.0);
            for successor in model.successors(pair) {
                let v = values.value(successor.state);
                scale = scale.max(v.abs());
                largest = largest.max(v.abs());
                by_value += successor.weight * v;
                by_seen = match (by_seen, planner.backed_up_value(successor.state, successor.arc)) {
                    (Some(sum), Some(u)) => {
                        scale = scale.max(u.abs());
                        Some(sum + successor.weight * u)
                    }
                    _ => None,
                };
            }
            let expectation =
                |sum: f64| (model.reward_sum(pair) + values.discount() * sum) / model.weight(pair);
            if let Some(sum) = by_seen {
                found.relation = found.relation.max((q - expectation(sum)).abs());
            }
            largest = largest.max(expectation(by_value).abs());
            highest = highest.max(expectation(by_value));
        }
        let v = values.value(state);
        if model.n_actions(state) > 0 {
            found.maximum = found.maximum.max((v - highest_q).abs());
            found.residual = found.residual.max((v - highest).abs());
        }
    }
    found.relative_relation = found.relation / scale;
    found.rounding = (terms + 8) as f64 * f64::EPSILON * largest;
    if values.discount() < 1.0 {
        found.error_bound = Some((found.residual + found.rounding) / (1.0 - values.discount()));
    }
    found
}
