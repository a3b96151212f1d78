//! Table 1, measured: the time of one update cycle as the task grows, with the fitted exponent.

use super::chart::{Axis, Chart, LineStyle, Panel, Point, Series};
use super::palette::look;
use crate::growth::{SIZES, exponent};
use crate::number::number;
use crate::query;
use crate::result::{Results, Timing, Unit};

/// Time of an update cycle against each size, both logarithmic.
pub fn table_1(results: &Results) -> Option<Chart> {
    let mut panels = Vec::new();
    for (task, label) in SIZES {
        let mut series = Vec::new();
        for method in query::methods(results, "table1", task) {
            let timings = query::times(results, "table1", task, &method);
            let sweep = timings.iter().any(|timing| timing.unit == Unit::Sweep);
            let (color, mark) = look(&method);
            let name = if sweep { format!("{}, one sweep", method.title()) } else { method.title() };
            let line = if sweep { LineStyle::Dashed } else { LineStyle::Solid };
            let points: Vec<Point> = timings.iter().filter_map(|timing| point(timing)).collect();
            let mut curve = Series::curve(name, color, line, points).marked(mark);
            curve.end = exponent(&timings).map(|exponent| format!("n^{}", number(exponent, 2)));
            series.push(curve);
        }
        if series.iter().any(|curve| !curve.points().is_empty()) {
            panels.push(Panel {
                title: format!("Growing: {label}"),
                x: Axis::log(label),
                y: Axis::log("µs per cycle"),
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

/// A timing that a logarithmic axis can show.
fn point(timing: &Timing) -> Option<Point> {
    let x = query::place(&timing.key)?;
    let y = timing.microseconds;
    let bound = |value: f64| if value > 0.0 && value.is_finite() { value } else { y };
    (x > 0.0 && y > 0.0).then(|| Point { x, y, low: bound(timing.low), high: bound(timing.high) })
}
