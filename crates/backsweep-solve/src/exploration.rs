//! Answers about the start of a model that is given by functions, while most of its states were never looked at.
//!
//! A state of the frontier is worth anything in the range of values. Solving the known part twice, with the frontier at either
//! end of the range, therefore gives proven bounds. What is expanded next is where the optimistic policy goes, towards the
//! widest intervals (as bounded real-time dynamic programming does; McMahan, Likhachev and Gordon 2005); the known part grows
//! by half before it is solved again, so that all solves together cost a few times the last one.

use crate::{Error, Limits, Result, Solution, discounted_error, solve};
use backsweep_core::Random;
use backsweep_mdp::{Direction, KnownPart, ModelSource, NO_CHOICE, Objective, Question, SourceError};

/// The aim of an exploration, and its end.
#[derive(Clone, Copy, Debug)]
pub struct ExplorationGoal {
    /// From 0 to 1.
    pub discount: f64,
    /// Largest or smallest values.
    pub direction: Direction,
    /// No state is worth less than the first or more than the second.
    pub value_range: (f64, f64),
    /// The start should be within this of the truth.
    pub tolerance: f64,
    /// At most this many states are expanded in all.
    pub max_states: usize,
}

/// Why exploring failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExplorationError<E> {
    /// The source failed, or gave a malformed row. What is known stays.
    #[error("{0}")]
    Source(#[from] SourceError<E>),
    /// The known part could not be solved.
    #[error(transparent)]
    Solve(#[from] Error),
}

/// The known part grows by this factor before it is solved again.
const GROWTH: f64 = 1.5;

/// The first part that is solved has this many states.
const FIRST_PART: usize = 64;

/// Expands states until the value of the start is known well enough, everything was expanded, `goal.max_states` were, or
/// `limits.stop` says so. `seen` is called after each expansion.
///
/// The answer has an interval for each state that was met, and `converged` is about the start. Its policy has the number of an action
/// within its state, or [`NO_CHOICE`] where nothing was expanded. In the start, its value is at least `lower` (for a minimum, at
/// most `upper`), if the frontier keeps the promise of its range.
///
/// # Errors
/// If the source fails, or the known part cannot be solved. What was expanded stays in `part`.
pub fn explore_from_start<M: ModelSource>(
    source: &mut M,
    part: &mut KnownPart,
    goal: &ExplorationGoal,
    limits: &Limits,
    mut seen: impl FnMut(&KnownPart),
) -> std::result::Result<Solution, ExplorationError<M::Error>> {
    check(goal)?;
    let mut random = Random::from_seed(0);
    let (least, most) = goal.value_range;
    let mut answer = Solution::default();
    loop {
        let n = part.n_states();
        answer.lower.resize(n, least);
        answer.upper.resize(n, most);
        let aim = ((part.n_expanded() as f64 * GROWTH) as usize).max(FIRST_PART).min(goal.max_states);
        let mut idle = 0;
        while part.n_expanded() < aim && part.n_expanded() < part.n_states() && idle < 100 && !(limits.stop)()
        {
            let before = part.n_expanded();
            walk(source, part, goal, &mut answer, &mut random)?;
            idle = if part.n_expanded() > before { 0 } else { idle + 1 };
            seen(part);
        }
        // Where walks keep to what is known, the oldest of the frontier come next.
        if part.n_expanded() < aim && !(limits.stop)() {
            let mut state = 0;
            while (state as usize) < part.n_states() && part.n_expanded() < aim && !(limits.stop)() {
                part.expand(source, state)?;
                seen(part);
                state += 1;
            }
        }
        solve_both_ends(part, goal, limits, &mut answer)?;
        let open = |&state: &u32| {
            let state = state as usize;
            answer.upper[state] - answer.lower[state] > 2.0 * goal.tolerance
        };
        answer.converged = !part.start().iter().any(open);
        let exhausted = part.n_expanded() == part.n_states() || part.n_expanded() >= goal.max_states;
        if answer.converged || exhausted || (limits.stop)() {
            return Ok(answer);
        }
    }
}

fn check(goal: &ExplorationGoal) -> Result<()> {
    if !(0.0..=1.0).contains(&goal.discount) {
        return Err(Error::Discount { found: goal.discount, expected: "a number from 0 to 1" });
    }
    let (least, most) = goal.value_range;
    if !(least <= most && least.abs().max(most.abs()) <= backsweep_mdp::MAX_REWARD) {
        return Err(Error::ValueRange { least, most });
    }
    if !(goal.tolerance > 0.0 && goal.tolerance.is_finite()) {
        return Err(Error::Tolerance { found: goal.tolerance });
    }
    Ok(())
}

/// One walk from the start by the optimistic choices, to a state of the frontier or where nothing is uncertain; expands the
/// state that it ends in and backs up what it passed. The bounds in between only guide: the proven ones are those of solves.
fn walk<M: ModelSource>(
    source: &mut M,
    part: &mut KnownPart,
    goal: &ExplorationGoal,
    answer: &mut Solution,
    random: &mut Random,
) -> std::result::Result<(), SourceError<M::Error>> {
    let width = |answer: &Solution, state: u32| answer.upper[state as usize] - answer.lower[state as usize];
    let Some(&widest) = part.start().iter().max_by(|a, b| width(answer, **a).total_cmp(&width(answer, **b)))
    else {
        return Ok(());
    };
    let enough = width(answer, widest) / 20.0;
    let (mut state, mut passed) = (widest, Vec::new());
    while passed.len() < 10_000 {
        passed.push(state);
        if !part.is_expanded(state) {
            part.expand(source, state)?;
            answer.lower.resize(part.n_states(), goal.value_range.0);
            answer.upper.resize(part.n_states(), goal.value_range.1);
            break;
        }
        let Some(chosen) = back_up(part, goal, answer, state) else { break };
        let Some((targets, probabilities, _)) = part.rows(state).nth(chosen) else { break };
        let weigh = |(&target, p): (&u32, &f64)| p * width(answer, target);
        let total: f64 = targets.iter().zip(probabilities).map(weigh).sum();
        if total * goal.discount <= enough.min(goal.tolerance) {
            break;
        }
        let mut left = random.unit() * total;
        let drawn = targets.iter().zip(probabilities).find(|arc| {
            left -= weigh(*arc);
            left < 0.0
        });
        let Some((&next, _)) = drawn else { break };
        state = next;
    }
    for &state in passed.iter().rev() {
        back_up(part, goal, answer, state);
    }
    Ok(())
}

/// Narrows the guiding bounds of an expanded state; returns its optimistic action.
fn back_up(part: &KnownPart, goal: &ExplorationGoal, answer: &mut Solution, state: u32) -> Option<usize> {
    let sign = goal.direction.sign();
    let mean = |targets: &[u32], probabilities: &[f64], values: &[f64]| -> f64 {
        targets.iter().zip(probabilities).map(|(&target, p)| p * values[target as usize]).sum()
    };
    let (optimistic, cautious) =
        if sign > 0.0 { (&answer.upper, &answer.lower) } else { (&answer.lower, &answer.upper) };
    let (mut best, mut safe, mut chosen) = (f64::NEG_INFINITY, f64::NEG_INFINITY, None);
    for (action, (targets, probabilities, reward)) in part.rows(state).enumerate() {
        let hope = sign * (reward + goal.discount * mean(targets, probabilities, optimistic));
        let sure = sign * (reward + goal.discount * mean(targets, probabilities, cautious));
        if hope > best {
            (best, chosen) = (hope, Some(action));
        }
        safe = safe.max(sure);
    }
    let (best, safe) = if chosen.is_none() { (0.0, 0.0) } else { (sign * best, sign * safe) };
    let (low, high) = if sign > 0.0 { (safe, best) } else { (best, safe) };
    let state = state as usize;
    answer.lower[state] = answer.lower[state].max(low);
    answer.upper[state] = answer.upper[state].min(high);
    chosen
}

/// Proven bounds of all states that were met, and a policy.
fn solve_both_ends(
    part: &KnownPart,
    goal: &ExplorationGoal,
    limits: &Limits,
    answer: &mut Solution,
) -> Result<()> {
    let objective = match goal.discount {
        1.0 => Objective::Total { reward: None, until: None },
        discount => Objective::Discounted { reward: None, discount },
    };
    let question = Question { objective, direction: goal.direction };
    // The proof needs a fraction of the tolerance, and must be finished once it has begun.
    let within = Limits { tolerance: 0.1 * goal.tolerance, relative: 0.0, ..*limits };
    let solved = |worth: f64| -> Result<(Solution, Vec<usize>)> {
        let mdp = part.mdp(Some(worth))?;
        let firsts = (0..mdp.n_states()).map(|state| mdp.choices_of(state).start).collect();
        Ok((solve(&mdp, &question, None, &within)?, firsts))
    };
    let (least, most) = goal.value_range;
    let ((low, firsts), (high, _)) = (solved(least)?, solved(most)?);
    let error = match goal.discount {
        1.0 if part.reward_error() > 0.0 => f64::INFINITY,
        1.0 => 0.0,
        discount => discounted_error(part.reward_error(), discount),
    };
    // Rounded means of rewards add up without bound where nothing is discounted; then the range is all that is known.
    let rounded = |x: f64, end: f64| if error.is_infinite() { end } else { x };
    let down = |x: f64| if error > 0.0 { (x - error).next_down() } else { x };
    let up = |x: f64| if error > 0.0 { (x + error).next_up() } else { x };
    answer.lower.resize(part.n_states(), least);
    answer.upper.resize(part.n_states(), most);
    for state in 0..part.n_states() {
        let (lower, upper) = (down(low.lower[state]), up(high.upper[state]));
        if lower > most || upper < least {
            return Err(Error::BeyondRange { state: state as u32, lower, upper });
        }
        answer.lower[state] = rounded(lower, least).max(least).min(most);
        answer.upper[state] = rounded(upper, most).min(most).max(least);
    }
    let cautious = if goal.direction == Direction::Maximize { &low } else { &high };
    let within_state = |state: usize| match cautious.policy[state] {
        choice if choice == NO_CHOICE || !part.is_expanded(state as u32) => NO_CHOICE,
        choice => choice - firsts[state] as u32,
    };
    answer.policy = (0..part.n_states()).map(within_state).collect();
    Ok(())
}
