//! A window: only the last observations count; the oldest is undone when a new one arrives.

use crate::planner::{Model, Snapshot};
use crate::{Action, Next, Result, State, Transition};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Window {
    length: usize,
    /// Observations and their weights, the oldest first.
    observations: VecDeque<(Transition, f64)>,
}

impl Window {
    pub fn new(length: u32) -> Self {
        Self { length: length as usize, observations: VecDeque::new() }
    }

    /// Adds an observation; returns the one that leaves the window.
    pub fn push(&mut self, transition: Transition, weight: f64) -> Option<(Transition, f64)> {
        self.observations.push_back((transition, weight));
        if self.observations.len() > self.length { self.observations.pop_front() } else { None }
    }

    /// The observation that leaves when the next one is added, and its weight.
    pub fn leaving(&self) -> Option<(&Transition, f64)> {
        let is_full = self.observations.len() >= self.length;
        self.observations.front().filter(|_| is_full).map(|(transition, weight)| (transition, *weight))
    }

    /// The place of the newest equal observation. A truncated step equals one that continued, as it does for the model.
    ///
    /// # Complexity
    /// O(length of the window).
    pub fn find(&self, transition: &Transition, weight: f64) -> Option<usize> {
        let parts = |t: &Transition, weight: f64| (t.state, t.action, t.reward, t.next.state(), weight);
        self.observations.iter().rposition(|(t, w)| parts(t, *w) == parts(transition, weight))
    }

    pub fn remove(&mut self, place: usize) {
        self.observations.remove(place);
    }

    /// Removes the observations of a pair whose row was set.
    pub fn clear_pair(&mut self, state: State, action: Action) {
        self.observations.retain(|(t, _)| (t.state, t.action) != (state, action));
    }

    pub fn bytes(&self) -> usize {
        self.observations.len() * size_of::<(Transition, f64)>()
    }

    pub fn store(&self, snapshot: &mut Snapshot) {
        // The next state plus 1, 0 for an end; truncated steps are marked by the highest bit.
        let next = |t: &Transition| match t.next {
            Next::Terminated => 0,
            Next::Continue(next) => u64::from(next.0) + 1,
            Next::Truncated(next) => (u64::from(next.0) + 1) | 1 << 63,
        };
        let ids = self.observations.iter().flat_map(|(t, _)| [t.state.0.into(), t.action.0.into(), next(t)]);
        snapshot.put("explore.window", ids.collect::<Vec<u64>>());
        let numbers = self.observations.iter().flat_map(|&(t, weight)| [t.reward, weight]);
        snapshot.put("explore.window_numbers", numbers.collect::<Vec<f64>>());
    }

    pub fn restore(length: u32, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let problem = |problem: String| Snapshot::problem("explore.window", &problem);
        let ids = snapshot.u64s("explore.window")?;
        let n = ids.len() / 3;
        let numbers = snapshot.finite("explore.window_numbers", 2 * n)?;
        let mut window = Self::new(length);
        let mut rest = model.clone();
        if ids.len() != 3 * n || n > window.length {
            return Err(problem(format!("expected at most {length} observations, found {} ids", ids.len())));
        }
        for (i, (ids, numbers)) in ids.chunks_exact(3).zip(numbers.chunks_exact(2)).enumerate() {
            let id = |id: u64| u32::try_from(id).unwrap_or(u32::MAX);
            let (state, action) = (State(id(ids[0])), Action(id(ids[1])));
            let next = State(id((ids[2] & !(1 << 63)).wrapping_sub(1)));
            let next = match ids[2] {
                0 => Next::Terminated,
                code if code >> 63 == 1 => Next::Truncated(next),
                _ => Next::Continue(next),
            };
            let transition = Transition { state, action, reward: numbers[0], next };
            // It must be possible to undo all of them.
            if numbers[1] <= 0.0 || rest.record_weighted(&transition, -numbers[1]).is_err() {
                return Err(problem(format!("observation {i} is not one of the model's")));
            }
            window.observations.push_back((transition, numbers[1]));
        }
        Ok(window)
    }
}
