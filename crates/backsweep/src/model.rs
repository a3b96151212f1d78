//! What was seen of the world, or is known of it.
//!
//! Every pair (s,a) has a weight W(s,a) and a sum of rewards; every arc (s,a,s') a weight w. The estimates of the paper's
//! equations (model1, model2) are P̂ = w/W and R̂ = reward sum / W. In a learned model each sample adds 1 to W and w, so
//! that the weights are the paper's counts, exact up to 2⁵³. In a known model W = 1 and the w are probabilities. Planners
//! see no difference.
//!
//! A step that terminated adds to W and to no arc: the mass of W that no arc carries leads to the end, whose value is 0.
//! (Departure 7.)

use crate::arcs::{Arcs, InList, NONE, OutList};
use crate::owners::Owners;
use crate::prefetch::prefetch_row;
use crate::{Action, ArcId, Error, Outcome, Pair, Result, State, Transition};

/// How far from 1 the probabilities of a pair may sum before they are refused.
const SUM_TOLERANCE: f64 = 1e-9;
/// Up to here `f64` counts without loss.
const MAX_WEIGHT: f64 = (1u64 << 53) as f64;

#[derive(Clone, Copy, Debug)]
pub(crate) struct StateRow {
    /// The state's pairs are `first_pair .. first_pair + n_actions`.
    pub first_pair: u32,
    pub n_actions: u32,
    /// The arcs into the state.
    pub into: InList,
}

impl StateRow {
    /// The state's pairs.
    #[inline]
    pub fn pairs(&self) -> std::ops::Range<usize> {
        self.first_pair as usize..(self.first_pair + self.n_actions) as usize
    }
}

/// The most states: ids of 32 bits, with room for the links of a queue.
pub(crate) const MAX_STATES: u32 = u32::MAX - (1 << 16);

#[derive(Clone, Copy, Debug)]
pub(crate) struct PairRow {
    /// W(s,a): not below 0, not above 2⁵³. Its arcs' weights sum to at most this.
    pub weight: f64,
    /// The sum of weighted rewards; exactly 0 if `weight` is 0.
    pub reward_sum: f64,
    /// The head of the list of arcs out of the pair.
    head: u32,
    /// Twice the number of arcs out of the pair, plus 1 if the row was set from known probabilities: the flag is kept here
    /// because a byte of its own would cost eight. No pair has 2³¹ arcs: each would need a block of its own.
    len_given: u32,
}

impl PairRow {
    pub const NEW: Self = Self { weight: 0.0, reward_sum: 0.0, head: NONE, len_given: 0 };

    /// The arcs out of the pair.
    #[inline(always)]
    pub fn out(&self) -> OutList {
        OutList { head: self.head, len: self.len_given >> 1 }
    }

    #[inline]
    pub fn set_out(&mut self, out: OutList) {
        self.head = out.head;
        self.len_given = out.len << 1 | self.len_given & 1;
    }

    /// Whether the row was set from known probabilities.
    #[inline(always)]
    pub fn is_given(&self) -> bool {
        self.len_given & 1 == 1
    }

    pub fn set_given(&mut self, given: bool) {
        self.len_given = self.len_given & !1 | u32::from(given);
    }
}

/// What [`Model::record`] did: all that a planner needs to restore its values in constant time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The pair whose row changed.
    pub pair: Pair,
    /// Its state.
    pub state: State,
    /// The arc that changed and the state it leads to; `None` for a step that terminated.
    pub next: Option<(State, ArcId)>,
    /// What was added to the weight of the pair (and of the arc); negative when a transition was taken back.
    pub weight: f64,
    /// What was added to the pair's sum of rewards.
    pub reward: f64,
    /// The pair's weight before.
    pub weight_before: f64,
    /// The pair's weight after.
    pub weight_after: f64,
}

/// A row that [`Model::add_action`] had to move: its pairs have new ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedRow {
    /// The id of the row's first pair before.
    pub from: Pair,
    /// The id of the row's first pair now.
    pub to: Pair,
    /// How many pairs moved.
    pub n_pairs: u32,
}

/// A successor of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Successor {
    /// The next state.
    pub state: State,
    /// How often it was seen, or its probability: w(s,a,s').
    pub weight: f64,
    /// The arc's id.
    pub arc: ArcId,
}

/// A predecessor of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predecessor {
    /// The pair that leads to the state.
    pub pair: Pair,
    /// How often it did, or with which probability: w(s,a,s').
    pub weight: f64,
    /// The arc's id.
    pub arc: ArcId,
}

