//! An update cycle that was cut, so that a planner can stop after every seven predecessors
//! (Departure 5).

use crate::store::Cursor;
use crate::{ArcId, Model, Result, Snapshot, State};

/// An update cycle under way: the predecessors of one state are being backed up.
///
/// A pair that the cycle has not reached still uses the old value. Arcs that are added meanwhile
/// stand in front of the cursor, so they count as backed up.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartialCycle {
    pub state: u32,
    /// The value that pairs not yet reached use.
    pub v_old: f64,
    /// True if predecessors are recomputed instead of receiving a small backup.
    pub is_exact: bool,
    /// The next predecessors.
    pub cursor: Cursor,
}

impl PartialCycle {
    /// The old value, if the pair of an arc to a state still uses it.
    #[inline]
    pub fn stale_value(&self, state: State, arc: ArcId) -> Option<f64> {
        (self.state == state.0 && self.cursor.is_ahead(arc)).then_some(self.v_old)
    }

    pub fn store(cycle: Option<&Self>, snapshot: &mut Snapshot) {
        let numbers = |c: &Self| [c.state, c.cursor.number(), u32::from(c.is_exact)].map(u64::from).to_vec();
        snapshot.put("partial_cycle.numbers", cycle.map(numbers).unwrap_or_default());
        snapshot.put("partial_cycle.v_old", cycle.map_or(vec![], |cycle| vec![cycle.v_old]));
    }

    pub fn restore(model: &Model, snapshot: &Snapshot) -> Result<Option<Self>> {
        let problem = |problem| Err(Snapshot::problem("partial_cycle.numbers", problem));
        match (snapshot.u64s("partial_cycle.numbers")?, snapshot.f64s("partial_cycle.v_old")?) {
            ([], []) => Ok(None),
            (&[state, cursor, exact], &[v_old])
                if state < model.n_states() as u64 && v_old.abs() <= f64::MAX =>
            {
                let (state, is_exact) = (state as u32, exact != 0);
                match model.stored_cursor(state, cursor) {
                    Some(cursor) => Ok(Some(Self { state, v_old, is_exact, cursor })),
                    None => problem("its cursor is not among the predecessors of its state"),
                }
            }
            _ => problem("it is not a cycle of this model"),
        }
    }
}
