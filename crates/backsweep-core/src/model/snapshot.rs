//! The model as named arrays, and back. Nothing that is read is trusted: a snapshot that does not
//! describe a model is an error, never a panic later.

use super::record::{MAX_REWARD, MAX_WEIGHT};
use super::{MAX_STATES, Model, PairRecord, StateRecord};
use crate::store::{InList, LANES, MAX_ARCS, NONE, PairStates, Sparse, Sum};
use crate::{ArcId, Error, Pair, Result, Snapshot, State};

/// How far rounding may raise the weights of a pair's arcs above the weight of the pair.
const SUM_TOLERANCE: f64 = 1e-9;

impl Model {
    /// Stores the model. Arcs are stored in the order of their ids, so that every list comes back
    /// in the same order.
    pub fn store(&self, snapshot: &mut Snapshot) {
        let states = || self.states.iter();
        snapshot.put("model.first_pair", states().map(|s| s.first_pair).collect::<Vec<u32>>());
        snapshot.put("model.n_actions", states().map(|s| s.n_actions).collect::<Vec<u32>>());
        snapshot.put("model.freeze_at", self.freeze_at().map_or(vec![], |visits| vec![visits]));
        let pairs = || self.pairs.iter();
        snapshot.put("model.weight", pairs().map(|p| p.weight).collect::<Vec<f64>>());
        snapshot.put("model.reward_sum", pairs().map(|p| p.reward_sum).collect::<Vec<f64>>());
        snapshot.put("model.given", pairs().map(|p| u8::from(p.is_given())).collect::<Vec<u8>>());
        let n = self.pairs.len();
        snapshot.put("model.weight_low", self.weight_low.to_vec(n));
        snapshot.put("model.reward_low", self.reward_low.to_vec(n));
        snapshot.put("model.ended", self.ended[0].to_vec(n));
        snapshot.put("model.ended_low", self.ended[1].to_vec(n));
        // Predecessor lists, lane by lane; the order of each pair's successors is stored
        // separately.
        let n_lanes = self.arc_bound();
        let [mut target, mut pair, mut rank] = [NONE; 3].map(|none| vec![none; n_lanes]);
        let [mut weight, mut low] = [0.0; 2].map(|zero| vec![zero; n_lanes]);
        for (i, record) in self.pairs.iter().enumerate() {
            for (older, (state, arc)) in self.arcs.out(record.out()).enumerate() {
                let Sum { high, low: rest } = self.arcs.exact_weight(arc);
                let arc = arc.index();
                (target[arc], pair[arc], rank[arc]) =
                    (state.0, i as u32, record.out().len - 1 - older as u32);
                (weight[arc], low[arc]) = (high, rest);
            }
        }
        if low.iter().all(|&low| low == 0.0) {
            low.clear();
        }
        snapshot.put("arcs.block", vec![LANES]);
        snapshot.put("arcs.pair", pair);
        snapshot.put("arcs.weight", weight);
        snapshot.put("arcs.weight_low", low);
        snapshot.put("arcs.next_state", target);
        snapshot.put("arcs.rank", rank);
    }

    /// The stored model.
    ///
    /// # Errors
    /// Names the array that does not fit the others.
    pub fn restore(snapshot: &Snapshot) -> Result<Self> {
        let first_pair = snapshot.u32s("model.first_pair")?;
        let n_states = first_pair.len();
        let n_actions = Snapshot::sized("model.n_actions", snapshot.u32s("model.n_actions")?, n_states)?;
        let n_pairs = snapshot.f64s("model.weight")?.len();
        let weight = snapshot.finite("model.weight", n_pairs)?;
        let reward_sum = snapshot.finite("model.reward_sum", n_pairs)?;
        let given = Snapshot::sized("model.given", snapshot.bytes("model.given")?, n_pairs)?;
        if n_states > MAX_STATES as usize || n_pairs >= NONE as usize {
            return Err(Snapshot::problem("model.first_pair", "there are more ids than fit in 32 bits"));
        }
        let mut model = Model::new();
        if let &[visits] = snapshot.u32s("model.freeze_at")? {
            model = model.with_freeze_at(visits);
        }
        for i in 0..n_pairs {
            if !(weight[i] == 0.0 || (super::MIN_WEIGHT..=MAX_WEIGHT).contains(&weight[i])) {
                return Err(out_of_range("model.weight", i, weight[i], "0, or 1e-100 to 2^53"));
            }
            if reward_sum[i].abs() > MAX_REWARD * weight[i] * (1.0 + SUM_TOLERANCE) {
                let expected = "at most 1e150 per observation";
                return Err(out_of_range("model.reward_sum", i, reward_sum[i], expected));
            }
            let mut record = PairRecord::NEW;
            (record.weight, record.reward_sum) = (weight[i], reward_sum[i]);
            record.set_given(given[i] != 0);
            model.pairs.push(record);
        }
        model.weight_low = lows(snapshot, "model.weight_low", weight)?;
        model.reward_low = lows(snapshot, "model.reward_low", reward_sum)?;
        let mut pair_states = vec![NONE; n_pairs];
        for (i, (&first_pair, &n_actions)) in first_pair.iter().zip(n_actions).enumerate() {
            let pairs = first_pair as usize..first_pair as usize + n_actions as usize;
            let Some(states) = pair_states.get_mut(pairs) else {
                let problem = format!("the pairs of state {i} are out of range");
                return Err(Snapshot::problem("model.first_pair", &problem));
            };
            for state in states {
                if *state != NONE {
                    let problem = format!("the pairs of state {i} overlap those of another state");
                    return Err(Snapshot::problem("model.first_pair", &problem));
                }
                *state = i as u32;
            }
            model.states.push(StateRecord { first_pair, n_actions, into: InList::EMPTY });
        }
        // The old id of a moved pair belongs to no state: planners rely on its having no model.
        let has_model = |pair: &PairRecord| pair.weight != 0.0 || pair.is_given();
        if let Some(i) = (0..n_pairs).find(|&i| pair_states[i] == NONE && has_model(&model.pairs[i])) {
            let problem = format!("pair {i} has a model but belongs to no state");
            return Err(Snapshot::problem("model.weight", &problem));
        }
        model.pair_states = PairStates::from_states(&pair_states, n_states);
        model.restore_arcs(snapshot)?;
        Ok(model)
    }

