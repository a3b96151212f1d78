//! Ways to explore and to forget, from the objects of `backsweep._explore` and back.

use crate::errors;
use crate::numbers::{count, number};
use crate::settings::build;
use backsweep::explore::{EpsilonGreedy, Exploration, Explore, Forgetting};
use backsweep::planner::Model;
use backsweep::{Agent as CoreAgent, PlannerKind, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The arguments about exploring of an agent's constructor.
pub struct Given<'a, 'py> {
    pub explore: Option<&'a Bound<'py, PyAny>>,
    pub reward_range: Option<&'a Bound<'py, PyAny>>,
    pub start: Option<&'a Bound<'py, PyAny>>,
    pub age_bonus: Option<&'a Bound<'py, PyAny>>,
    pub forgetting: Option<&'a Bound<'py, PyAny>>,
}

impl Given<'_, '_> {
    /// Returns whether any given setting needs an exploring agent.
    pub fn is_exploring(&self) -> bool {
        let parts = [self.explore, self.reward_range, self.start, self.age_bonus, self.forgetting];
        parts.iter().any(Option::is_some)
    }

    fn exploration(&self, epsilon: f64, seed: u64) -> PyResult<Exploration> {
        let plain = Explore::EpsilonGreedy { epsilon };
        Ok(Exploration {
            explore: self.explore.map_or(Ok(plain), explore_from)?,
            reward_range: self.reward_range.map(range_from).transpose()?,
            start: self.start.map(|start| number(start, "start")).transpose()?,
            age_bonus: self.age_bonus.map_or(Ok(0.0), |bonus| number(bonus, "age_bonus"))?,
            forgetting: self.forgetting.map_or(Ok(Forgetting::Never), forgetting_from)?,
            seed,
        })
    }

    /// The requested agent.
    pub fn build(
        &self,
        model: Model,
        kind: PlannerKind,
        settings: Settings,
        epsilon: f64,
        seed: u64,
    ) -> PyResult<CoreAgent> {
        let exploration = self.exploration(epsilon, seed)?;
        let mut agent =
            build(model, kind, settings, 0.0)?.with_exploration(exploration).map_err(errors::refused)?;
        if epsilon != 0.0 {
            agent.set_policy(EpsilonGreedy::new(epsilon).map_err(errors::refused)?);
        }
        Ok(agent)
    }
}

fn range_from(range: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
    let wrong = || {
        errors::wrong_type(format!(
            "reward_range is {}; expected (lowest, highest) reward of a step, such as (0, 1)",
            errors::show(range)
        ))
    };
    let (lowest, highest): (Bound<'_, PyAny>, Bound<'_, PyAny>) = range.extract().map_err(|_| wrong())?;
    Ok((number(&lowest, "the lowest reward")?, number(&highest, "the highest reward")?))
}

fn u32_of(object: &Bound<'_, PyAny>, name: &str) -> PyResult<u32> {
    Ok(u32::try_from(count(object, name)?).unwrap_or(u32::MAX))
}

fn explore_from(explore: &Bound<'_, PyAny>) -> PyResult<Explore> {
    let wrong = || {
        errors::wrong_type(format!(
            "explore is {}; expected an object such as backsweep.CountBonus(beta=0.3)",
            errors::show(explore)
        ))
    };
    errors::not_a_class(explore, "explore")?;
    let get = |name: &str| explore.getattr(name).map_err(|_| wrong());
    let constant = |name: &'static str| match name {
        "min_visits" | "worlds" => u32_of(&get(name)?, name).map(f64::from),
        _ => number(&get(name)?, name),
    };
    // Optimism is a separate class, older than the others, and has no name.
    let name = match get("name") {
        Ok(name) => name.extract().map_err(|_| wrong())?,
        Err(_) => String::from("optimism"),
    };
    Explore::named(&name, constant)?.ok_or_else(wrong)
}

fn forgetting_from(forgetting: &Bound<'_, PyAny>) -> PyResult<Forgetting> {
    let wrong = || {
        errors::wrong_type(format!(
            "forgetting is {}; expected backsweep.Forgetting(per_visit=...), (half_life=...) or (window=...)",
            errors::show(forgetting)
        ))
    };
    errors::not_a_class(forgetting, "forgetting")?;
    let get = |name: &str| {
        let found = forgetting.getattr(name).map_err(|_| wrong())?;
        Ok::<_, PyErr>((!found.is_none()).then_some(found))
    };
    match (get("per_visit")?, get("half_life")?, get("window")?) {
        (Some(rate), None, None) => Ok(Forgetting::PerVisit(number(&rate, "per_visit")?)),
        (None, Some(steps), None) => Ok(Forgetting::HalfLife(number(&steps, "half_life")?)),
        (None, None, Some(length)) => Ok(Forgetting::Window(u32_of(&length, "window")?)),
        _ => Err(wrong()),
    }
}

/// The object that says how an agent explores; `None` for one that was built without.
pub fn explore_object<'py>(py: Python<'py>, agent: &CoreAgent) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(exploration) = agent.exploration() else { return Ok(None) };
    let constants = PyDict::new(py);
    for (name, number) in exploration.explore.constants() {
        match name {
            "epsilon" => constants.set_item(name, agent.policy().epsilon())?,
            "min_visits" | "worlds" => constants.set_item(name, number as u32)?,
            _ => constants.set_item(name, number)?,
        }
    }
    // The class of count_bonus is CountBonus, and so on.
    let parts = exploration.explore.name().split('_');
    let class: String = parts.map(|part| part[..1].to_uppercase() + &part[1..]).collect();
    py.import("backsweep")?.getattr(class.as_str())?.call((), Some(&constants)).map(Some)
}

/// The object that says how an agent forgets; `None` for one that does not.
pub fn forgetting_object<'py>(py: Python<'py>, agent: &CoreAgent) -> PyResult<Option<Bound<'py, PyAny>>> {
    let amounts = match agent.exploration().map(|exploration| exploration.forgetting) {
        None | Some(Forgetting::Never) => return Ok(None),
        Some(Forgetting::PerVisit(rate)) => (Some(rate), None, None),
        Some(Forgetting::HalfLife(steps)) => (None, Some(steps), None),
        Some(Forgetting::Window(length)) => (None, None, Some(length)),
    };
    py.import("backsweep._explore")?.getattr("Forgetting")?.call1(amounts).map(Some)
}
