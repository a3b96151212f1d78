//! What each version of Algorithm 2 keeps besides values, and how that grows, moves and is stored.

use super::Sweeping;
use crate::{Model, MovedRow, Pair, Result, Snapshot, State, Values};
use std::fmt::Debug;

/// What a version keeps.
pub(super) trait Kept: Clone + Debug + Default + Send + Sync + 'static {
    /// Makes room for all states and pairs.
    fn grow(&mut self, model: &Model, values: &Values, threshold: f64);

    /// Marks the first pair of a state as its best, if that is remembered.
    fn admit_first(_planner: &mut Sweeping<Self>, _slot: usize) {}

    /// Takes over a row of pairs that got new ids. The values have done so already.
    fn row_moved(&mut self, _moved: &MovedRow) {}

    /// Responds to a change of the threshold.
    fn set_threshold(&mut self, _threshold: f64) {}

    fn store(&self, snapshot: &mut Snapshot);

    /// Restores it; everything else has been restored.
    fn restore(planner: &mut Sweeping<Self>, model: &Model, snapshot: &Snapshot) -> Result<()>;

    fn bytes(&self) -> usize;
}

/// What small backups keep.
#[derive(Clone, Debug)]
pub struct Small {
    /// Q of each pair when its state was last popped, by slot.
    pub(super) q_prev: Vec<f64>,
    /// What a priority of each state must exceed to matter: the threshold, or above it the priority with which the state is
    /// queued (or less, for a planner just restored, which costs time and nothing else).
    pub(super) floor: Vec<f64>,
}

impl Default for Small {
    fn default() -> Self {
        // Slot 0 is not a pair: its Q never changes, and this difference is NaN, which is above nothing.
        Self { q_prev: vec![f64::NEG_INFINITY], floor: Vec::new() }
    }
}

impl Kept for Small {
    fn grow(&mut self, model: &Model, values: &Values, threshold: f64) {
        self.floor.resize(model.n_states(), threshold);
        for slot in self.q_prev.len()..=model.n_pairs() {
            // A new pair starts at the value of its state.
            self.q_prev.push(values.value(State(model.state_of_slot(slot)))); // l.2
        }
    }

    fn row_moved(&mut self, moved: &MovedRow) {
        let from = moved.from.slot();
        self.q_prev.copy_within(from..from + moved.n_pairs as usize, moved.to.slot());
    }

    fn set_threshold(&mut self, threshold: f64) {
        self.floor.fill(threshold);
    }

    fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("small.q_prev", self.q_prev[1..].to_vec());
    }

    fn restore(planner: &mut Sweeping<Self>, model: &Model, snapshot: &Snapshot) -> Result<()> {
        planner.own.floor = vec![planner.settings.threshold; model.n_states()];
        planner.own.q_prev.extend(Values::stored(snapshot, "small.q_prev", model.n_pairs())?);
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.q_prev[..]) + size_of_val(&self.floor[..])
    }
}

impl super::SmallBackups {
    /// Q of a pair when its state was last popped.
    pub fn previous_action_value(&self, pair: Pair) -> f64 {
        let optimistic = self.values.optimism().value;
        self.own.q_prev.get(pair.slot()).copied().unwrap_or(optimistic)
    }
}

/// What reversed full backups keep.
#[derive(Clone, Debug, Default)]
pub struct Reversed {
    pub(super) states: Vec<ReversedState>,
}

/// What reversed full backups keep for each state.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReversedState {
    /// U(s): the value of the state that its predecessors use.
    pub u: f64,
    /// No pair of the state but the greedy one is worth more than this: while the greedy pair is worth as much, it is still
    /// the best, and the others need not be checked.
    pub second: f64,
}

impl Kept for Reversed {
    fn grow(&mut self, _: &Model, values: &Values, _: f64) {
        let new = values.v[self.states.len()..].iter();
        self.states.extend(new.map(|&v| ReversedState { u: v, second: v }));
    }

    fn admit_first(planner: &mut Sweeping<Self>, slot: usize) {
        planner.values.pairs[slot].scale = -0.0;
    }

    fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("values.u", self.states.iter().map(|state| state.u).collect::<Vec<f64>>());
    }

    fn restore(planner: &mut Sweeping<Self>, model: &Model, snapshot: &Snapshot) -> Result<()> {
        let u = Values::stored(snapshot, "values.u", model.n_states())?;
        let states = u.iter().zip(&planner.values.v);
        planner.own.states = states.map(|(&u, &v)| ReversedState { u, second: v }).collect();
        for (i, &v) in planner.values.v.iter().enumerate() {
            let state = State(i as u32);
            let row = planner.values.row(model, state);
            let greedy = || row.iter().filter(|pair| pair.scale.is_sign_negative());
            if greedy().count() != usize::from(!row.is_empty()) {
                let problem = format!("expected one greedy pair in state {i}, found {}", greedy().count());
                return Err(Snapshot::problem("values.scale", &problem));
            }
            if v != planner.values.maximum(model, state) || greedy().any(|pair| pair.q != v) {
                let problem = format!("item {i} is {v}, which is not the value of its best pair");
                return Err(Snapshot::problem("values.v", &problem));
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.states[..])
    }
}
