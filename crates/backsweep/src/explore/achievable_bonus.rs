//! A bonus for what an outcome can change: an uncertain transition matters only where it changes what is *achievable*.
//!
//! ```text
//! bonus = β L √((t + v/2) / n) + d σ / n                L = ln(1 + m / 20)
//!     t = u² T + (1 − u²) min(T, W)
//!     T = 4 (1 − γ) R²                                  what the range of rewards allows
//!     W = (n Var(y) + 3 (s / 2) span²) / (n + 3)        what the outcomes seen so far can change
//! start = u Vmax + (1 − u) min(Vmax, 3 max V)
//! ```
//!
//! n, the visits of the pair; R, the range of rewards; V, the *recommended* values, which contain no bonus, so that there is no
//! feedback; y, the mean reward of an outcome plus γ V of where it led; span, the range of y over all outcomes of all actions
//! of the state. Where nothing that is known makes a difference, span is the distance to the highest V: a few unlucky tries
//! may have shut the agent in, and what they did not show may lead out.
//!
//! s, the *surprise* of the world: over all repeated tries of all pairs, the mean of 1 − w/W, where w of the pair's W earlier
//! tries led to the same place, with one imagined try that was half a surprise. v, the variance of the pair's rewards *given* the
//! outcome, which y does not have, shrunk as if by 3 visits to σ², the highest among the actions of its state. A mean reward
//! outside the stated range is noise as well: the range is that of means.
//!
//! m is the mean number of visits of the pairs tried: an agent that has tried each pair a few times cannot afford to try each
//! of them twenty times.
//!
//! u is the part of the range of rewards that lies above the highest reward seen. As long as it is large, anything may be
//! achievable, also by pairs that never surprised: a door may open once in a hundred tries. Once the highest reward has been
//! seen, it is the recommended values that say what is.
//!
//! The start is the value of an untried pair. When it changes, the acting planner starts again, at values no higher. Two equal
//! outcomes in a row that contradict all earlier ones of their pair, in a world with little surprise, mean that the world has
//! changed: the earlier ones are dropped.
//!
//! A bonus is updated when its pair is visited, and some pairs are updated in turn at every step. Cost: O(successors of the
//! pairs updated, actions of their states).

use super::Constants;
use super::statistics::MAX_STEPS;
use crate::planner::{ArcId, Change, MAX_VALUE, Model, MovedPairs, Pair, Planner, Snapshot};
use crate::{Result, State};

/// The unit of mean visits in which time is measured.
const SETTLED: f64 = 20.0;
/// Pairs updated per step.
pub(super) const RENEWED: usize = 4;
/// A bonus that is off by no more than this fraction is not updated.
pub(super) const TOLERANCE: f64 = 0.1;
/// The visits by which a pair's own variances are shrunk to those of its state.
const PRIOR_VISITS: f64 = 3.0;
/// The surprise of the imagined first try.
const PRIOR_SURPRISE: f64 = 0.5;
/// A discount above .99 counts as .99: without discount there would be no bonus for randomness.
const LEAST_END: f64 = 0.01;
/// A variance below this part of the squared range of rewards is what rounding leaves of 0.
const ROUNDING: f64 = 1e-12;
/// A part of the range of rewards below this counts as seen.
const ALL_SEEN: f64 = 0.02;
/// A start that is off by no more than this fraction is not updated: that takes a pass over all untried pairs.
const STALE: f64 = 0.05;
/// A span below this, in units of the range of rewards, makes no difference.
const INDIFFERENT: f64 = 1e-3;
/// A world with less surprise than this is certain: two equal outcomes that contradict all earlier ones mean that it changed.
const CERTAIN: f64 = 0.05;

/// The outcomes of a pair as far as they are known.
#[derive(Clone, Copy, Debug)]
struct PairOutcomes {
    /// The variance of its rewards given the outcome, when its bonus was last updated; see [`Achievable::noise`].
    noise: f64,
    /// The sum of the rewards of its steps that ended.
    ended_rewards: f64,
    /// The lowest and the highest y of its outcomes, when its bonus was last updated.
    low: f64,
    high: f64,
    /// The place of the outcome that was seen last, if it was the first to differ from all earlier ones: an arc, or [`END`].
    contradicted_by: Option<u32>,
}

