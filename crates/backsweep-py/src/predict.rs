//! `backsweep.SmallBackupPredictor` and `backsweep.TD0`: values of the policy that acts, from its steps.

use crate::errors;
use crate::exclusive::Exclusive;
use crate::flags::flag;
use crate::name_codec;
use crate::names::{self, Names};
use crate::numbers::{A_REWARD, is_reward};
use crate::numbers::{count, number};
use crate::pickle;
use crate::settings::seed_or_fresh;
use backsweep::planner::Snapshot;
use backsweep::save::{decode, decode_names, encode, encode_names};
use backsweep::{Next, State};
use backsweep_predict::{
    Predictor, PredictorSettings, Selection, SmallBackupPredictor as CorePredictor, StepSize, Td0,
};
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

const SELECTIONS: [(&str, Selection); 4] = [
    ("most_recent", Selection::MostRecent),
    ("round_robin", Selection::RoundRobin),
    ("random", Selection::Random),
    ("largest", Selection::Largest),
];

/// A predictor and the names of its states.
struct NamedPredictor<P> {
    predictor: P,
    names: Names,
}

impl<P: Predictor + Clone> NamedPredictor<P> {
    fn observe(
        &mut self,
        state: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        next_state: &Bound<'_, PyAny>,
        terminated: bool,
    ) -> PyResult<()> {
        let py = state.py();
        let reward = number(reward, "reward")?;
        let state_key = names::key(state, "state")?;
        let next_key = names::key(next_state, "next_state")?;
        if !is_reward(reward) {
            return Err(errors::value(format!(
                "reward in state {} is {reward:?}; expected {A_REWARD}",
                state_key.show()
            )));
        }
        // Looked up before anything is added, so that an invalid name changes nothing.
        self.names.id(py, &next_key, "next_state")?;
        let (state, _) = self.names.id_or_insert(py, state_key, "state")?;
        let next = match terminated {
            true => Next::Terminated,
            false => Next::Continue(State(self.names.id_or_insert(py, next_key, "next_state")?.0)),
        };
        self.predictor.observe(State(state), reward, next).map_err(errors::refused)
    }

    fn value(&mut self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        let key = names::key(state, "state")?;
        match self.names.id(state.py(), &key, "state")? {
            Some(id) => Ok(self.predictor.value(State(id))),
            None => Err(errors::unknown(
                state.py(),
                format!(
                    "state {} is not known: no step left it or reached it; {} states are known",
                    key.show(),
                    self.names.len()
                ),
            )),
        }
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for id in 0..self.names.len() as u32 {
            found.set_item(self.names.object(py, id)?, self.predictor.value(State(id)))?;
        }
        Ok(found)
    }

    fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self { predictor: self.predictor.clone(), names: self.names.copied(py)? })
    }

    /// For pickle: the predictor's arrays, and the names of its states.
    fn reduce<'py, T: PyTypeInfo>(
        &self,
        py: Python<'py>,
        mut snapshot: Snapshot,
    ) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce::<T>(py, |put_aside| {
            let names = self.names.named().iter();
            let names = names.map(|name| name_codec::to_plain(py, name, Some(put_aside)));
            let names = encode_names(&names.collect::<PyResult<Vec<_>>>()?);
            snapshot.put("names.states", names.map_err(|error| errors::from_io(py, error))?);
            Ok(encode(&snapshot))
        })
    }

    /// The inverse of [`reduce`](Self::reduce).
    fn unreduce<'py>(
        py: Python<'py>,
        data: &[u8],
        others: &Bound<'py, PyList>,
        restore: fn(&Snapshot) -> backsweep::Result<P>,
    ) -> PyResult<Self> {
        let damaged = |error: backsweep::save::Error| errors::from_io(py, error);
        let snapshot = decode(data).map_err(damaged)?;
        let predictor = restore(&snapshot).map_err(|error| damaged(error.into()))?;
        let bytes = snapshot.bytes("names.states").map_err(|error| damaged(error.into()))?;
        let (mut names, take_back) = (Names::default(), pickle::take_back(others)?);
        for name in decode_names("section 'names.states'", bytes).map_err(damaged)? {
            let object = name_codec::to_object(py, &name, Some(&take_back))?;
            names.id_or_insert(py, names::key(&object, "state")?, "state")?;
        }
        Ok(Self { predictor, names })
    }

    fn deep_copied<'py>(&self, py: Python<'py>, memo: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self { predictor: self.predictor.clone(), names: self.names.deep_copied(py, memo, "state")? })
    }
}

