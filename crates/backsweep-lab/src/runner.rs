//! Runs the settings of experiments.
//!
//! Threads take runs in the order of the settings, so that as few settings as possible are in progress at any time: a kill
//! loses only those. Settings that measure times come last, one at a time, with no other work in this process.
//!
//! Every run has its own random stream from (seed, setting, run), so that the rows depend neither on the number of threads nor
//! on which machine did which setting.

use crate::experiment::Experiment;
use crate::result::{Row, Timing};
use crate::setting::{RunResult, Setting};
use crate::statistics::quantile;
use crate::store::Store;
use crate::{Error, Result};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Which settings a command runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingFilter {
    /// Only those that this pattern matches (see [`crate::result::SettingKey::matches`]); they run again even if they are done.
    pub only: Option<String>,
    /// Only a part of them.
    pub shard: Option<Shard>,
}

/// A part of the settings: every `of`-th, beginning with number `index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0 to `of` − 1.
    pub index: u32,
    /// The number of shards.
    pub of: u32,
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((index, of)) if index < of => Ok(Self { index, of }),
            _ => Err(Error::new(format!(
                "shard is '{text}'; expected i/n with i from 0 to n − 1, as in 0/4, 1/4, 2/4, 3/4"
            ))),
        }
    }
}

impl SettingFilter {
    /// The places of the chosen settings among all settings.
    ///
    /// # Errors
    /// If the pattern matches none.
    pub fn places(&self, settings: &[&Setting]) -> Result<Vec<usize>> {
        let mut places: Vec<usize> = (0..settings.len()).collect();
        if let Some(pattern) = &self.only {
            places.retain(|&place| settings[place].key.matches(pattern));
            if places.is_empty() {
                return Err(Error::new(format!(
                    "no setting matches '{pattern}'; expected the name of one, such as {}",
                    settings.first().map_or(String::new(), |setting| setting.key.name())
                )));
            }
        }
        if let Some(Shard { index, of }) = self.shard {
            places.retain(|&place| place as u32 % of == index);
        }
        Ok(places)
    }
}

/// Receives events, on any thread.
pub trait Observer: Sync {
    /// Work starts: settings to do, settings already done, and roughly how many seconds of work (on one core) lie ahead.
    fn begin(&self, n_settings: usize, n_done: usize, seconds: f64);
    /// A run is done; it was roughly this many seconds of work.
    fn run_done(&self, setting: &Setting, seconds: f64);
    /// A setting is done and its rows are written.
    fn setting_done(&self, setting: &Setting, rows: &[Row]);
}

/// Runs the chosen settings that are not done yet and writes each one as soon as it is done.
pub fn run(
    experiments: &[Experiment],
    filter: &SettingFilter,
    store: &mut Store,
    observer: &dyn Observer,
) -> Result<()> {
    let settings = all_settings(experiments);
    let seed = experiments.first().map_or(0, |experiment| experiment.seed);
    let chosen = filter.places(&settings)?;
    let mut places = chosen.clone();
    if filter.only.is_none() {
        places.retain(|&place| !store.is_done(place));
    }
    let work = places.iter().map(|&place| settings[place].seconds * f64::from(settings[place].runs)).sum();
    observer.begin(places.len(), chosen.len() - places.len(), work);
    let (alone, together): (Vec<usize>, Vec<usize>) =
        places.iter().partition(|&&place| settings[place].alone);
    let job = Job { settings: &settings, seed, observer, store: Mutex::new(store) };
    job.run_together(&together)?;
    alone.into_iter().try_for_each(|place| {
        let results = (0..settings[place].runs).map(|run| job.run_once(place, run)).collect::<Result<_>>()?;
        job.finish_setting(place, results)
    })
}

/// The data that all threads share.
struct Job<'a> {
    settings: &'a [&'a Setting],
    seed: u64,
    observer: &'a dyn Observer,
    store: Mutex<&'a mut Store>,
}

/// The results so far of a setting in progress.
type Gathered = Mutex<Vec<Option<RunResult>>>;

impl Job<'_> {
    fn run_once(&self, place: usize, run: u32) -> Result<RunResult> {
        let setting = self.settings[place];
        let result = setting.work.run(self.seed, run);
        self.observer.run_done(setting, setting.seconds);
        let finite = result.and_then(|result| match result.score {
            score if score.is_finite() => Ok(result),
            score => Err(Error::new(format!(
                "the score is {score}; expected a finite number; the rewards may be too large"
            ))),
        });
        finite.map_err(|error| error.at(format!("{}, run {run}", setting.key.name())))
    }

    fn finish_setting(&self, place: usize, results: Vec<RunResult>) -> Result<()> {
        let setting = self.settings[place];
        let rows = rows_of(setting, &results);
        locked(&self.store).put(place, rows.clone(), timing_of(setting, &results))?;
        self.observer.setting_done(setting, &rows);
        Ok(())
    }

    fn run_together(&self, places: &[usize]) -> Result<()> {
        let gathered: Vec<Gathered> =
            places.iter().map(|&place| Mutex::new(vec![None; self.settings[place].runs as usize])).collect();
        let runs: Vec<(usize, u32)> = (0..places.len())
            .flat_map(|i| (0..self.settings[places[i]].runs).map(move |run| (i, run)))
            .collect();
        let next = AtomicUsize::new(0);
        let work = |_: rayon::BroadcastContext<'_>| -> Result<()> {
            while let Some(&(i, run)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let done = self.run_once(places[i], run).and_then(|result| {
                    let mut results = locked(&gathered[i]);
                    results[run as usize] = Some(result);
                    if results.iter().all(Option::is_some) {
                        self.finish_setting(places[i], results.drain(..).flatten().collect())?;
                    }
                    Ok(())
                });
                if done.is_err() {
                    next.store(runs.len(), Ordering::Relaxed); // the others stop after their current run
                    return done;
                }
            }
            Ok(())
        };
        rayon::broadcast(work).into_iter().collect()
    }
}

/// A thread that panicked while holding the lock has lost at most its own setting.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The settings of all experiments, in order.
pub fn all_settings(experiments: &[Experiment]) -> Vec<&Setting> {
    experiments.iter().flat_map(|experiment| &experiment.settings).collect()
}

fn rows_of(setting: &Setting, results: &[RunResult]) -> Vec<Row> {
    let row = |(run, result): (usize, &RunResult)| Row {
        key: setting.key.clone(),
        run: run as u32,
        score: result.score,
        episodes: result.episodes,
        steps: result.steps,
        capped: result.capped,
    };
    results.iter().enumerate().map(row).collect()
}

fn timing_of(setting: &Setting, results: &[RunResult]) -> Timing {
    let mut samples: Vec<f64> = results.iter().flat_map(|result| result.samples.iter().copied()).collect();
    samples.sort_by(f64::total_cmp);
    // All rounds of a measurement do the same work, and other load on the machine can only add to their time.
    let [low, middle, high] = if setting.alone { [0.0, 0.1, 0.5] } else { [0.25, 0.5, 0.75] };
    Timing {
        key: setting.key.clone(),
        unit: setting.unit,
        microseconds: quantile(&samples, middle),
        low: quantile(&samples, low),
        high: quantile(&samples, high),
        samples: samples.len() as u32,
    }
}