impl PairOutcomes {
    const NONE: Self =
        Self { noise: 0.0, ended_rewards: 0.0, low: MAX_VALUE, high: -MAX_VALUE, contradicted_by: None };
}

/// In place of an arc: the step ended.
const END: u32 = u32::MAX;

/// The outcomes of all pairs, and what they add up to.
#[derive(Clone, Debug)]
pub(super) struct Achievable {
    /// The sum of 1 − w/W over repeated tries, and how many there were.
    surprise: f64,
    n_repeated: f64,
    /// Pairs tried, and tries.
    n_pairs: f64,
    n_tries: f64,
    /// The highest reward seen, and whether one was outside the stated range: the range then is that of means.
    top: f64,
    is_beyond: bool,
    /// The highest recommended value, as found in the last round over all pairs and in the current one.
    highest: [f64; 2],
    /// The pair updated last.
    turn: usize,
    /// The acting value of an untried pair.
    start: f64,
    /// The number of times that a pair's history was dropped because the environment had changed.
    pub n_changes: u64,
    pairs: Vec<PairOutcomes>,
    /// The sum of the rewards of each arc.
    arc_rewards: Vec<f64>,
}

impl Achievable {
    pub fn new(start: f64) -> Self {
        Self {
            surprise: 0.0,
            n_repeated: 0.0,
            n_pairs: 0.0,
            n_tries: 0.0,
            top: -MAX_VALUE,
            is_beyond: false,
            highest: [-MAX_VALUE; 2],
            turn: 0,
            start,
            n_changes: 0,
            pairs: Vec::new(),
            arc_rewards: Vec::new(),
        }
    }

    pub fn grow(&mut self, model: &Model) {
        self.pairs.resize(model.n_pairs(), PairOutcomes::NONE);
        self.arc_rewards.resize(model.arc_bound(), 0.0);
    }

    pub fn pairs_moved(&mut self, moved: &MovedPairs) {
        let from = moved.from.index()..moved.from.index() + moved.n_pairs as usize;
        self.pairs.copy_within(from.clone(), moved.to.index());
        self.pairs[from].fill(PairOutcomes::NONE);
    }

    /// The row of a pair was scaled down.
    pub fn row_scaled(&mut self, model: &Model, pair: Pair, factor: f64) {
        self.pairs[pair.index()].ended_rewards *= factor;
        for next in model.successors(pair) {
            self.arc_rewards[next.arc.index()] *= factor;
        }
    }

    /// The outcomes of a pair were set: its bonus is 0 from now on.
    pub fn row_set(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.pairs[pair.index()] = PairOutcomes::NONE;
        for next in model.successors(pair) {
            self.arc_rewards[next.arc.index()] = 0.0;
        }
    }

    /// Records a change in the model, and whether it was one new observation.
    pub fn record(
        &mut self,
        model: &Model,
        reward: f64,
        change: &Change,
        constants: &Constants,
        is_new: bool,
    ) {
        self.grow(model);
        let row = &mut self.pairs[change.pair.index()];
        let (place, after, rewards) = match change.next {
            Some((_, arc)) => (arc.0, model.arc_weight(arc), &mut self.arc_rewards[arc.index()]),
            None => (END, model.ended_weight(change.pair), &mut row.ended_rewards),
        };
        *rewards = if after > 0.0 { *rewards + change.reward } else { 0.0 };
        let before = (after - change.weight).max(0.0);
        let is_contradiction = is_new && before == 0.0 && change.weight_before > 0.0;
        let is_repeated = is_new && row.contradicted_by == Some(place);
        row.contradicted_by = (is_contradiction || is_repeated).then_some(place);
        self.n_tries = (self.n_tries + if is_new { 1.0 } else { change.weight }).max(0.0);
        if change.weight_before == 0.0 {
            // A row that has faded away counts as untried.
            self.n_pairs = (self.n_pairs + 1.0).min(model.n_pairs() as f64);
        } else if change.weight_after == 0.0 {
            self.n_pairs = (self.n_pairs - 1.0).max(0.0);
            *row = PairOutcomes::NONE;
        } else if is_new {
            self.surprise += (1.0 - before / change.weight_before).clamp(0.0, 1.0);
            self.n_repeated += 1.0;
        }
        if change.weight > 0.0 {
            self.top = self.top.max(reward);
            let slack = 1e-9 * constants.range;
            self.is_beyond |= reward < constants.lowest - slack || reward > constants.highest() + slack;
        }
    }

