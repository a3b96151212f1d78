//! The planners that Backsweep is compared with, each in the reading of `docs/paper.md`.
//!
//! They stand on the public trait [`Planner`](backsweep_core::Planner) alone, like a
//! planner of your own; what the four share is one file, `baseline.rs`.
//!
//! ```
//! use backsweep_baselines::{MOORE_ATKESON, named};
//! use backsweep_core::Settings;
//! assert_eq!(named("moore_atkeson")?, MOORE_ATKESON);
//! let planner = MOORE_ATKESON.build(Settings::default())?;
//! assert!(planner.is_idle());
//! # Ok::<(), backsweep_core::Error>(())
//! ```

mod baseline;
mod moore_atkeson;
mod peng_williams;
mod successor_cache;
mod value_iteration;
mod wiering_schmidhuber;

use backsweep_core::{PlannerKind, Result};
use baseline::Baseline;

/// The kind of a baseline.
macro_rules! kind {
    ($name:literal, $title:literal, $method:ty) => {
        PlannerKind::new($name, $title, |settings| Ok(Box::new(Baseline::<$method>::new(settings)?)))
            .restored_by(|settings, model, snapshot| {
                Ok(Box::new(Baseline::<$method>::restore(settings, model, snapshot)?))
            })
    };
}

/// Moore & Atkeson (1993): full backups of states, promoted by P̂|ΔV|.
pub const MOORE_ATKESON: PlannerKind = kind!("moore_atkeson", "Moore & Atkeson", moore_atkeson::MooreAtkeson);
/// Peng & Williams (1993): full backups of pairs, queued by the residuals of their triples.
pub const PENG_WILLIAMS: PlannerKind = kind!("peng_williams", "Peng & Williams", peng_williams::PengWilliams);
/// Wiering & Schmidhuber (1998): full backups of all predecessor states.
pub const WIERING_SCHMIDHUBER: PlannerKind =
    kind!("wiering_schmidhuber", "Wiering & Schmidhuber", wiering_schmidhuber::WieringSchmidhuber);
/// Value iteration after every observation, until no value changes by more than the threshold of
/// the settings.
pub const VALUE_ITERATION: PlannerKind =
    kind!("value_iteration", "value iteration", value_iteration::ValueIteration);

/// The four baselines.
pub const ALL: [PlannerKind; 4] = [MOORE_ATKESON, PENG_WILLIAMS, WIERING_SCHMIDHUBER, VALUE_ITERATION];

/// The two planners of the core, then the four baselines.
pub const PLANNERS: [PlannerKind; 6] = [
    PlannerKind::REVERSED_FULL_BACKUPS,
    PlannerKind::SMALL_BACKUPS,
    MOORE_ATKESON,
    PENG_WILLIAMS,
    WIERING_SCHMIDHUBER,
    VALUE_ITERATION,
];

/// The planner of this name among the [six](PLANNERS).
///
/// # Errors
/// Lists the names that there are.
pub fn named(name: &str) -> Result<PlannerKind> {
    PlannerKind::named(name, &PLANNERS)
}
