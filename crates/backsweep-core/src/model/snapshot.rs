//! The model as named arrays, and back. Nothing that is read is trusted: a snapshot that does not
//! describe a model is an error, never a panic later.

use super::record::{MAX_REWARD, MAX_WEIGHT};
use super::{MAX_STATES, Model, PairRecord, StateRecord};
use crate::store::{InList, LANES, MAX_ARCS, NONE, PairStates, Sum};
use crate::{ArcId, Error, Pair, Result, Snapshot, State};

/// The largest share by which rounding may raise the weights of a pair's arcs above the weight of the pair.
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
        put_rests(snapshot, "model.weight", (0..n).map(|i| self.weight_rest.get(i)));
        put_rests(snapshot, "model.reward", (0..n).map(|i| self.reward_rest.get(i)));
        put_column(snapshot, "model.ended", (0..n).map(|i| self.ended.get(i).high));
        put_rests(snapshot, "model.ended", (0..n).map(|i| self.ended.get(i).rest()));
        // Predecessor lists, lane by lane; the order of each pair's successors is stored
        // separately.
        let n_lanes = self.arc_bound();
        let [mut target, mut pair, mut rank] = [NONE; 3].map(|none| vec![none; n_lanes]);
        let (mut weight, mut rests) = (vec![0.0; n_lanes], vec![[0.0; 2]; n_lanes]);
        for (i, record) in self.pairs.iter().enumerate() {
            for (older, (state, arc)) in self.arcs.out(record.out()).enumerate() {
                let exact = self.arcs.exact_weight(arc);
                let arc = arc.index();
                (target[arc], pair[arc], rank[arc]) =
                    (state.0, i as u32, record.out().len - 1 - older as u32);
                (weight[arc], rests[arc]) = (exact.high, exact.rest());
            }
        }
        snapshot.put("arcs.block", vec![LANES]);
        snapshot.put("arcs.pair", pair);
        snapshot.put("arcs.weight", weight);
        put_rests(snapshot, "arcs.weight", rests.into_iter());
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
        for (i, rest) in rests(snapshot, "model.weight", weight)?.into_iter().enumerate() {
            model.weight_rest.set(i, rest);
        }
        for (i, rest) in rests(snapshot, "model.reward", reward_sum)?.into_iter().enumerate() {
            model.reward_rest.set(i, rest);
        }
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
        let rests = rests(snapshot, "arcs.weight", weight)?;
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
            self.arcs.set_weight(id, Sum::with_rest(weight[arc], rests[arc]));
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
        let mut ended = snapshot.f64s("model.ended")?;
        let none = vec![0.0; carried.len()];
        if ended.is_empty() {
            ended = &none;
        }
        let rests = rests(snapshot, "model.ended", Snapshot::sized("model.ended", ended, carried.len())?)?;
        for (i, &carried) in carried.iter().enumerate() {
            let weight = self.pairs[i].weight;
            let rest = (weight - carried).max(0.0);
            let found = ended[i];
            let is_weight = found == 0.0 || (super::MIN_WEIGHT..=MAX_WEIGHT).contains(&found);
            if !is_weight || (found - rest).abs() > SUM_TOLERANCE * weight {
                return Err(out_of_range("model.ended", i, found, "the weight that no arc carries"));
            }
            self.ended.set(i, Sum::with_rest(found, rests[i]));
        }
        Ok(())
    }
}

fn out_of_range(part: &str, i: usize, found: f64, expected: &str) -> Error {
    Snapshot::problem(part, &format!("item {i} is {found}; expected {expected}"))
}

/// Stores a column; an empty array means zeros.
fn put_column(snapshot: &mut Snapshot, name: &str, items: impl Iterator<Item = f64>) {
    let items: Vec<f64> = items.collect();
    let is_zero = items.iter().all(|&item| item == 0.0);
    snapshot.put(name, if is_zero { Vec::new() } else { items });
}

/// Stores the [rests](Sum::rest) of sums: two columns, the second only if some sum was rounded.
fn put_rests(snapshot: &mut Snapshot, name: &str, rests: impl Iterator<Item = [f64; 2]>) {
    let (lows, losts): (Vec<f64>, Vec<f64>) = rests.map(|[low, lost]| (low, lost)).unzip();
    put_column(snapshot, &format!("{name}_low"), lows.into_iter());
    if losts.iter().any(|&lost| lost != 0.0) {
        snapshot.put(&format!("{name}_lost"), losts);
    }
}

/// The rests of sums whose first numbers these are.
fn rests(snapshot: &Snapshot, name: &str, highs: &[f64]) -> Result<Vec<[f64; 2]>> {
    let (low_name, lost_name) = (format!("{name}_low"), format!("{name}_lost"));
    let column = |name: &str| match snapshot.f64s(name)? {
        [] => Ok(vec![0.0; highs.len()]),
        _ => Ok(snapshot.finite(name, highs.len())?.to_vec()),
    };
    let lows = column(&low_name)?;
    let losts = if snapshot.get(&lost_name).is_some() { column(&lost_name)? } else { vec![0.0; highs.len()] };
    for (i, &high) in highs.iter().enumerate() {
        if lows[i].abs() > high.abs() * f64::EPSILON {
            return Err(out_of_range(&low_name, i, lows[i], "less than rounding can take away"));
        }
        if !(0.0..=MAX_REWARD).contains(&losts[i]) {
            return Err(out_of_range(&lost_name, i, losts[i], "0 to 1e150"));
        }
    }
    Ok(lows.into_iter().zip(losts).map(|(low, lost)| [low, lost]).collect())
}
