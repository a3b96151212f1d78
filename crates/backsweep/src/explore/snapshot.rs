//! The acting side of an agent as named arrays, and back. Only an exploring agent has these arrays.

use super::acting::{Acting, ActingValues};
use super::pending::Pending;
use super::{Exploration, Explore};
use crate::explore::{Forgetting, Optimism};
use crate::forget::window::Window;
use crate::planner::{Model, Planner, Snapshot};
use crate::{PlannerKind, Result, Settings};

impl Exploration {
    fn store(&self, snapshot: &mut Snapshot) {
        let mut constants = self.explore.constants().into_iter().map(|(_, number)| number);
        let [a, b] = [(); 2].map(|()| constants.next().unwrap_or(0.0));
        let (forgetting, amount) = match self.forgetting {
            Forgetting::Never => ("never", 0.0),
            Forgetting::PerVisit(rate) => ("per_visit", rate),
            Forgetting::HalfLife(steps) => ("half_life", steps),
            Forgetting::Window(length) => ("window", f64::from(length)),
        };
        snapshot.put("explore.kind", self.explore.name().as_bytes().to_vec());
        snapshot.put("explore.forgetting", forgetting.as_bytes().to_vec());
        snapshot.put("explore.settings", vec![a, b, self.age_bonus, amount]);
        snapshot.put("explore.reward_range", self.reward_range.map_or(vec![], |(low, high)| vec![low, high]));
        snapshot.put("explore.start", self.start.map_or(vec![], |start| vec![start]));
        snapshot.put("explore.seed", vec![self.seed]);
    }

    /// The stored settings, if the snapshot is that of an exploring agent; whoever uses them checks their numbers.
    pub(crate) fn stored(snapshot: &Snapshot) -> Result<Option<Self>> {
        snapshot.get("explore.kind").map(|_| Self::restore(snapshot)).transpose()
    }

    fn restore(snapshot: &Snapshot) -> Result<Self> {
        let [a, b, age_bonus, amount] = snapshot.numbers("explore.settings")?;
        let unknown = |name: &str| Snapshot::problem(name, "this version does not know it");
        let kind = std::str::from_utf8(snapshot.bytes("explore.kind")?).unwrap_or_default();
        let mut constants = [a, b].into_iter();
        let explore = Explore::named(kind, |_| Ok(constants.next().unwrap_or(0.0)))?;
        let explore = explore.ok_or_else(|| unknown("explore.kind"))?;
        let forgetting = match snapshot.bytes("explore.forgetting")? {
            b"never" => Forgetting::Never,
            b"per_visit" => Forgetting::PerVisit(amount),
            b"half_life" => Forgetting::HalfLife(amount),
            b"window" => Forgetting::Window(amount as u32),
            _ => return Err(unknown("explore.forgetting")),
        };
        let reward_range = match *snapshot.f64s("explore.reward_range")? {
            [low, high] => Some((low, high)),
            [] => None,
            _ => return Err(Snapshot::problem("explore.reward_range", "expected 2 items or none")),
        };
        let start = snapshot.f64s("explore.start")?.first().copied();
        let seed = snapshot.u64s("explore.seed")?.first().copied().unwrap_or(0);
        Ok(Self { explore, reward_range, start, age_bonus, forgetting, seed })
    }
}

impl Acting {
    /// Stores everything that an exploring agent has besides the model and the recommending planner, which are already stored.
    pub fn store(&self, model: &Model, planner: &dyn Planner, snapshot: &mut Snapshot) {
        self.settings.store(snapshot);
        self.statistics.store(snapshot);
        self.pending.store(model, planner, snapshot);
        if let Some(window) = &self.window {
            window.store(snapshot);
        }
        match &self.values {
            ActingValues::Recommending => {}
            ActingValues::Optimistic(acting) => {
                let mut part = Snapshot::new();
                if let Some(acting) = acting.storable() {
                    acting.store(&mut part);
                }
                snapshot.put_part("acting.", &part);
            }
            ActingValues::Drawn(drawn) => drawn.store(snapshot),
        }
    }

    /// The stored arrays, and the settings of the recommending planner.
    pub fn restore(
        exploration: Exploration,
        model: &Model,
        kind: PlannerKind,
        settings: Settings,
        snapshot: &Snapshot,
    ) -> Result<(Self, Settings)> {
        let settings = Settings { optimism: Optimism::default(), ..settings };
        let empty = model.freeze_at().map_or_else(Model::new, |visits| Model::new().with_freeze_at(visits));
        let (mut acting, planner) = Self::new(&empty, kind, settings, exploration)?;
        acting.statistics.restore(exploration.forgetting, model, snapshot)?;
        acting.pending = Pending::restore(model, snapshot)?;
        if let Forgetting::Window(length) = exploration.forgetting {
            acting.window = Some(Window::restore(length, model, snapshot)?);
        }
        if let Some(mut settings) = acting.acting(model).and_then(|(_, planner)| planner.settings()) {
            if let Some(achievable) = &acting.statistics.achievable {
                settings.optimism.value = achievable.start();
            }
            acting.values = match acting.values {
                ActingValues::Recommending => ActingValues::Recommending,
                ActingValues::Optimistic(_) => {
                    ActingValues::Optimistic(kind.restore(settings, model, &snapshot.part("acting."))?)
                }
                ActingValues::Drawn(drawn) => {
                    ActingValues::Drawn(drawn.restore(model, kind, settings, snapshot)?)
                }
            };
        }
        Ok((acting, planner.settings().unwrap_or(settings)))
    }
}
