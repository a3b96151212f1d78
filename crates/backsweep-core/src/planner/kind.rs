//! Planners by name: how to build one, and how to restore one that was stored.

use super::{Planner, ReversedFullBackups, SmallBackups};
use crate::{Error, Model, Result, Settings, Snapshot};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A kind of planner: its name, and how it is built and restored. Two kinds are equal if their
/// names are.
///
/// The core has the two versions of the paper; `backsweep-baselines` has four others, and a planner
/// of your own gets one with [`new`](Self::new), by which agents are built, stored and restored
/// with it.
///
/// ```
/// use backsweep_core::PlannerKind;
/// assert_eq!(PlannerKind::named("small_backups", &PlannerKind::SWEEPING)?, PlannerKind::SMALL_BACKUPS);
/// assert_eq!(PlannerKind::SMALL_BACKUPS.title(), "small backups");
/// # Ok::<(), backsweep_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct PlannerKind {
    name: &'static str,
    title: &'static str,
    build: BuildPlanner,
    restore: RestorePlanner,
}

type BuildPlanner = fn(Settings) -> Result<Box<dyn Planner>>;
type RestorePlanner = fn(Settings, &Model, &Snapshot) -> Result<Box<dyn Planner>>;

impl PlannerKind {
    /// [`ReversedFullBackups`], the planner to use unless you have a reason to choose another.
    pub const REVERSED_FULL_BACKUPS: Self =
        Self::new("reversed_full_backups", "reversed full backups", |settings| {
            Ok(Box::new(ReversedFullBackups::new(settings)?))
        })
        .restored_by(|settings, model, snapshot| {
            Ok(Box::new(ReversedFullBackups::restore(settings, model, snapshot)?))
        });
    /// [`SmallBackups`], the paper's arXiv version.
    pub const SMALL_BACKUPS: Self =
        Self::new("small_backups", "small backups", |settings| Ok(Box::new(SmallBackups::new(settings)?)))
            .restored_by(|settings, model, snapshot| {
                Ok(Box::new(SmallBackups::restore(settings, model, snapshot)?))
            });
    /// The planners of the core: both versions of Algorithm 2.
    pub const SWEEPING: [Self; 2] = [Self::REVERSED_FULL_BACKUPS, Self::SMALL_BACKUPS];

    /// A kind of planner: the name in files and commands, the title in texts and figures, and how
    /// to build one without states. It cannot be restored.
    pub const fn new(name: &'static str, title: &'static str, build: BuildPlanner) -> Self {
        let restore: RestorePlanner =
            |_, _, _| Err(Snapshot::problem("agent.planner", "planners of this kind are not restored"));
        Self { name, title, build, restore }
    }

    /// The same kind, restored like this from what [`Storable`](super::Storable) has stored.
    pub const fn restored_by(self, restore: RestorePlanner) -> Self {
        Self { restore, ..self }
    }

    /// The kind of this name among some.
    ///
    /// # Errors
    /// Lists the names that there are.
    pub fn named(name: &str, among: &[Self]) -> Result<Self> {
        among.iter().copied().find(|kind| kind.name == name).ok_or_else(|| Error::Unknown {
            what: "planner",
            found: name.to_owned(),
            known: among.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// The name in files and commands.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The name in texts and figures.
    pub fn title(self) -> &'static str {
        self.title
    }

    /// A planner of this kind, without states.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn build(self, settings: Settings) -> Result<Box<dyn Planner>> {
        (self.build)(settings)
    }

    /// The planner that was [stored](super::Storable::store).
    ///
    /// # Errors
    /// If the snapshot does not describe a planner of this kind on this model.
    pub fn restore(self, settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Box<dyn Planner>> {
        (self.restore)(settings, model, snapshot)
    }
}

impl Default for PlannerKind {
    fn default() -> Self {
        Self::REVERSED_FULL_BACKUPS
    }
}

impl PartialEq for PlannerKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for PlannerKind {}

impl Hash for PlannerKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for PlannerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for PlannerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
