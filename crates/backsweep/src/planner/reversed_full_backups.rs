//! Prioritized sweeping with reversed full backups (van Seijen & Sutton, ICML 2013, Algorithm 2). The default planner.
//!
//! Computes the optimal values of the model. U(s) is the value of s that its predecessors have last seen. Invariants, after
//! every call:
//!   * Q(s,a) = R̂ + γ Σ P̂ U(s') for every pair seen often enough (up to rounding, see "Refresh");
//!   * V(s) = max Q(s,·), exactly;
//!   * s is queued with priority |V(s) − U(s)| if and only if that is above the threshold.
//!
//! An update cycle takes the top state t and makes U(t) = V(t): every pair that leads to t receives one small backup. No pop
//! is ever wasted. Cost: O(predecessors of t), plus O(actions) for each whose greedy action got worse.
//!
//! **The greedy pair of each state is remembered** as the sign of its scale (Departure 9): a small backup that lowers another pair
//! touches one cache line and is done.
//!
//! **A cycle can be cut.** The pass keeps its state t, the old U(t) and the next block of predecessors; a pair not yet
//! reached counts as still holding the old U. Arcs added meanwhile go in front of the cursor and see the new U.
//!
//! **Refresh.** Rounding errors of the running sums are taken out by exact recomputation: of a pair at visits 8, 16, 32 …;
//! of all predecessors of a state whose value has fallen to a thousandth of its peak, or changed by no more than rounding can
//! keep alive; and of one pair in turn for every
//! thousand small backups a successor (amortised O(1)).

use super::PlannerKind;
use super::pass::Pass;
use super::swept::{Core, Kind, Stretch, Swept};
use crate::arcs::IN_BLOCK;
use crate::prefetch::prefetch;
use crate::queue::Queue;
use crate::values::StateValue;
use crate::{Model, MovedRow, Pair, Result, Snapshot, State};

/// Reversed full backups: the planner to use unless there is a reason for another.
///
/// ```
/// use backsweep::planner::{Planner, ReversedFullBackups, plan};
/// use backsweep::{Action, Budget, Model, Next, Outcome, Settings, State};
/// // A known problem: wait (reward -1, half of the time) or leave.
/// let mut model = Model::with_states([1]).unwrap();
/// let wait = Outcome { probability: 0.5, reward: -1.0, next: Next::Continue(State(0)) };
/// let leave = Outcome { probability: 0.5, reward: -1.0, next: Next::Terminated };
/// model.set_outcomes(State(0), Action(0), &[wait, leave]).unwrap();
/// let mut planner = ReversedFullBackups::new(Settings { discount: 0.9, ..Settings::default() }).unwrap();
/// planner.grow(&model);
/// plan(&mut planner, &model, Budget::exhaust());
/// assert!((planner.values().value(State(0)) + 1.0 / 0.55).abs() < 1e-6);
/// ```
pub type ReversedFullBackups = Swept<Reversed>;

/// Reversed full backups keep nothing besides: U, the greedy mark and the bound on the second-best are part of the values.
#[derive(Clone, Debug, Default)]
pub struct Reversed;

/// How far the bound on the second-best pair of a state is set ahead of it towards the best.
const HEADROOM: f64 = 0.75;

/// Pairs that are gathered before their states are seen to, at the most.
const TOUCHED: usize = 64;
/// The blocks after which their states are seen to: so many, whatever was gathered, so that what is done and in which order does not
/// depend on `second`, which snapshots do not hold.
const TOUCHED_BLOCKS: usize = TOUCHED / IN_BLOCK as usize;

impl Core<Reversed> {
    /// Restores the priority of a state after its V or U changed.
    #[inline(always)]
    fn set_priority(&self, queue: &mut impl Queue, state: u32) {
        let value = &self.values.states[state as usize];
        queue.set_above(self.threshold, state, (value.v - value.u).abs());
    }

    #[inline]
    fn restore_maxima(&mut self, model: &Model, queue: &mut impl Queue, pairs: &[u32]) {
        for &pair in pairs {
            Reversed::changed(self, model, queue, Pair(pair));
        }
    }

    /// Looks for the best pair of a state and for the second; among equally good ones `favoured` comes first, then the order of
    /// actions decides.
    #[cold]
    #[inline(never)]
    fn find_greedy(&mut self, model: &Model, state: u32, favoured: Pair) {
        let pairs = model.states[state as usize].pairs();
        let mut best = favoured.index();
        let mut highest = self.values.pairs[best].q;
        let mut second = f64::NEG_INFINITY;
        for pair in pairs {
            let value = &mut self.values.pairs[pair];
            value.scale = value.scale.abs();
            if pair == favoured.index() {
                continue;
            }
            if value.q > highest {
                (second, best, highest) = (highest, pair, value.q);
            } else {
                second = second.max(value.q);
            }
        }
        let scale = &mut self.values.pairs[best].scale;
        *scale = -*scale;
        let value = &mut self.values.states[state as usize];
        (value.v, value.second) = (highest, second);
    }

