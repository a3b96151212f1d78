//! Growth of the measured cost of an update cycle with the size of the task.

use crate::query;
use crate::result::Timing;

/// The sizes that grow, and what they are.
pub const SIZES: [(&str, &str); 4] = [
    ("successors", "successors of a pair"),
    ("actions", "actions of a state"),
    ("predecessors", "predecessor pairs of a state"),
    ("states", "states"),
];

/// The exponent with which times grow; see [`power`].
pub fn exponent(timings: &[&Timing]) -> Option<f64> {
    exponent_range(timings).map(|[_, middle, _]| middle)
}

/// The exponent with which times grow, between the least and the greatest that their ranges allow.
pub fn exponent_range(timings: &[&Timing]) -> Option<[f64; 3]> {
    let is_positive = |timing: &&&Timing| timing.microseconds > 0.0 && query::place(&timing.key) > Some(0.0);
    let timings: Vec<&Timing> = timings.iter().filter(is_positive).copied().collect();
    // The largest half of the sizes counts, so the line turns about the middle of that.
    let turn = timings.len() - timings.len() / 4;
    let fit = |before: fn(&Timing) -> f64, after: fn(&Timing) -> f64| {
        let time = |(i, t): (usize, &&Timing)| {
            Some((query::place(&t.key)?, if i < turn { before(t) } else { after(t) }))
        };
        power(&timings.iter().enumerate().filter_map(time).collect::<Vec<_>>())
    };
    let middle = fit(|t| t.microseconds, |t| t.microseconds)?;
    let or = |bound: Option<f64>| bound.unwrap_or(middle);
    Some([or(fit(|t| t.high, |t| t.low)).min(middle), middle, or(fit(|t| t.low, |t| t.high)).max(middle)])
}

/// The exponent of the power law that fits the upper half of the sizes best: small sizes show the
/// fixed cost of a cycle, not its growth. `None` for fewer than three sizes. All numbers are above
/// 0, in order of increasing x.
pub fn power(points: &[(f64, f64)]) -> Option<f64> {
    let upper = &points[points.len().saturating_sub((points.len() / 2 + 1).max(3))..];
    if upper.len() < 3 {
        return None;
    }
    let logs: Vec<(f64, f64)> = upper.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mean_x, mean_y) =
        (logs.iter().map(|l| l.0).sum::<f64>() / n, logs.iter().map(|l| l.1).sum::<f64>() / n);
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let slope = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
    (spread > 0.0 && slope.is_finite()).then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{SettingKey, Unit};

    fn timing(x: f64, microseconds: f64) -> Timing {
        let [experiment, task] = ["table1", "states"].map(str::to_owned);
        let method = "small_backups".into();
        let key = SettingKey { experiment, task, method, cycles: None, parameter: Some(x) };
        Timing { key, unit: Unit::Cycle, microseconds, low: 0.0, high: f64::NAN, samples: 3 }
    }

    #[test]
    fn the_exponent_of_a_power_law_is_found_and_a_fixed_cost_at_small_sizes_does_not_hide_it() {
        let exact: Vec<Timing> = [1.0, 2.0, 4.0, 8.0f64].map(|x| timing(x, 3.0 * x.powf(1.5))).into();
        let exact: Vec<&Timing> = exact.iter().collect();
        assert!((exponent(&exact).unwrap() - 1.5).abs() < 1e-12);
        let fixed: Vec<Timing> =
            (0..12).map(|i| timing(f64::from(1 << i), 20.0 + f64::from(1 << i))).collect();
        let fixed: Vec<&Timing> = fixed.iter().collect();
        assert!(exponent(&fixed).unwrap() > 0.85);
        assert_eq!(exponent(&exact[..2]), None);
        assert_eq!(exponent(&[]), None);
    }
}
