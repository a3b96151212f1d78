//! From enclosures to a verdict.

use crate::discounted::Discounted;
use crate::enclosure::{Enclosure, Guess};
use crate::graph::Graph;
use crate::result::ResultFile;
use crate::rows::{Interval, RowSum, scale_and_missing};
use crate::steps::Steps;
use crate::{fingerprint, longrun, undiscounted};
use backsweep_mdp::{Direction, Mdp, Objective};

/// The verdict of the check.
#[derive(Clone, Debug, PartialEq)]
pub enum Verification {
    /// Every claim is true.
    Proven,
    /// A claim is false; says which.
    Wrong(String),
    /// Nothing is wrong, but not everything could be proven; says what.
    NotProven(String),
}

/// A verdict and its details.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The verdict.
    pub verdict: Verification,
    /// The widest of the check's own enclosures of finite values.
    pub width: f64,
}

/// The fraction of the tolerance of a state by which bounds may be off: room for rounding, here and in the solver.
const ROUNDING_SHARE: f64 = 0.01;

/// The number of arcs read before the check gives up; about a minute.
const BUDGET: u64 = 10_000_000_000;

/// Checks a result against its model.
pub fn verify(mdp: &Mdp, result: &ResultFile) -> Report {
    let wrong = |problem: String| Report { verdict: Verification::Wrong(problem), width: f64::NAN };
    if let Err(error) = mdp.check() {
        return wrong(format!("the model: {error}"));
    }
    if let Err(problem) = well_formed(mdp, result) {
        return wrong(problem);
    }
    // Where only a relative tolerance counts, the smallest value says how narrow enclosures have to be.
    let finite = (0..mdp.n_states()).map(|state| result.allowed(state)).filter(|allowed| *allowed > 0.0);
    let width = ROUNDING_SHARE * finite.fold(f64::MAX, f64::min);
    let middle =
        |(lower, upper): (&f64, &f64)| if lower == upper { *lower } else { lower + (upper - lower) / 2.0 };
    let values: Vec<f64> = result.lower.iter().zip(&result.upper).map(middle).collect();
    let guess = Guess { values: &values, policy: &result.policy, width, budget: BUDGET };
    let truth = match enclose(mdp, result, &guess) {
        Ok(truth) => truth,
        Err(problem) => return wrong(problem),
    };
    let gaps = truth.lo.iter().zip(&truth.hi).filter(|(lo, hi)| lo < hi).map(|(lo, hi)| hi - lo);
    let widest = gaps.fold(0.0, f64::max);
    let mut verdict = bounds(mdp, result, &truth);
    if result.converged && !matches!(verdict, Verification::Wrong(_)) {
        if let Some(state) = (0..mdp.n_states())
            .find(|&state| result.policy[state].is_none() && must_choose(mdp, result, state))
        {
            return wrong(format!(
                "state {}: the policy takes no choice; expected one",
                mdp.state_name(state)
            ));
        }
        let own = match own_value(mdp, result, &guess) {
            Ok(own) => own,
            Err(problem) => return wrong(problem),
        };
        let attained = attains(mdp, result, &own);
        if verdict == Verification::Proven || matches!(attained, Verification::Wrong(_)) {
            verdict = attained;
        }
    }
    Report { verdict, width: widest }
}

/// Checks that need no values.
fn well_formed(mdp: &Mdp, result: &ResultFile) -> Result<(), String> {
    let n = mdp.n_states();
    for (what, found) in
        [("lower", result.lower.len()), ("upper", result.upper.len()), ("policy", result.policy.len())]
    {
        if found != n {
            return Err(format!("{what} has {found} entries; expected one per state, {n}"));
        }
    }
    let expected = fingerprint(mdp);
    if result.model != expected {
        return Err(format!(
            "the result is for another model: found fingerprint {}, expected {expected}",
            result.model
        ));
    }
    for tolerance in [
        result.tolerance.max(result.relative),
        result.tolerance + f64::MIN_POSITIVE,
        result.relative + f64::MIN_POSITIVE,
    ] {
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(format!("the tolerance is {}; expected a number above 0", result.tolerance));
        }
    }
    for state in 0..n {
        let (lower, upper) = (result.lower[state], result.upper[state]);
        let name = mdp.state_name(state);
        if lower.is_nan() || upper.is_nan() || lower > upper {
            return Err(format!(
                "state {name}: the bounds are {lower:?} and {upper:?}; expected lower <= upper"
            ));
        }
        let allowed = 2.0 * result.allowed(state);
        if result.converged && lower != upper && upper - lower > allowed * (1.0 + 1e-9) {
            let width = upper - lower;
            return Err(format!(
                "state {name}: the bounds are {width:e} apart; the tolerance allows {allowed:e}"
            ));
        }
        if let Some(choice) = result.policy[state]
            && !mdp.choices_of(state).contains(&(choice as usize))
        {
            let choices = mdp.choices_of(state);
            return Err(format!("state {name}: the policy takes choice {choice}; the state has {choices:?}"));
        }
    }
    Ok(())
}

