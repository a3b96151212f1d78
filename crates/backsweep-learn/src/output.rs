//! Results as files: `policy.csv`, `probabilities.csv`, `changes.csv` and `policy.json` for machines, a summary as JSON, and a
//! folder that is written completely or not at all.

use crate::decider::policy_json;
use crate::error::{Error, Result};
use crate::hold_out_uses;
use crate::learned::Learned;
use crate::report;
use crate::states::MIN_MOVED;
use backsweep_log::Counts;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a result.
pub const FILES: [&str; 5] = ["policy.csv", "probabilities.csv", "changes.csv", "policy.json", "report.html"];

/// `policy.csv`: one row per state that was ever left, in the order of the states' names.
///
/// `probability` is how often the policy takes the action; the rest is as logged. Where no action is supported, the action is the
/// one that was logged most often, and `supported` is false.
pub fn policy_csv(counts: &Counts, learned: &Learned) -> Vec<u8> {
    let model = &learned.fit.model;
    let mut rows: Vec<_> = learned.states.iter().collect();
    rows.sort_by_key(|row| row.state);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let action = |pair: usize| counts.actions[model.actions[pair] as usize].as_str();
    // Writing into memory does not fail.
    let mut write = |record: [&str; 7]| drop(writer.write_record(record));
    write(["state", "action", "value", "count", "logged_action", "supported", "probability"]);
    for row in rows {
        let (value, count) = (row.value.to_string(), model.n[row.proposed].to_string());
        let probability = learned.fit.supported.probabilities[row.proposed].to_string();
        let supported = if row.supported { "true" } else { "false" };
        let state = &counts.states[row.state as usize];
        write([state, action(row.proposed), &value, &count, action(row.logged), supported, &probability]);
    }
    writer.into_inner().unwrap_or_default()
}

/// `probabilities.csv`: one row per state and action that the policy may take there, with its probability.
pub fn probabilities_csv(counts: &Counts, learned: &Learned) -> Vec<u8> {
    let (model, policy) = (&learned.fit.model, &learned.fit.supported.probabilities);
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing into memory does not fail.
    let mut write = |record: [&str; 4]| drop(writer.write_record(record));
    write(["state", "action", "probability", "count"]);
    for state in 0..model.n_states() {
        for pair in model.pairs_of(state).filter(|&pair| policy[pair] > 0.0) {
            let action = &counts.actions[model.actions[pair] as usize];
            write([&counts.states[state], action, &policy[pair].to_string(), &model.n[pair].to_string()]);
        }
    }
    writer.into_inner().unwrap_or_default()
}

/// `changes.csv`: every action whose probability the policy changes, in the order of the states' contributions to the gain.
pub fn changes_csv(counts: &Counts, learned: &Learned) -> Vec<u8> {
    let (fit, mut writer) = (&learned.fit, csv::Writer::from_writer(Vec::new()));
    // Writing into memory does not fail.
    let mut write = |record: [&str; 7]| drop(writer.write_record(record));
    write(["state", "action", "count", "logged_probability", "probability", "value", "state_contribution"]);
    for row in learned.states.iter().filter(|row| row.moved > MIN_MOVED) {
        for pair in fit.model.pairs_of(row.state as usize) {
            let (before, after) = (fit.logged.probabilities[pair], fit.supported.probabilities[pair]);
            if (before - after).abs() > MIN_MOVED {
                write([
                    &counts.states[row.state as usize],
                    &counts.actions[fit.model.actions[pair] as usize],
                    &fit.model.n[pair].to_string(),
                    &before.to_string(),
                    &after.to_string(),
                    &fit.q[pair].to_string(),
                    &row.contribution.to_string(),
                ]);
            }
        }
    }
    writer.into_inner().unwrap_or_default()
}

