//! The one way in: a question by names of labels and rewards becomes numbers, and goes to the solver for it.

use crate::discounted::{self, DiscountedMethod, How};
use crate::undiscounted::{ComponentMethod, Resolved, SolveTask, View};
use crate::{Error, Limits, Result, Solution, Start};
use backsweep_mdp::{Direction, Mdp, NO_CHOICE, Objective, Question, Rewards, reward_sum_error};

/// Answers a question. Without the name of a method, the portfolio chooses.
///
/// Intervals are proven whenever this returns, even if `limits.stop` ended the work.
///
/// ```
/// use backsweep_mdp::{MdpBuilder, Objective, Rewards};
/// use backsweep_solve::{Limits, solve};
/// let mut builder = MdpBuilder::default();
/// builder.add_choice([(0, 1.0)]);
/// builder.end_state();
/// let mut mdp = builder.finish()?;
/// mdp.rewards.push(Rewards { choices: vec![3.0], ..Rewards::default() });
/// let question = Objective::Discounted { reward: None, discount: 0.5 }.maximize();
/// let solution = solve(&mdp, &question, None, &Limits::default())?;
/// assert!(solution.converged && (solution.value(0) - 6.0).abs() <= 1e-6);
/// # Ok::<(), backsweep_solve::Error>(())
/// ```
///
/// # Errors
/// If a label, the rewards or the method does not exist (the message lists those that do), or a number is out of range.
pub fn solve(mdp: &Mdp, question: &Question, method: Option<&str>, limits: &Limits) -> Result<Solution> {
    Ok(solve_for_repair(mdp, question, method, limits)?.0)
}

/// As [`solve`], and also returns what [`Repair::resume`](crate::Repair::resume) needs after a change; `None` for questions
/// without a discount, which are for [`Repair::new`](crate::Repair::new).
///
/// # Errors
/// As [`solve`].
pub fn solve_for_repair(
    mdp: &Mdp,
    question: &Question,
    method: Option<&str>,
    limits: &Limits,
) -> Result<(Solution, Option<Start>)> {
    let method = Begin::Method(method);
    in_rounds(limits, |limits| solve_absolutely(mdp, question, &method, limits), |(solution, _)| solution)
}

/// Answers a question with a discount by sweeps from these values, instead of choosing a method: the values come from another
/// program or machine, and the intervals are proven here.
///
/// Values close to the true ones need one sweep. Others cost time, never correctness. Also returns what
/// [`Repair::resume`](crate::Repair::resume) needs after a change.
///
/// # Errors
/// As [`solve`], and if the question has no discount, or the values do not fit the model or are not finite.
pub fn solve_from(
    mdp: &Mdp,
    question: &Question,
    start: &Start,
    limits: &Limits,
) -> Result<(Solution, Start)> {
    let mut start = start.clone();
    start.check(mdp.n_states())?;
    in_rounds(
        limits,
        |limits| {
            let (solution, end) = solve_absolutely(mdp, question, &Begin::Values(&start), limits)?;
            start = end.ok_or(Error::StartWithoutDiscount)?;
            Ok((solution, start.clone()))
        },
        |(solution, _)| solution,
    )
}

/// Solves with smaller and smaller tolerances until the relative one is met as well, if there is one.
pub(crate) fn in_rounds<T>(
    limits: &Limits,
    mut solve: impl FnMut(&Limits) -> Result<T>,
    of: impl Fn(&mut T) -> &mut Solution,
) -> Result<T> {
    if limits.relative == 0.0 {
        return solve(limits);
    }
    limits.check()?;
    // How small values are shows only once they are known roughly.
    let mut tolerance = if limits.tolerance > 0.0 { limits.tolerance } else { ROUGHLY };
    for _ in 0..MAX_ROUNDS {
        let mut solved = solve(&Limits { tolerance, relative: 0.0, ..*limits })?;
        let solution = of(&mut solved);
        let is_close = solution.converged;
        solution.converged = limits.are_met(&solution.lower, &solution.upper);
        if solution.converged || !is_close || (limits.stop)() {
            return Ok(solved);
        }
        tolerance = limits.next_tolerance(solution, tolerance);
    }
    solve(&Limits { tolerance, relative: 0.0, ..*limits })
}

/// Answers a question for some states: only what can be reached from them is solved. All other states get the interval from
/// minus to plus infinity and no choice; `converged` is about what was solved.
///
/// # Errors
/// As [`solve`], and if a state does not exist.
pub fn solve_at(
    mdp: &Mdp,
    question: &Question,
    at: &[u32],
    method: Option<&str>,
    limits: &Limits,
) -> Result<Solution> {
    let n_states = mdp.n_states();
    if let Some(state) = at.iter().find(|state| **state as usize >= n_states) {
        return Err(backsweep_mdp::Error::UnknownState { found: state.to_string(), n_states }.into());
    }
    let mut reached = vec![false; n_states];
    let mut queue = at.to_vec();
    at.iter().for_each(|&state| reached[state as usize] = true);
    while let Some(state) = queue.pop() {
        for choice in mdp.choices_of(state as usize) {
            for &target in mdp.row(choice).0 {
                if !std::mem::replace(&mut reached[target as usize], true) {
                    queue.push(target);
                }
            }
        }
    }
    let (part, states, choices) = mdp.restricted(&reached, |_| true)?;
    let mut solution = solve(&part, question, method, limits)?;
    let mut whole = Solution {
        lower: vec![f64::NEG_INFINITY; n_states],
        upper: vec![f64::INFINITY; n_states],
        policy: vec![NO_CHOICE; n_states],
        converged: solution.converged,
        iterations: solution.iterations,
        explanation: std::mem::take(&mut solution.explanation),
    };
    whole.explanation.insert(0, format!("{} of {n_states} states can be reached", states.len()));
    for (i, &state) in states.iter().enumerate() {
        let state = state as usize;
        (whole.lower[state], whole.upper[state]) = (solution.lower[i], solution.upper[i]);
        whole.policy[state] = match solution.policy[i] {
            NO_CHOICE => NO_CHOICE,
            choice => choices[choice as usize],
        };
    }
    Ok(whole)
}

