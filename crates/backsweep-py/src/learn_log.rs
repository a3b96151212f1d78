//! `backsweep.learn_log`: the native part. Files or columns in, a policy with everything known about it out.

use crate::errors;
use crate::frames::PyFrame;
use crate::known::stopping::Stopping;
use backsweep::Random;
use backsweep_learn::{
    Cases, Decider, LearnSettings, Learned, agent, decider, hold_out, learn, output, report,
};
use backsweep_log::decimal::Decimal;
use backsweep_log::{
    BinnedColumn, Condition, Counts, DataFrame, EndRule, FinalRewards, Folds, HoldOutTime, Input,
    ReadObserver, Spec, SpecField, Wording,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// A policy learned from a log; what `backsweep.Learned` is made of.
#[pyclass(module = "backsweep._backsweep", name = "LearnedLog", frozen)]
pub struct LearnedLog {
    counts: Counts,
    learned: Learned,
    how: Vec<(String, String)>,
    guesses: Vec<String>,
    warnings: Vec<String>,
}

impl ReadObserver for Stopping {
    fn progress(&self, _done: u64, _total: u64, _rows: u64) -> bool {
        !self.stop()
    }
}

/// The arguments of `learn_log`, for messages of the library; it has none for units of rewards and files of counts.
fn arguments(field: SpecField) -> Option<String> {
    Some(match field {
        SpecField::EndColumn => "ended_by=".to_owned(),
        SpecField::EndValue => "ended_by='column=value'".to_owned(),
        SpecField::Cut => "cut=True".to_owned(),
        SpecField::FinalRewards => "final=".to_owned(),
        SpecField::SkipBad => "skip_bad".to_owned(),
        SpecField::SkipPercent(percent) => format!("skip_bad={}", percent as f64 / 100.0),
        SpecField::Strict => "strict=True".to_owned(),
        SpecField::FileOrder => "order=False".to_owned(),
        SpecField::Ties => "ties='file'".to_owned(),
        SpecField::Conditions => "where=".to_owned(),
        SpecField::Unterminated
        | SpecField::RewardUnit
        | SpecField::RoundRewards
        | SpecField::RoundToCents
        | SpecField::Reuse => return None,
        _ => format!("{}=", field.name()),
    })
}

/// The library's message, with the arguments of `learn_log`.
fn texts(words: &[Wording]) -> Vec<String> {
    words.iter().map(|words| words.message(arguments)).collect()
}

/// An error of the log as an exception that names arguments.
fn log_error(error: backsweep_log::Error) -> PyErr {
    errors::value(error.message(arguments))
}

/// An error of the learner as an exception; adds the argument that allows what the library refuses.
fn learn_error(error: backsweep_learn::Error) -> PyErr {
    let is_occupied = matches!(error, backsweep_learn::Error::Exists { .. });
    let remedy = if is_occupied { ", or pass overwrite=True to replace it" } else { "" };
    errors::value(format!("{error}{remedy}"))
}

/// Columns as text, such as `sofa:0|5|10`.
fn columns(texts: &[String]) -> PyResult<Vec<BinnedColumn>> {
    texts.iter().map(|text| BinnedColumn::parse(text).map_err(log_error)).collect()
}

/// Conditions as text, such as `channel = Internet`.
fn conditions(texts: &[String]) -> PyResult<Vec<Condition>> {
    texts.iter().map(|text| Condition::parse(text).map_err(log_error)).collect()
}

/// A reward given as text.
fn decimal(text: &str) -> PyResult<Decimal> {
    Decimal::parse(text.as_bytes()).map_err(|_| errors::value(format!("'{text}' is not a decimal number")))
}

/// Learn a policy from the files or the columns of a log. See `backsweep.learn_log`.
#[pyfunction]
#[pyo3(signature = (paths, table, columns_of, options, settings))]
pub fn learn_log(
    py: Python<'_>,
    paths: Vec<String>,
    table: Option<Bound<'_, PyAny>>,
    columns_of: &Bound<'_, PyDict>,
    options: &Bound<'_, PyDict>,
    settings: &Bound<'_, PyDict>,
) -> PyResult<LearnedLog> {
    let (inputs, frame) = match table {
        Some(table) => {
            let (title, frame) = PyFrame::new(&table)?;
            let frame = Arc::new(frame);
            (vec![Input::Frame(title, Arc::clone(&frame) as Arc<dyn DataFrame>)], Some(frame))
        }
        None => (Input::expand(&paths).map_err(log_error)?, None),
    };
    let mut spec = spec(columns_of, options)?;
    let by_time = item::<String>(options, "hold_out_time")?.map(|text| {
        let expected = "expected 'last 20%' or a date such as '2024-05-01'";
        HoldOutTime::parse(&text).ok_or_else(|| errors::value(format!("hold_out is '{text}'; {expected}")))
    });
    let by_time = by_time.transpose()?;
    let mut settings = read_settings(settings)?;
    if by_time.is_some() {
        settings.hold_out = 1 << HoldOutTime::FOLD;
    }
    let signals = Stopping::new(None);
    let or_raised = |message: String| signals.raised().unwrap_or_else(|| errors::value(message));
    let raised = || frame.as_ref().and_then(|frame| frame.raised());
    py.detach(|| {
        let first =
            inputs.first().ok_or_else(|| errors::value("no log was given; expected at least one file"))?;
        let guesses = spec.fill_in(&backsweep_log::columns(first).map_err(log_error)?).map_err(log_error)?;
        let read = if by_time.is_some() { backsweep_log::read } else { backsweep_log::read_all_if_small };
        let keep = if by_time.is_some() { Folds::MAX } else { settings.hold_out };
        let mut log = read(&spec, &inputs, keep, &signals)
            .map_err(|error| raised().unwrap_or_else(|| or_raised(error.message(arguments))))?;
        if let Some(time) = by_time {
            log.hold_out_by_time(time).map_err(log_error)?;
        }
        let warnings = texts(&log.report.warnings);
        let how = log.report.describe(&inputs, warnings.clone());
        let order = log.case_order.as_ref().map_or(&[][..], |order| &order.places);
        let cohorts = spec.cohort.is_some().then_some(&log.cohorts);
        let cases = Cases { cases: &log.cases, decimals: log.case_decimals, order, cohorts };
        let learned = learn(&log.counts, cases, &settings, &|| signals.stop())
            .map_err(|error| or_raised(error.to_string()))?;
        Ok(LearnedLog { counts: log.counts, learned, how, guesses: texts(&guesses), warnings })
    })
}

fn item<'py, T>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    match dict.get_item(name)? {
        Some(value) if !value.is_none() => Ok(Some(value.extract()?)),
        _ => Ok(None),
    }
}

