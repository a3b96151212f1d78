//! A given policy: what it is worth, where it loses, and runs of it.

use crate::discounted::How;
use crate::discounted::model::UNIT;
use crate::entry::in_rounds;
use crate::undiscounted::{ComponentMethod, Resolved, SolveTask, View};
use crate::{Error, Limits, Result, Solution, discounted, discounted_error, solve};
use backsweep_core::Random;
use backsweep_mdp::{Direction, Mdp, MdpBuilder, Objective, Question, Rewards, STEPS, SUM_SLACK};

/// A policy to judge: for each state, choices with the probabilities of taking them. A state without any stops there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixedPolicy {
    /// The choices of each state by their numbers in the model, each with its probability.
    pub choices: Vec<Vec<(u32, f64)>>,
}

impl MixedPolicy {
    /// Returns whether the policy fits a model.
    ///
    /// # Errors
    /// If the number of states differs, a state has no such choice, or its probabilities do not sum to 1.
    pub fn check(&self, mdp: &Mdp) -> Result<()> {
        if self.choices.len() != mdp.n_states() {
            return Err(Error::StartLength { found: self.choices.len(), expected: mdp.n_states() });
        }
        for (state, row) in self.choices.iter().enumerate() {
            let refused = |problem| Err(Error::Policy { state: mdp.state_name(state), problem });
            if let Some((choice, _)) =
                row.iter().find(|(c, _)| !mdp.choices_of(state).contains(&(*c as usize)))
            {
                return refused(format!("the policy takes choice {choice}, which the state does not have"));
            }
            if let Some((_, p)) = row.iter().find(|(_, p)| !(*p >= 0.0 && *p <= 1.0 + SUM_SLACK)) {
                return refused(format!("the policy has the probability {p}; expected one from 0 to 1"));
            }
            let sum: f64 = row.iter().map(|(_, p)| p).sum();
            if !row.is_empty() && (sum - 1.0).abs() > SUM_SLACK {
                return refused(format!("the probabilities of its actions sum to {sum}; expected 1"));
            }
        }
        Ok(())
    }

    /// Returns whether some state mixes choices.
    fn is_mixed(&self) -> bool {
        self.choices.iter().any(|row| row.len() > 1)
    }

    /// The model in which there is nothing to choose.
    fn chain(&self, mdp: &Mdp) -> Result<Mdp> {
        let mut builder = MdpBuilder::default();
        for row in &self.choices {
            if !row.is_empty() {
                for &(choice, share) in row.iter().filter(|(_, share)| *share > 0.0) {
                    let (targets, probabilities) = mdp.row(choice as usize);
                    let arcs =
                        targets.iter().zip(probabilities).map(|(&target, p)| (target, (share * p).min(1.0)));
                    arcs.filter(|(_, p)| *p > 0.0).for_each(|(target, p)| builder.add_arc(target, p));
                }
                builder.end_choice();
            }
            builder.end_state();
        }
        let mut chain = builder.finish()?;
        (chain.labels, chain.initial) = (mdp.labels.clone(), mdp.initial.clone());
        chain.state_names.clone_from(&mdp.state_names);
        Ok(chain)
    }

    /// A number per choice of the chain from numbers per choice of the model.
    fn mix(&self, numbers: impl Fn(usize) -> f64) -> Vec<f64> {
        let rows = self.choices.iter().filter(|row| !row.is_empty());
        rows.map(|row| row.iter().map(|&(choice, share)| share * numbers(choice as usize)).sum()).collect()
    }
}

/// The worth of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyValue {
    /// The policy's own values, in intervals that are proven to contain them. Its `policy` is empty.
    pub own: Solution,
    /// The values of the best policy.
    pub best: Solution,
    /// Where the policy loses, most first. Empty for a number of steps and the long run.
    pub losses: Vec<StateLoss>,
}

impl PolicyValue {
    /// The advantage of the best policy in a state: at least, and at most.
    pub fn gap(&self, state: usize, direction: Direction) -> (f64, f64) {
        let (own, best) = (
            (self.own.lower[state], self.own.upper[state]),
            (self.best.lower[state], self.best.upper[state]),
        );
        let (more, less) = if direction == Direction::Maximize { (best, own) } else { (own, best) };
        if more.0 == more.1 && more == less {
            return (0.0, 0.0);
        }
        ((more.0 - less.1).next_down().max(0.0), (more.1 - less.0).next_up())
    }
}

/// The loss of a policy in a state; estimated, not proven.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateLoss {
    /// The state.
    pub state: u32,
    /// The visits of a run there, later visits discounted, from the initial states or, if there are none, from every state
    /// alike.
    pub visits: f64,
    /// The loss from following the policy for one step and the best one from then on.
    pub per_visit: f64,
}