/// A model of a world, learned from transitions or given by its probabilities.
///
/// ```
/// use backsweep::{Action, Model, Next, State, Transition};
/// let mut model = Model::with_states([2, 1])?;
/// let (start, left) = (State(0), Action(0));
/// for next in [Next::Continue(State(1)), Next::Continue(State(0)), Next::Continue(State(1)), Next::Terminated] {
///     model.record(&Transition { state: start, action: left, reward: 1.0, next })?;
/// }
/// let pair = model.pair(start, left)?;
/// assert_eq!(model.weight(pair), 4.0);
/// assert_eq!(model.successors(pair).map(|s| s.weight).sum::<f64>(), 3.0); // the rest ended
/// # Ok::<(), backsweep::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub(crate) states: Vec<StateRow>,
    pub(crate) pairs: Vec<PairRow>,
    pub(crate) owners: Owners,
    pub(crate) arcs: Arcs,
    /// A pair's row is recorded up to this weight and then frozen (R-max).
    freeze_at: Option<u32>,
}

impl Model {
    /// A model without states.
    pub fn new() -> Self {
        Self::default()
    }

    /// A model with one state for each number, which says how many actions the state has.
    ///
    /// # Errors
    /// If there are more states or pairs than ids of 32 bits.
    pub fn with_states(n_actions: impl IntoIterator<Item = usize>) -> Result<Self> {
        let mut model = Self::new();
        for n in n_actions {
            model.add_state(n)?;
        }
        Ok(model)
    }

    /// Freezes every pair from its `visits`-th visit on: later transitions of it are not recorded. With an optimism of
    /// as many visits this is R-max. Departure 14.
    pub fn frozen_at(mut self, visits: u32) -> Self {
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
        if self.states.len() >= MAX_STATES as usize {
            return Err(Error::Full { what: "states", limit: u64::from(MAX_STATES) });
        }
        if first_pair + n_actions >= (u32::MAX - 1) as usize {
            return Err(Error::Full { what: "state-action pairs", limit: u64::from(u32::MAX - 1) });
        }
        let state = State(self.states.len() as u32);
        self.pairs.resize(first_pair + n_actions, PairRow::NEW);
        self.owners.push(state.0, first_pair, n_actions);
        self.states.push(StateRow {
            first_pair: first_pair as u32,
            n_actions: n_actions as u32,
            into: InList::EMPTY,
        });
        Ok(state)
    }

    /// Adds an action to a state and returns the row that had to move for it, if any: planners must be told
    /// ([`crate::Planner::row_moved`]) before they are used again.
    ///
    /// # Complexity
    /// O(arcs of the state's pairs). The ids of a moved row are not used again.
    pub fn add_action(&mut self, state: State) -> Result<Option<MovedRow>> {
        let row = *self.state_row(state)?;
        if self.pairs.len() + row.n_actions as usize + 1 >= (u32::MAX - 1) as usize {
            return Err(Error::Full { what: "state-action pairs", limit: u64::from(u32::MAX - 1) });
        }
        let mut moved = None;
        let end = row.first_pair + row.n_actions;
        if end as usize == self.pairs.len() {
            self.owners.move_row(state.0, end as usize, 0, end as usize);
        } else {
            self.owners.move_row(state.0, row.first_pair as usize, row.n_actions as usize, self.pairs.len());
            let to = self.pairs.len() as u32;
            for i in 0..row.n_actions {
                let from = (row.first_pair + i) as usize;
                let pair = std::mem::replace(&mut self.pairs[from], PairRow::NEW);
                self.arcs.rename_pair(Pair(from as u32), Pair(to + i), pair.out());
                self.pairs.push(pair);
            }
            self.states[state.index()].first_pair = to;
            moved = Some(MovedRow { from: Pair(row.first_pair), to: Pair(to), n_pairs: row.n_actions });
        }
        self.pairs.push(PairRow::NEW);
        self.states[state.index()].n_actions += 1;
        Ok(moved)
    }

    /// How many states there are.
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// How many pair ids there are: every pair's id is below this. Ids of rows that were moved are among them, without
    /// weight.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// How many different (state, action, next state) were seen or are known.
    pub fn n_arcs(&self) -> usize {
        self.arcs.n_arcs
    }

    /// One above the largest arc id.
    pub fn arc_bound(&self) -> usize {
        self.arcs.blocks.len() * crate::arcs::IN_BLOCK as usize
    }

    /// How many actions a state has; 0 if there is no such state.
    pub fn n_actions(&self, state: State) -> usize {
        self.states.get(state.index()).map_or(0, |row| row.n_actions as usize)
    }

