//! Settings from Python, checked where they enter.

use crate::choice::actions_of;
use crate::errors;
use crate::names;
use crate::planning::{count, number};
use backsweep::{Agent as CoreAgent, EpsilonGreedy, Model, Optimism, PlannerKind, Settings};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

/// The settings of a planner, given by its name or as one of the classes in `backsweep`.
pub fn planner_settings(
    planner: Option<&Bound<'_, PyAny>>,
    discount: f64,
    optimism: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PlannerKind, Settings)> {
    let mut settings = Settings { discount, ..Settings::default() };
    let mut kind = PlannerKind::default();
    let parse =
        |name: String| name.parse().map_err(|error: backsweep::Error| errors::value(error.to_string()));
    match planner {
        None => {}
        Some(planner) if planner.is_instance_of::<PyString>() => kind = parse(planner.extract()?)?,
        Some(planner) => {
            let get = |what| {
                planner.getattr(what).map_err(|_| {
                    errors::wrong_type(format!(
                        "planner is {}; expected the name of a planner or an object such as \
                         backsweep.SmallBackups()",
                        errors::show(planner)
                    ))
                })
            };
            kind = parse(get("name")?.extract()?)?;
            settings.threshold = number(&get("threshold")?, "threshold")?;
            settings.tolerance = number(&get("tolerance")?, "tolerance")?;
            let queue: String = get("queue")?.extract()?;
            settings.queue =
                queue.parse().map_err(|error: backsweep::Error| errors::value(error.to_string()))?;
        }
    }
    if let Some(optimism) = optimism {
        let wrong = |_| {
            errors::wrong_type(format!(
                "optimism is {}; expected backsweep.Optimism(value=..., min_visits=...)",
                errors::show(optimism)
            ))
        };
        let value = number(&optimism.getattr("value").map_err(wrong)?, "optimism value")?;
        let visits = count(&optimism.getattr("min_visits").map_err(wrong)?, "min_visits")?;
        settings.optimism = Optimism { value, min_visits: u32::try_from(visits).unwrap_or(u32::MAX) };
    }
    Ok((kind, settings))
}

pub fn build(model: Model, kind: PlannerKind, settings: Settings, epsilon: f64) -> PyResult<CoreAgent> {
    let wrong = |error: backsweep::Error| errors::value(error.to_string());
    let planner = kind.build(settings).map_err(wrong)?;
    Ok(CoreAgent::from_parts(model, planner, EpsilonGreedy::new(epsilon).map_err(wrong)?))
}

/// A number n stands for the actions 0 .. n-1.
pub fn declared_list<'py>(actions: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if !actions.is_instance_of::<PyInt>() && !names::is_numpy_scalar(actions)? {
        return actions_of(actions);
    }
    let n = count(actions, "actions")?;
    if n > 1 << 24 {
        return Err(errors::value(format!("actions is {n}; expected at most {} actions", 1 << 24)));
    }
    (0..n).map(|action| Ok(action.into_pyobject(actions.py())?.into_any())).collect()
}