    /// The outcome that was seen twice in a row and never before, in a world that is otherwise certain: the world has changed.
    /// Where it led, and the sum of its rewards.
    pub fn contradiction(&self, model: &Model, change: &Change) -> Option<(Option<State>, f64)> {
        let row = &self.pairs[change.pair.index()];
        let place = change.next.map_or(END, |(_, arc)| arc.0);
        let (weight, rewards) = match change.next {
            Some((_, arc)) => (model.arc_weight(arc), self.arc_rewards[arc.index()]),
            None => (model.ended_weight(change.pair), row.ended_rewards),
        };
        let is_settled = row.contradicted_by == Some(place) && weight == 2.0 && change.weight_after > 2.0;
        (is_settled && self.share() < CERTAIN).then_some((change.next.map(|(state, _)| state), rewards))
    }

    /// The history of a pair was dropped, but for two tries with one outcome.
    pub fn row_dropped(&mut self, model: &Model, change: &Change) {
        let row = &mut self.pairs[change.pair.index()];
        let ended_rewards = if change.next.is_none() { row.ended_rewards } else { 0.0 };
        *row = PairOutcomes { ended_rewards, ..PairOutcomes::NONE };
        for next in model.successors(change.pair).filter(|next| next.weight == 0.0) {
            self.arc_rewards[next.arc.index()] = 0.0;
        }
        self.n_tries = (self.n_tries - (change.weight_after - 2.0)).max(0.0);
        self.n_changes += 1;
    }

    /// s, the surprise of the world.
    fn share(&self) -> f64 {
        (self.surprise + PRIOR_SURPRISE) / (self.n_repeated + 1.0)
    }

    /// u, the part of the range above the highest reward seen.
    fn unseen(&self, constants: &Constants) -> f64 {
        if self.is_beyond {
            return 1.0;
        }
        let unseen = ((constants.highest() - self.top) / constants.range).min(1.0);
        if unseen < ALL_SEEN { 0.0 } else { unseen }
    }