    /// Gives predecessors their small backups; returns how many.
    #[inline(always)]
    fn tell<const RISES: bool>(&mut self, queue: &mut impl Queue, stretch: Stretch<'_>) -> usize {
        let Stretch { model, pass, delta, limit, next } = stretch;
        let mut done = 0;
        // Pairs whose state may have a new value. Whether one has is a coin toss to the processor, so they are gathered
        // without a branch and seen to afterwards.
        let mut touched = [0; TOUCHED];
        let (mut n_touched, mut n_blocks) = (0, 0);
        let (mut blocks, mut filled) = pass.blocks(model);
        while done < limit
            && let Some((_, block)) = blocks.next()
        {
            done += filled;
            let weights = model.arcs.weights(block);
            let mut is_first_touched = 0;
            for (i, (&pair, weight)) in block.pairs.iter().zip(weights).enumerate() {
                let value = &mut self.values.pairs[pair as usize];
                let q = value.q + value.scale.abs() * (weight * delta);
                value.q = q;
                let is_greedy = value.scale.to_bits() >> 63;
                let is_touched = if RISES {
                    // Only read here: a bound kept up in this loop made it wait for its own stores, a tenth of the time.
                    let state = &self.values.states[model.owners.of(pair) as usize];
                    is_greedy | u64::from(q > state.second)
                } else {
                    is_greedy
                };
                if i == 0 {
                    is_first_touched = is_touched as usize;
                }
                touched[n_touched % TOUCHED] = pair;
                n_touched += is_touched as usize;
            }
            // What is not filled repeats the first pair, and was gathered if that was.
            n_touched -= is_first_touched * (IN_BLOCK as usize - filled);
            filled = IN_BLOCK as usize;
            n_blocks += 1;
            if n_blocks == TOUCHED_BLOCKS {
                self.restore_maxima(model, queue, &touched[..n_touched]);
                (n_touched, n_blocks) = (0, 0);
            }
        }
        pass.leave(&blocks);
        if pass.is_finished() {
            next.blocks(model);
        }
        self.restore_maxima(model, queue, &touched[..n_touched]);
        done
    }
}

impl Kind for Reversed {
    const KIND: PlannerKind = PlannerKind::ReversedFullBackups;

    #[inline(always)]
    fn told(value: &StateValue) -> f64 {
        value.u
    }

    fn extend(_: &mut Core<Self>, _: &Model) {}

    fn admit(core: &mut Core<Self>, model: &Model, queue: &mut impl Queue, pass: Option<Pass>, pair: Pair) {
        let state = model.owners.of(pair.0);
        if model.states[state as usize].first_pair == pair.0 {
            core.values.pairs[pair.index()].scale = -0.0;
            core.values.states[state as usize].v = core.values.pairs[pair.index()].q;
            core.set_priority(queue, state);
        }
        core.refresh(model, queue, pass, pair);
    }

    fn row_moved(_: &mut Core<Self>, _: &MovedRow) {}

    /// Restores V(s) = max Q(s,·), the greedy mark and the priority after Q of one pair of s changed.
    #[inline(always)]
    fn changed(core: &mut Core<Self>, model: &Model, queue: &mut impl Queue, pair: Pair) {
        let state = model.owners.of(pair.0);
        let crate::PairValue { q, scale } = core.values.pairs[pair.index()];
        let value = &mut core.values.states[state as usize];
        if scale.is_sign_negative() {
            if q >= value.second {
                value.v = q;
            } else {
                // The greedy pair may not be the best any more.
                core.find_greedy(model, state, pair);
            }
        } else if q > value.v {
            core.find_greedy(model, state, pair);
        } else {
            if q > value.second {
                // Not q itself: it will rise again, and up to here that need not be noticed.
                value.second = (q + HEADROOM * (value.v - q)).min(value.v);
            }
            return;
        }
        core.set_priority(queue, state);
        prefetch(&model.states, state as usize);
    }

    #[inline]
    fn begin(core: &mut Core<Self>, _: &Model, state: u32) -> f64 {
        let value = &mut core.values.states[state as usize];
        std::mem::replace(&mut value.u, value.v)
    }

    #[inline(always)]
    fn tell(core: &mut Core<Self>, queue: &mut impl Queue, stretch: Stretch<'_>) -> usize {
        if stretch.delta < 0.0 {
            core.tell::<false>(queue, stretch)
        } else {
            core.tell::<true>(queue, stretch)
        }
    }

    fn look_again(core: &mut Core<Self>, model: &Model, queue: &mut impl Queue) {
        for state in 0..model.n_states() as u32 {
            core.set_priority(queue, state);
        }
    }

    fn store(&self, _: &mut Snapshot) {}

    fn restore(core: &mut Core<Self>, model: &Model, _: &Snapshot) -> Result<()> {
        for (i, row) in model.states.iter().enumerate() {
            let marks = core.values.row(model, State(i as u32)).iter();
            if marks.filter(|pair| pair.scale.is_sign_negative()).count() != usize::from(row.n_actions > 0) {
                return Err(Snapshot::problem("values.scale", &format!("state {i} has not one greedy pair")));
            }
            let highest = core.values.maximum(model, State(i as u32)).map_or(0.0, |(_, q)| q);
            let greedy =
                core.values.row(model, State(i as u32)).iter().find(|pair| pair.scale.is_sign_negative());
            let v = core.values.states[i].v;
            if v != highest || greedy.is_some_and(|pair| pair.q != v) {
                return Err(Snapshot::problem(
                    "values.v",
                    &format!("item {i} is not the value of its best pair"),
                ));
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        0
    }
}