fn spec(of: &Bound<'_, PyDict>, options: &Bound<'_, PyDict>) -> PyResult<Spec> {
    let final_rewards =
        match (item::<String>(of, "final")?, item::<Vec<(String, String)>>(options, "final_rewards")?) {
            (Some(column), Some(rewards)) => {
                let rewards = rewards.into_iter().map(|(value, reward)| Ok((value, decimal(&reward)?)));
                Some(FinalRewards { column, rewards: rewards.collect::<PyResult<_>>()? })
            }
            _ => None,
        };
    let end = match (item::<String>(of, "ended_by")?, item::<bool>(options, "cut")?.unwrap_or(false)) {
        (Some(_), true) => {
            return Err(errors::value("both ended_by and cut are given; expected at most one"));
        }
        (Some(column), false) => EndRule::parse(&column),
        (None, true) => EndRule::Cut,
        (None, false) => EndRule::LastRow,
    };
    Ok(Spec {
        case: item(of, "case")?,
        order: item(of, "order")?,
        state: columns(&item::<Vec<String>>(of, "state")?.unwrap_or_default())?,
        action: columns(&item::<Vec<String>>(of, "action")?.unwrap_or_default())?,
        next: item(of, "next_state")?.unwrap_or_default(),
        reward: item(of, "reward")?,
        end,
        truncated: item(of, "truncated")?,
        propensity: item(of, "propensity")?,
        fold_by: item(of, "hold_out_by")?,
        cohort: item(of, "by")?,
        file_order: item(options, "file_order")?.unwrap_or(false),
        ties_by_file: item(options, "ties_by_file")?.unwrap_or(false),
        conditions: conditions(&item::<Vec<String>>(options, "where")?.unwrap_or_default())?,
        final_rewards,
        missing: item(options, "missing")?,
        skip_bad: item(options, "skip_bad")?.unwrap_or(0.0),
        strict: item(options, "strict")?.unwrap_or(false),
        threads: item(options, "threads")?.unwrap_or(0),
        ..Spec::default()
    })
}

fn read_settings(dict: &Bound<'_, PyDict>) -> PyResult<LearnSettings> {
    let plain = LearnSettings::default();
    let settings = LearnSettings {
        discount: item(dict, "discount")?.unwrap_or(plain.discount),
        min_count: item(dict, "min_count")?.unwrap_or(plain.min_count),
        keep_logged: item(dict, "keep_logged")?.unwrap_or(false),
        pessimism: item(dict, "pessimism")?.unwrap_or(0.0),
        unit: item(dict, "unit")?,
        hold_out: hold_out(item(dict, "hold_out")?.unwrap_or(0.2)).map_err(learn_error)?,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        ..plain
    };
    settings.check().map_err(learn_error)?;
    Ok(settings)
}

