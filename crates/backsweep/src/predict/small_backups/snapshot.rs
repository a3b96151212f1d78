//! The whole predictor as named arrays: one that is restored continues bit for bit.

use super::{Arc, Selection, SmallBackupPredictor};
use crate::predict::snapshot::{counts, numbers};
use crate::predict::{MOST_STATES, check_settings};
use crate::{PriorityQueue, QueueKind};
use crate::{Random, Result, Snapshot, State};

const KIND: &[u8] = b"small_backups";
/// More iterations per step than this are not meant.
const MOST_ITERATIONS: u64 = 1_000_000;
const SELECTIONS: [Selection; 4] =
    [Selection::MostRecent, Selection::RoundRobin, Selection::Random, Selection::Largest];

impl SmallBackupPredictor {
    /// Everything there is to know about the predictor, to be stored.
    pub fn store(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        snapshot.put("predictor", KIND.to_vec());
        snapshot.put("predictor.settings", vec![self.discount, self.initial_value]);
        let selection = SELECTIONS.iter().position(|&selection| selection == self.selection).unwrap_or(0);
        let (turn, refresh) = (self.next_in_turn, self.refresh);
        let counts = [selection, self.iterations, turn, refresh.0, refresh.1];
        snapshot.put("predictor.counts", counts.map(|n| n as u64).to_vec());
        snapshot.put("predictor.random", self.random.state().to_vec());
        snapshot.put("predictor.v", self.v.clone());
        snapshot.put("predictor.n", self.n.clone());
        snapshot.put("predictor.reward_sum", self.reward_sum.clone());
        snapshot.put("predictor.peaks", self.peaks.clone());
        snapshot.put("arcs.state", self.arcs.iter().map(|arc| arc.state).collect::<Vec<u32>>());
        snapshot.put("arcs.next", self.arcs.iter().map(|arc| arc.next).collect::<Vec<u32>>());
        snapshot.put("arcs.n", self.arcs.iter().map(|arc| arc.n).collect::<Vec<u64>>());
        snapshot.put("arcs.u", self.arcs.iter().map(|arc| arc.u).collect::<Vec<f64>>());
        snapshot
    }

    /// The predictor that was stored.
    ///
    /// # Errors
    /// If the snapshot does not describe one; nothing in it is trusted.
    pub fn restore(snapshot: &Snapshot) -> Result<Self> {
        let wrong = Snapshot::problem;
        if snapshot.bytes("predictor")? != KIND {
            return Err(wrong("predictor", "it is not a predictor with small backups"));
        }
        let &[discount, initial_value] = snapshot.f64s("predictor.settings")? else {
            return Err(wrong("predictor.settings", "expected 2 items"));
        };
        check_settings(discount, initial_value)?;
        let &[selection, iterations, turn, refresh_state, refresh_count] =
            snapshot.u64s("predictor.counts")?
        else {
            return Err(wrong("predictor.counts", "expected 5 items"));
        };
        let v = snapshot.f64s("predictor.v")?;
        let n_states = v.len();
        let n_arcs = snapshot.f64s("arcs.u")?.len();
        if n_states > MOST_STATES as usize || u32::try_from(n_arcs).is_err() {
            return Err(wrong("predictor.v", "there are too many states or arcs"));
        }
        if iterations > MOST_ITERATIONS
            || turn > n_arcs as u64
            || refresh_state >= n_states.max(1) as u64
            || refresh_count > 1000 * (1 + n_arcs as u64)
        {
            return Err(wrong("predictor.counts", "an item is out of range"));
        }
        let &selection = usize::try_from(selection)
            .ok()
            .and_then(|i| SELECTIONS.get(i))
            .ok_or_else(|| wrong("predictor.counts", "the selection is unknown"))?;
        let random = snapshot.u64s("predictor.random")?.try_into().ok().and_then(Random::from_state);
        let mut predictor = Self {
            discount,
            initial_value,
            selection,
            iterations: iterations as usize,
            random: random.ok_or_else(|| wrong("predictor.random", "it is not the state of a generator"))?,
            v: numbers(snapshot, "predictor.v", n_states)?.to_vec(),
            n: counts(snapshot, "predictor.n", n_states)?.to_vec(),
            reward_sum: numbers(snapshot, "predictor.reward_sum", n_states)?.to_vec(),
            peaks: numbers(snapshot, "predictor.peaks", n_states)?.to_vec(),
            arcs: Vec::with_capacity(n_arcs),
            out: vec![Vec::new(); n_states],
            into: if selection == Selection::Largest { vec![Vec::new(); n_states] } else { Vec::new() },
            index: Default::default(),
            next_in_turn: turn as usize,
            queue: PriorityQueue::new(QueueKind::Exact),
            refresh: (refresh_state as usize, refresh_count as usize),
        };
        let states = Snapshot::sized("arcs.state", snapshot.u32s("arcs.state")?, n_arcs)?;
        let nexts = Snapshot::sized("arcs.next", snapshot.u32s("arcs.next")?, n_arcs)?;
        let visits = counts(snapshot, "arcs.n", n_arcs)?;
        let seen = numbers(snapshot, "arcs.u", n_arcs)?;
        let mut left = predictor.n.clone();
        for i in 0..n_arcs {
            let arc = Arc { state: states[i], next: nexts[i], n: visits[i], u: seen[i] };
            predictor.restore_arc(arc, &mut left)?;
        }
        predictor.restore_queue();
        Ok(predictor)
    }

    /// Adds the next arc; `left` are the visits of each state that no arc has claimed yet.
    fn restore_arc(&mut self, arc: Arc, left: &mut [u64]) -> Result<()> {
        let (state, next) = (State(arc.state).index(), State(arc.next).index());
        if state >= self.v.len() || next >= self.v.len() {
            return Err(Snapshot::problem("arcs.state", "an arc has a state that does not exist"));
        }
        let id = self.arcs.len() as u32;
        let is_new = self.index.insert((arc.state, arc.next), id).is_none();
        if !is_new || arc.n == 0 || arc.n > left[state] {
            return Err(Snapshot::problem("arcs.n", "counts do not add up"));
        }
        left[state] -= arc.n;
        self.arcs.push(arc);
        self.out[state].push(id);
        if self.selection == Selection::Largest {
            self.into[next].push(id);
        }
        Ok(())
    }

    /// The queue follows from the values: it holds every arc whose successor has changed since.
    fn restore_queue(&mut self) {
        if self.selection == Selection::Largest {
            self.queue.grow(self.arcs.len());
            for (id, arc) in (0..).zip(&self.arcs) {
                let difference = (self.v[arc.next as usize] - arc.u).abs();
                if difference > 0.0 {
                    self.queue.set(id, difference);
                }
            }
        }
    }
}
