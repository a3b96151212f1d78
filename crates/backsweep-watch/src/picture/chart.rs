//! The charts next to the mazes: the laboratory's charts in the colors of the page.

use super::Theme;
use crate::engine::frame::Frame;
use crate::engine::history::History;
use backsweep_lab::figures::chart::{Axis, Chart, INK, LineStyle, Panel, Point, Series};
use backsweep_lab::figures::draw;

/// The room above a chart's panels, for a title that the panel carries here.
const ABOVE: f64 = 40.0;
/// The margin below them.
const BELOW: f64 = 14.0;
/// The height of a legend of one row.
const LEGEND: f64 = 24.0;

/// The return of each episode, the optimum, and what it is with the random actions of ε.
pub fn returns(frame: &Frame, theme: &Theme) -> Chart {
    let curves: Vec<&History> = frame.agents.iter().map(|agent| &agent.returns).collect();
    let mut series = series(&curves, theme);
    let (mut low, mut high) = range(&curves).unwrap_or((-1.0, 0.0));
    if let Some(optimum) = frame.optimum {
        (low, high) = (low.min(optimum.exploring - 2.0), high.max(optimum.best + 2.0));
        let mut level = |words: &str, value: f64, style: LineStyle| {
            let label = format!("{words} {value:.1}").replace('-', "−");
            series.push(Series::level(label, INK, style, Point::new(0.0, value)));
        };
        level("optimum", optimum.best, LineStyle::Dashed);
        if optimum.exploring < optimum.best {
            level("with the random actions of ε", optimum.exploring, LineStyle::Dotted);
        }
    }
    let room = ((high - low) * 0.06).max(0.1);
    let y = Axis::linear("discounted return").between(low - room, high + room);
    chart("returns", "Return per episode", "episodes", y, series, &curves)
}

/// The additions in each step.
pub fn work(frame: &Frame, theme: &Theme) -> Chart {
    let curves: Vec<&History> = frame.agents.iter().map(|agent| &agent.work).collect();
    let high = range(&curves).map_or(1.0, |(_, high)| high.max(1.0));
    let y = Axis::linear("additions").between(0.0, high * 1.06);
    chart("work", "Additions per step", "steps", y, series(&curves, theme), &curves)
}

/// Draws a chart as a nested document at its place.
pub fn draw(out: &mut String, mut chart: Chart, (x, y, width, height): (f64, f64, f64, f64)) {
    let has_legend =
        chart.panels.iter().flat_map(|panel| &panel.series).any(|series| !series.label.is_empty());
    chart.panel_width = width - 10.0;
    chart.panel_height = height - 8.0 - BELOW - if has_legend { LEGEND } else { 0.0 };
    let place = format!("<svg x=\"{}\" y=\"{}\" ", x + 1.0, y + 6.0 - ABOVE);
    out.push_str(&draw::svg(&chart).replacen("<svg ", &place, 1));
}

fn chart(id: &str, title: &str, unit: &str, y: Axis, series: Vec<Series>, curves: &[&History]) -> Chart {
    let longest = curves.iter().map(|curve| curve.means().len() as u64 * curve.stride()).max();
    let x = Axis::linear(unit).between(0.0, longest.unwrap_or(0).max(10) as f64);
    Chart::new(id, "", 1, vec![Panel { title: title.to_owned(), x, y, series }])
}

/// One curve per agent. They have no names in the legend: the swatches above the mazes identify them.
fn series(curves: &[&History], theme: &Theme) -> Vec<Series> {
    let one = |(k, curve): (usize, &&History)| {
        let stride = curve.stride() as f64;
        let place = |(i, mean): (usize, &f32)| Point::new((i as f64 + 0.5) * stride, f64::from(*mean));
        let points = curve.means().iter().enumerate().map(place).collect();
        Series::curve("", theme.agent(k), LineStyle::Solid, points)
    };
    curves.iter().enumerate().map(one).collect()
}

/// The lowest and highest mean, without the worst hundredth.
fn range(curves: &[&History]) -> Option<(f64, f64)> {
    let mut all: Vec<f64> =
        curves.iter().flat_map(|c| c.means().iter().map(|&mean| f64::from(mean))).collect();
    all.sort_by(f64::total_cmp);
    Some((*all.get(all.len() / 100)?, *all.last()?))
}
