//! The native part of the Python package `backsweep`: the engine with Python objects as names of states and actions.
//!
//! ```text
//! object ──key──▶ Names ──id──▶ NamedAgent (names + backsweep::Agent) ──▶ Agent, Solver: what Python sees
//! ```
//!
//! Each mutable thing has one writer here too: all of an agent is changed through [`named_agent::NamedAgent`]. No call of
//! the engine can panic: what enters is checked, and errors become exceptions that name states and actions as the user
//! wrote them ([`errors`]).

mod agent;
mod benchmark;
mod choice;
mod columns;
mod errors;
mod explain;
mod model_view;
mod named_agent;
mod names;
mod planning;
mod predict;
mod results;
mod saved;
mod settings;
mod solver;
mod stored;

/// The native module.
#[pyo3::pymodule]
mod _backsweep {
    #[pymodule_export]
    use crate::agent::Agent;
    #[pymodule_export]
    use crate::benchmark::rust_loop;
    #[pymodule_export]
    use crate::predict::{SmallBackupPredictor, TD0};
    #[pymodule_export]
    use crate::solver::Solver;
}
