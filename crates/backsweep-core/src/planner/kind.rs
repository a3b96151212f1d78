//! The planners that come with the library, by name.

use super::baseline::Baseline;
use super::moore_atkeson::MooreAtkeson;
use super::peng_williams::PengWilliams;
use super::value_iteration::ValueIteration;
use super::wiering_schmidhuber::WieringSchmidhuber;
use super::{Planner, ReversedFullBackups, SmallBackups};
use crate::{Error, Model, Result, Settings, Snapshot};
use std::fmt;
use std::str::FromStr;

/// A planner of the library. A new one is one file and one row in `PlannerKind::row`.
///
/// ```
/// use backsweep_core::PlannerKind;
/// assert_eq!("moore_atkeson".parse::<PlannerKind>()?, PlannerKind::MooreAtkeson);
/// assert_eq!(PlannerKind::MooreAtkeson.title(), "Moore & Atkeson");
/// # Ok::<(), backsweep_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PlannerKind {
    /// [`ReversedFullBackups`], the planner to use unless you have a reason to choose another.
    #[default]
    ReversedFullBackups,
    /// [`SmallBackups`], the paper's arXiv version.
    SmallBackups,
    /// Moore & Atkeson (1993), a baseline: full backups of states, promoted by P̂|ΔV|.
    MooreAtkeson,
    /// Peng & Williams (1993), a baseline: full backups of pairs, queued by the residuals of their triples.
    PengWilliams,
    /// Wiering & Schmidhuber (1998), a baseline: full backups of all predecessor states.
    WieringSchmidhuber,
    /// Value iteration after every observation, a baseline.
    ValueIteration,
}

/// What the library knows about a planner, besides its code.
struct Row {
    /// The name in files and commands.
    name: &'static str,
    /// The name in texts and figures.
    title: &'static str,
    build: fn(Settings) -> Result<Box<dyn Planner>>,
    restore: fn(Settings, &Model, &Snapshot) -> Result<Box<dyn Planner>>,
}

macro_rules! row {
    ($name:literal, $title:literal, $planner:ty) => {
        Row {
            name: $name,
            title: $title,
            build: |settings| Ok(Box::new(<$planner>::new(settings)?)),
            restore: |settings, model, snapshot| {
                Ok(Box::new(<$planner>::restore(settings, model, snapshot)?))
            },
        }
    };
}

impl PlannerKind {
    /// All planners.
    pub const ALL: [Self; 6] = [
        Self::ReversedFullBackups,
        Self::SmallBackups,
        Self::MooreAtkeson,
        Self::PengWilliams,
        Self::WieringSchmidhuber,
        Self::ValueIteration,
    ];

    fn row(self) -> Row {
        match self {
            Self::ReversedFullBackups => {
                row!("reversed_full_backups", "reversed full backups", ReversedFullBackups)
            }
            Self::SmallBackups => row!("small_backups", "small backups", SmallBackups),
            Self::MooreAtkeson => row!("moore_atkeson", "Moore & Atkeson", Baseline<MooreAtkeson>),
            Self::PengWilliams => row!("peng_williams", "Peng & Williams", Baseline<PengWilliams>),
            Self::WieringSchmidhuber => {
                row!("wiering_schmidhuber", "Wiering & Schmidhuber", Baseline<WieringSchmidhuber>)
            }
            Self::ValueIteration => row!("value_iteration", "value iteration", Baseline<ValueIteration>),
        }
    }

    /// The name in files and commands.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The name in texts and figures.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// What one call of [`Planner::update_cycle`] is called: a cycle, or a sweep over all states.
    pub fn unit(self) -> &'static str {
        if self == Self::ValueIteration { "sweep" } else { "cycle" }
    }

    /// A planner of this kind, without states.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn build(self, settings: Settings) -> Result<Box<dyn Planner>> {
        (self.row().build)(settings)
    }

    /// The planner that was [stored](Planner::store).
    ///
    /// # Errors
    /// If the snapshot does not describe a planner of this kind on this model.
    pub fn restore(self, settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Box<dyn Planner>> {
        (self.row().restore)(settings, model, snapshot)
    }
}

impl fmt::Display for PlannerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PlannerKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| Error::Unknown {
            what: "planner",
            found: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}
