//! The whole agent as named arrays: a restored one continues bit for bit.

use super::Agent;
use crate::explore::acting::Acting;
use crate::{
    EpsilonGreedy, Exploration, Model, Optimism, PlannerKind, QueueKind, Result, Settings, Snapshot,
};

impl Agent {
    /// The complete state of the agent, for storing.
    pub fn store(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        self.model.store(&mut snapshot);
        self.planner.store(&mut snapshot);
        let settings = self.planner.settings();
        snapshot.put("agent.planner", self.planner.kind().map_or("", PlannerKind::name).as_bytes().to_vec());
        snapshot.put("agent.queue", settings.queue.name().as_bytes().to_vec());
        let Settings { discount, optimism: Optimism { value, min_visits }, threshold, tolerance, .. } =
            settings;
        let numbers = [discount, value, f64::from(min_visits), threshold, tolerance, self.policy.epsilon()];
        snapshot.put("agent.settings", numbers.to_vec());
        if let Some(acting) = &self.acting {
            acting.store(&self.model, &*self.planner, &mut snapshot);
        }
        snapshot
    }

    /// The stored agent: it continues bit for bit as the original would have.
    ///
    /// # Errors
    /// If the snapshot does not describe an agent; nothing in it is trusted.
    pub fn restore(snapshot: &Snapshot) -> Result<Self> {
        let text = |name: &str| Ok(String::from_utf8_lossy(snapshot.bytes(name)?).into_owned());
        let kind: PlannerKind = text("agent.planner")?.parse()?;
        let queue: QueueKind = text("agent.queue")?.parse()?;
        let &[discount, value, min_visits, threshold, tolerance, epsilon] =
            snapshot.f64s("agent.settings")?
        else {
            return Err(Snapshot::problem("agent.settings", "expected 6 items"));
        };
        let optimism = Optimism { value, min_visits: min_visits as u32 };
        let mut settings = Settings { discount, optimism, threshold, queue, tolerance }.check()?;
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
