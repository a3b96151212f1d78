//! The text of an experiment file: read or refused, never a panic.
#![no_main]

use backsweep_lab::experiment::{Changes, Experiment};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // No other file can be read: an experiment that names one is refused.
    match Experiment::parse(text, Path::new("/nonexistent"), &Changes::default()) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(experiment) => {
            assert!(experiment.info.runs > 0);
        }
    }
});
