//! From values to places on an axis: ranges that fit the data, round ticks, and their labels.

use super::chart::{Axis, Panel, Point, SeriesShape};
use crate::number::number;

/// The visible part of an axis, laid over pixels.
#[derive(Clone, Debug)]
pub struct Scale {
    log: bool,
    first: f64,
    last: f64,
    pixel_first: f64,
    pixel_last: f64,
    /// The values that get a tick.
    pub ticks: Vec<f64>,
}

impl Scale {
    /// The scale of `axis` over `values`, between two pixels.
    pub fn fit(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        pixels: (f64, f64),
        wanted_ticks: usize,
    ) -> Self {
        let (first, last) =
            axis.range.filter(|range| usable(*range, axis.log)).unwrap_or_else(|| spread(values, axis.log));
        let ticks = match &axis.ticks {
            Some(ticks) => ticks.clone(),
            None if axis.log => log_ticks(first, last),
            None => linear_ticks(first, last, wanted_ticks),
        };
        let slack = (last - first).abs() * 1e-9;
        let ticks =
            ticks.into_iter().filter(|tick| *tick >= first - slack && *tick <= last + slack).collect();
        Scale { log: axis.log, first, last, pixel_first: pixels.0, pixel_last: pixels.1, ticks }
    }

    /// The pixel of `value`. Values that a logarithmic axis cannot show are placed at its start.
    pub fn pixel(&self, value: f64) -> f64 {
        let share = if self.log {
            if value <= 0.0 { 0.0 } else { (value / self.first).ln() / (self.last / self.first).ln() }
        } else {
            (value - self.first) / (self.last - self.first)
        };
        self.pixel_first + share * (self.pixel_last - self.pixel_first)
    }

    /// Returns whether `value` lies on the visible part.
    pub fn shows(&self, value: f64) -> bool {
        value >= self.first && value <= self.last
    }

    /// The text of a tick.
    pub fn label(&self, tick: f64) -> String {
        if self.log {
            return log_label(tick);
        }
        // Long numbers would run into the label of the axis.
        let (unit, name) = match self.ticks.iter().fold(0.0, |highest: f64, tick| highest.max(tick.abs())) {
            1e6.. => (1e6, " M"),
            1e4.. => (1e3, " k"),
            _ => (1.0, ""),
        };
        let step =
            self.ticks.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min) / unit;
        let digits =
            if step.is_finite() && step > 0.0 { (-step.log10().floor()).clamp(0.0, 6.0) as usize } else { 2 };
        number(tick / unit, digits) + if tick == 0.0 { "" } else { name }
    }
}

/// The values of `panel` that its vertical axis must cover.
pub fn heights(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    panel
        .series
        .iter()
        .flat_map(|series| series.points())
        .flat_map(|point: &Point| [point.y, point.low, point.high])
}

/// The values of `panel` that its horizontal axis must cover.
pub fn breadths(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    let fixed = panel.series.iter().filter(|series| series.shape != SeriesShape::Level);
    fixed.flat_map(|series| series.points()).map(|point| point.x)
}

fn usable((first, last): (f64, f64), log: bool) -> bool {
    first.is_finite() && last.is_finite() && first < last && !(log && first <= 0.0)
}

/// The range of the values with a little room at both ends; a default range if there are no values.
fn spread(values: impl Iterator<Item = f64>, log: bool) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(|value| value.is_finite() && !(log && *value <= 0.0)) {
        low = low.min(value);
        high = high.max(value);
    }
    if low > high {
        return if log { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    if log {
        let room = (high / low).powf(0.08).max(1.15);
        return (low / room, high * room);
    }
    let room = ((high - low) * 0.07).max(high.abs().max(1.0) * 1e-3);
    // The axis of a score that is never negative does not go below zero.
    let floor = if low >= 0.0 && low - room < 0.0 { 0.0 } else { low - room };
    (floor, high + room)
}

fn linear_ticks(first: f64, last: f64, wanted: usize) -> Vec<f64> {
    let rough = (last - first) / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.7)
        .unwrap_or(rough);
    // Multiples are computed from whole numbers so that no tick drifts.
    let (from, to) = ((first / step - 1e-9).ceil() as i64, (last / step + 1e-9).floor() as i64);
    (from..=to).map(|index| index as f64 * step).collect()
}

fn log_ticks(first: f64, last: f64) -> Vec<f64> {
    let decades = (last / first).log10();
    let factors: &[f64] = if decades > 3.0 {
        &[1.0]
    } else if decades > 1.2 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]
    };
    let (from, to) = (first.log10().floor() as i32, last.log10().ceil() as i32);
    let all = (from..=to).flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
    let ticks: Vec<f64> = all.filter(|tick| *tick >= first && *tick <= last).collect();
    // A range within one such step is almost linear.
    if ticks.len() < 3 { linear_ticks(first, last, 4) } else { ticks }
}

fn log_label(tick: f64) -> String {
    let power = tick.log10().round();
    if power.abs() >= 5.0 && (tick / 10f64.powf(power) - 1.0).abs() < 1e-9 {
        return format!("1e{power}");
    }
    let digits =
        if tick >= 1.0 { usize::from(tick.fract() > 1e-9) } else { (1.0 - tick.log10().floor()) as usize };
    let text = number(tick, digits);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::Scale;

    fn labels(ticks: &[f64]) -> Vec<String> {
        let last = ticks[ticks.len() - 1];
        let scale = Scale {
            log: false,
            first: ticks[0],
            last,
            pixel_first: 0.0,
            pixel_last: 1.0,
            ticks: ticks.to_vec(),
        };
        ticks.iter().map(|tick| scale.label(*tick)).collect()
    }

    #[test]
    fn long_numbers_are_written_in_thousands_or_millions() {
        assert_eq!(labels(&[0.0, 2000.0, 4000.0]), ["0", "2000", "4000"]);
        assert_eq!(labels(&[-15e3, -10e3, 0.0]), ["−15 k", "−10 k", "0"]);
        assert_eq!(labels(&[0.0, 0.5e6, 1e6]), ["0.0", "0.5 M", "1.0 M"]);
    }
}
