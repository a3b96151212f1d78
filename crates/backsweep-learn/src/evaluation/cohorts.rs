//! The gain of each cohort: cases that share a value, such as a channel.

use super::Estimate;
use crate::bootstrap::mean_interval;
use crate::conclusion::MIN_CASES;
use serde::Serialize;

/// The gain of the held-out cases of one cohort.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CohortGain {
    /// The value that these cases share.
    pub name: String,
    /// The number of held-out cases.
    #[serde(rename = "held_out_cases")]
    pub n: usize,
    /// Their gain; without an interval for fewer than [`MIN_CASES`].
    pub gain: Estimate,
}

/// The gains of cases by cohort, the largest cohort first.
pub(super) fn cohorts(gains: &[f64], of_cases: &[u32], names: &[String]) -> Vec<CohortGain> {
    let mut grouped: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for (gain, &cohort) in gains.iter().zip(of_cases) {
        grouped[cohort as usize].push(*gain);
    }
    let cohort = |(name, gains): (&String, Vec<f64>)| {
        let mut gain = mean_interval(&gains);
        if (gains.len() as i64) < MIN_CASES {
            (gain.low, gain.high) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        CohortGain { name: name.clone(), n: gains.len(), gain }
    };
    let grouped = names.iter().zip(grouped).filter(|(_, gains)| !gains.is_empty());
    let mut found: Vec<CohortGain> = grouped.map(cohort).collect();
    found.sort_by(|a, b| b.n.cmp(&a.n).then_with(|| a.name.cmp(&b.name)));
    found
}
