//! The model: what was observed of an environment, or is known about it.
//!
//! Every pair (s,a) has a weight W(s,a) and a sum of rewards; every arc (s,a,s') a weight w. The
//! estimates of the paper's equations (model1, model2) are P̂ = w/W and R̂ = reward sum / W. In a
//! learned model each sample adds 1 to W and w, so that the weights are the paper's counts, exact
//! up to 2⁵³. In a known model W = 1 and the w are probabilities. Planners see no difference.
//!
//! A step that terminated adds to W and to no arc: the part of W that no arc carries leads to the
//! end, whose value is 0. (Departure 7.)
//!
//! Only this module and those below it write a model: `record.rs` what is observed, `rescale.rs`
//! what is scaled or drawn, `snapshot.rs` what is restored. `reads.rs` has what planners read.

mod reads;
mod record;
mod rescale;
mod snapshot;

pub use record::{Change, MAX_REWARD, MIN_WEIGHT};

use crate::store::{Arcs, InList, NONE, OutList, PairStates, Sparse, Sum};
use crate::{Action, ArcId, Error, Pair, Result, State};

#[derive(Clone, Copy, Debug)]
struct StateRecord {
    /// The state's pairs are `first_pair .. first_pair + n_actions`.
    first_pair: u32,
    n_actions: u32,
    /// The arcs into the state.
    into: InList,
}

/// The most states: ids of 32 bits, with room for the links of a queue.
const MAX_STATES: u32 = u32::MAX - (1 << 16);

#[derive(Clone, Copy, Debug)]
pub(crate) struct PairRecord {
    /// W(s,a), from 0 to 2⁵³. Its arcs' weights sum to at most this, up to rounding.
    weight: f64,
    /// The sum of weighted rewards; exactly 0 if `weight` is 0.
    reward_sum: f64,
    /// The head of the list of arcs out of the pair.
    head: u32,
    /// Twice the number of arcs out of the pair, plus 1 if the probabilities are known: the flag is
    /// kept here because a separate byte would cost eight. No pair has 2³¹ arcs: each would need a
    /// block of its own.
    len_and_given: u32,
}

impl PairRecord {
    const NEW: Self = Self { weight: 0.0, reward_sum: 0.0, head: NONE, len_and_given: 0 };

    /// W(s,a).
    #[inline(always)]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The sum of weighted rewards.
    #[inline(always)]
    pub fn reward_sum(&self) -> f64 {
        self.reward_sum
    }

    /// The number of successors of the pair.
    #[inline(always)]
    pub fn n_successors(&self) -> usize {
        (self.len_and_given >> 1) as usize
    }

    /// Returns whether the pair has known probabilities.
    #[inline(always)]
    pub fn is_given(&self) -> bool {
        self.len_and_given & 1 == 1
    }

    #[inline(always)]
    fn out(&self) -> OutList {
        OutList { head: self.head, len: self.len_and_given >> 1 }
    }

    #[inline]
    fn set_out(&mut self, out: OutList) {
        self.head = out.head;
        self.len_and_given = out.len << 1 | self.len_and_given & 1;
    }

    fn set_given(&mut self, given: bool) {
        self.len_and_given = self.len_and_given & !1 | u32::from(given);
    }
}

/// The pairs of a state that [`Model::add_action`] had to move: they have new ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedPairs {
    /// The id of the first of them before.
    pub from: Pair,
    /// The id of the first of them now.
    pub to: Pair,
    /// The number of pairs that moved.
    pub n_pairs: u32,
}

/// A successor of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Successor {
    /// The next state.
    pub state: State,
    /// The number of times it was seen, or its probability: w(s,a,s').
    pub weight: f64,
    /// The arc's id.
    pub arc: ArcId,
}

/// A predecessor of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predecessor {
    /// The pair that leads to the state.
    pub pair: Pair,
    /// The number of times it did, or its probability: w(s,a,s').
    pub weight: f64,
    /// The arc's id.
    pub arc: ArcId,
}

/// A model of a world, learned from transitions or given by its probabilities.
///
/// ```
/// use backsweep_core::{Action, Model, Next, State, Transition};
/// let mut model = Model::with_states([2, 1])?;
/// let (start, left) = (State(0), Action(0));
/// for next in [Next::Continue(State(1)), Next::Continue(State(0)), Next::Continue(State(1)), Next::Terminated] {
///     model.record(&Transition { state: start, action: left, reward: 1.0, next })?;
/// }
/// let pair = model.pair(start, left)?;
/// assert_eq!(model.weight(pair), 4.0);
/// assert_eq!(model.successors(pair).map(|s| s.weight).sum::<f64>(), 3.0); // the rest ended
/// # Ok::<(), backsweep_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Model {
    states: Vec<StateRecord>,
    pairs: Vec<PairRecord>,
    pair_states: PairStates,
    arcs: Arcs,
    /// The weight of each pair that ended.
    ended: Sparse<Sum>,
    /// The [rest](Sum::rest) of each pair's weight: nothing for counts.
    weight_rest: Sparse<[f64; 2]>,
    /// The rest of each pair's reward sum: nothing for whole numbers.
    reward_rest: Sparse<[f64; 2]>,
    /// A pair is recorded up to this weight and then frozen (R-max).
    freeze_at: Option<u32>,
}