    fn restore_arcs(&mut self, snapshot: &Snapshot) -> Result<()> {
        let problem = |problem: &str| Snapshot::problem("arcs.next_state", problem);
        let target = snapshot.u32s("arcs.next_state")?;
        let n = target.len();
        let pair = Snapshot::sized("arcs.pair", snapshot.u32s("arcs.pair")?, n)?;
        let weight = snapshot.finite("arcs.weight", n)?;
        let rank = Snapshot::sized("arcs.rank", snapshot.u32s("arcs.rank")?, n)?;
        lows(snapshot, "arcs.weight_low", weight)?; // only checked: they are stored with their arcs
        let weight_low = snapshot.f64s("arcs.weight_low")?;
        // Arc ids are places in blocks. A version with another block size has to translate the ids
        // of this one.
        if snapshot.u32s("arcs.block")? != [LANES] {
            return Err(Snapshot::problem("arcs.block", &format!("expected {LANES}, the arcs of a block")));
        }
        if n % LANES as usize != 0 || n as u64 > MAX_ARCS {
            return Err(problem("expected a multiple of 7 arcs"));
        }
        let mut carried = vec![0.0; self.pairs.len()];
        let mut ends: Vec<(u32, u32)> = Vec::new();
        for arc in (0..n).filter(|&arc| target[arc] != NONE) {
            let in_range = (pair[arc] as usize) < self.pairs.len()
                && (target[arc] as usize) < self.states.len()
                && self.is_in_use(Pair(pair[arc]));
            if !in_range || !(weight[arc] == 0.0 || (super::MIN_WEIGHT..=MAX_WEIGHT).contains(&weight[arc])) {
                return Err(problem(&format!("arc {arc} is not one of the model's")));
            }
            carried[pair[arc] as usize] += weight[arc];
            ends.push((pair[arc], target[arc]));
        }
        for (i, (record, carried)) in self.pairs.iter().zip(&carried).enumerate() {
            if *carried > record.weight * (1.0 + SUM_TOLERANCE) {
                return Err(problem(&format!("the arcs of pair {i} weigh more than the pair")));
            }
        }
        ends.sort_unstable();
        if let Some(twice) = ends.windows(2).find(|two| two[0] == two[1]) {
            return Err(problem(&format!("pair {} has two arcs to state {}", twice[0].0, twice[0].1)));
        }
        self.restore_ended(snapshot, &carried)?;
        let mut rows = Vec::new();
        for arc in (0..n).filter(|&arc| target[arc] != NONE) {
            let next = State(target[arc]);
            let id = self.arcs.add_in(Pair(pair[arc]), next, &mut self.states[next.index()].into);
            if id.index() != arc {
                return Err(problem(&format!("arc {arc} is not where the list of its state has room")));
            }
            let low = weight_low.get(arc).copied().unwrap_or(0.0);
            self.arcs.set_weight(id, Sum { high: weight[arc], low });
            rows.push((pair[arc], rank[arc], arc as u32));
        }
        rows.sort_unstable();
        for (pair, rank, arc) in rows {
            if rank as usize != self.pairs[pair as usize].n_successors() {
                return Err(problem(&format!("the successors of pair {pair} are not in order")));
            }
            self.add_to_successors(Pair(pair), State(target[arc as usize]), ArcId(arc));
        }
        Ok(())
    }

    /// The weights that ended.
    fn restore_ended(&mut self, snapshot: &Snapshot, carried: &[f64]) -> Result<()> {
        let ended = snapshot.f64s("model.ended")?;
        if !ended.is_empty() {
            snapshot.finite("model.ended", carried.len())?;
        }
        self.ended[1] = lows(snapshot, "model.ended_low", ended)?;
        for (i, &carried) in carried.iter().enumerate() {
            let weight = self.pairs[i].weight;
            let rest = (weight - carried).max(0.0);
            let found = ended.get(i).copied().unwrap_or(0.0);
            if found < 0.0 || (found - rest).abs() > SUM_TOLERANCE * weight {
                return Err(out_of_range("model.ended", i, found, "the weight that no arc carries"));
            }
            self.ended[0].set(i, found);
        }
        Ok(())
    }
}

fn out_of_range(part: &str, i: usize, found: f64, expected: &str) -> Error {
    Snapshot::problem(part, &format!("item {i} is {found}; expected {expected}"))
}

/// A column of what numbers rounded away; an empty array means zeros.
fn lows(snapshot: &Snapshot, name: &str, highs: &[f64]) -> Result<Sparse> {
    let mut column = Sparse::default();
    if snapshot.f64s(name)?.is_empty() {
        return Ok(column);
    }
    for (i, (&low, &high)) in snapshot.finite(name, highs.len())?.iter().zip(highs).enumerate() {
        if low.abs() > high.abs() * f64::EPSILON {
            return Err(out_of_range(name, i, low, "less than rounding can take away"));
        }
        column.set(i, low);
    }
    Ok(column)
}