fn enclose(mdp: &Mdp, result: &ResultFile, guess: &Guess) -> Result<Enclosure, String> {
    match &result.objective {
        Objective::Discounted { discount, reward } => {
            if !(0.0..1.0).contains(discount) {
                return Err(format!("the discount is {discount}; expected 0 to below 1"));
            }
            let rewards = rewards(mdp, reward.as_deref())?;
            let problem =
                Discounted { mdp, rewards: &rewards, discount: *discount, direction: result.direction };
            Ok(problem.enclose(guess))
        }
        Objective::Reach { goal, avoid, steps: None } => {
            let avoid = avoid.as_ref().map(|avoid| mdp.label(avoid)).transpose().map_err(text)?;
            let graph = Graph::new(mdp, &mdp.label(goal).map_err(text)?, &avoid.unwrap_or_default());
            Ok(undiscounted::reach(&graph, result.direction, guess))
        }
        Objective::Total { reward, until: Some(until) } => {
            let rewards = rewards(mdp, reward.as_deref())?;
            let graph = Graph::new(mdp, &mdp.label(until).map_err(text)?, &[]);
            Ok(undiscounted::total(&graph, &rewards, result.direction, guess))
        }
        Objective::Total { reward, until: None } => {
            let rewards = rewards(mdp, reward.as_deref())?;
            Ok(longrun::episode(&Graph::new(mdp, &[], &[]), &rewards, result.direction, guess))
        }
        Objective::Average { reward } => {
            let rewards = rewards(mdp, reward.as_deref())?;
            Ok(longrun::average(&Graph::new(mdp, &[], &[]), &rewards, result.direction, guess))
        }
        Objective::Reach { .. } | Objective::Horizon { .. } => {
            Ok(steps(mdp, result)?.enclose(guess.budget, None))
        }
    }
}

fn text(error: backsweep_mdp::Error) -> String {
    error.to_string()
}

/// The value of the policy alone; for a number of steps, that of its choices as first steps.
fn own_value(mdp: &Mdp, result: &ResultFile, guess: &Guess) -> Result<Enclosure, String> {
    match &result.objective {
        Objective::Reach { steps: Some(_), .. } | Objective::Horizon { .. } => {
            Ok(steps(mdp, result)?.enclose(guess.budget, Some(&result.policy)))
        }
        _ => {
            let mut is_taken = vec![false; mdp.n_choices()];
            result.policy.iter().flatten().for_each(|&choice| is_taken[choice as usize] = true);
            let all = vec![true; mdp.n_states()];
            let (chain, _, _) = mdp.restricted(&all, |choice| is_taken[choice]).map_err(text)?;
            enclose(&chain, result, guess)
        }
    }
}

/// A number of steps.
fn steps<'a>(mdp: &'a Mdp, result: &ResultFile) -> Result<Steps<'a>, String> {
    let nothing = || vec![Interval::point(0.0); mdp.n_choices()];
    let (rewards, fixed, n, discount) = match &result.objective {
        Objective::Reach { goal, avoid, steps: Some(steps) } => {
            let mut fixed = vec![None; mdp.n_states()];
            if let Some(avoid) = avoid {
                mdp.label(avoid).map_err(text)?.iter().for_each(|&state| fixed[state as usize] = Some(0.0));
            }
            mdp.label(goal).map_err(text)?.iter().for_each(|&state| fixed[state as usize] = Some(1.0));
            (nothing(), fixed, *steps, 1.0)
        }
        Objective::Horizon { reward, steps, discount } => {
            if !(0.0..=1.0).contains(discount) {
                return Err(format!("the discount is {discount}; expected 0 to 1"));
            }
            (rewards(mdp, reward.as_deref())?, vec![None; mdp.n_states()], *steps, *discount)
        }
        other => return Err(format!("{other:?} has no number of steps")),
    };
    Ok(Steps { mdp, rewards, fixed, n, discount, direction: result.direction })
}

/// The expected reward of every choice, rounding accounted for.
fn rewards(mdp: &Mdp, name: Option<&str>) -> Result<Vec<Interval>, String> {
    let rewards = mdp.rewards(name).map_err(text)?;
    let mut expected = Vec::with_capacity(mdp.n_choices());
    for state in 0..mdp.n_states() {
        let of_state = rewards.states.get(state).copied().unwrap_or(0.0);
        for choice in mdp.choices_of(state) {
            let own = rewards.choices.get(choice).copied().unwrap_or(0.0);
            let arcs = mdp.arcs_of(choice);
            let on_arcs =
                rewards.arcs.get(arcs.clone()).is_some_and(|arcs| arcs.iter().any(|reward| *reward != 0.0));
            let mut sum = Interval::point(own);
            if of_state != 0.0 {
                sum =
                    if own == 0.0 { Interval::point(of_state) } else { sum.plus(Interval::point(of_state)) };
            }
            if on_arcs {
                let (scale, _) = scale_and_missing(&mdp.probabilities()[arcs.clone()], mdp.can_end(choice));
                let mut mean = RowSum::default();
                arcs.for_each(|arc| mean.add(mdp.probabilities()[arc], rewards.arcs[arc]));
                sum = sum.plus(mean.over(scale));
            }
            expected.push(sum);
        }
    }
    Ok(expected)
}