macro_rules! predictor {
    ($(#[$doc:meta])* $name:ident, $core:ty, { $($more:tt)* }) => {
        $(#[$doc])*
        #[pyclass(module = "backsweep", weakref, frozen)]
        pub struct $name(Exclusive<NamedPredictor<$core>>);

        #[pymethods]
        impl $name {
            $($more)*

            /// Learn from one step.
            ///
            /// Args:
            ///     state: the state before the step.
            ///     reward: the reward, a finite number.
            ///     next_state: the state after the step.
            ///     terminated: whether the episode ended there, so that nothing follows.
            ///     truncated: whether the episode was cut there; next_state keeps its value.
            #[pyo3(
                signature = (state, reward, next_state, terminated=None, truncated=None),
                text_signature = "($self, state, reward, next_state, terminated=False, truncated=False)"
            )]
            fn observe(
                &self,
                state: &Bound<'_, PyAny>,
                reward: &Bound<'_, PyAny>,
                next_state: &Bound<'_, PyAny>,
                terminated: Option<&Bound<'_, PyAny>>,
                truncated: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<()> {
                // A time limit is not an end: what follows still counts.
                flag(truncated, "truncated")?;
                let terminated = flag(terminated, "terminated")?;
                self.0.lock()?.observe(state, reward, next_state, terminated)
            }

            /// The value of a state that was seen.
            ///
            /// Args:
            ///     state: a known state.
            fn value(&self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
                self.0.lock()?.value(state)
            }

            /// The value of every state that was seen, as a dict.
            fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                self.0.lock()?.values(py)
            }

            fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
                Ok(Self(Exclusive::new(self.0.lock()?.copied(py)?)))
            }

            fn __deepcopy__<'py>(&self, py: Python<'py>, memo: Bound<'py, PyAny>) -> PyResult<Self> {
                Ok(Self(Exclusive::new(self.0.lock()?.deep_copied(py, &memo)?)))
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                let named = self.0.lock()?;
                named.reduce::<Self>(py, named.predictor.store())
            }

            #[staticmethod]
            fn _restore<'py>(py: Python<'py>, data: &[u8], others: &Bound<'py, PyList>) -> PyResult<Self> {
                Ok(Self(Exclusive::new(NamedPredictor::unreduce(py, data, others, <$core>::restore)?)))
            }

            fn __len__(&self) -> PyResult<usize> {
                Ok(self.0.lock()?.names.len())
            }

            /// A predictor is true even if it has seen no state.
            fn __bool__(&self) -> bool {
                true
            }

            /// Returns whether the state was seen, so that value accepts it.
            fn __contains__(&self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
                let key = names::key(state, "state")?;
                Ok(self.0.lock()?.names.id(state.py(), &key, "state")?.is_some())
            }

            fn __repr__(&self) -> PyResult<String> {
                let n = self.0.lock()?.names.len();
                Ok(format!("<backsweep.{}: {n} states>", stringify!($name)))
            }

            fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
                self.0.traverse(|named| named.names.traverse(&visit))
            }

            /// Called only by the garbage collector.
            fn __clear__(&self) {
                if let Ok(mut named) = self.0.lock() {
                    named.names = Names::default();
                }
            }
        }
    };
}

predictor!(
    /// Prediction with small backups, which have no step size.
    ///
    /// Args:
    ///     discount: the factor by which a reward one step later counts, from 0 to 1.
    ///     initial_value: the value of a state before it is left for the first time.
    ///     selection: which value is backed up: "most_recent", "round_robin", "random" or "largest".
    ///     iterations: small backups per step; 1 if not given.
    ///     seed: seeds selection="random"; None draws a fresh seed.
    SmallBackupPredictor, CorePredictor, {
    #[new]
    #[pyo3(signature = (discount=0.99, *, initial_value=0.0, selection="most_recent", iterations=None, seed=None))]
    fn new(
        py: Python<'_>,
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
        let (iterations, seed) = (iterations as usize, seed_or_fresh(py, seed)?);
        let settings = PredictorSettings { discount, initial_value, selection: *kind, iterations, seed };
        let predictor = CorePredictor::new(settings).map_err(errors::refused)?;
        Ok(Self(Exclusive::new(NamedPredictor { predictor, names: Names::default() })))
    }

    /// The largest distance by which rounding has moved a value.
    fn deviation(&self) -> PyResult<f64> {
        Ok(self.0.lock()?.predictor.deviation())
    }
});

predictor!(
    /// TD(0), with a constant step size or one that decays with the visits of a state.
    ///
    /// Args:
    ///     discount: the factor by which a reward one step later counts, from 0 to 1.
    ///     step_size: a constant step size, from 0 to 1; 0.1 if neither it nor decay is given.
    ///     decay: the rate d of a step size 1 / (d (visits - 1) + 1), from 0 to 1.
    ///     initial_value: the value of a state before it is left for the first time.
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
            Td0::new(discount, step_size, initial_value).map_err(errors::refused)?;
        Ok(Self(Exclusive::new(NamedPredictor { predictor, names: Names::default() })))
    }
});