impl Model {
    /// A model without states.
    pub fn new() -> Self {
        Self::default()
    }

    /// A model with one state per number, which is its number of actions.
    ///
    /// # Errors
    /// If there are more states or pairs than 32-bit ids.
    pub fn with_states(n_actions: impl IntoIterator<Item = usize>) -> Result<Self> {
        let mut model = Self::new();
        for n in n_actions {
            model.add_state(n)?;
        }
        Ok(model)
    }

    /// Freezes every pair from its `visits`-th visit on: later transitions of it are not recorded.
    /// With an optimism of the same number of visits this is R-max. Departure 14.
    pub fn with_freeze_at(mut self, visits: u32) -> Self {
        self.freeze_at = Some(visits);
        self
    }

    /// The number of visits at which pairs are frozen, if they are.
    pub fn freeze_at(&self) -> Option<u32> {
        self.freeze_at
    }

    /// Adds a state. Its number of actions may be 0: such a state is terminal, worth 0.
    ///
    /// # Complexity
    /// O(actions).
    pub fn add_state(&mut self, n_actions: usize) -> Result<State> {
        let first_pair = self.pairs.len();
        self.check_room(1, n_actions)?;
        let state = State(self.states.len() as u32);
        self.pairs.resize(first_pair + n_actions, PairRecord::NEW); // l.3
        self.pair_states.push(state.0, first_pair, n_actions);
        self.states.push(StateRecord {
            first_pair: first_pair as u32,
            n_actions: n_actions as u32,
            into: InList::EMPTY,
        });
        Ok(state)
    }

    /// Returns whether there is room for more states that have so many actions together.
    ///
    /// # Errors
    /// If there is not.
    pub fn check_room(&self, n_states: usize, n_actions: usize) -> Result<()> {
        if self.states.len().saturating_add(n_states) > MAX_STATES as usize {
            return Err(Error::Full { what: "states", limit: u64::from(MAX_STATES) });
        }
        if self.pairs.len().saturating_add(n_actions) >= (u32::MAX - 1) as usize {
            return Err(Error::Full { what: "state-action pairs", limit: u64::from(u32::MAX - 1) });
        }
        Ok(())
    }

    /// Adds an action to a state and returns the pairs that had to move for it, if any: planners
    /// must be notified ([`crate::Planner::pairs_moved`]) before they are used again.
    ///
    /// # Complexity
    /// O(arcs of the state's pairs). The ids left behind are not reused.
    pub fn add_action(&mut self, state: State) -> Result<Option<MovedPairs>> {
        let record = *self.state_record(state)?;
        self.check_room(0, record.n_actions as usize + 1)?;
        let mut moved = None;
        let end = record.first_pair + record.n_actions;
        if end as usize == self.pairs.len() {
            self.pair_states.move_pairs(state.0, end as usize, 0, end as usize);
        } else {
            self.pair_states.move_pairs(
                state.0,
                record.first_pair as usize,
                record.n_actions as usize,
                self.pairs.len(),
            );
            let to = self.pairs.len() as u32;
            for i in 0..record.n_actions {
                let from = (record.first_pair + i) as usize;
                let pair = std::mem::replace(&mut self.pairs[from], PairRecord::NEW);
                self.arcs.rename_pair(Pair(from as u32), Pair(to + i), pair.out());
                self.ended.rename(from, (to + i) as usize);
                self.weight_rest.rename(from, (to + i) as usize);
                self.reward_rest.rename(from, (to + i) as usize);
                self.pairs.push(pair);
            }
            self.states[state.index()].first_pair = to;
            moved =
                Some(MovedPairs { from: Pair(record.first_pair), to: Pair(to), n_pairs: record.n_actions });
        }
        self.pairs.push(PairRecord::NEW);
        self.states[state.index()].n_actions += 1;
        Ok(moved)
    }

    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// The number of pair ids: every pair's id is below this. This includes ids left behind by
    /// [`add_action`](Self::add_action), which have no weight.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The number of actions of a state; 0 if there is no such state.
    pub fn n_actions(&self, state: State) -> usize {
        self.states.get(state.index()).map_or(0, |record| record.n_actions as usize)
    }

    /// The id of a pair, or an error that says which of the two does not exist.
    #[inline]
    pub fn pair(&self, state: State, action: Action) -> Result<Pair> {
        let record = self.state_record(state)?;
        if record.n_actions == 0 {
            return Err(Error::Terminal { state });
        }
        if action.0 >= record.n_actions {
            return Err(Error::NoSuchAction { state, action, n_actions: record.n_actions as usize });
        }
        Ok(Pair(record.first_pair + action.0))
    }