    /// The id of a pair, or the error that says which of the two does not exist.
    pub fn pair(&self, state: State, action: Action) -> Result<Pair> {
        let row = self.state_row(state)?;
        if row.n_actions == 0 {
            return Err(Error::Terminal { state });
        }
        if action.0 >= row.n_actions {
            return Err(Error::NoSuchAction { state, action, n_actions: row.n_actions as usize });
        }
        Ok(Pair(row.first_pair + action.0))
    }

    /// The pairs of a state, in the order of its actions; none if there is no such state.
    pub fn pairs(&self, state: State) -> impl ExactSizeIterator<Item = Pair> + use<> {
        let row = self.states.get(state.index());
        row.map_or(0..0, |row| row.first_pair..row.first_pair + row.n_actions).map(Pair)
    }

    /// All states.
    pub fn states(&self) -> impl ExactSizeIterator<Item = State> + use<> {
        (0..self.states.len() as u32).map(State)
    }

    /// The state of a pair that exists.
    ///
    /// # Panics
    /// If the pair does not exist.
    pub fn state_of(&self, pair: Pair) -> State {
        assert!(pair.index() < self.pairs.len(), "there is no pair {}", pair.0);
        State(self.owners.of(pair.0))
    }

    /// The action of a pair that exists.
    ///
    /// # Panics
    /// If the pair does not exist.
    pub fn action_of(&self, pair: Pair) -> Action {
        Action(pair.0 - self.states[self.state_of(pair).index()].first_pair)
    }

    /// W(s,a): how often the pair was seen, or 1 for a known one. 0 if there is no such pair.
    pub fn weight(&self, pair: Pair) -> f64 {
        self.pairs.get(pair.index()).map_or(0.0, |row| row.weight)
    }

    /// Whether the pair's row was given by its probabilities and not learned.
    pub fn is_given(&self, pair: Pair) -> bool {
        self.pairs.get(pair.index()).is_some_and(PairRow::is_given)
    }

    /// R̂(s,a), the mean reward; 0 for a pair without weight.
    pub fn mean_reward(&self, pair: Pair) -> f64 {
        self.pairs
            .get(pair.index())
            .map_or(0.0, |row| if row.weight > 0.0 { row.reward_sum / row.weight } else { 0.0 })
    }

    /// The sum of the weighted rewards of a pair.
    pub fn reward_sum(&self, pair: Pair) -> f64 {
        self.pairs.get(pair.index()).map_or(0.0, |row| row.reward_sum)
    }

    /// The successors of a pair. The probability of one is its weight by the pair's [`weight`](Self::weight).
    ///
    /// Successors whose weight has been taken back to 0 are still listed.
    ///
    /// # Complexity
    /// O(1) each.
    pub fn successors(&self, pair: Pair) -> impl Iterator<Item = Successor> {
        let list = self.pairs.get(pair.index()).map_or(OutList::EMPTY, PairRow::out);
        self.arcs.out(list).map(|(state, arc)| Successor { state, weight: self.arcs.weight(arc), arc })
    }

    /// How many successors a pair has.
    pub fn n_successors(&self, pair: Pair) -> usize {
        self.pairs.get(pair.index()).map_or(0, |row| row.out().len as usize)
    }

    /// The pairs that lead to a state.
    ///
    /// # Complexity
    /// O(1) each.
    pub fn predecessors(&self, state: State) -> impl Iterator<Item = Predecessor> {
        let list = self.states.get(state.index()).map_or(&InList::EMPTY, |row| &row.into);
        self.arcs.incoming(list).map(|(pair, weight, arc)| Predecessor { pair, weight, arc })
    }

    /// How many pairs lead to a state.
    pub fn n_predecessors(&self, state: State) -> usize {
        self.states.get(state.index()).map_or(0, |row| row.into.len as usize)
    }

    /// Adds one observed transition (Algorithm 2, line 9). `None` if the pair is frozen and nothing changed.
    ///
    /// # Complexity
    /// O(1).
    ///
    /// # Errors
    /// A state or action that does not exist, a step out of a terminal state, a reward that is not finite. The model is
    /// then as it was.
    #[inline]
    pub fn record(&mut self, transition: &Transition) -> Result<Option<Change>> {
        self.change(transition, 1.0)
    }

    /// Takes back one transition that was [`record`](Self::record)ed.
    ///
    /// # Complexity
    /// O(1); O(successors of the pair) for one that terminated.
    ///
    /// # Errors
    /// As for `record`, and if no such transition was recorded.
    pub fn forget(&mut self, transition: &Transition) -> Result<Option<Change>> {
        self.change(transition, -1.0)
    }

