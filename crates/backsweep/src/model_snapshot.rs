//! The model as named arrays, and back. Nothing that is read is trusted: a snapshot that does not describe a model is an
//! error, never a panic later.

use crate::arcs::{Arcs, IN_BLOCK, InList, NONE};
use crate::model::{MAX_STATES, Model, PairRow, StateRow};
use crate::owners::Owners;
use crate::{Pair, Result, Snapshot, State};

impl Model {
    /// Stores the model. Arcs are stored in the order of their ids, so that every list comes back in the same order.
    pub fn store(&self, snapshot: &mut Snapshot) {
        let states = || self.states.iter();
        snapshot.put("model.first_pair", states().map(|s| s.first_pair).collect::<Vec<u32>>());
        snapshot.put("model.n_actions", states().map(|s| s.n_actions).collect::<Vec<u32>>());
        snapshot.put("model.freeze_at", self.freeze_at().map_or(vec![], |visits| vec![visits]));
        let pairs = || self.pairs.iter();
        snapshot.put("model.weight", pairs().map(|p| p.weight).collect::<Vec<f64>>());
        snapshot.put("model.reward_sum", pairs().map(|p| p.reward_sum).collect::<Vec<f64>>());
        snapshot.put("model.given", pairs().map(|p| u8::from(p.is_given())).collect::<Vec<u8>>());
        // Blocks of predecessors, block by block; the order of each pair's successors is stored beside.
        let n_arcs = self.arc_bound();
        let (mut target, mut rank) = (vec![NONE; n_arcs], vec![NONE; n_arcs]);
        for pair in &self.pairs {
            for (i, (state, arc)) in self.arcs.out(pair.out()).enumerate() {
                target[arc.index()] = state.0;
                rank[arc.index()] = pair.out().len - 1 - i as u32;
            }
        }
        let blocks = || self.arcs.blocks.iter();
        snapshot.put("arcs.block", vec![IN_BLOCK]);
        snapshot.put("arcs.pair", blocks().flat_map(|b| b.pairs).collect::<Vec<u32>>());
        snapshot.put("arcs.weight", blocks().flat_map(|b| self.arcs.weights(b)).collect::<Vec<f64>>());
        snapshot.put("arcs.next_state", target);
        snapshot.put("arcs.rank", rank);
    }

    /// The model that was stored.
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
            model = model.frozen_at(visits);
        }
        for i in 0..n_pairs {
            if !(0.0..=(1u64 << 53) as f64).contains(&weight[i]) {
                return Err(Snapshot::problem("model.weight", &format!("item {i} is not a weight")));
            }
            let mut row = PairRow::NEW;
            (row.weight, row.reward_sum) = (weight[i], reward_sum[i]);
            row.set_given(given[i] != 0);
            model.pairs.push(row);
        }
        let mut owners = vec![NONE; n_pairs];
        for (i, (&first_pair, &n_actions)) in first_pair.iter().zip(n_actions).enumerate() {
            let row = first_pair as usize..first_pair as usize + n_actions as usize;
            let Some(owners) = owners.get_mut(row) else {
                return Err(Snapshot::problem(
                    "model.first_pair",
                    &format!("the row of state {i} is out of range"),
                ));
            };
            for owner in owners {
                if *owner != NONE {
                    return Err(Snapshot::problem(
                        "model.first_pair",
                        &format!("the row of state {i} is not its own"),
                    ));
                }
                *owner = i as u32;
            }
            model.states.push(StateRow { first_pair, n_actions, into: InList::EMPTY });
        }
        // A pair of no state is one of a row that was moved: planners rely on its having no model.
        let has_model = |pair: &PairRow| pair.weight != 0.0 || pair.is_given();
        if let Some(i) = (0..n_pairs).find(|&i| owners[i] == NONE && has_model(&model.pairs[i])) {
            return Err(Snapshot::problem(
                "model.weight",
                &format!("pair {i} has a model but belongs to no state"),
            ));
        }
        model.owners = Owners::from_table(owners, n_states);
        model.restore_arcs(snapshot)?;
        Ok(model)
    }

    /// Adds the arcs in an order that gives each its id and its place in its pair's list again.
    fn restore_arcs(&mut self, snapshot: &Snapshot) -> Result<()> {
        let problem = |problem: &str| Snapshot::problem("arcs.next_state", problem);
        let target = snapshot.u32s("arcs.next_state")?;
        let n = target.len();
        let pair = Snapshot::sized("arcs.pair", snapshot.u32s("arcs.pair")?, n)?;
        let weight = snapshot.finite("arcs.weight", n)?;
        let rank = Snapshot::sized("arcs.rank", snapshot.u32s("arcs.rank")?, n)?;
        // ArcId ids are places in blocks. A version with blocks of another size has to translate the ids of this one.
        if snapshot.u32s("arcs.block")? != [IN_BLOCK] {
            return Err(Snapshot::problem(
                "arcs.block",
                &format!("it is not {IN_BLOCK}, the arcs of a block"),
            ));
        }
        if n % IN_BLOCK as usize != 0 || n / IN_BLOCK as usize > Arcs::MAX_BLOCKS {
            return Err(problem("its length is not that of whole blocks"));
        }
        let mut carried = vec![0.0; self.pairs.len()];
        let mut rows: Vec<(u32, u32, u32)> = Vec::new(); // pair, rank, arc
        for arc in 0..n {
            if target[arc] == NONE {
                continue;
            }
            let in_range =
                (pair[arc] as usize) < self.pairs.len() && (target[arc] as usize) < self.states.len();
            if !in_range || self.owners.of(pair[arc]) == NONE || weight[arc] < 0.0 {
                return Err(problem(&format!("arc {arc} is not one of the model's")));
            }
            carried[pair[arc] as usize] += weight[arc];
            rows.push((pair[arc], rank[arc], arc as u32));
        }
        for (i, (row, carried)) in self.pairs.iter().zip(carried).enumerate() {
            if carried > row.weight * (1.0 + 1e-9) {
                return Err(problem(&format!("the arcs of pair {i} weigh more than the pair")));
            }
        }
        let mut ends: Vec<(u32, u32)> =
            rows.iter().map(|&(pair, _, arc)| (pair, target[arc as usize])).collect();
        ends.sort_unstable();
        if let Some(twice) = ends.windows(2).find(|two| two[0] == two[1]) {
            return Err(problem(&format!("pair {} has two arcs to state {}", twice[0].0, twice[0].1)));
        }
        rows.sort_unstable();
        self.arcs.restore_in(target, pair, weight, self.states.iter_mut().map(|row| &mut row.into))?;
        for &(pair, rank, arc) in &rows {
            let row = &mut self.pairs[pair as usize];
            let next = State(target[arc as usize]);
            let mut out = row.out();
            if rank != out.len {
                return Err(problem(&format!("the successors of pair {pair} are not in order")));
            }
            self.arcs.add_out(Pair(pair), &mut out, next, crate::ArcId(arc));
            row.set_out(out);
        }
        Ok(())
    }
}