#[pymethods]
impl LearnedLog {
    /// The guesses about the columns.
    fn guesses(&self) -> Vec<String> {
        self.guesses.clone()
    }

    /// The parts of the log that are probably not meant as they were read.
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The state, action, value, count, logged action, support and probability of each state that was ever left, as columns.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (model, supported) = (&self.learned.fit.model, &self.learned.fit.supported);
        let mut rows: Vec<_> = self.learned.states.iter().collect();
        rows.sort_by_key(|row| row.state);
        let action = |pair: usize| self.counts.actions[model.actions[pair] as usize].as_str();
        let columns = PyDict::new(py);
        let states = rows.iter().map(|row| self.counts.states[row.state as usize].as_str());
        columns.set_item("state", states.collect::<Vec<_>>())?;
        columns.set_item("action", rows.iter().map(|row| action(row.proposed)).collect::<Vec<_>>())?;
        columns.set_item("logged_action", rows.iter().map(|row| action(row.logged)).collect::<Vec<_>>())?;
        columns.set_item("value", floats(py, rows.iter().map(|row| row.value)))?;
        columns.set_item("gain", floats(py, rows.iter().map(|row| row.gain)))?;
        columns.set_item(
            "probability",
            floats(py, rows.iter().map(|row| supported.probabilities[row.proposed])),
        )?;
        columns.set_item("visits", ints(py, rows.iter().map(|row| row.visits)))?;
        columns.set_item("count", ints(py, rows.iter().map(|row| model.n[row.proposed])))?;
        columns.set_item("supported", rows.iter().map(|row| row.supported).collect::<Vec<_>>())?;
        Ok(columns)
    }

    /// The probability of each action in each state, by name.
    fn probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (model, policy) = (&self.learned.fit.model, &self.learned.fit.supported.probabilities);
        let states = PyDict::new(py);
        for state in (0..model.n_states()).filter(|&state| !model.pairs_of(state).is_empty()) {
            let actions = PyDict::new(py);
            for pair in model.pairs_of(state).filter(|&pair| policy[pair] > 0.0) {
                actions.set_item(&self.counts.actions[model.actions[pair] as usize], policy[pair])?;
            }
            states.set_item(&self.counts.states[state], actions)?;
        }
        Ok(states)
    }

    /// The counts as columns; `next` is None where the case ended.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Counts { states, actions, rows, .. } = &self.counts;
        let columns = PyDict::new(py);
        let state = |id: u32| states[id as usize].as_str();
        columns.set_item("state", rows.iter().map(|row| state(row.state)).collect::<Vec<_>>())?;
        columns.set_item(
            "action",
            rows.iter().map(|row| actions[row.action as usize].as_str()).collect::<Vec<_>>(),
        )?;
        columns.set_item("next_state", rows.iter().map(|row| row.next.map(state)).collect::<Vec<_>>())?;
        columns.set_item("fold", ints(py, rows.iter().map(|row| i64::from(row.fold))))?;
        columns.set_item("n", ints(py, rows.iter().map(|row| row.n)))?;
        columns
            .set_item("reward_sum", floats(py, rows.iter().map(|row| self.counts.reward(row.reward_sum))))?;
        Ok(columns)
    }

    /// The answer of the policy to a row of JSON, as JSON.
    fn decide(&self, row: &str, seed: u64) -> PyResult<String> {
        let decider = Decider::parse(&decider::policy_json(&self.counts, &self.learned).to_string());
        let answer = decider.and_then(|decider| decider.answer(row, &mut Random::from_seed(seed)));
        answer.map(|answer| answer.to_string()).map_err(learn_error)
    }

    /// The summary as JSON.
    fn summary(&self) -> String {
        output::summary(&self.learned).to_string()
    }

    /// The report as HTML.
    fn html(&self) -> String {
        report::html(&self.counts, &self.learned, &self.how)
    }

    /// Write report.html and policy.csv into a folder; returns their paths.
    fn save(&self, folder: std::path::PathBuf, overwrite: bool) -> PyResult<Vec<std::path::PathBuf>> {
        output::write_folder(&folder, overwrite, &self.counts, &self.learned, &self.how).map_err(learn_error)
    }

    /// The bytes of an agent that knows the supported counts.
    fn agent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let learner = agent::learner(&self.counts, &self.learned).map_err(learn_error)?;
            learner.to_bytes().map_err(errors::refused)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }
}

fn floats(py: Python<'_>, numbers: impl Iterator<Item = f64>) -> Bound<'_, PyArray1<f64>> {
    numbers.collect::<Vec<_>>().into_pyarray(py)
}

fn ints(py: Python<'_>, numbers: impl Iterator<Item = i64>) -> Bound<'_, PyArray1<i64>> {
    numbers.collect::<Vec<_>>().into_pyarray(py)
}
