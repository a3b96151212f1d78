//! Settings from Python, checked where they enter.

use crate::actions::keys_of;
use crate::errors;
use crate::named_agent::NamedAgent;
use crate::names::{self, Key};
use crate::numbers::{count, number};
use backsweep::explore::{EpsilonGreedy, Optimism};
use backsweep::planner::Model;
use backsweep::{Agent as CoreAgent, PlannerKind, Settings};
use backsweep_baselines::VALUE_ITERATION;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

/// The largest change of a value that value iteration leaves, unless another is given.
const SWEEP_TOLERANCE: f64 = 1e-6;
/// More declared actions than this are refused.
const MAX_ACTIONS: u32 = 1 << 24;

/// The settings of a planner, given by name or as an instance of one of the classes in `backsweep`.
pub fn planner_settings(
    planner: Option<&Bound<'_, PyAny>>,
    discount: f64,
    optimism: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PlannerKind, Settings)> {
    let mut settings = Settings { discount, ..Settings::default() };
    let mut kind = PlannerKind::default();
    let parse = |name: String| backsweep_baselines::named(&name).map_err(errors::refused);
    match planner {
        None => {}
        Some(planner) if planner.is_instance_of::<PyString>() => {
            kind = parse(planner.extract()?)?;
            if kind == VALUE_ITERATION {
                settings.threshold = SWEEP_TOLERANCE;
            }
        }
        Some(planner) => {
            errors::not_a_class(planner, "planner")?;
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
            let threshold = if kind == VALUE_ITERATION { "tolerance" } else { "threshold" };
            settings.threshold = number(&get(threshold)?, threshold)?;
            let queue: String = get("queue")?.extract()?;
            settings.queue = queue.parse().map_err(errors::refused)?;
        }
    }
    if let Some(optimism) = optimism {
        errors::not_a_class(optimism, "optimism")?;
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
    let planner = kind.build(settings).map_err(errors::refused)?;
    Ok(CoreAgent::from_parts(model, planner, EpsilonGreedy::new(epsilon).map_err(errors::refused)?))
}

/// Declares an agent's actions: a number n stands for 0 to n-1.
pub fn declare(learner: &mut NamedAgent, actions: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = actions.py();
    if !actions.is_instance_of::<PyInt>() && !names::is_numpy_scalar(actions)? {
        return learner.declare(py, keys_of(actions)?.into_iter());
    }
    let n = count(actions, "actions")?;
    if n > u64::from(MAX_ACTIONS) {
        return Err(errors::value(format!("actions is {n}; expected at most {MAX_ACTIONS} actions")));
    }
    learner.declare(py, (0..n as u32).map(|action| Key::Int(i64::from(action), None)))
}

/// A seed that was given, or a fresh one from the system.
pub fn seed_or_fresh(py: Python<'_>, seed: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    match seed {
        Some(seed) => count(seed, "seed"),
        None => Ok(u64::from_le_bytes(py.import("os")?.call_method1("urandom", (8,))?.extract()?)),
    }
}
