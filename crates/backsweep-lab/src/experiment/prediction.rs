//! The circles and predictors of an experiment file, as settings.

use super::file::{File, PredictorTable};
use super::{Experiment, MOST_SETTINGS, check_name};
use crate::method::Method;
use crate::prediction::{Prediction, PredictorChoice};
use crate::result::Unit;
use crate::{Error, Result, fnv1a};
use backsweep_predict::StepSize;

impl Experiment {
    pub(super) fn add_prediction(&mut self, file: &File) -> Result<()> {
        if file.circles.is_empty() != file.predictors.is_empty() {
            return Err(Error::new("expected both [[circles]] and [[predictors]], found only one of them"));
        }
        if !file.circles.is_empty() && file.prediction.steps == 0 {
            return Err(Error::new("prediction.steps is 0; expected a number above 0"));
        }
        let discount = file.prediction.discount;
        if !file.circles.is_empty() && !(0.0..1.0).contains(&discount) {
            // A circle has no end, so without discount it has no values.
            return Err(Error::new(format!(
                "prediction.discount is {discount}; expected a number from 0 to below 1"
            )));
        }
        for circle in &file.circles {
            check_name("circles.name", &circle.name)?;
            self.tasks
                .push((circle.name.clone(), circle.title.clone().unwrap_or_else(|| circle.name.clone())));
            let random_instance = match circle.instance.as_str() {
                "fixed" => false,
                "random" => true,
                found => {
                    let name = &circle.name;
                    let line = format!("circle {name}: instance is '{found}'; expected 'fixed' or 'random'");
                    return Err(Error::new(line));
                }
            };
            // Common random numbers: the stream depends only on the kind of instance, so that tasks and methods can
            // be compared run by run.
            let stream = fnv1a(&format!("{}/{}", self.name, circle.name));
            for predictor in &file.predictors {
                for (choice, parameter) in predictor_points(predictor)? {
                    let key = self.key(&circle.name, predictor.method.clone(), None, parameter);
                    let work = Prediction {
                        task: circle.task,
                        random_instance,
                        predictor: choice,
                        discount,
                        steps: file.prediction.steps,
                        stream,
                    };
                    work.circle(0, 0).map_err(|error| error.at(format!("circle {}", circle.name)))?;
                    choice.build(work.discount)?;
                    let seconds = 4e-8 * f64::from(work.steps);
                    self.add(key, Unit::Step, false, seconds, Box::new(work))?;
                }
            }
        }
        Ok(())
    }
}

fn predictor_points(table: &PredictorTable) -> Result<Vec<(PredictorChoice, Option<f64>)>> {
    let step_size: fn(f64) -> StepSize = match (&table.method, table.points) {
        (Method::SmallBackup, None) => return Ok(vec![(PredictorChoice::SmallBackup, None)]),
        (Method::SmallBackup, Some(_)) => {
            return Err(Error::new("predictor small_backup: this method has no parameter; remove 'points'"));
        }
        (Method::TdConstant, _) => StepSize::Constant,
        (Method::TdDecaying, _) => StepSize::Decaying,
        (found, _) => {
            return Err(Error::new(format!(
                "no predictor is called '{found}'; expected one of: td_constant, td_decaying, small_backup"
            )));
        }
    };
    match table.points {
        Some(points) if (2..=MOST_SETTINGS as u32).contains(&points) => Ok((0..points)
            .map(|i| f64::from(i) / f64::from(points - 1))
            .map(|x| (PredictorChoice::Td(step_size(x)), Some(x)))
            .collect()),
        found => {
            let found = found.map_or("missing".to_owned(), |points| points.to_string());
            Err(Error::new(format!(
                "predictor {}: points is {found}; expected a whole number from 2 to {MOST_SETTINGS}",
                table.method
            )))
        }
    }
}
