//! `backsweep.SmallBackupPredictor` and `backsweep.TD0`: values of the policy that acts, from its steps.

use crate::errors;
use crate::names::{self, Names};
use crate::planning::{count, number};
use backsweep::predict::{Predictor, Selection, SmallBackupPredictor as CorePredictor, StepSize, Td0};
use backsweep::{Next, State};
use pyo3::prelude::*;
use pyo3::types::PyDict;

const SELECTIONS: [(&str, Selection); 4] = [
    ("most_recent", Selection::MostRecent),
    ("round_robin", Selection::RoundRobin),
    ("random", Selection::Random),
    ("largest", Selection::Largest),
];

fn observe(
    predictor: &mut impl Predictor,
    names: &mut Names,
    state: &Bound<'_, PyAny>,
    reward: &Bound<'_, PyAny>,
    next_state: &Bound<'_, PyAny>,
    terminated: bool,
) -> PyResult<()> {
    let py = state.py();
    let reward = number(reward, "reward")?;
    let state_key = names::key(state, "state")?;
    let next_key = names::key(next_state, "next_state")?;
    if !reward.is_finite() {
        return Err(errors::value(format!(
            "reward in state {} is {reward}; expected a finite number",
            state_key.show()
        )));
    }
    // Looked up before anything is added, so that one that cannot be a name changes nothing.
    names.id(py, &next_key, "next_state")?;
    let (state, _) = names.id_or_insert(py, state_key, "state")?;
    let next = match terminated {
        true => Next::Terminated,
        false => Next::Continue(State(names.id_or_insert(py, next_key, "next_state")?.0)),
    };
    predictor.observe(State(state), reward, next).map_err(|error| errors::value(error.to_string()))
}

fn value(predictor: &impl Predictor, names: &mut Names, state: &Bound<'_, PyAny>) -> PyResult<f64> {
    let key = names::key(state, "state")?;
    match names.id(state.py(), &key, "state")? {
        Some(id) => Ok(predictor.value(State(id))),
        None => {
            Err(errors::unknown(state.py(), format!("state {} is not known: it was never met", key.show())))
        }
    }
}

fn values<'py>(py: Python<'py>, predictor: &impl Predictor, names: &Names) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for id in 0..names.len() as u32 {
        found.set_item(names.object(py, id)?, predictor.value(State(id)))?;
    }
    Ok(found)
}

macro_rules! predictor {
    ($(#[$doc:meta])* $name:ident, $core:ty, { $($more:tt)* }) => {
        $(#[$doc])*
        #[pyclass(module = "backsweep")]
        pub struct $name {
            predictor: $core,
            names: Names,
        }

        #[pymethods]
        impl $name {
            $($more)*

            /// Learn from one step.
            #[pyo3(signature = (state, reward, next_state, terminated=false, truncated=false))]
            fn observe(
                &mut self,
                state: &Bound<'_, PyAny>,
                reward: &Bound<'_, PyAny>,
                next_state: &Bound<'_, PyAny>,
                terminated: bool,
                truncated: bool,
            ) -> PyResult<()> {
                // A time limit is no end: what comes after counts all the same.
                let _ = truncated;
                observe(&mut self.predictor, &mut self.names, state, reward, next_state, terminated)
            }

            /// The value of a state that was met.
            fn value(&mut self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
                value(&self.predictor, &mut self.names, state)
            }

            /// The value of every state that was met, as a dict.
            fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                values(py, &self.predictor, &self.names)
            }

            fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
                Ok(Self { predictor: self.predictor.clone(), names: self.names.copied(py)? })
            }

            fn __len__(&self) -> usize {
                self.names.len()
            }

            fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
                self.names.traverse(&visit)
            }
        }
    };
}

predictor!(
    /// Prediction with small backups: no step size, exact for what was seen.
    SmallBackupPredictor, CorePredictor, {
    #[new]
    #[pyo3(signature = (discount=0.99, *, initial_value=0.0, selection="most_recent", iterations=None, seed=None))]
    fn new(
        discount: f64,
        initial_value: f64,
        selection: &str,
        iterations: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let Some((_, kind)) = SELECTIONS.iter().find(|(name, _)| *name == selection) else {
            let names = SELECTIONS.map(|(name, _)| name).join(", ");
            return Err(errors::value(format!("selection is '{selection}'; expected one of: {names}")));
        };
        let iterations = iterations.map_or(Ok(1), |n| count(n, "iterations"))?;
        if iterations > 1_000_000 {
            return Err(errors::value(format!("iterations is {iterations}; expected at most 1000000")));
        }
        let seed = seed.map_or(Ok(0), |seed| count(seed, "seed"))?;
        let predictor = CorePredictor::new(discount, initial_value, *kind, iterations as usize, seed)
            .map_err(|error| errors::value(error.to_string()))?;
        Ok(Self { predictor, names: Names::default() })
    }

    /// How far rounding has carried the values from their defining relation.
    fn deviation(&self) -> f64 {
        self.predictor.deviation()
    }
});

predictor!(
    /// TD(0), with a constant step size or one that decays as 1 / (decay (visits - 1) + 1).
    TD0, Td0, {
    #[new]
    #[pyo3(signature = (discount=0.99, *, step_size=None, decay=None, initial_value=0.0))]
    fn new(discount: f64, step_size: Option<f64>, decay: Option<f64>, initial_value: f64) -> PyResult<Self> {
        let step_size = match (step_size, decay) {
            (Some(_), Some(_)) => {
                return Err(errors::wrong_type("step_size and decay are both given; expected one of them"));
            }
            (None, Some(decay)) => StepSize::Decaying(decay),
            (step_size, None) => StepSize::Constant(step_size.unwrap_or(0.1)),
        };
        let predictor =
            Td0::new(discount, step_size, initial_value).map_err(|error| errors::value(error.to_string()))?;
        Ok(Self { predictor, names: Names::default() })
    }
});