    /// Adds a transition that counts as `weight` observations, or takes it back if the weight is negative.
    ///
    /// # Complexity
    /// O(1).
    ///
    /// # Errors
    /// As for [`record`](Self::record) and [`forget`](Self::forget), and if the weight is 0 or not finite.
    pub fn record_weighted(&mut self, transition: &Transition, weight: f64) -> Result<Option<Change>> {
        self.change(transition, weight)
    }

    /// Compiled for each of its callers: of a plain observation's weight nothing has to be tested.
    #[inline(always)]
    fn change(&mut self, transition: &Transition, weight: f64) -> Result<Option<Change>> {
        let &Transition { state, action, reward, next } = transition;
        let pair = self.pair(state, action)?;
        if !weight.is_finite() || weight == 0.0 {
            return Err(Error::Weight { state, action, found: weight });
        }
        if !reward.is_finite() {
            return Err(Error::Reward { state, action, found: reward });
        }
        let next = match next.state() {
            Some(next) => {
                let row = self.state_row(next)?;
                self.arcs.prefetch(&row.into);
                Some(next)
            }
            None => None,
        };
        let row = self.pairs[pair.index()];
        if weight > 0.0 && self.freeze_at.is_some_and(|m| row.weight >= f64::from(m)) {
            return Ok(None);
        }
        let weight_after = row.weight + weight;
        if weight_after > MAX_WEIGHT {
            return Err(Error::Full { what: "observations of one pair", limit: 1 << 53 });
        }
        let reward_sum = row.reward_sum + reward * weight;
        if !reward_sum.is_finite() {
            // The reward by itself is a number; together with its weight or with those before it is none.
            return Err(Error::Reward { state, action, found: reward_sum });
        }
        if !self.arcs.has_room(1) {
            return Err(Error::Full { what: "arcs", limit: Arcs::MAX_BLOCKS as u64 });
        }
        let found = next.and_then(|next| self.find_arc(pair, next));
        if weight < 0.0 {
            let recorded = match (next, found) {
                (Some(_), Some(arc)) => self.arcs.weight(arc),
                (Some(_), None) => 0.0,
                (None, _) => row.weight - self.successors(pair).map(|s| s.weight).sum::<f64>(),
            };
            if recorded < -weight || weight_after < 0.0 {
                return Err(Error::NotRecorded { state, action, taken: -weight, recorded });
            }
        }
        let next = match (next, found) {
            (None, _) => None,
            (Some(next), Some(arc)) => Some((next, arc)),
            (Some(next), None) => Some((next, self.add_arc(pair, next)?)),
        };
        if let Some((_, arc)) = next {
            self.arcs.add_weight(arc, weight);
        }
        let row = &mut self.pairs[pair.index()];
        let change = Change {
            pair,
            state,
            next,
            weight,
            reward: reward * weight,
            weight_before: row.weight,
            weight_after,
        };
        row.weight = weight_after;
        row.reward_sum = if weight_after == 0.0 { 0.0 } else { reward_sum };
        if let Some((next, _)) = next {
            // Most likely the next observation begins there.
            let first = self.states[next.index()].first_pair as usize;
            prefetch_row(&self.pairs, first);
        }
        Ok(Some(change))
    }

