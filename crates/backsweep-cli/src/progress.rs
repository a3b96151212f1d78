//! Progress on standard error, so that standard output holds only results: a bar or a spinner on a terminal, nothing
//! otherwise, unless an experiment is asked for a line per setting.

use crate::output;
use backsweep_lab::result::Row;
use backsweep_lab::runner::Observer;
use backsweep_lab::setting::Setting;
use backsweep_lab::statistics::{deviation, mean};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A bar that shows its share of `length`, the time and a message.
pub fn bar(length: u64) -> ProgressBar {
    shown_as(Some(length), "{bar:30} {percent:>3} % · {elapsed} elapsed, {eta} remaining · {wide_msg}")
}

/// A spinner with a message, for work of unknown length.
pub fn spinner(message: &'static str) -> ProgressBar {
    let spinner = shown_as(None, "{spinner} {elapsed} · {wide_msg}");
    spinner.set_message(message);
    if !spinner.is_hidden() {
        spinner.enable_steady_tick(Duration::from_millis(200));
    }
    spinner
}

fn shown_as(length: Option<u64>, form: &str) -> ProgressBar {
    let on_terminal = std::io::stderr().is_terminal();
    let target = if on_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(length, target);
    if let Ok(style) = ProgressStyle::with_template(form) {
        bar.set_style(style);
    }
    bar
}

/// The bar of experiments counts in thousandths of a second of expected work, so that the remaining time is right even if settings differ.
const UNITS_PER_SECOND: f64 = 1000.0;

/// The progress of experiments.
pub struct ExperimentProgress {
    bar: ProgressBar,
    /// True to print a line per setting where there is no bar.
    verbose: bool,
    n_settings: AtomicUsize,
    n_done: AtomicUsize,
}

impl ExperimentProgress {
    pub fn new(verbose: bool) -> Self {
        Self { bar: bar(0), verbose, n_settings: AtomicUsize::new(0), n_done: AtomicUsize::new(0) }
    }

    /// Removes the bar from the terminal.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for ExperimentProgress {
    fn begin(&self, n_settings: usize, n_done: usize, seconds: f64) {
        self.n_settings.store(n_settings, Ordering::Relaxed);
        self.bar.set_length((seconds * UNITS_PER_SECOND).ceil() as u64);
        if n_done > 0 {
            output::note(format_args!("{n_done} of {} settings are already done", n_done + n_settings));
        }
    }

    fn run_done(&self, setting: &Setting, seconds: f64) {
        if !self.bar.is_hidden() {
            self.bar.set_message(setting.key.name());
            self.bar.inc((seconds * UNITS_PER_SECOND).round() as u64);
        }
    }

    fn setting_done(&self, setting: &Setting, rows: &[Row]) {
        let n_done = 1 + self.n_done.fetch_add(1, Ordering::Relaxed);
        if self.verbose && self.bar.is_hidden() {
            let scores: Vec<f64> = rows.iter().map(|row| row.score).collect();
            let error = deviation(&scores) / (scores.len() as f64).sqrt();
            let of = self.n_settings.load(Ordering::Relaxed);
            let (name, mean) = (setting.key.name(), mean(&scores));
            output::note(format_args!("{n_done}/{of} {name}: {mean:.4} ± {error:.4}"));
        }
    }
}
