//! Prediction with small backups (Algorithm 1): the general class, with its two free choices.
//!
//! Every pair (s,s') that was seen keeps U, the value of s' on which V(s) is built. Invariant after every step, with
//! P̂ = N(s,s')/N(s): V(s) = R̂(s) + γ Σ P̂ U(s') (relation 6). R̂ is never needed to keep it.
//!
//! Cost of a step: O(1) plus O(1) per iteration, for any number of successors; with [`Selection::Largest`] each change of a
//! value also costs O(log n) for every pair that leads to its state.
//!
//! Line numbers are those of Algorithm 1.

mod snapshot;

use crate::{Predictor, StepError, check_settings, check_step};
use backsweep_core::{Action, ArcId, Model, Next, Pair, PriorityQueue, QueueKind, Random, State, Transition};

/// A value that has fallen by this factor leaves rounding errors that are worth removing.
const COLLAPSE_FACTOR: f64 = 1000.0;

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

/// The settings of a [`SmallBackupPredictor`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictorSettings {
    /// γ, from 0 to 1.
    pub discount: f64,
    /// The value of an unseen state; finite.
    pub initial_value: f64,
    /// Which pairs to back up.
    pub selection: Selection,
    /// Small backups per step.
    pub iterations: usize,
    /// Seeds [`Selection::Random`], and is used by nothing else.
    pub seed: u64,
}

impl Default for PredictorSettings {
    /// Discount 0.99, values that start at 0, one small backup per step, of the pair just observed.
    fn default() -> Self {
        let selection = Selection::MostRecent;
        Self { discount: 0.99, initial_value: 0.0, selection, iterations: 1, seed: 0 }
    }
}

/// Prediction with small backups: learns the values of the policy that acts, without a step size.
///
/// ```
/// use backsweep_core::{Next, State};
/// use backsweep_predict::{Predictor, PredictorSettings, SmallBackupPredictor};
/// let settings = PredictorSettings { discount: 0.9, ..PredictorSettings::default() };
/// let mut predictor = SmallBackupPredictor::new(settings)?;
/// predictor.observe(State(1), 1.0, Next::Terminated)?;
/// predictor.observe(State(0), 0.0, Next::Continue(State(1)))?;
/// assert_eq!(predictor.value(State(0)), 0.9);
/// # Ok::<(), backsweep_predict::StepError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SmallBackupPredictor {
    settings: PredictorSettings,
    random: Random,
    /// All observations: a model in which every state has one action, so that a pair's id is that of its state.
    model: Model,
    v: Vec<f64>,
    /// The largest |V(s)| since V(s) was last computed in full: rounding errors are as large as this times 2⁻⁵³.
    peaks: Vec<f64>,
    /// U of each arc, by id.
    u: Vec<f64>,
    /// The arcs in the order in which they were first seen.
    arcs: Vec<ArcId>,
    /// The place in `arcs` of the next one in the round robin.
    next_in_turn: usize,
    /// By |V(s') − U|; used by `Selection::Largest` only.
    queue: PriorityQueue,
    /// The next state to be refreshed, and small backups done since the last refresh.
    refresh: (usize, usize),
}

impl SmallBackupPredictor {
    /// A predictor that has seen no state.
    ///
    /// # Errors
    /// If the discount is not from 0 to 1 or the initial value is not finite.
    pub fn new(settings: PredictorSettings) -> backsweep_core::Result<Self> {
        check_settings(settings.discount, settings.initial_value)?;
        Ok(Self {
            settings,
            random: Random::from_seed(settings.seed),
            model: Model::new(),
            v: Vec::new(),
            peaks: Vec::new(),
            u: Vec::new(),
            arcs: Vec::new(),
            next_in_turn: 0,
            queue: PriorityQueue::new(QueueKind::Exact),
            refresh: (0, 0),
        })
    }

    /// The number of states that were seen.
    pub fn n_states(&self) -> usize {
        self.v.len()
    }

    /// The largest |V(s) − (R̂ + γ Σ P̂ U)|: how far rounding has moved the values away from relation (6).
    pub fn deviation(&self) -> f64 {
        let states = (0..self.v.len()).filter(|&s| self.model.weight(Pair(s as u32)) > 0.0);
        states.map(|s| (self.v[s] - self.expectation(s)).abs()).fold(0.0, f64::max)
    }

    /// The value U of a successor on which V(s) is built; `None` if that step was never seen.
    pub fn backed_up_value(&self, state: State, next: State) -> Option<f64> {
        let mut successors = self.model.successors(Pair(state.0));
        successors.find(|successor| successor.state == next).map(|successor| self.u[successor.arc.index()])
    }

    fn expectation(&self, state: usize) -> f64 {
        let pair = Pair(state as u32);
        let successors = self.model.successors(pair);
        let sum: f64 = successors.map(|next| next.weight * self.u[next.arc.index()]).sum();
        (self.model.reward_sum(pair) + self.settings.discount * sum) / self.model.weight(pair)
    }