/// Compares the claimed bounds with the check's own.
fn bounds(mdp: &Mdp, result: &ResultFile, truth: &Enclosure) -> Verification {
    let mut doubt = None;
    for state in 0..mdp.n_states() {
        let (lower, upper) = (result.lower[state], result.upper[state]);
        let (lo, hi) = (truth.lo[state], truth.hi[state]);
        let slack = ROUNDING_SHARE * result.allowed(state);
        let name = || mdp.state_name(state);
        if lower > hi + slack {
            return Verification::Wrong(format!(
                "state {}: the lower bound {lower:?} is above the value, which is at most {hi:?}",
                name()
            ));
        }
        if upper < lo - slack {
            return Verification::Wrong(format!(
                "state {}: the upper bound {upper:?} is below the value, which is at least {lo:?}",
                name()
            ));
        }
        let proven = lower <= lo + slack && upper >= hi - slack;
        if !proven && doubt.is_none() {
            doubt = Some(format!(
                "state {}: the value is between {lo:?} and {hi:?}, the result says {lower:?} to {upper:?}",
                name()
            ));
        }
    }
    doubt.map_or(Verification::Proven, |doubt| undecided(doubt, truth))
}

fn undecided(doubt: String, enclosure: &Enclosure) -> Verification {
    Verification::NotProven(
        enclosure.remark.iter().fold(doubt, |doubt, remark| format!("{doubt} ({remark})")),
    )
}

/// Returns whether a policy has to say what it does in a state: there is something to choose, and it matters.
fn must_choose(mdp: &Mdp, result: &ResultFile, state: usize) -> bool {
    if mdp.choices_of(state).is_empty() {
        return false;
    }
    let has =
        |label: &str| mdp.label(label).is_ok_and(|states| states.binary_search(&(state as u32)).is_ok());
    let (lower, upper) = (result.lower[state], result.upper[state]);
    match (&result.objective, result.direction) {
        (Objective::Discounted { .. }, _) => true,
        (Objective::Reach { goal, avoid, steps }, direction) => {
            // Where even the best policy never reaches the goal, or even the worst always does, all policies are equal.
            let same = if direction == Direction::Maximize { upper == 0.0 } else { lower == 1.0 };
            *steps != Some(0) && !same && !has(goal) && !avoid.as_deref().is_some_and(has)
        }
        (Objective::Total { until: Some(until), .. }, _) => {
            lower < f64::INFINITY && !has(until) && !is_unattained(result, state)
        }
        // Where the value is infinite on the bad side, every policy is equally bad.
        (Objective::Total { until: None, .. }, Direction::Maximize) => upper > f64::NEG_INFINITY,
        (Objective::Total { until: None, .. }, Direction::Minimize) => lower < f64::INFINITY,
        (Objective::Average { .. }, _) => true,
        (Objective::Horizon { steps, .. }, _) => *steps > 0,
    }
}

/// Returns whether no policy has the value of a state, because loops before the goal pay without limit.
fn is_unattained(result: &ResultFile, state: usize) -> bool {
    matches!(result.objective, Objective::Total { until: Some(_), .. })
        && result.direction == Direction::Minimize
        && result.upper[state] == f64::NEG_INFINITY
}

/// Compares the value of the policy with the bound that it has to attain.
fn attains(mdp: &Mdp, result: &ResultFile, own: &Enclosure) -> Verification {
    let mut doubt = None;
    for state in (0..mdp.n_states()).filter(|&state| !is_unattained(result, state)) {
        let (lo, hi) = (own.lo[state], own.hi[state]);
        let (goal, attained, missed) = match result.direction {
            Direction::Maximize => {
                let least = result.lower[state] - result.allowed(state);
                (result.lower[state], lo >= least, hi < least)
            }
            Direction::Minimize => {
                let most = result.upper[state] + result.allowed(state);
                (result.upper[state], hi <= most, lo > most)
            }
        };
        let name = || mdp.state_name(state);
        if missed {
            let value = format!("the policy's value is between {lo:?} and {hi:?}");
            return Verification::Wrong(format!(
                "state {}: {value}; expected {goal} within {:e}",
                name(),
                result.allowed(state)
            ));
        }
        if !attained && doubt.is_none() {
            doubt = Some(format!(
                "state {}: the policy's value is between {lo:?} and {hi:?}; expected {goal:?}",
                name()
            ));
        }
    }
    doubt.map_or(Verification::Proven, |doubt| undecided(doubt, own))
}
