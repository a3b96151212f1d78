//! The accuracy of the values, and a bound on their distance from the optimum.

use crate::{ArcId, Model, Planner};

/// The result of [`audit`]. All numbers are recomputed from the model; none comes from the
/// planner's own bookkeeping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Audit {
    /// The largest |Q − (R̂ + bonus + γ Σ P̂ U)| over the pairs whose model is trusted; 0 for
    /// planners that keep no U.
    pub relation: f64,
    /// The same relative to the largest |Q| or |U| (or 1, if that is larger).
    pub relative_relation: f64,
    /// The largest |V(s) − max Q(s,·)|. Zero at all times for planners that keep V up to date; for
    /// [`crate::planner::SmallBackups`], whose V changes only when a state is popped, it measures
    /// the work still queued.
    pub maximum: f64,
    /// The Bellman residual: the largest |V(s) − max (R̂ + γ Σ P̂ V)|, optimism taken into account.
    pub residual: f64,
    /// The largest possible effect of rounding on the computed residual.
    pub rounding: f64,
    /// No value is further from the optimum of the model (with its optimism) than this: residual /
    /// (1 − γ), plus what rounding may add; infinite if a value is not finite. `None` if the
    /// discount is 1.
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
    // A planner keeps the relation for all arcs or for none, so one arc is enough to check.
    let keeps_relation =
        model.states().next().is_some_and(|state| planner.backed_up_value(state, ArcId(0)).is_some());
    let gamma = values.discount();
    let (mut scale, mut heaviest) = (1.0f64, 0.0f64);
    for state in model.states() {
        let (mut highest_q, mut highest) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for pair in model.pairs(state) {
            let q = values.action_value(pair);
            highest_q = highest_q.max(q);
            if !values.is_known(model, pair) {
                highest = highest.max(values.optimism().value);
                continue;
            }
            scale = scale.max(q.abs());
            // Σ w V, Σ w |V|, Σ w U, Σ w.
            let (mut by_value, mut size, mut by_u, mut mass) = (0.0, 0.0, 0.0, 0.0);
            for next in model.successors(pair) {
                let v = values.value(next.state);
                let u = planner.backed_up_value(next.state, next.arc).unwrap_or(0.0);
                scale = scale.max(v.abs()).max(u.abs());
                by_value += next.weight * v;
                size += next.weight * v.abs();
                by_u += next.weight * u;
                mass += next.weight;
            }
            let weight = model.weight(pair);
            let bonus = values.bonus(pair);
            let full = |sum: f64| (model.reward_sum(pair) + gamma * sum) / weight + bonus;
            if keeps_relation {
                found.relation = worst(found.relation, (q - full(by_u)).abs());
            }
            highest = highest.max(full(by_value));
            // Every sum of n numbers is off by at most n units in the last place of the sum of
            // their magnitudes.
            let n_roundings = (model.n_successors(pair) + 8) as f64;
            let magnitude = (model.reward_sum(pair).abs() + gamma * size) / weight + bonus.abs();
            found.rounding =
                worst(found.rounding, n_roundings * f64::EPSILON * magnitude + f64::MIN_POSITIVE);
            heaviest = heaviest.max(mass / weight * (1.0 + n_roundings * f64::EPSILON));
        }
        let v = values.value(state);
        if model.n_actions(state) > 0 {
            found.maximum = worst(found.maximum, (v - highest_q).abs());
            found.residual = worst(found.residual, (v - highest).abs() * (1.0 + f64::EPSILON));
        }
    }
    found.relative_relation = found.relation / scale;
    // The weights of a row may sum to slightly more than the row's weight; then the contraction
    // factor is slightly above γ.
    let factor = gamma * heaviest;
    if gamma < 1.0 {
        let bound = (found.residual + found.rounding) / (1.0 - factor) * (1.0 + 4.0 * f64::EPSILON);
        found.error_bound = Some(if factor < 1.0 && bound.is_finite() { bound } else { f64::INFINITY });
    }
    found
}

/// The larger of two numbers; infinity if the second is NaN.
fn worst(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}
