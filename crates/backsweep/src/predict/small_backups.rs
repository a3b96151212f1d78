//! Prediction with small backups (Algorithm 1): the general class, with its two free choices.
//!
//! Every pair (s,s') that was seen keeps U, the value of s' on which V(s) is built. Invariant after every step, with
//! P̂ = N(s,s')/N(s): V(s) = R̂(s) + γ Σ P̂ U(s') (relation 6). R̂ is never needed to keep it.
//!
//! Cost of a step: O(1) plus O(1) an iteration, whatever the number of successors; with [`Selection::Largest`] each change of
//! a value also costs O(log n) for every pair that leads to its state.
//!
//! Line numbers are those of Algorithm 1.

mod snapshot;

use super::{Predictor, check, check_settings};
use crate::{Next, PriorityQueue, QueueKind, Random, Result, State};
use rustc_hash::FxHashMap;

/// Which pair (s,s') to back up (Algorithm 1, line 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The pair of the transition just observed. Nothing is done after an end, which has no value to back up
    /// (Departure 15).
    MostRecent,
    /// Each pair in turn, in the order in which they were first seen.
    RoundRobin,
    /// Any pair, each equally likely.
    Random,
    /// The pair with the largest |V(s') − U|.
    Largest,
}

/// A pair (s,s') that was seen.
#[derive(Clone, Copy, Debug)]
struct Arc {
    state: u32,
    next: u32,
    /// N(s,s').
    n: u64,
    u: f64,
}

/// Prediction with small backups: learns the values of the policy that acts, without a step size.
///
/// ```
/// use backsweep::predict::{Predictor, Selection, SmallBackupPredictor};
/// use backsweep::{Next, State};
/// let mut predictor = SmallBackupPredictor::new(0.9, 0.0, Selection::MostRecent, 1, 0)?;
/// predictor.observe(State(1), 1.0, Next::Terminated)?;
/// predictor.observe(State(0), 0.0, Next::Continue(State(1)))?;
/// assert_eq!(predictor.value(State(0)), 0.9);
/// # Ok::<(), backsweep::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SmallBackupPredictor {
    discount: f64,
    initial_value: f64,
    selection: Selection,
    iterations: usize,
    random: Random,
    v: Vec<f64>,
    /// N(s).
    n: Vec<u64>,
    /// The sum of rewards, kept for refreshes only.
    reward_sum: Vec<f64>,
    /// The largest |V(s)| since V(s) was last computed in full: rounding errors are as large as this times 2⁻⁵³.
    peaks: Vec<f64>,
    arcs: Vec<Arc>,
    /// The arcs out of each state.
    out: Vec<Vec<u32>>,
    /// The arcs into each state; filled for `Selection::Largest` only.
    into: Vec<Vec<u32>>,
    index: FxHashMap<(u32, u32), u32>,
    /// The next arc of the round robin.
    next_in_turn: usize,
    /// By |V(s') − U|; used by `Selection::Largest` only.
    queue: PriorityQueue,
    /// The next state to be refreshed, and small backups done since the last refresh.
    refresh: (usize, usize),
}

impl SmallBackupPredictor {
    /// A predictor that does `iterations` small backups a step. The seed is used by [`Selection::Random`] only.
    ///
    /// # Errors
    /// If the discount is not from 0 to 1 or the initial value is not finite.
    pub fn new(
        discount: f64,
        initial_value: f64,
        selection: Selection,
        iterations: usize,
        seed: u64,
    ) -> Result<Self> {
        check_settings(discount, initial_value)?;
        Ok(Self {
            discount,
            initial_value,
            selection,
            iterations,
            random: Random::from_seed(seed),
            v: Vec::new(),
            n: Vec::new(),
            reward_sum: Vec::new(),
            peaks: Vec::new(),
            arcs: Vec::new(),
            out: Vec::new(),
            into: Vec::new(),
            index: FxHashMap::default(),
            next_in_turn: 0,
            queue: PriorityQueue::new(QueueKind::Exact),
            refresh: (0, 0),
        })
    }

    /// How many states were met.
    pub fn n_states(&self) -> usize {
        self.v.len()
    }

    /// The largest |V(s) − (R̂ + γ Σ P̂ U)|: how far rounding has carried the values from relation (6).
    pub fn deviation(&self) -> f64 {
        let states = (0..self.v.len()).filter(|&s| self.n[s] > 0);
        states.map(|s| (self.v[s] - self.expectation(s)).abs()).fold(0.0, f64::max)
    }

    /// The value U of a successor on which V(s) is built; `None` if that step was never seen.
    pub fn seen(&self, state: State, next: State) -> Option<f64> {
        self.index.get(&(state.0, next.0)).map(|&arc| self.arcs[arc as usize].u)
    }

