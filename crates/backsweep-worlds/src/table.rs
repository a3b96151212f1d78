//! A world as a table of outcomes.

use backsweep::episode::{Environment, Step};
use backsweep::planner::{Model, Outcome, Planner, ReversedFullBackups, plan};
use backsweep::{Action, Budget, Error, Next, Random, Result, Settings, State};

/// A world whose probabilities are known: what each action of each state may lead to.
///
/// Equal outcomes are merged, so the outcomes of a pair differ in their reward or next state.
#[derive(Clone, Debug, PartialEq)]
pub struct TabularWorld {
    /// The pairs of state s are `rows[s]..rows[s + 1]`.
    rows: Vec<usize>,
    /// The outcomes of pair p are `outcomes[pairs[p]..pairs[p + 1]]`.
    pairs: Vec<usize>,
    outcomes: Vec<Outcome>,
    /// The standard deviation of the normal noise on the reward of each pair; empty if no reward is noisy.
    noise: Vec<f64>,
    starts: Vec<State>,
}

impl TabularWorld {
    /// The table of `n_states` states; `outcomes` gives the outcomes of each action of a state.
    pub(crate) fn new(n_states: usize, mut outcomes: impl FnMut(usize) -> Vec<Vec<Outcome>>) -> Self {
        let mut table = Self {
            rows: vec![0],
            pairs: vec![0],
            outcomes: Vec::new(),
            noise: Vec::new(),
            starts: vec![State(0)],
        };
        for state in 0..n_states {
            for pair in outcomes(state) {
                let first = table.outcomes.len();
                for outcome in pair.into_iter().filter(|outcome| outcome.probability > 0.0) {
                    let same = |o: &&mut Outcome| o.next == outcome.next && o.reward == outcome.reward;
                    match table.outcomes[first..].iter_mut().find(same) {
                        Some(same) => same.probability += outcome.probability,
                        None => table.outcomes.push(outcome),
                    }
                }
                table.pairs.push(table.outcomes.len());
            }
            table.rows.push(table.pairs.len() - 1);
        }
        table
    }

    /// The same table with other starts, each equally likely.
    pub(crate) fn starting_in(mut self, starts: Vec<State>) -> Self {
        self.starts = starts;
        self
    }

    /// The same table with normal noise on the rewards of a state's actions.
    pub(crate) fn with_noise(mut self, state: usize, deviation: f64) -> Self {
        self.noise.resize(self.pairs.len() - 1, 0.0);
        self.noise[self.rows[state]..self.rows[state + 1]].fill(deviation);
        self
    }

    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.rows.len() - 1
    }

    /// The states in which episodes begin, each equally likely.
    pub fn starts(&self) -> &[State] {
        &self.starts
    }

    /// The outcomes of an action; none if the state does not have it.
    pub fn outcomes(&self, state: State, action: Action) -> &[Outcome] {
        self.pair(state, action).map_or(&[], |pair| &self.outcomes[self.pairs[pair]..self.pairs[pair + 1]])
    }

    /// The standard deviation of the noise on the reward of an action.
    pub fn noise(&self, state: State, action: Action) -> f64 {
        self.pair(state, action).and_then(|pair| self.noise.get(pair)).copied().unwrap_or(0.0)
    }

    /// The lowest and the highest reward, without noise.
    pub fn reward_range(&self) -> (f64, f64) {
        let rewards = self.outcomes.iter().map(|outcome| outcome.reward);
        rewards.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), r| (low.min(r), high.max(r)))
    }

    /// The value of every state, within `tolerance`: of the best policy or, if one is given, of that policy. A state without
    /// actions is worth 0.
    ///
    /// # Errors
    /// If the discount is not below 1, where values may be undefined.
    pub fn values(&self, discount: f64, policy: Option<&[Action]>, tolerance: f64) -> Result<Vec<f64>> {
        if !(0.0..1.0).contains(&discount) {
            let expected = "a number from 0 to below 1";
            return Err(Error::Setting { name: "discount", found: discount, expected });
        }
        let n_actions: Vec<usize> = (0..self.n_states() as u32).map(|s| self.n_actions(State(s))).collect();
        let model = match policy {
            None => known_model(n_actions, |state, action| self.outcomes(state, action).to_vec())?,
            Some(policy) => known_model(n_actions.into_iter().map(|n| n.min(1)), |state, _| {
                self.outcomes(state, policy[state.index()]).to_vec()
            })?,
        };
        let mut planner = solver(&model, discount, tolerance)?;
        plan(&mut planner, &model, Budget::UNTIL_IDLE);
        Ok(model.states().map(|state| planner.values().value(state)).collect())
    }

    /// The mean of values over the starts.
    pub fn from_starts(&self, values: &[f64]) -> f64 {
        mean_over(&self.starts, values)
    }

    fn pair(&self, state: State, action: Action) -> Option<usize> {
        (action.index() < self.n_actions(state)).then(|| self.rows[state.index()] + action.index())
    }
}