    /// Sets the outcomes of a pair from known probabilities, in place of all that the model held for it. Outcomes with the
    /// same next state are added up; probabilities within 1e-9 of summing to 1 are normalised. Planners must be told
    /// ([`crate::Planner::refresh`]).
    ///
    /// ```
    /// use backsweep::{Action, Model, Next, Outcome, State};
    /// let mut model = Model::with_states([1])?;
    /// let stay = Outcome { probability: 0.75, reward: -1.0, next: Next::Continue(State(0)) };
    /// let end = Outcome { probability: 0.25, reward: -1.0, next: Next::Terminated };
    /// let pair = model.set_outcomes(State(0), Action(0), &[stay, end])?;
    /// assert_eq!(model.mean_reward(pair), -1.0);
    /// # Ok::<(), backsweep::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(old and new successors of the pair).
    ///
    /// # Errors
    /// A state or action that does not exist, a reward that is not finite, a probability outside `[0, 1]`, a sum other than
    /// 1. The model is then as it was.
    pub fn set_outcomes(&mut self, state: State, action: Action, outcomes: &[Outcome]) -> Result<Pair> {
        let pair = self.pair(state, action)?;
        let mut sum = 0.0;
        for &Outcome { probability, reward, next } in outcomes {
            if !(0.0..=1.0).contains(&probability) {
                return Err(Error::Probability { state, action, found: probability });
            }
            if !reward.is_finite() {
                return Err(Error::Reward { state, action, found: reward });
            }
            if let Some(next) = next.state() {
                self.state_row(next)?;
            }
            sum += probability;
        }
        if sum.is_nan() || (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(Error::ProbabilitySum { state, action, found: sum });
        }
        if !self.arcs.has_room(outcomes.len()) {
            return Err(Error::Full { what: "arcs", limit: Arcs::MAX_BLOCKS as u64 });
        }
        let old: Vec<ArcId> = self.successors(pair).map(|s| s.arc).collect();
        for arc in old {
            self.arcs.set_weight(arc, 0.0);
        }
        let mut reward_sum = 0.0;
        for &Outcome { probability, reward, next } in outcomes {
            let p = probability / sum;
            reward_sum += p * reward;
            if let Some(next) = next.state() {
                let arc = match self.find_arc(pair, next) {
                    Some(arc) => arc,
                    None => self.add_arc(pair, next)?,
                };
                self.arcs.add_weight(arc, p);
            }
        }
        let row = &mut self.pairs[pair.index()];
        row.weight = 1.0;
        row.reward_sum = reward_sum;
        row.set_given(true);
        Ok(pair)
    }

    /// A state from which some policy can go on for ever, or `None` if every policy ends with probability 1. Pairs without
    /// weight count as ending: their value is a constant.
    ///
    /// # Complexity
    /// O(states + pairs + arcs).
    pub fn endless_state(&self) -> Option<State> {
        // A state can avoid the end if one of its pairs has no mass that ends and all its successors can avoid it. Begin
        // with all states and take away those that cannot.
        let mut escapes = vec![0u32; self.pairs.len()]; // successors of the pair that cannot avoid the end
        let mut open = vec![0u32; self.states.len()]; // pairs of the state that still avoid it
        for (i, pair) in self.pairs.iter().enumerate() {
            let state = self.owners.of(i as u32);
            if state == NONE || pair.weight <= 0.0 {
                continue;
            }
            let carried: f64 = self.arcs.out(pair.out()).map(|(_, arc)| self.arcs.weight(arc)).sum();
            if pair.weight - carried > SUM_TOLERANCE * pair.weight {
                escapes[i] = 1;
            } else {
                open[state as usize] += 1;
            }
        }
        let mut gone: Vec<u32> = (0..self.states.len() as u32).filter(|&s| open[s as usize] == 0).collect();
        let mut is_gone: Vec<bool> = open.iter().map(|&n| n == 0).collect();
        while let Some(state) = gone.pop() {
            for (pair, weight, _) in self.arcs.incoming(&self.states[state as usize].into) {
                let row = &self.pairs[pair.index()];
                if weight > 0.0 && row.weight > 0.0 {
                    escapes[pair.index()] += 1;
                    if escapes[pair.index()] == 1 {
                        let state = self.owners.of(pair.0);
                        open[state as usize] -= 1;
                        if open[state as usize] == 0 {
                            is_gone[state as usize] = true;
                            gone.push(state);
                        }
                    }
                }
            }
        }
        is_gone.iter().position(|&gone| !gone).map(|s| State(s as u32))
    }

    /// Bytes in use for states, pairs and arcs (filled, not reserved).
    pub fn bytes(&self) -> usize {
        self.row_bytes() + self.arcs.bytes()
    }

    /// Bytes in use for states and pairs.
    pub(crate) fn row_bytes(&self) -> usize {
        size_of_val(&self.states[..]) + size_of_val(&self.pairs[..]) + self.owners.bytes()
    }

    #[inline]
    fn find_arc(&self, pair: Pair, next: State) -> Option<ArcId> {
        self.arcs.find(pair, self.pairs[pair.index()].out(), next, &self.states[next.index()].into)
    }

    fn add_arc(&mut self, pair: Pair, next: State) -> Result<ArcId> {
        if !self.arcs.has_room(1) {
            return Err(Error::Full { what: "arcs", limit: Arcs::MAX_BLOCKS as u64 });
        }
        let row = &mut self.pairs[pair.index()];
        let mut out = row.out();
        let arc = self.arcs.add(pair, &mut out, next, &mut self.states[next.index()].into);
        row.set_out(out);
        Ok(arc)
    }

    fn state_row(&self, state: State) -> Result<&StateRow> {
        self.states.get(state.index()).ok_or(Error::NoSuchState { state, n_states: self.states.len() })
    }
}
