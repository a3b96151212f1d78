//! The published points of the paper's figures, read off their vector paths; the data files name the source.

use crate::method::Method;
use crate::result::SettingKey;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// One column of points of Figure 1: what was printed for one step-size parameter.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct PublishedError {
    /// Circle task, 1 or 2.
    pub task: u32,
    /// The constant step size, or the decay rate.
    pub parameter: f64,
    /// Normalized error of TD(0) with a constant step size.
    pub td_constant: f64,
    /// Normalized error of TD(0) with a decaying step size.
    pub td_decaying: f64,
    /// Normalized error of one small backup per step; it has no parameter, so it is the same in every row.
    pub small_backup: f64,
}

/// One point of Figure 3.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PublishedScore {
    /// Task number of the conference version: 1 has 4 successors, 2 has 15.
    pub task: u32,
    /// The method.
    pub method: Method,
    /// Update cycles per step; `None` for value iteration and R-max.
    pub cycles: Option<u32>,
    /// Computation time per observation in microseconds on the authors' machine.
    pub microseconds: Option<f64>,
    /// Mean discounted return of the first 200 episodes.
    pub score: f64,
}

/// A method with the number that was published for it.
pub type PublishedCurve = (Method, fn(&PublishedError) -> f64);

/// The curves of Figure 1 that have a parameter.
pub const TD: [PublishedCurve; 2] =
    [(Method::TD_CONSTANT, |point| point.td_constant), (Method::TD_DECAYING, |point| point.td_decaying)];

/// Figure 1, both tasks, in the order of the file.
pub fn figure_1() -> Vec<PublishedError> {
    records(include_bytes!("../data/published-fig1.csv"))
}

/// Figure 3, both tasks, in the order of the file.
pub fn figure_3() -> Vec<PublishedScore> {
    records(include_bytes!("../data/published-fig3.csv"))
}

/// The points of Figure 1 at a parameter.
pub fn errors_at(task: u32, parameter: f64) -> Option<PublishedError> {
    figure_1().into_iter().find(|point| point.task == task && (point.parameter - parameter).abs() < 1e-6)
}

/// The points of Figure 3 of a method.
pub fn scores(task: u32, method: &Method) -> impl Iterator<Item = PublishedScore> {
    figure_3().into_iter().filter(move |point| point.task == task && point.method == *method)
}

/// The score or error that was published for a setting of the paper's experiments.
pub fn published_for(key: &SettingKey) -> Option<f64> {
    let (experiment, task) = (key.experiment.as_str(), key.task.as_str());
    match (experiment, task) {
        ("fig1", "circle1" | "circle2") => {
            let task = if task == "circle1" { 1 } else { 2 };
            let point = errors_at(task, key.parameter.unwrap_or(0.0))?;
            match key.method.name() {
                "td_constant" => Some(point.td_constant),
                "td_decaying" => Some(point.td_decaying),
                "small_backup" => Some(point.small_backup),
                _ => None,
            }
        }
        ("fig3", "fifteen") | ("fig3_icml", "four_80" | "four_60") => {
            let number = if experiment == "fig3" { 2 } else { 1 };
            scores(number, &key.method).find(|point| point.cycles == key.cycles).map(|point| point.score)
        }
        _ => None,
    }
}

/// The records of a data file. A test counts them, so that none is dropped here.
fn records<T: DeserializeOwned>(file: &[u8]) -> Vec<T> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(file);
    reader.deserialize().flatten().collect()
}