    /// The outcomes of a pair: the weight of each, its mean reward, and where it led.
    fn outcomes<'a>(
        &'a self,
        model: &'a Model,
        pair: Pair,
    ) -> impl Iterator<Item = (f64, f64, Option<State>)> + 'a {
        let (row, ended) = (&self.pairs[pair.index()], model.ended_weight(pair));
        let end = (ended > 0.0).then(|| (ended, row.ended_rewards / ended, None));
        let next = model.successors(pair).filter(|next| next.weight > 0.0);
        next.map(|next| (next.weight, self.arc_rewards[next.arc.index()] / next.weight, Some(next.state)))
            .chain(end)
    }

    /// The variance of y over the outcomes of a pair, and the lowest and the highest, in units of the range of rewards.
    fn outlook(&self, model: &Model, recommending: &dyn Planner, pair: Pair, range: f64) -> (f64, f64, f64) {
        let (values, weight) = (recommending.values(), model.weight(pair));
        let (mut mass, mut mean, mut squares) = (0.0, 0.0, 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (w, reward, next) in self.outcomes(model, pair) {
            let y = next.map_or(reward, |next| reward + values.discount() * values.value(next)) / range;
            mass += w;
            let off = y - mean;
            mean += off * (w / mass); // exact for a single outcome, whose variance is 0
            squares += w * off * (y - mean);
            (low, high) = (low.min(y), high.max(y));
        }
        ((squares / weight).max(0.0), low, high)
    }

    /// The variance of a pair's rewards given the outcome, in units of the squared range. A mean outside the range is noise, too.
    /// `square` is the mean of (r − lowest)².
    fn noise(&self, model: &Model, constants: &Constants, pair: Pair, square: f64) -> f64 {
        let (mean, range) = (model.mean_reward(pair), constants.range);
        let above = |reward: f64| ((reward - constants.lowest) / range).powi(2);
        let explained: f64 = self.outcomes(model, pair).map(|(w, reward, _)| w * above(reward)).sum();
        let within = square / range / range - explained / model.weight(pair);
        let outside = (mean - mean.clamp(constants.lowest, constants.highest())) / range;
        if within < ROUNDING { outside.powi(2) } else { within + outside.powi(2) }
    }

    /// The bonus of a pair after `n` visits; `square` is the mean of (r − lowest)².
    pub fn bonus(
        &mut self,
        (beta, d): (f64, f64),
        constants: &Constants,
        model: &Model,
        recommending: &dyn Planner,
        pair: Pair,
        (n, square): (f64, f64),
    ) -> f64 {
        let noise = self.noise(model, constants, pair, square);
        let (variance, low, high) = self.outlook(model, recommending, pair, constants.range);
        let row = &mut self.pairs[pair.index()];
        (row.noise, row.low, row.high) = (noise, low, high);
        let (mut low, mut high, mut noisiest) = (low, high, noise);
        for row in model.pairs(model.state_of(pair)).map(|pair| &self.pairs[pair.index()]) {
            (low, high, noisiest) = (low.min(row.low), high.max(row.high), noisiest.max(row.noise));
        }
        // In units of the range.
        let (s, u, sigma) = (self.share(), self.unseen(constants), noisiest.sqrt());
        let mut span = high - low;
        if span < INDIFFERENT {
            let value = recommending.values().value(model.state_of(pair));
            span = span.max((self.highest[0] - value) / constants.range);
        }
        let shrunk = |own: f64, prior: f64| (n * own + PRIOR_VISITS * prior) / (n + PRIOR_VISITS);
        let by_range = 4.0 * (1.0 - recommending.values().discount()).max(LEAST_END); // T
        let by_values = shrunk(variance, s / 2.0 * span.powi(2)); // W
        let t = u * u * by_range + (1.0 - u * u) * by_range.min(by_values);
        let v = shrunk(noise, noisiest);
        let m = (self.n_tries / self.n_pairs.max(1.0)).max(1.0);
        let growth = (m / SETTLED).ln_1p(); // L
        constants.range * (beta * growth * ((t + v / 2.0) / n).sqrt() + d * sigma / n)
    }

    /// Recomputes the noise of all pairs, which is not stored; `square` gives the mean of (r − lowest)² of a pair.
    pub fn restore_noise(&mut self, model: &Model, constants: &Constants, square: impl Fn(Pair) -> f64) {
        for pair in model.states().flat_map(|state| model.pairs(state)) {
            if model.weight(pair) > 0.0 && !model.is_given(pair) {
                self.pairs[pair.index()].noise = self.noise(model, constants, pair, square(pair));
            }
        }
    }

    /// The pair whose turn it is; `None` if it was never tried.
    pub fn next_in_turn(&mut self, model: &Model, recommending: &dyn Planner) -> Option<Pair> {
        self.turn += 1;
        if self.turn >= model.n_pairs() {
            self.turn = 0;
            self.highest = [self.highest[1], -MAX_VALUE];
        }
        let pair = Pair(self.turn as u32);
        if !model.is_in_use(pair) {
            return None;
        }
        self.note_value(recommending.values().value(model.state_of(pair)));
        (model.weight(pair) > 0.0).then_some(pair)
    }

    /// Takes a recommended value into account for the highest one.
    pub fn note_value(&mut self, value: f64) {
        self.highest = self.highest.map(|highest| highest.max(value));
    }

    /// The acting value of an untried pair, if it has changed enough to be set.
    pub fn new_start(&mut self, constants: &Constants) -> Option<f64> {
        let u = self.unseen(constants);
        let most = constants.start;
        let highest = self.highest[0];
        let follows = most.min(highest + 2.0 * highest.abs());
        let start = if u == 1.0 { most } else { u * most + (1.0 - u) * follows };
        let is_new = (start - self.start).abs() > STALE * self.start.abs().max(constants.range);
        is_new.then(|| {
            self.start = start;
            start
        })
    }

    /// The start to restore the acting planner with.
    pub fn start(&self) -> f64 {
        self.start
    }

    pub fn store(&self, snapshot: &mut Snapshot) {
        let sums = [self.surprise, self.n_repeated, self.n_pairs, self.n_tries, self.top];
        // The 0 is in the place of a number that earlier programs kept.
        let is_beyond = f64::from(u8::from(self.is_beyond));
        let others = [is_beyond, 0.0, self.highest[0], self.highest[1], self.start];
        snapshot.put("explore.achievable", [&sums[..], &others[..]].concat());
        snapshot.put("explore.achievable_counts", vec![self.turn as u64, self.n_changes]);
        let rows = self.pairs.iter().flat_map(|row| [0.0, row.ended_rewards, row.low, row.high]);
        snapshot.put("explore.outcomes", rows.collect::<Vec<f64>>());
        let places = self.pairs.iter().map(|row| row.contradicted_by.map_or(0, |place| u64::from(place) + 1));
        snapshot.put("explore.contradicted", places.collect::<Vec<u64>>());
        snapshot.put("explore.arc_rewards", self.arc_rewards.clone());
    }

    pub fn restore(model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let wrong = |name, problem| Err(Snapshot::problem(name, problem));
        let numbers = snapshot.finite("explore.achievable", 10)?;
        let &[surprise, n_repeated, n_pairs, n_tries, top, is_beyond, _, last, current, start] = numbers
        else {
            return wrong("explore.achievable", "expected 10 items");
        };
        let is_right = (0.0..=n_repeated).contains(&surprise)
            && n_repeated <= 1e18
            && (0.0..=model.n_pairs() as f64).contains(&n_pairs)
            && (0.0..=1e18).contains(&n_tries)
            && [top, last, current, start].iter().all(|number| number.abs() <= MAX_VALUE);
        if !is_right {
            return wrong("explore.achievable", "the numbers do not go together");
        }
        let [turn, n_changes] = snapshot.counts("explore.achievable_counts")?;
        if turn > model.n_pairs() as u64 || n_changes > MAX_STEPS {
            return wrong("explore.achievable_counts", "a number is out of range");
        }
        let rows = snapshot.bounded("explore.outcomes", 4 * model.n_pairs(), MAX_VALUE)?;
        let places = snapshot.u64s("explore.contradicted")?;
        let places = Snapshot::sized("explore.contradicted", places, model.n_pairs())?;
        let mut pairs = Vec::with_capacity(places.len());
        for (i, (row, &place)) in rows.chunks_exact(4).zip(places).enumerate() {
            let contradicted_by = place.checked_sub(1).map(|place| u32::try_from(place).unwrap_or(END));
            let is_outcome = |place| {
                place == END || model.ends_of(ArcId(place)).is_some_and(|(pair, _)| pair.index() == i)
            };
            if !contradicted_by.is_none_or(is_outcome) {
                return wrong("explore.outcomes", "they are not those of the model's pairs");
            }
            // The first number is one that earlier programs kept.
            let &[_, ended_rewards, low, high] = row else { continue };
            pairs.push(PairOutcomes { noise: 0.0, ended_rewards, low, high, contradicted_by });
        }
        let arc_rewards = snapshot.bounded("explore.arc_rewards", model.arc_bound(), MAX_VALUE)?.to_vec();
        let is_beyond = is_beyond != 0.0;
        let (highest, turn) = ([last, current], turn as usize);
        Ok(Self {
            surprise,
            n_repeated,
            n_pairs,
            n_tries,
            top,
            is_beyond,
            highest,
            turn,
            start,
            n_changes,
            pairs,
            arc_rewards,
        })
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.pairs[..]) + size_of_val(&self.arc_rewards[..])
    }
}
