//! The native part of the Python package `backsweep`: the engine with Python objects as names of states and actions.
//!
//! ```text
//! object ──key──▶ Names ──id──▶ NamedAgent (names + backsweep::Agent) ──▶ Agent: what Python sees
//! ```
//!
//! Each mutable thing has one writer here too: an agent is changed only through [`named_agent::NamedAgent`]. No call can make
//! the engine panic: all input is checked, and errors become exceptions that name states and actions as the user wrote them
//! ([`errors`], [`explain`]).
//!
//! | to find | look in |
//! |---|---|
//! | what Python sees | [`agent`], [`known`] (behind `backsweep.MDP`), [`predict`] |
//! | methods of `Agent` by subject | [`observing`], [`actions`], [`reading`], [`intervals`], [`persistence`] |
//! | names to ids and back | [`names`], [`action_row`]; to files and back: [`name_codec`], [`persistence`] |
//! | arguments: numbers, flags, outcomes | [`numbers`], [`flags`], [`outcomes`] |
//! | learning from columns | [`columns`], [`observe_many`] |
//! | learning from logs: files, tables | [`learn_log`] |
//! | the worlds of the suite, behind `backsweep.bench` | [`suite`] |
//! | acting, and the policy that values stand for | [`actions`], [`policy`] |
//! | planning that responds to Ctrl-C | [`planning`]; intervals for the real world: [`intervals`] |
//! | one call at a time, and no more memory than there is | [`exclusive`], [`memory`] |

mod action_row;
mod actions;
mod agent;
mod benchmark;
mod columns;
mod command;
mod errors;
mod exclusive;
mod explain;
mod explore;
mod flags;
mod frames;
mod intervals;
mod known;
mod learn_log;
mod memory;
mod name_codec;
mod named_agent;
mod names;
mod numbers;
mod observe_many;
mod observing;
mod outcomes;
mod persistence;
mod pickle;
mod planning;
mod policy;
mod predict;
mod reading;
mod results;
mod settings;
mod suite;

/// The native module.
#[pyo3::pymodule]
mod _backsweep {
    use pyo3::prelude::*;

    /// Loads NumPy's functions now: the first call to them would panic if Ctrl-C came while it loads them.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.py().import("numpy.lib")?;
        numpy::dtype::<f64>(module.py());
        Ok(())
    }

    #[pymodule_export]
    use crate::agent::Agent;
    #[pymodule_export]
    use crate::benchmark::rust_loop;
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::known::KnownModel;
    #[pymodule_export]
    use crate::known::function::FunctionModel;
    #[pymodule_export]
    use crate::known::growing::{ModelWriter, StateRows};
    #[pymodule_export]
    use crate::known::streamed::DiskModel;
    #[pymodule_export]
    use crate::learn_log::{LearnedLog, learn_log};
    #[pymodule_export]
    use crate::predict::{SmallBackupPredictor, TD0};
    #[pymodule_export]
    use crate::suite::{SuiteWorld, suite_names};
}
