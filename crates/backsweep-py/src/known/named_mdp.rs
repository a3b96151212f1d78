//! A known model under the names that the user gave: a session of the solver, whose states and actions are numbers, and the
//! names of these numbers. Names only ever grow.

use crate::errors;
use crate::known::stopping::Stopping;
use crate::names::Names;
use backsweep_cuda::Error as CardError;
use backsweep_mdp::{Mdp, Objective};
use backsweep_solve::{Limits, Session};
use pyo3::prelude::*;

/// A model, what is known about it, and names.
pub struct NamedMdp {
    pub states: Names,
    pub actions: Names,
    /// States seen only as the end of an episode, from the file of an agent: worth 0.
    pub ends: Names,
    pub session: Session,
    pub discount: f64,
}

impl Default for NamedMdp {
    fn default() -> Self {
        Self::new(Names::default(), Names::default(), Session::default())
    }
}

/// Settings for the answer.
pub struct SolveEffort {
    pub tolerance: f64,
    pub relative: f64,
    pub method: Option<String>,
    pub threads: usize,
}

impl SolveEffort {
    /// Calls a solver without the interpreter.
    pub fn run<T: Send, E: Into<CardError> + Send>(
        &self,
        py: Python<'_>,
        stopping: &Stopping,
        solver: impl FnOnce(&Limits) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        let found = py.detach(|| {
            let stop = || stopping.stop();
            let (tolerance, relative, threads) = (self.tolerance, self.relative, self.threads);
            solver(&Limits { tolerance, relative, stop: &stop, threads })
        });
        found.map_err(|error| match error.into() {
            CardError::Solve(error) => errors::refused(error),
            error => {
                errors::value(format!("device='cuda': {error}; device='auto' uses the processor instead"))
            }
        })
    }
}

impl NamedMdp {
    pub fn new(states: Names, actions: Names, session: Session) -> Self {
        Self { states, actions, ends: Names::default(), session, discount: 1.0 }
    }

    pub fn with_discount(self, discount: f64) -> Self {
        Self { discount, ..self }
    }

    pub fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self {
            states: self.states.copied(py)?,
            actions: self.actions.copied(py)?,
            ends: self.ends.copied(py)?,
            session: self.session.copied(),
            discount: self.discount,
        })
    }

    /// All tables of names.
    pub fn tables(&self) -> [&Names; 3] {
        [&self.states, &self.actions, &self.ends]
    }

    /// The default objective of `solve`: discounted values or, without discount, the total until episodes end.
    pub fn usual_objective(&self) -> Objective {
        match self.discount {
            1.0 => Objective::Total { reward: None, until: None },
            discount => Objective::Discounted { reward: None, discount },
        }
    }

    /// The flat arrays, once choices are in the order of states.
    pub fn flatten(&mut self) -> PyResult<&Mdp> {
        self.session.flatten().map_err(errors::refused)
    }
}
