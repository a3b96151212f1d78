//! The value of a policy in a fitted model, and how often it visits each state there.
//!
//! A state that was entered but never left (a case was cut there) has no row. It is worth the mean of what the logged policy
//! gets over all visited states: neither optimistic nor an end.

use crate::error::{Error, Result};
use crate::fitted_model::FittedModel;
use crate::settings::LearnSettings;
use backsweep_mdp::{Mdp, MdpBuilder, Objective, Rewards};
use backsweep_solve::{Limits, Solution};

/// The largest change, relative to the number of cases, at which visits count as settled.
const SETTLED: f64 = 1e-10;
/// Sweeps after which visits are taken as they are: they only affect the widths of intervals.
const MAX_SWEEPS: usize = 20_000;

/// Builds a model whose choices are mixtures of the rows of pairs.
pub(crate) struct MixtureBuilder {
    builder: MdpBuilder,
    rewards: Vec<f64>,
    reward: f64,
    /// The probability of each state within the choice that is being filled, and which of them are not 0.
    probabilities: Vec<f64>,
    touched: Vec<u32>,
}

impl MixtureBuilder {
    pub fn new(n_states: usize) -> Self {
        Self {
            builder: MdpBuilder::default(),
            rewards: Vec::new(),
            reward: 0.0,
            probabilities: vec![0.0; n_states],
            touched: Vec::new(),
        }
    }

    /// Adds a share of a pair's row to the choice that is being filled; `penalty` is subtracted from its reward.
    pub fn mix(&mut self, share: f64, model: &FittedModel, pair: usize, penalty: f64) {
        if share <= 0.0 {
            return;
        }
        self.reward += share * (model.rewards[pair] - penalty);
        let weight = share / model.n[pair] as f64;
        for arc in model.arcs_of(pair) {
            let next = model.next[arc];
            let place = &mut self.probabilities[next as usize];
            if *place == 0.0 {
                self.touched.push(next);
            }
            *place += weight * model.arc_n[arc] as f64;
        }
    }

    /// Adds a reward to the choice that is being filled.
    pub fn add_reward(&mut self, reward: f64) {
        self.reward += reward;
    }

    pub fn end_choice(&mut self) {
        self.touched.sort_unstable();
        for &next in &self.touched {
            self.builder.add_arc(next, std::mem::take(&mut self.probabilities[next as usize]));
        }
        self.touched.clear();
        self.rewards.push(std::mem::take(&mut self.reward));
        self.builder.end_choice();
    }

    pub fn end_state(&mut self) {
        self.builder.end_state();
    }

    /// The model, with one reward per choice.
    pub fn finish(self) -> Result<Mdp> {
        let mut mdp = self.builder.finish().map_err(|error| Error::Solver(error.into()))?;
        mdp.rewards = vec![Rewards { choices: self.rewards, ..Rewards::default() }];
        Ok(mdp)
    }
}

/// The reward of each choice of a model that a [`MixtureBuilder`] made.
pub(crate) fn rewards_of(mdp: &Mdp) -> &[f64] {
    mdp.rewards.first().map_or(&[], |rewards| &rewards.choices)
}

