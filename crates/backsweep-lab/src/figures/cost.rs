//! Table 1, measured: the time of one update cycle as the task grows, with the fitted exponent.

use super::chart::{Axis, Chart, Line, Panel, Point, Series};
use super::palette::{look, title};
use super::{number, pick};
use crate::result::{Results, Timing};

/// The sizes that grow, and what they are.
pub const SIZES: [(&str, &str); 4] = [
    ("successors", "successors of a pair"),
    ("actions", "actions of a state"),
    ("predecessors", "predecessor pairs of a state"),
    ("states", "states"),
];

/// Time of an update cycle against each size, both logarithmic.
pub fn table_1(results: &Results) -> Option<Chart> {
    let mut panels = Vec::new();
    for (task, label) in SIZES {
        let mut series = Vec::new();
        for method in pick::methods(results, "table1", task) {
            let timings = pick::times(results, "table1", task, &method);
            let sweep = timings.iter().any(|timing| timing.unit == "sweep");
            let look = look(&method);
            let name = if sweep { format!("{}, one sweep", title(&method)) } else { title(&method) };
            let line = if sweep { Line::Dashed } else { Line::Solid };
            let points: Vec<Point> = timings.iter().filter_map(|timing| point(timing)).collect();
            let mut curve = Series::curve(name, look.paint, line, points).marked(look.mark);
            if let Some(exponent) = exponent(&timings) {
                curve = curve.ending(format!("n^{}", number(exponent, 2)));
            }
            series.push(curve);
        }
        if series.iter().any(|curve| !curve.points().is_empty()) {
            panels.push(Panel {
                title: format!("Growing: {label}"),
                x: Axis::log(label),
                y: Axis::log("µs a cycle"),
                series,
            });
        }
    }
    let columns = panels.len().min(2);
    let name = "Table 1, measured: cost of one update cycle (10th percentile of rounds; bars: fastest to median; n^: fitted exponent)";
    let mut chart = Chart::new("table1", name, columns, panels);
    chart.panel_height = 360.0;
    (columns > 0).then_some(chart)
}

/// The exponent with which times grow; see [`power`].
pub fn exponent(timings: &[&Timing]) -> Option<f64> {
    let points: Vec<(f64, f64)> =
        timings.iter().filter_map(|timing| point(timing)).map(|p| (p.x, p.y)).collect();
    power(&points)
}

/// The exponent of the power law that fits the upper half of the sizes best: small sizes show the fixed cost of a
/// cycle, not its growth. `None` for fewer than three sizes. All numbers are above 0, by rising x.
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

/// A timing that a logarithmic axis can show.
fn point(timing: &Timing) -> Option<Point> {
    let x = pick::place(&timing.key)?;
    let y = timing.microseconds;
    let bound = |value: f64| if value > 0.0 && value.is_finite() { value } else { y };
    (x > 0.0 && y > 0.0).then(|| Point { x, y, low: bound(timing.low), high: bound(timing.high) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::SettingKey;

    fn timing(x: f64, microseconds: f64) -> Timing {
        let [experiment, task, method] = ["table1", "states", "small_backups"].map(str::to_owned);
        let key = SettingKey { experiment, task, method, cycles: None, parameter: Some(x) };
        Timing { key, unit: "cycle".into(), microseconds, low: 0.0, high: f64::NAN, samples: 3 }
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
