//! Pairs that the recommending planner has yet to absorb: only one mark per observation until a recommendation is requested.

use crate::planner::{Model, Pair, Planner, Snapshot};
use crate::{Error, Result};

#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// In the order in which they were touched, each once.
    pairs: Vec<Pair>,
    /// True if each pair is among them.
    is_pending: Vec<bool>,
}

impl Pending {
    /// Marks a pair, and makes room for what is new in the model: what is stored of a planner fits the model at any time,
    /// although the planner absorbs the pair only later.
    #[inline]
    pub fn push(&mut self, model: &Model, planner: &mut dyn Planner, pair: Pair) {
        planner.grow(model);
        self.mark(pair);
    }

    #[inline]
    fn mark(&mut self, pair: Pair) {
        if self.is_pending.len() <= pair.index() {
            self.is_pending.resize(pair.index() + 1, false);
        }
        if !std::mem::replace(&mut self.is_pending[pair.index()], true) {
            self.pairs.push(pair);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Passes all of it to the planner: one full backup per pair.
    pub fn flush(&mut self, model: &Model, planner: &mut dyn Planner) {
        planner.refresh_all(model, &self.pairs);
        for pair in self.pairs.drain(..) {
            self.is_pending[pair.index()] = false;
        }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.pairs[..]) + self.is_pending.len()
    }

    /// Stores the pairs, each with the scale that fits its weight, in place of the outdated one that the planner does not
    /// use before it absorbs the pair: a scale that does not fit the model would be refused.
    pub fn store(&self, model: &Model, planner: &dyn Planner, snapshot: &mut Snapshot) {
        snapshot.put("explore.pending", self.pairs.iter().map(|pair| pair.0).collect::<Vec<u32>>());
        if let Ok(scales) = snapshot.f64s("values.scale") {
            let mut scales = scales.to_vec();
            for &pair in &self.pairs {
                let values = planner.values();
                let is_known = values.is_known(model, pair);
                let scale = if is_known { values.discount() / model.weight(pair) } else { 0.0 };
                scales[pair.index()] = scale.copysign(scales[pair.index()]);
            }
            snapshot.put("values.scale", scales);
        }
    }

    pub fn restore(model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut pending = Self::default();
        for &pair in snapshot.u32s("explore.pending")? {
            if !model.is_in_use(Pair(pair)) {
                let problem = format!("pair {pair} does not exist");
                return Err(Error::Snapshot { part: "explore.pending".into(), problem });
            }
            pending.mark(Pair(pair));
        }
        Ok(pending)
    }
}
