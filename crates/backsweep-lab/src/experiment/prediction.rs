//! The circles and predictors of a built-in experiment, as settings.

use super::Experiment;
use super::file::{File, Instance, PredictionTable, PredictorTable};
use crate::prediction::{Prediction, PredictorChoice};
use crate::result::Unit;
use crate::{Result, fnv1a};
use backsweep_predict::StepSize;

impl Experiment {
    pub(super) fn add_prediction(&mut self, file: &File) -> Result<()> {
        let Some(PredictionTable { steps, discount }) = file.prediction else { return Ok(()) };
        for circle in &file.circles {
            self.info.tasks.push((circle.name.clone(), circle.title.clone()));
            // Common random numbers: the stream depends only on the kind of instance, so that tasks and methods can
            // be compared run by run.
            let stream = fnv1a(&format!("{}/{}", self.info.name, circle.name));
            for predictor in &file.predictors {
                for (choice, parameter) in predictor_points(predictor) {
                    let key = self.key(&circle.name, predictor.method.clone(), None, parameter);
                    let work = Prediction {
                        task: circle.task,
                        random_instance: circle.instance == Instance::Random,
                        predictor: choice,
                        discount,
                        steps,
                        stream,
                    };
                    self.add(key, Unit::Step, false, 4e-8 * f64::from(steps), Box::new(work))?;
                }
            }
        }
        Ok(())
    }
}

fn predictor_points(table: &PredictorTable) -> Vec<(PredictorChoice, Option<f64>)> {
    let step_size: fn(f64) -> StepSize = match table.method.name() {
        "td_constant" => StepSize::Constant,
        "td_decaying" => StepSize::Decaying,
        _ => return vec![(PredictorChoice::SmallBackup, None)],
    };
    let last = table.points.unwrap_or_default().saturating_sub(1);
    let points = (0..=last).map(|i| f64::from(i) / f64::from(last));
    points.map(|x| (PredictorChoice::Td(step_size(x)), Some(x))).collect()
}