/// The summary as JSON. Infinite ends of intervals are null.
pub fn summary(learned: &Learned) -> Value {
    let (settings, e) = (&learned.settings, &learned.evaluation);
    let gain = e.marginal.filter(|_| learned.conclusion.finding.has_number());
    let weight = |share: f64| e.weights.get((share * e.weights.len() as f64) as usize).copied();
    let weights = json!({"median": weight(0.5), "top_1_percent": weight(0.99), "largest": e.weights.last()});
    json!({
        "finding": learned.conclusion.words(),
        "hidden_factors": if learned.conclusion.is_checked { "checked" } else { "not checked" },
        "headline": learned.conclusion.headline,
        "unit": settings.unit,
        "gain": gain.map(|found| found.gain),
        "cohorts": e.cohorts,
        "steps_per_case": {"logged": e.steps_per_case[0], "policy": e.steps_per_case[1]},
        "weights": weights,
        "sensitivity": e.sensitivity,
        "drift": e.drift,
        "reasons": learned.conclusion.reasons,
        "settings": {
            "discount": settings.discount, "min_count": settings.min_count, "keep_logged": settings.keep_logged,
            "pessimism": settings.pessimism, "held_out_folds": settings.hold_out.count_ones(),
        },
        "cases": {"training": e.n_cases[0], "held_out": e.n_cases[1]},
        "steps": {"training": e.n_steps[0], "held_out": e.n_steps[1]},
        "states": {"seen": learned.states.len(), "supported": learned.states.iter().filter(|row| row.supported).count()},
        "supported_visits": e.supported,
        "changed_decisions": e.changed,
        "solver_bound": learned.fit.supported.bound,
        "logged": {"training_model": e.logged_training, "held_out": e.logged},
        "policy": {
            "training_model": e.training,
            "held_out_model": e.held_out,
            "held_out_model_covered": e.covered,
            "weighted_importance_sampling": e.importance,
            "doubly_robust": e.doubly_robust,
            "marginal": e.marginal,
            "effective_cases": e.effective_cases,
            "reached": e.reached,
        },
        "memory": e.history,
        "calibration": e.calibration,
    })
}

/// Refuses a folder that cannot be written, or that already holds results and may not be overwritten. Called before any work.
///
/// # Errors
/// The obstacle, and the remedy.
pub fn check_folder(folder: &Path, overwrite: bool) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::NotAFolder(folder.to_owned()));
    }
    match FILES.iter().find(|file| folder.join(file).exists()) {
        Some(file) if !overwrite => Err(Error::Exists { folder: folder.to_owned(), file }),
        _ => Ok(()),
    }
}

/// Writes the files into a folder, creating it. Each is written under a temporary name and then moved into place; other
/// files are not touched.
///
/// # Errors
/// The first file that cannot be written.
pub fn write_folder(
    folder: &Path,
    overwrite: bool,
    counts: &Counts,
    learned: &Learned,
    how: &[(String, String)],
) -> Result<Vec<PathBuf>> {
    check_folder(folder, overwrite)?;
    let (ledger, note) = hold_out_uses::uses(folder, counts, learned, how);
    let mut how = how.to_vec();
    how.extend(note.map(|note| (hold_out_uses::NAME.to_owned(), note)));
    let contents = [
        policy_csv(counts, learned),
        probabilities_csv(counts, learned),
        changes_csv(counts, learned),
        format!("{:#}\n", policy_json(counts, learned)).into_bytes(),
        report::html(counts, learned, &how).into_bytes(),
        ledger.into_bytes(),
    ];
    let failed = |path: &Path, error: std::io::Error| Error::Io {
        path: path.to_owned(),
        kind: error.kind(),
        message: error.to_string(),
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let files = || FILES.into_iter().chain([hold_out_uses::FILE]);
    let parts: Vec<PathBuf> =
        files().map(|file| folder.join(format!("{file}.part-{}", std::process::id()))).collect();
    let written = parts
        .iter()
        .zip(&contents)
        .try_for_each(|(part, content)| fs::write(part, content).map_err(|error| failed(part, error)));
    if let Err(error) = written {
        parts.iter().for_each(|part| {
            let _ = fs::remove_file(part);
        });
        return Err(error);
    }
    let mut written = Vec::new();
    for (part, file) in parts.iter().zip(files()) {
        let path = folder.join(file);
        fs::rename(part, &path).map_err(|error| failed(&path, error))?;
        written.push(path);
    }
    // The last one is for later reports.
    written.pop();
    Ok(written)
}