/// Sweeps for the numbers of visits, which are estimates.
const MAX_VISIT_SWEEPS: usize = 10_000;

/// Judges a policy: its own values, those of the best policy, and where the difference comes from.
///
/// # Errors
/// As [`solve`] and [`MixedPolicy::check`].
pub fn evaluate(
    mdp: &Mdp,
    question: &Question,
    policy: &MixedPolicy,
    limits: &Limits,
) -> Result<PolicyValue> {
    policy.check(mdp)?;
    let mut with_steps;
    let mdp = match question.objective.reward() {
        Some(STEPS) if mdp.rewards.iter().all(|rewards| rewards.name != STEPS) => {
            with_steps = mdp.clone();
            with_steps.add_steps(Some(STEPS));
            &with_steps
        }
        _ => mdp,
    };
    let mut own = in_rounds(limits, |limits| own_values(mdp, question, policy, limits), |solution| solution)?;
    own.policy.clear();
    let best = solve(mdp, question, None, limits)?;
    let losses = losses(mdp, question, policy, &best, limits)?;
    Ok(PolicyValue { own, best, losses })
}

fn own_values(mdp: &Mdp, question: &Question, policy: &MixedPolicy, limits: &Limits) -> Result<Solution> {
    limits.check()?;
    let chain = policy.chain(mdp)?;
    // Mixed probabilities are rounded once more than those of the model.
    let blur = if policy.is_mixed() { 4.0 * UNIT } else { 0.0 };
    let most_terms = policy.choices.iter().map(Vec::len).max().unwrap_or(0) as f64;
    if let Objective::Discounted { reward, discount } = &question.objective {
        let expected = mdp.expected_rewards(reward.as_deref())?;
        let mixed = policy.mix(|choice| expected[choice]);
        let (mut own, ..) =
            discounted::solve(&chain, &mixed, *discount, question.direction, How::Choose, limits)?;
        let largest = expected.iter().fold(0.0, |most: f64, r| most.max(r.abs()));
        let error = crate::reward_error(mdp, mdp.rewards(reward.as_deref())?)
            + if blur > 0.0 { (most_terms + 2.0) * f64::EPSILON * largest } else { 0.0 };
        let off = discounted_error(error + blur * largest / (1.0 - discount).next_down(), *discount);
        let chooses = |state: usize| !chain.choices_of(state).is_empty();
        own.widen(off, limits, chooses, "rewards of the policy");
        return Ok(own);
    }
    let whole = Resolved::new(&View::new(mdp)?, &question.objective)?;
    let mut view = View::new(&chain)?;
    view.slack += blur;
    let end = |side: usize, sign: f64| {
        let exact = policy.mix(|choice| whole.rewards.get(choice).map_or(0.0, |bounds| bounds[side]));
        let size = policy.mix(|choice| whole.rewards.get(choice).map_or(0.0, |bounds| bounds[side].abs()));
        let off = if blur > 0.0 { (most_terms + 4.0) * f64::EPSILON } else { 0.0 };
        exact.iter().zip(size).map(|(exact, size)| exact + sign * off * size).collect::<Vec<f64>>()
    };
    let rewards: Vec<[f64; 2]> = end(0, -1.0).into_iter().zip(end(1, 1.0)).map(<[f64; 2]>::from).collect();
    let task = SolveTask {
        tolerance: limits.tolerance,
        stop: &|| (limits.stop)(),
        method: ComponentMethod::Automatic,
        warm: None,
        keep: false,
    };
    Ok(whole.answer(&view, &rewards, question.direction, &task).0)
}