    /// The pairs of a state, in the order of its actions; none if there is no such state.
    #[inline]
    pub fn pairs(&self, state: State) -> impl ExactSizeIterator<Item = Pair> + use<> {
        let record = self.states.get(state.index());
        record.map_or(0..0, |record| record.first_pair..record.first_pair + record.n_actions).map(Pair)
    }

    /// All states.
    pub fn states(&self) -> impl ExactSizeIterator<Item = State> + use<> {
        (0..self.states.len() as u32).map(State)
    }

    /// The state of a pair that exists.
    ///
    /// # Panics
    /// If the pair does not exist.
    #[inline]
    pub fn state_of(&self, pair: Pair) -> State {
        assert!(pair.index() < self.pairs.len(), "there is no pair {}", pair.0);
        State(self.pair_states.of_slot(pair.slot()))
    }

    /// The action of a pair that exists.
    ///
    /// # Panics
    /// If the pair does not exist.
    pub fn action_of(&self, pair: Pair) -> Action {
        Action(pair.0 - self.states[self.state_of(pair).index()].first_pair)
    }

    /// W(s,a): how often the pair was seen, or 1 for a known one. 0 if there is no such pair.
    #[inline]
    pub fn weight(&self, pair: Pair) -> f64 {
        self.pairs.get(pair.index()).map_or(0.0, |record| record.weight)
    }

    /// The part of the pair's weight that ended: how often a step terminated, or the probability
    /// that it does.
    pub fn ended_weight(&self, pair: Pair) -> f64 {
        self.ended.get(pair.index()).high
    }

    /// Returns whether the pair was given by its probabilities and not learned.
    pub fn is_given(&self, pair: Pair) -> bool {
        self.pairs.get(pair.index()).is_some_and(PairRecord::is_given)
    }

    /// R̂(s,a), the mean reward; 0 for a pair without weight.
    pub fn mean_reward(&self, pair: Pair) -> f64 {
        self.pairs
            .get(pair.index())
            .map_or(0.0, |record| if record.weight > 0.0 { record.reward_sum / record.weight } else { 0.0 })
    }

    /// The sum of the weighted rewards of a pair.
    #[inline]
    pub fn reward_sum(&self, pair: Pair) -> f64 {
        self.pairs.get(pair.index()).map_or(0.0, |record| record.reward_sum)
    }

    /// The successors of a pair. Its probability is its weight divided by the pair's
    /// [`weight`](Self::weight).
    ///
    /// Successors whose weight has fallen to 0 are still listed.
    ///
    /// # Complexity
    /// O(1) each.
    pub fn successors(&self, pair: Pair) -> impl Iterator<Item = Successor> {
        let record = self.pairs.get(pair.index()).unwrap_or(&PairRecord::NEW);
        self.arcs.out(record.out()).map(|(state, arc)| Successor {
            state,
            weight: self.arcs.weight(arc),
            arc,
        })
    }

    /// The number of successors of a pair.
    #[inline]
    pub fn n_successors(&self, pair: Pair) -> usize {
        self.pairs.get(pair.index()).map_or(0, |record| record.out().len as usize)
    }

    /// The pairs that lead to a state.
    ///
    /// # Complexity
    /// O(1) each.
    #[inline]
    pub fn predecessors(&self, state: State) -> impl Iterator<Item = Predecessor> {
        let list = self.states.get(state.index()).map_or(&InList::EMPTY, |record| &record.into);
        self.arcs.incoming(list).map(|(pair, weight, arc)| Predecessor { pair, weight, arc })
    }

    /// The number of pairs that lead to a state.
    pub fn n_predecessors(&self, state: State) -> usize {
        self.states.get(state.index()).map_or(0, |record| record.into.len as usize)
    }

    #[inline]
    fn find_arc(&self, pair: Pair, next: State) -> Option<ArcId> {
        self.arcs.find(pair, self.pairs[pair.index()].out(), next, &self.states[next.index()].into)
    }

    /// Adds an arc that does not exist yet, if there is room.
    fn add_arc(&mut self, pair: Pair, next: State) -> ArcId {
        let arc = self.arcs.add_in(pair, next, &mut self.states[next.index()].into);
        self.add_to_successors(pair, next, arc);
        arc
    }

    /// Adds an arc that is in its predecessor list to the successors of its pair.
    fn add_to_successors(&mut self, pair: Pair, next: State, arc: ArcId) {
        let record = &mut self.pairs[pair.index()];
        let mut out = record.out();
        self.arcs.add_out(pair, &mut out, next, arc);
        record.set_out(out);
    }

    #[inline]
    fn state_record(&self, state: State) -> Result<&StateRecord> {
        match self.states.get(state.index()) {
            Some(record) => Ok(record),
            None => Err(Error::NoSuchState { state, n_states: self.states.len() }),
        }
    }
}
