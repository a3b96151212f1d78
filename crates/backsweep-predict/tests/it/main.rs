//! Predictors: their theorems and their errors.

mod errors;
mod predict;

use backsweep_predict::{PredictorSettings, Selection, SmallBackupPredictor};

/// A predictor with all of its settings.
fn small_backups(
    discount: f64,
    initial_value: f64,
    selection: Selection,
    iterations: usize,
    seed: u64,
) -> backsweep_core::Result<SmallBackupPredictor> {
    SmallBackupPredictor::new(PredictorSettings { discount, initial_value, selection, iterations, seed })
}
