//! A chart of one or two curves.

use super::canvas::{Align, Canvas, Weight};
use super::{Theme, grouped, minus, panel};
use crate::engine::history::History;

/// What a chart shows.
pub struct Chart<'a> {
    pub title: &'static str,
    /// What the horizontal axis counts.
    pub unit: &'static str,
    pub curves: Vec<&'a History>,
    /// A line across: the optimum.
    pub line: Option<f64>,
    /// Whether 0 is kept in view.
    pub from_zero: bool,
}

impl Chart<'_> {
    /// Draws it as a card of this place and size.
    pub fn draw(&self, canvas: &mut Canvas, theme: &Theme, (left, top, width, height): (f32, f32, f32, f32)) {
        panel(canvas, theme, (left, top, width, height));
        canvas.text(left + 14.0, top + 23.0, self.title, 14.0, Weight::Bold, Align::Left, theme.text);
        let (x0, x1, y0, y1) = (left + 50.0, left + width - 16.0, top + 38.0, top + height - 30.0);
        let (low, high) = self.range();
        let longest = self.curves.iter().map(|curve| curve.means().len() as u64 * curve.stride()).max();
        let longest = longest.unwrap_or(0).max(10) as f64;
        let x = |n: f64| x0 + (x1 - x0) * (n / longest) as f32;
        let y = |v: f64| y0 + (y1 - y0) * ((high - v) / (high - low)) as f32;
        for tick in ticks(low, high, 4) {
            canvas.line(&[(x0, y(tick)), (x1, y(tick))], 0.7, theme.edge, 1.0);
            let label = minus(&tick.to_string());
            canvas.text(x0 - 7.0, y(tick) + 4.0, &label, 11.5, Weight::Regular, Align::Right, theme.dim);
        }
        let marks = ticks(0.0, longest, 4);
        for (k, &tick) in marks.iter().enumerate() {
            let last = k + 1 == marks.len();
            let number = grouped(tick as u64);
            let label = if last { format!("{number} {}", self.unit) } else { number };
            let align = if last { Align::Right } else { Align::Centre };
            let place = if last { (x(tick) + 24.0).min(x1) } else { x(tick) };
            canvas.text(place, y1 + 19.0, &label, 11.5, Weight::Regular, align, theme.dim);
        }
        for (k, curve) in self.curves.iter().enumerate() {
            let stride = curve.stride() as f64;
            let points = points_of(curve, |i, mean| (x((i as f64 + 0.5) * stride), y(mean).clamp(y0, y1)));
            canvas.line(&points, 1.7, theme.agents[k], 1.0);
        }
        if let Some(line) = self.line {
            canvas.dashed(&[(x0, y(line)), (x1, y(line))], 1.2, theme.text, 0.9, Some(5.0));
            let label = minus(&format!("value iteration, true model {line:.1}"));
            let width = canvas.width(&label, 11.5, Weight::Regular);
            canvas.round((x0 + 3.0, y(line) - 19.0, width + 6.0, 15.0), 3.0, theme.card, 0.85);
            canvas.text(x0 + 6.0, y(line) - 7.0, &label, 11.5, Weight::Regular, Align::Left, theme.text);
        }
    }

    /// The vertical range: all but the very worst points, and the line.
    fn range(&self) -> (f64, f64) {
        let mut all: Vec<f64> =
            self.curves.iter().flat_map(|curve| curve.means().iter().map(|&mean| f64::from(mean))).collect();
        all.sort_by(f64::total_cmp);
        let mut low = all.get(all.len() / 100).copied().unwrap_or(-1.0);
        let mut high = all.last().copied().unwrap_or(0.0);
        if let Some(line) = self.line {
            (low, high) = (low.min(line - 2.0), high.max(line + 2.0));
        }
        if self.from_zero {
            low = low.min(0.0);
        }
        if high - low < 1e-9 {
            high = low + 1.0;
        }
        let room = (high - low) * 0.06;
        (if self.from_zero { low } else { low - room }, high + room)
    }
}

fn points_of(curve: &History, place: impl Fn(usize, f64) -> (f32, f32)) -> Vec<(f32, f32)> {
    curve.means().iter().enumerate().map(|(i, &mean)| place(i, f64::from(mean))).collect()
}

/// Round numbers in a range, about `n` of them.
fn ticks(low: f64, high: f64, n: usize) -> Vec<f64> {
    let rough = (high - low) / n as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(power);
    let first = (low / step).ceil() as i64;
    // Multiples of a power of ten, rounded so that they print as such.
    let tick = |k: i64| (k as f64 * step / power).round() * power;
    (first..).map(tick).take_while(|tick| *tick <= high + 1e-9 * step).collect()
}