/// Solves a model; an error names the state whose value has no bound.
pub(crate) fn solve(
    mdp: &Mdp,
    settings: &LearnSettings,
    names: &[String],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Solution> {
    let largest = rewards_of(mdp).iter().fold(0.0_f64, |most, reward| most.max(reward.abs()));
    let tolerance = settings.tolerance * if largest > 0.0 { largest } else { 1.0 };
    let limits = Limits { tolerance, stop, threads: settings.threads.max(1), ..Limits::default() };
    let objective = if settings.discount < 1.0 {
        Objective::Discounted { reward: None, discount: settings.discount }
    } else {
        Objective::Total { reward: None, until: None }
    };
    let solution =
        backsweep_solve::solve(mdp, &objective.maximize(), None, &limits).map_err(Error::Solver)?;
    if stop() {
        return Err(Error::Interrupted);
    }
    let unbounded =
        |&state: &usize| !(solution.lower[state].is_finite() && solution.upper[state].is_finite());
    if let Some(state) = (0..names.len()).find(unbounded) {
        return Err(Error::Endless { state: names[state].clone() });
    }
    Ok(solution)
}

/// Returns `true` if a policy, one choice per state, ends from each state with probability above 0. If it does from all, it ends with
/// probability 1.
pub(crate) fn ends(mdp: &Mdp, policy: impl Fn(usize) -> usize) -> Vec<bool> {
    let n = mdp.n_states();
    let mut before: Vec<u32> = vec![0; n + 1];
    for state in 0..n {
        mdp.arcs_of(policy(state)).for_each(|arc| before[mdp.targets()[arc] as usize + 1] += 1);
    }
    for state in 0..n {
        before[state + 1] += before[state];
    }
    let mut place = before.clone();
    let mut sources = vec![0_u32; before[n] as usize];
    for state in 0..n {
        for arc in mdp.arcs_of(policy(state)) {
            let next = mdp.targets()[arc] as usize;
            sources[place[next] as usize] = state as u32;
            place[next] += 1;
        }
    }
    let mut ends: Vec<bool> = (0..n).map(|state| mdp.can_end(policy(state))).collect();
    let mut open: Vec<usize> = (0..n).filter(|&state| ends[state]).collect();
    while let Some(state) = open.pop() {
        for &source in &sources[before[state] as usize..before[state + 1] as usize] {
            if !std::mem::replace(&mut ends[source as usize], true) {
                open.push(source as usize);
            }
        }
    }
    ends
}

/// A policy in a fitted model: one choice per state.
pub struct EvaluatedPolicy {
    pub(crate) mdp: Mdp,
    /// The value of each state, within the tolerance.
    pub values: Vec<f64>,
    /// Every value is within this of the policy's exact value in the fitted model.
    pub bound: f64,
}

impl EvaluatedPolicy {
    pub(crate) fn solve(
        mdp: Mdp,
        settings: &LearnSettings,
        names: &[String],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        if settings.discount == 1.0
            && let Some(state) = ends(&mdp, |state| state).iter().position(|ends| !ends)
        {
            return Err(Error::Endless { state: names[state].clone() });
        }
        let solution = solve(&mdp, settings, names, stop)?;
        let values = (0..names.len()).map(|state| solution.value(state)).collect();
        let bound = solution.lower.iter().zip(&solution.upper).fold(0.0_f64, |most, (l, u)| most.max(u - l));
        Ok(Self { mdp, values, bound })
    }

    /// The expected discounted number of visits to each state, for cases that start like those of the model.
    pub fn visits(&self, model: &FittedModel, discount: f64) -> Vec<f64> {
        self.settled_visits(model, discount).0
    }

    /// The expected number of steps per case, for cases that start like those of the model; `None` if some never end.
    pub fn steps(&self, model: &FittedModel) -> Option<f64> {
        let ends = ends(&self.mdp, |state| state);
        let mut open: Vec<usize> = (0..model.n_states()).filter(|&state| model.starts[state] > 0).collect();
        let mut reached = vec![false; model.n_states()];
        while let Some(state) = open.pop() {
            if !ends[state] {
                return None;
            }
            if !std::mem::replace(&mut reached[state], true) {
                open.extend(self.mdp.arcs_of(state).map(|arc| self.mdp.targets()[arc] as usize));
            }
        }
        let (visits, is_settled) = self.settled_visits(model, 1.0);
        let left = (0..model.n_states()).filter(|&state| !model.pairs_of(state).is_empty());
        is_settled.then(|| left.map(|state| visits[state]).sum())
    }

    /// The visits, and whether they settled.
    fn settled_visits(&self, model: &FittedModel, discount: f64) -> (Vec<f64>, bool) {
        let starts: Vec<f64> = model.starts.iter().map(|&n| n as f64 / model.n_cases as f64).collect();
        let (mut visits, mut flow, mut next) = (starts.clone(), starts, vec![0.0; model.n_states()]);
        let mdp = &self.mdp;
        for _ in 0..MAX_SWEEPS {
            for (state, mass) in flow.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                for arc in mdp.arcs_of(state) {
                    next[mdp.targets()[arc] as usize] += discount * mass * mdp.probabilities()[arc];
                }
            }
            let moved: f64 = next.iter().sum();
            visits.iter_mut().zip(&next).for_each(|(sum, more)| *sum += more);
            std::mem::swap(&mut flow, &mut next);
            next.fill(0.0);
            if moved < SETTLED {
                return (visits, true);
            }
        }
        (visits, false)
    }
}

/// The values of the logged policy.
pub struct Logged {
    /// The share of each pair among its state's.
    pub probabilities: Vec<f64>,
    /// The policy in its own model.
    pub evaluated: EvaluatedPolicy,
    /// The value of a state that was entered but never left.
    pub unseen: f64,
}

/// The rows of a policy on the model's pairs; states without pairs are worth `unseen`.
pub(crate) fn rows(model: &FittedModel, policy: &[f64], unseen: f64) -> Result<Mdp> {
    let mut rows = MixtureBuilder::new(model.n_states());
    for state in 0..model.n_states() {
        let pairs = model.pairs_of(state);
        if pairs.is_empty() {
            rows.add_reward(unseen);
        }
        pairs.for_each(|pair| rows.mix(policy[pair], model, pair, 0.0));
        rows.end_choice();
        rows.end_state();
    }
    rows.finish()
}

impl Logged {
    /// Evaluates the logged policy in the model fitted to its own counts.
    ///
    /// # Errors
    /// If values are undefined: without discount, a case could continue forever.
    pub fn new(
        model: &FittedModel,
        settings: &LearnSettings,
        names: &[String],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        let probabilities = model.logged_policy();
        let at =
            |unseen: f64| EvaluatedPolicy::solve(rows(model, &probabilities, unseen)?, settings, names, stop);
        let mean = |evaluated: &EvaluatedPolicy| {
            let seen =
                (0..model.n_states()).map(|state| model.visits(state) as f64 * evaluated.values[state]);
            seen.sum::<f64>() / model.n_steps() as f64
        };
        let evaluated = at(0.0)?;
        if (0..model.n_states()).all(|state| !model.pairs_of(state).is_empty()) {
            return Ok(Self { probabilities, evaluated, unseen: 0.0 });
        }
        // Values are linear in the value of unseen states: two points give the fixed point.
        let (at_0, at_1) = (mean(&evaluated), mean(&at(1.0)?));
        let slope = at_1 - at_0;
        if slope >= 1.0 - 1e-9 {
            return Err(Error::AllCut);
        }
        let unseen = at_0 / (1.0 - slope);
        Ok(Self { evaluated: at(unseen)?, probabilities, unseen })
    }
}