/// The absolute tolerance of the first round if there is only a relative one.
const ROUGHLY: f64 = 1e-6;

/// Rounds of smaller and smaller tolerances; the third is rarely needed.
const MAX_ROUNDS: usize = 20;

/// The beginning: with a method by name, with the one that the portfolio chooses, or with values.
enum Begin<'a> {
    Method(Option<&'a str>),
    Values(&'a Start),
}

fn solve_absolutely(
    mdp: &Mdp,
    question: &Question,
    begin: &Begin,
    limits: &Limits,
) -> Result<(Solution, Option<Start>)> {
    if mdp.n_states() == 0 && mdp.rewards.is_empty() {
        return Err(Error::Empty);
    }
    if let Objective::Discounted { reward, discount } = &question.objective {
        let how = match begin {
            Begin::Method(None) => How::Choose,
            Begin::Method(Some(name)) => How::Method(DiscountedMethod::named(name)?),
            Begin::Values(start) => How::From(&start.values),
        };
        let rewards = mdp.rewards(reward.as_deref())?;
        let expected = mdp.expected_rewards(reward.as_deref())?;
        let (mut solution, start, _) =
            discounted::solve(mdp, &expected, *discount, question.direction, how, limits)?;
        let chooses = |state: usize| !mdp.choices_of(state).is_empty();
        let off = reward_rounding(mdp, rewards, *discount);
        solution.widen(off, limits, chooses, "rewards of arcs");
        return Ok((solution, Some(start)));
    }
    let method = match begin {
        Begin::Method(name) => name.map_or(Ok(ComponentMethod::Automatic), ComponentMethod::named)?,
        Begin::Values(_) => return Err(Error::StartWithoutDiscount),
    };
    limits.check()?;
    let view = View::new(mdp)?;
    let task =
        SolveTask { tolerance: limits.tolerance, stop: &|| (limits.stop)(), method, warm: None, keep: false };
    let resolved = Resolved::new(&view, &question.objective)?;
    let mut solution = resolved.answer(&view, &resolved.rewards, question.direction, &task).0;
    if let Some(caution) = caution(mdp, question, &solution.lower) {
        solution.explanation.insert(0, caution);
    }
    Ok((solution, None))
}

/// A caution about an answer that is right by definition, but probably not to the question that they meant.
pub fn caution(mdp: &Mdp, question: &Question, lower: &[f64]) -> Option<String> {
    let Objective::Total { reward, until: Some(until) } = &question.objective else { return None };
    let infinite = lower.iter().filter(|value| **value == f64::INFINITY).count();
    if question.direction != Direction::Maximize || infinite == 0 {
        return None;
    }
    let rewards = mdp.expected_rewards(reward.as_deref()).ok()?;
    let only_costs =
        rewards.iter().all(|reward| *reward <= 0.0) && rewards.iter().any(|reward| *reward < 0.0);
    only_costs.then(|| {
        let infinite = if infinite == 1 { "1 value is".to_owned() } else { format!("{infinite} values are") };
        format!(
            "a run that misses '{until}' forever counts as +inf, so {infinite} infinite although no reward is above \
             0; where missing it should count as -inf, minimize the same rewards with their signs changed"
        )
    })
}

/// The largest effect of rounded sums in [`Mdp::expected_rewards`] on a discounted value; 0 if no sum was rounded.
pub(crate) fn reward_rounding(mdp: &Mdp, rewards: &Rewards, discount: f64) -> f64 {
    discounted_error(reward_error(mdp, rewards), discount)
}

/// The largest effect on a discounted value of rewards that are each off by at most this.
pub(crate) fn discounted_error(error: f64, discount: f64) -> f64 {
    error / (1.0 - discount).next_down() * (1.0 + 4.0 * f64::EPSILON)
}

/// The largest distance of an expected reward from the exact sum; 0 if no sum was rounded.
pub(crate) fn reward_error(mdp: &Mdp, rewards: &Rewards) -> f64 {
    let value = |values: &[f64], i: usize| values.get(i).map_or(0.0, |value| value.abs());
    let mut most: f64 = 0.0;
    if rewards.arcs.is_empty() && (rewards.states.is_empty() || rewards.choices.is_empty()) {
        return most;
    }
    for state in 0..mdp.n_states() {
        let of_state = value(&rewards.states, state);
        for choice in mdp.choices_of(state) {
            let own = value(&rewards.choices, choice);
            let arcs = mdp.arcs_of(choice);
            let on_arcs: f64 =
                arcs.clone().map(|arc| mdp.probabilities()[arc] * value(&rewards.arcs, arc)).sum();
            most = most.max(reward_sum_error(of_state, own, on_arcs, arcs.len()));
        }
    }
    most
}