/// Where a policy loses: the difference of values is the sum over states of visits times what one step loses.
fn losses(
    mdp: &Mdp,
    question: &Question,
    policy: &MixedPolicy,
    best: &Solution,
    limits: &Limits,
) -> Result<Vec<StateLoss>> {
    let (reward, discount, ends_at) = match &question.objective {
        Objective::Discounted { reward, discount } => (Some(reward), *discount, None),
        Objective::Total { reward, until } => (Some(reward), 1.0, until.clone()),
        Objective::Reach { goal, steps: None, .. } => (None, 1.0, Some(goal.clone())),
        Objective::Reach { .. } | Objective::Horizon { .. } | Objective::Average { .. } => {
            return Ok(Vec::new());
        }
    };
    let rewards = reward.map(|reward| mdp.expected_rewards(reward.as_deref())).transpose()?;
    let ended =
        ends_at.map_or(Ok(Vec::new()), |label| mdp.label(&label).map(|states| states.into_owned()))?;
    let n = mdp.n_states();
    let sign = question.direction.sign();
    let value = |state: usize| best.value(state);
    let worth = |choice: usize| {
        let (targets, probabilities) = mdp.row(choice);
        let next: f64 =
            targets.iter().zip(probabilities).map(|(&target, p)| p * value(target as usize)).sum();
        rewards.as_ref().map_or(0.0, |rewards| rewards[choice]) + discount * next
    };
    let is_over = |state: usize| ended.binary_search(&(state as u32)).is_ok();
    let starts: Vec<usize> = match mdp.initial.is_empty() {
        true => (0..n).collect(),
        false => mdp.initial.iter().map(|&state| state as usize).collect(),
    };
    let mut visits = vec![0.0; n];
    let mut wave = vec![0.0; n];
    starts.iter().for_each(|&state| wave[state] = 1.0 / starts.len() as f64);
    for _ in 0..MAX_VISIT_SWEEPS {
        let mut next = vec![0.0; n];
        for state in (0..n).filter(|&state| wave[state] > 0.0) {
            visits[state] += wave[state];
            for &(choice, share) in policy.choices[state].iter().filter(|_| !is_over(state)) {
                let (targets, probabilities) = mdp.row(choice as usize);
                for (&target, p) in targets.iter().zip(probabilities) {
                    next[target as usize] += discount * wave[state] * share * p;
                }
            }
        }
        wave = next;
        if wave.iter().sum::<f64>() < 1e-9 || (limits.stop)() {
            break;
        }
    }
    let loss = |state: usize| {
        let taken: f64 = policy.choices[state].iter().map(|&(c, share)| share * worth(c as usize)).sum();
        let per_visit = sign * (value(state) - taken);
        StateLoss { state: state as u32, visits: visits[state], per_visit }
    };
    let counts = |loss: &StateLoss| loss.visits > 0.0 && loss.per_visit > 4.0 * limits.tolerance;
    let chosen = (0..n).filter(|&state| !is_over(state) && !policy.choices[state].is_empty());
    let mut found: Vec<StateLoss> = chosen.map(loss).filter(counts).collect();
    found.sort_by(|a, b| {
        (b.visits * b.per_visit).total_cmp(&(a.visits * a.per_visit)).then(a.state.cmp(&b.state))
    });
    Ok(found)
}

/// One step of a simulated run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedStep {
    /// The state.
    pub state: u32,
    /// The choice taken.
    pub choice: u32,
    /// The reward received.
    pub reward: f64,
    /// The next state; `None` if the episode ended.
    pub next: Option<u32>,
}

/// A run of a policy: until the episode ends, the policy has no choice, or `max_steps` steps were taken.
///
/// The same state of the generator gives the same run.
///
/// # Errors
/// As [`MixedPolicy::check`], and if the model does not have the rewards. Without any rewards in the model, all are 0.
pub fn simulate(
    mdp: &Mdp,
    reward: Option<&str>,
    policy: &MixedPolicy,
    start: u32,
    max_steps: u64,
    random: &mut Random,
) -> Result<Vec<SimulatedStep>> {
    policy.check(mdp)?;
    if start as usize >= mdp.n_states() {
        let n_states = mdp.n_states();
        return Err(backsweep_mdp::Error::UnknownState { found: start.to_string(), n_states }.into());
    }
    let none = Rewards::default();
    let rewards = if mdp.rewards.is_empty() && reward.is_none() { &none } else { mdp.rewards(reward)? };
    mdp.check_rewards(rewards)?;
    let value = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(0.0);
    let (mut steps, mut state) = (Vec::new(), start);
    while (steps.len() as u64) < max_steps {
        let row = &policy.choices[state as usize];
        let Some(taken) = draw(row.iter().map(|(_, share)| *share), random).or(row.len().checked_sub(1))
        else {
            break;
        };
        let choice = row[taken].0;
        let arcs = mdp.arcs_of(choice as usize);
        let probabilities = mdp.probabilities()[arcs.clone()].iter().copied();
        let drawn = draw(probabilities, random)
            .or((!mdp.can_end(choice as usize)).then(|| arcs.len().saturating_sub(1)));
        let arc = drawn.map(|place| arcs.start + place);
        let reward = value(&rewards.states, state as usize)
            + value(&rewards.choices, choice as usize)
            + arc.map_or(0.0, |arc| value(&rewards.arcs, arc));
        let next = arc.map(|arc| mdp.targets()[arc]);
        steps.push(SimulatedStep { state, choice, reward, next });
        match next {
            Some(next) => state = next,
            None => break,
        }
    }
    Ok(steps)
}

/// The place that a uniform number falls on; `None` beyond the sum.
fn draw(probabilities: impl Iterator<Item = f64>, random: &mut Random) -> Option<usize> {
    let mut left = random.unit();
    probabilities.enumerate().find_map(|(place, p)| {
        left -= p;
        (left < 0.0).then_some(place)
    })
}