    fn expectation(&self, state: usize) -> f64 {
        let arcs = self.out[state].iter().map(|&arc| &self.arcs[arc as usize]);
        let sum: f64 = arcs.map(|arc| arc.n as f64 * arc.u).sum();
        (self.reward_sum[state] + self.discount * sum) / self.n[state] as f64
    }

    fn meet(&mut self, state: State) {
        if self.v.len() <= state.index() {
            let n = state.index() + 1;
            self.v.resize(n, self.initial_value); // l.1
            self.n.resize(n, 0); // l.3
            self.reward_sum.resize(n, 0.0);
            self.peaks.resize(n, 0.0);
            self.out.resize(n, Vec::new());
            if self.selection == Selection::Largest {
                self.into.resize(n, Vec::new());
            }
        }
    }

    /// The arc of a pair, a new one if it was not seen before: its U starts as V(s') (line 2).
    fn arc(&mut self, state: State, next: State) -> u32 {
        let new = self.arcs.len() as u32;
        let arc = *self.index.entry((state.0, next.0)).or_insert(new);
        if arc == new {
            self.arcs.push(Arc { state: state.0, next: next.0, n: 0, u: self.v[next.index()] }); // l.2, 3
            self.out[state.index()].push(arc);
            if self.selection == Selection::Largest {
                self.into[next.index()].push(arc);
                self.queue.grow(self.arcs.len());
            }
        }
        arc
    }

    /// V(s) after a correction: computed in full if it has fallen to a thousandth of its peak, or if that is due.
    fn kept_exact(&mut self, state: usize, v: f64, is_due: bool) -> f64 {
        let peak = self.peaks[state].max(v.abs());
        if is_due || peak > crate::refresh::COLLAPSE * v.abs() {
            let v = self.expectation(state);
            self.peaks[state] = v.abs();
            return v;
        }
        self.peaks[state] = peak;
        v
    }

    /// Sets V(s); the pairs that lead to s get their new urgency.
    fn set_value(&mut self, state: usize, v: f64) {
        self.v[state] = v;
        if self.selection == Selection::Largest {
            for &arc in &self.into[state] {
                let difference = (v - self.arcs[arc as usize].u).abs();
                if difference > 0.0 {
                    self.queue.set(arc, difference);
                } else {
                    self.queue.remove(arc);
                }
            }
        }
    }

    fn select(&mut self, most_recent: Option<u32>) -> Option<u32> {
        match self.selection {
            Selection::MostRecent => most_recent,
            Selection::RoundRobin if self.arcs.is_empty() => None,
            Selection::RoundRobin => {
                let arc = self.next_in_turn % self.arcs.len();
                self.next_in_turn = arc + 1;
                Some(arc as u32)
            }
            Selection::Random if self.arcs.is_empty() => None,
            Selection::Random => Some(self.random.below(self.arcs.len() as u32)),
            Selection::Largest => self.queue.pop(),
        }
    }

    /// One small backup (Theorem 3.1): V(s) is corrected for the present value of one successor.
    fn small_backup(&mut self, arc: u32) {
        let Arc { state, next, n, u } = self.arcs[arc as usize];
        let (s, v_next) = (state as usize, self.v[next as usize]); // l.10
        self.arcs[arc as usize].u = v_next; // l.12
        let v = self.v[s] + self.discount * (n as f64 / self.n[s] as f64) * (v_next - u); // l.11
        let v = self.kept_exact(s, v, false);
        self.set_value(s, v);
        self.refresh.1 += 1;
        if self.refresh.1 > 1000 * (1 + self.out[self.refresh.0].len()) {
            let s = self.refresh.0;
            if self.n[s] > 0 {
                self.set_value(s, self.expectation(s));
            }
            self.refresh = ((s + 1) % self.v.len(), 0);
        }
    }
}

impl Predictor for SmallBackupPredictor {
    fn observe(&mut self, state: State, reward: f64, next: Next) -> Result<()> {
        check(state, reward, next)?; // l.4, 5: the loop over steps is the caller's
        self.meet(state);
        let mut most_recent = None;
        let mut u = 0.0;
        let s = state.index();
        if let Some(next) = next.state() {
            self.meet(next);
            let arc = self.arc(state, next);
            self.arcs[arc as usize].n += 1; // l.6
            u = self.arcs[arc as usize].u;
            most_recent = Some(arc);
        }
        self.n[s] += 1; // l.6
        self.reward_sum[s] += reward;
        let v_old = self.v[s];
        let v = v_old + (reward + self.discount * u - v_old) / self.n[s] as f64; // l.7
        let v = self.kept_exact(s, v, self.n[s].is_power_of_two());
        self.set_value(s, v);
        for _ in 0..self.iterations {
            let Some(arc) = self.select(most_recent) else { break }; // l.8, 9
            self.small_backup(arc);
        }
        Ok(())
    }

    fn value(&self, state: State) -> f64 {
        self.v.get(state.index()).copied().unwrap_or(self.initial_value)
    }
}