impl Environment for TabularWorld {
    fn n_actions(&self, state: State) -> usize {
        let row = |i: usize| self.rows.get(i).copied().unwrap_or(0);
        row(state.index() + 1).saturating_sub(row(state.index()))
    }

    fn start(&self, random: &mut Random) -> State {
        drawn_start(&self.starts, random)
    }

    #[inline]
    fn step(&self, state: State, action: Action, random: &mut Random) -> Step {
        let pair = self.rows[state.index()] + action.index();
        let [rest @ .., last] = &self.outcomes[self.pairs[pair]..self.pairs[pair + 1]] else {
            return Step { reward: 0.0, next: Next::Terminated };
        };
        let mut chosen = last;
        if !rest.is_empty() {
            let mut place = random.unit();
            for outcome in rest {
                if place < outcome.probability {
                    chosen = outcome;
                    break;
                }
                place -= outcome.probability;
            }
        }
        let mut reward = chosen.reward;
        match self.noise.get(pair) {
            Some(&deviation) if deviation > 0.0 => reward += deviation * normal(random),
            _ => {}
        }
        Step { reward, next: chosen.next }
    }
}

/// Draws one of these states, each equally likely.
pub(crate) fn drawn_start(starts: &[State], random: &mut Random) -> State {
    match *starts {
        [only] => only,
        _ => starts[random.below(starts.len() as u32) as usize],
    }
}

/// The mean of values over some states.
pub(crate) fn mean_over(states: &[State], values: &[f64]) -> f64 {
    states.iter().map(|state| values[state.index()]).sum::<f64>() / states.len() as f64
}

/// A model of known outcomes: for each state its number of actions, for each action what it may lead to.
///
/// # Errors
/// If the model refuses them.
pub(crate) fn known_model(
    n_actions: impl IntoIterator<Item = usize>,
    outcomes: impl Fn(State, Action) -> Vec<Outcome>,
) -> Result<Model> {
    let mut model = Model::with_states(n_actions)?;
    for state in model.states() {
        for action in (0..model.n_actions(state) as u32).map(Action) {
            model.set_outcomes(state, action, &outcomes(state, action))?;
        }
    }
    Ok(model)
}

/// A planner that finds the optimal values of a model, within `tolerance`.
pub(crate) fn solver(model: &Model, discount: f64, tolerance: f64) -> Result<ReversedFullBackups> {
    let settings = Settings { discount, ..Settings::default() }.accurate_to(tolerance);
    let mut planner = ReversedFullBackups::new(settings)?;
    planner.grow(model);
    Ok(planner)
}

/// A draw from the standard normal law (Box & Muller).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// An outcome after which the episode continues.
pub(crate) fn to(probability: f64, state: usize, reward: f64) -> Outcome {
    Outcome { probability, reward, next: Next::Continue(State(state as u32)) }
}

/// An outcome that ends the episode.
pub(crate) fn end(probability: f64, reward: f64) -> Outcome {
    Outcome { probability, reward, next: Next::Terminated }
}
