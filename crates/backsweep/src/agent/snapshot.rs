//! The whole agent as named arrays: a restored one continues bit for bit.

use super::Agent;
use crate::explore::acting::Acting;
use crate::explore::{EpsilonGreedy, Exploration, Optimism};
use crate::planner::{Model, QueueKind, Snapshot};
use crate::{Error, PlannerKind, Result, Settings};

impl Agent {
    /// The complete state of the agent, for storing.
    ///
    /// # Errors
    /// If the planner is one of your own that offers no [`storable`](crate::planner::Planner::storable) part.
    pub fn store(&self) -> Result<Snapshot> {
        let planner = self.planner.storable().ok_or(Error::Planner {
            name: "of your own",
            lacks: "cannot be stored",
            expected: "one that offers Planner::storable",
        })?;
        let mut snapshot = Snapshot::new();
        self.model.store(&mut snapshot);
        planner.store(&mut snapshot);
        let Settings { discount, optimism: Optimism { value, min_visits }, threshold, queue } =
            planner.settings();
        snapshot.put("agent.planner", planner.kind().name().as_bytes().to_vec());
        snapshot.put("agent.queue", queue.name().as_bytes().to_vec());
        let numbers = [discount, value, f64::from(min_visits), threshold, self.policy.epsilon()];
        snapshot.put("agent.settings", numbers.to_vec());
        if let Some(acting) = &self.acting {
            acting.store(&self.model, &*self.planner, &mut snapshot);
        }
        Ok(snapshot)
    }

    /// The stored agent, if its planner is one of the core's: it continues bit for bit as the original would have.
    ///
    /// # Errors
    /// If the snapshot does not describe an agent, or one with a planner that is not of the core (see
    /// [`restore_among`](Self::restore_among)); nothing in it is trusted.
    pub fn restore(snapshot: &Snapshot) -> Result<Self> {
        Self::restore_among(snapshot, &PlannerKind::SWEEPING)
    }

    /// As [`restore`](Self::restore), with a planner of one of these kinds.
    ///
    /// # Errors
    /// As for `restore`; a planner of another kind is refused by its name.
    pub fn restore_among(snapshot: &Snapshot, planners: &[PlannerKind]) -> Result<Self> {
        let text = |name: &str| Ok(String::from_utf8_lossy(snapshot.bytes(name)?).into_owned());
        let kind = PlannerKind::named(&text("agent.planner")?, planners)?;
        let queue: QueueKind = text("agent.queue")?.parse()?;
        let [discount, value, min_visits, threshold, epsilon] = snapshot.numbers("agent.settings")?;
        let optimism = Optimism { value, min_visits: min_visits as u32 };
        let mut settings = Settings { discount, optimism, threshold, queue }.check()?;
        let model = Model::restore(snapshot)?;
        let mut acting = None;
        if let Some(exploration) = Exploration::stored(snapshot)? {
            let (stored, recommending) = Acting::restore(exploration, &model, kind, settings, snapshot)?;
            (acting, settings) = (Some(Box::new(stored)), recommending);
        }
        let planner = kind.restore(settings, &model, snapshot)?;
        Ok(Self { model, planner, policy: EpsilonGreedy::new(epsilon)?, acting })
    }
}
