//! The uses of held-out cases: a line per policy in `hold-out.jsonl`, in the folder of its report.
//!
//! Held-out cases that are used for many policies are no longer held out: the best of ten tries is too good. Folders of reports
//! usually lie side by side, so those beside a folder are read as well. Nothing else is known or kept.

use crate::learned::Learned;
use backsweep_log::Counts;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The file, one JSON object per policy.
pub(crate) const FILE: &str = "hold-out.jsonl";
/// The name of the line about uses in what is known about a log.
pub(crate) const NAME: &str = "uses of the held-out cases";

/// The held-out cases and the policy that they test, as far as files can tell.
struct Use {
    cases: String,
    policy: String,
}

impl Use {
    fn new(counts: &Counts, learned: &Learned, how: &[(String, String)]) -> Self {
        let (settings, e) = (&learned.settings, &learned.evaluation);
        let files = how.iter().find(|(name, _)| name == "files").map_or("", |(_, files)| files);
        let fold = counts.how.get("fold").map_or("", String::as_str);
        let cases = format!("{} of folds {:016b} ({fold}) of {files}", e.n_cases[1], settings.hold_out);
        let read = |key: &str| counts.how.get(key).map_or("", String::as_str);
        let policy = format!(
            "state {}, action {}, reward {}, final {}, where {}, discount {}, min_count {}, keep_logged {}, pessimism {}",
            read("state"),
            read("action"),
            read("reward"),
            read("final"),
            read("where"),
            settings.discount,
            settings.min_count,
            settings.keep_logged,
            settings.pessimism
        );
        Self { cases, policy }
    }

    fn line(&self) -> String {
        json!({"held_out": self.cases, "policy": self.policy}).to_string()
    }
}

/// The new content of a folder's file, and a sentence on other uses of the same cases, if there were any.
pub(crate) fn uses(
    folder: &Path,
    counts: &Counts,
    learned: &Learned,
    how: &[(String, String)],
) -> (String, Option<String>) {
    let now = Use::new(counts, learned, how);
    let own = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    if learned.evaluation.n_cases[1] == 0 {
        return (own, None);
    }
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let beside = absolute.parent().and_then(|parent| fs::read_dir(parent).ok());
    let others = beside.into_iter().flatten().flatten().map(|entry| entry.path());
    let others = others.filter(|path| *path != absolute);
    let others = others.filter_map(|path| fs::read_to_string(path.join(FILE)).ok());
    let mut policies = BTreeSet::new();
    for text in others.chain([own.clone()]) {
        for line in text.lines() {
            // A line that is not one of these is not a use.
            let Ok(known) = serde_json::from_str::<Value>(line) else { continue };
            if known["held_out"] == now.cases.as_str() && known["policy"] != now.policy.as_str() {
                policies.extend(known["policy"].as_str().map(str::to_owned));
            }
        }
    }
    let line = now.line();
    let content = if own.lines().any(|known| known == line) { own } else { format!("{own}{line}\n") };
    let n = policies.len();
    let s = if n == 1 { "policy was" } else { "policies were" };
    let sentence = format!(
        "{n} other {s} tested on the same held-out cases, in this folder or beside it. The best of several tries looks better than it \
         is."
    );
    (content, (n > 0).then_some(sentence))
}
