//! The whole agent as named arrays: a restored one continues bit for bit.

use super::Agent;
use crate::{EpsilonGreedy, Explorer, Model, Optimism, PlannerKind, QueueKind, Result, Settings, Snapshot};

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
        if let Some(explorer) = &self.explorer {
            explorer.store(&self.model, &*self.planner, &mut snapshot);
        }
        snapshot
    }

    /// The stored agent: it continues bit for bit as the original would have.
    ///
    /// # Errors
    /// If the snapshot does not describe an agent, or one that explores (`backsweep_explore::restore` reads both); nothing in
    /// it is trusted.
    pub fn restore(snapshot: &Snapshot) -> Result<Self> {
        if snapshot.get("explore.kind").is_some() {
            let problem =
                "the agent explores; expected one that does not, or a call of backsweep_explore::restore";
            return Err(Snapshot::problem("explore.kind", problem));
        }
        Self::restore_with(snapshot, |_, _, settings| Ok((settings, None)))
    }

    /// As [`restore`](Self::restore), with an explorer: `explorer` gets the model, the kind of planner and the stored
    /// settings, and returns those of the recommending planner too.
    ///
    /// # Errors
    /// If the snapshot does not describe an agent, and those of `explorer`.
    pub fn restore_with(
        snapshot: &Snapshot,
        explorer: impl FnOnce(&Model, PlannerKind, Settings) -> Result<(Settings, Option<Box<dyn Explorer>>)>,
    ) -> Result<Self> {
        let text = |name: &str| Ok(String::from_utf8_lossy(snapshot.bytes(name)?).into_owned());
        let planner: PlannerKind = text("agent.planner")?.parse()?;
        let queue: QueueKind = text("agent.queue")?.parse()?;
        let &[discount, value, min_visits, threshold, tolerance, epsilon] =
            snapshot.f64s("agent.settings")?
        else {
            return Err(Snapshot::problem("agent.settings", "expected 6 items"));
        };
        let optimism = Optimism { value, min_visits: min_visits as u32 };
        let settings = Settings { discount, optimism, threshold, queue, tolerance }.check()?;
        let model = Model::restore(snapshot)?;
        let (settings, explorer) = explorer(&model, planner, settings)?;
        let planner = planner.restore(settings, &model, snapshot)?;
        Ok(Self { model, planner, policy: EpsilonGreedy::new(epsilon)?, explorer })
    }
}
