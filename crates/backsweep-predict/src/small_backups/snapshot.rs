//! The whole predictor as named arrays: a restored one continues bit for bit.

use super::{PredictorSettings, Selection, SmallBackupPredictor};
use crate::{MAX_STORED, MOST_STATES};
use backsweep_core::{ArcId, Model, Pair, Result, Snapshot};

const KIND: &[u8] = b"small_backups";
/// More iterations per step than this are surely a mistake.
const MOST_ITERATIONS: u64 = 1_000_000;
const SELECTIONS: [Selection; 4] =
    [Selection::MostRecent, Selection::RoundRobin, Selection::Random, Selection::Largest];

impl SmallBackupPredictor {
    /// The complete state of the predictor, for storing.
    pub fn store(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        self.model.store(&mut snapshot);
        snapshot.put("predictor", KIND.to_vec());
        snapshot.put("predictor.settings", vec![self.settings.discount, self.settings.initial_value]);
        let selection =
            SELECTIONS.iter().position(|&selection| selection == self.settings.selection).unwrap_or(0);
        let counts = [selection, self.settings.iterations, self.next_in_turn, self.refresh.0, self.refresh.1]
            .map(|n| n as u64);
        snapshot.put("predictor.counts", counts.to_vec());
        snapshot.put("predictor.random", self.random.state().to_vec());
        snapshot.put("predictor.v", self.v.clone());
        snapshot.put("predictor.peaks", self.peaks.clone());
        snapshot.put("predictor.u", self.u.clone());
        snapshot.put("predictor.arcs", self.arcs.iter().map(|arc| arc.0).collect::<Vec<u32>>());
        snapshot
    }

    /// The stored predictor.
    ///
    /// # Errors
    /// If the snapshot does not describe one; nothing in it is trusted.
    pub fn restore(snapshot: &Snapshot) -> Result<Self> {
        let wrong = Snapshot::problem;
        if snapshot.bytes("predictor")? != KIND {
            return Err(wrong("predictor", "it is not a predictor with small backups"));
        }
        let [discount, initial_value] = snapshot.numbers("predictor.settings")?;
        let [selection, iterations, turn, refresh_state, refresh_count] =
            snapshot.counts("predictor.counts")?;
        let model = Model::restore(snapshot)?;
        let (n_states, n_arcs) = (model.n_states(), model.n_arcs());
        if n_states > MOST_STATES as usize || model.n_pairs() != n_states {
            return Err(wrong("model.n_actions", "expected at most 2^26 states, with one action each"));
        }
        if model.states().any(|state| !model.pairs(state).eq([Pair(state.0)])) {
            return Err(wrong("model.first_pair", "expected one action per state, in the order of states"));
        }
        if iterations > MOST_ITERATIONS
            || turn > n_arcs as u64
            || refresh_state >= n_states.max(1) as u64
            || refresh_count > 1000 * (1 + n_arcs as u64)
        {
            return Err(wrong("predictor.counts", "an item is out of range"));
        }
        let Some(&selection) = usize::try_from(selection).ok().and_then(|i| SELECTIONS.get(i)) else {
            return Err(wrong("predictor.counts", "the selection is unknown"));
        };
        let mut predictor = Self::new(PredictorSettings {
            discount,
            initial_value,
            selection,
            iterations: iterations as usize,
            seed: 0,
        })?;
        predictor.random = snapshot.random("predictor.random")?;
        predictor.v = snapshot.bounded("predictor.v", n_states, MAX_STORED)?.to_vec();
        predictor.peaks = snapshot.bounded("predictor.peaks", n_states, MAX_STORED)?.to_vec();
        predictor.u = snapshot.bounded("predictor.u", model.arc_bound(), MAX_STORED)?.to_vec();
        predictor.arcs = snapshot.u32s("predictor.arcs")?.iter().map(|&arc| ArcId(arc)).collect();
        let mut is_listed = vec![false; model.arc_bound()];
        let mut is_new = |&arc: &ArcId| {
            model.ends_of(arc).is_some() && !std::mem::replace(&mut is_listed[arc.index()], true)
        };
        if predictor.arcs.len() != n_arcs || !predictor.arcs.iter().all(&mut is_new) {
            return Err(wrong("predictor.arcs", "expected every arc of the model once"));
        }
        (predictor.next_in_turn, predictor.refresh) =
            (turn as usize, (refresh_state as usize, refresh_count as usize));
        predictor.model = model;
        // The queue follows from the values: it holds every arc whose successor has changed since.
        predictor.queue.grow(predictor.u.len());
        for state in 0..n_states {
            predictor.set_value(state, predictor.v[state]);
        }
        Ok(predictor)
    }
}