    fn ensure_state(&mut self, state: State) -> backsweep_core::Result<()> {
        while self.v.len() <= state.index() {
            self.model.add_state(1)?; // l.3
            self.v.push(self.settings.initial_value); // l.1
            self.peaks.push(0.0);
        }
        Ok(())
    }

    /// Adds a new arc: its U starts as the V(s') of that moment, not of the start (line 2;
    /// Departure 19).
    fn add_arc(&mut self, arc: ArcId, next: State) {
        self.u.resize(self.model.arc_bound(), 0.0);
        self.u[arc.index()] = self.v[next.index()]; // l.2
        self.arcs.push(arc);
        if self.settings.selection == Selection::Largest {
            self.queue.grow(self.model.arc_bound());
        }
    }

    /// V(s) after a correction: recomputed in full if it has fallen to a thousandth of its peak, or if a refresh is due.
    #[inline]
    fn kept_exact(&mut self, state: usize, v: f64, is_due: bool) -> f64 {
        let peak = self.peaks[state].max(v.abs());
        if is_due || peak > COLLAPSE_FACTOR * v.abs() {
            let v = self.expectation(state);
            self.peaks[state] = v.abs();
            return v;
        }
        self.peaks[state] = peak;
        v
    }

    /// Sets V(s); the arcs that lead to s get their new urgency.
    fn set_value(&mut self, state: usize, v: f64) {
        self.v[state] = v;
        if self.settings.selection == Selection::Largest {
            for before in self.model.predecessors(State(state as u32)) {
                let difference = (v - self.u[before.arc.index()]).abs();
                if difference > 0.0 {
                    self.queue.set(before.arc.0, difference);
                } else {
                    self.queue.remove(before.arc.0);
                }
            }
        }
    }

    fn select(&mut self, most_recent: Option<ArcId>) -> Option<ArcId> {
        match self.settings.selection {
            Selection::MostRecent => most_recent,
            Selection::Largest => self.queue.pop().map(ArcId),
            _ if self.arcs.is_empty() => None,
            Selection::RoundRobin => {
                let place = self.next_in_turn % self.arcs.len();
                self.next_in_turn = place + 1;
                Some(self.arcs[place])
            }
            Selection::Random => Some(self.arcs[self.random.below(self.arcs.len() as u32) as usize]),
        }
    }

    /// One small backup (Theorem 3.1): V(s) is corrected for the current value of one successor.
    fn small_backup(&mut self, arc: ArcId) {
        let Some((pair, next)) = self.model.ends_of(arc) else { return };
        let (s, v_next) = (pair.index(), self.v[next.index()]); // l.10
        let u = std::mem::replace(&mut self.u[arc.index()], v_next); // l.12
        let p = self.model.arc_weight(arc) / self.model.weight(pair);
        let v = self.v[s] + self.settings.discount * p * (v_next - u); // l.11
        let v = self.kept_exact(s, v, false);
        self.set_value(s, v);
        self.refresh.1 += 1;
        let s = self.refresh.0;
        if self.refresh.1 > 1000 * (1 + self.model.n_successors(Pair(s as u32))) {
            if self.model.weight(Pair(s as u32)) > 0.0 {
                self.set_value(s, self.expectation(s));
            }
            self.refresh = ((s + 1) % self.v.len(), 0);
        }
    }
}

impl Predictor for SmallBackupPredictor {
    fn observe(&mut self, state: State, reward: f64, next: Next) -> Result<(), StepError> {
        check_step(state, reward, next)?; // l.4, 5: the loop over steps is the caller's
        self.ensure_state(state)?;
        if let Some(next) = next.state() {
            self.ensure_state(next)?;
        }
        let n_arcs = self.model.n_arcs();
        let transition = Transition { state, action: Action(0), reward, next };
        let Some(change) = self.model.record(&transition)? else { return Ok(()) }; // l.6
        if let Some((next, arc)) = change.next
            && self.model.n_arcs() > n_arcs
        {
            self.add_arc(arc, next);
        }
        let most_recent = change.next.map(|(_, arc)| arc);
        let u = most_recent.map_or(0.0, |arc| self.u[arc.index()]);
        let (s, n) = (state.index(), change.weight_after);
        let v_old = self.v[s];
        let v = v_old + (reward + self.settings.discount * u - v_old) / n; // l.7
        let v = self.kept_exact(s, v, (n as u64).is_power_of_two());
        self.set_value(s, v);
        for _ in 0..self.settings.iterations {
            let Some(arc) = self.select(most_recent) else { break }; // l.8, 9
            self.small_backup(arc);
        }
        Ok(())
    }

    fn value(&self, state: State) -> f64 {
        self.v.get(state.index()).copied().unwrap_or(self.settings.initial_value)
    }
}
