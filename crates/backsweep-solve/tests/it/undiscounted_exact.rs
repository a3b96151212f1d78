//! Random models against every policy in rational numbers: the exact value is inside every interval, and the policy returned is
//! worth a value inside it, too.

use crate::ask::{About, solve_undiscounted, solve_undiscounted_by};
use crate::exact::{Chain, Model, Value};
use crate::exact_answer::{answer, worth};
use crate::exact_models::{Random, Signs, random_model, random_model_with, random_set, rounded};
use backsweep_mdp::Mdp;
use backsweep_mdp::{Direction, NO_CHOICE};
use backsweep_solve::{Limits, Solution};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const BOTH: [Direction; 2] = [Direction::Maximize, Direction::Minimize];

/// Models per objective: 300, or as many as scripts/exact says.
fn n_models() -> u64 {
    std::env::var("BACKSWEEP_PROBLEMS").map_or(300, |n| n.parse().expect("BACKSWEEP_PROBLEMS is a number"))
}

fn limits(tolerance: f64) -> Limits<'static> {
    Limits { tolerance, relative: 0.0, stop: &|| false, threads: 1 }
}

/// Elimination and sweeps in turn, regardless of what would be chosen.
fn method(seed: u64) -> Option<&'static str> {
    [None, Some("sweeps")][(seed / 7 % 2) as usize]
}

/// Solves again, stopped after a few checks: whatever was reached must hold.
fn check_stopped(
    mdp: &Mdp,
    objective: About,
    direction: Direction,
    exact: &[Option<Value>],
    seed: u64,
    what: &str,
    model: &Model,
) {
    let asked = AtomicU64::new(0);
    let stop = || asked.fetch_add(1, Relaxed) >= seed / 14 % 12;
    let limits = Limits { tolerance: 1e-9, relative: 0.0, stop: &stop, threads: 1 };
    let solution = solve_undiscounted_by(method(seed), mdp, objective, direction, &limits).unwrap();
    check(exact, &solution, &format!("{what}, stopped"), model);
    let narrow =
        |s: usize| solution.lower[s] == solution.upper[s] || solution.upper[s] - solution.lower[s] <= 2e-9;
    assert_eq!(solution.converged, (0..model.n()).all(narrow), "{what}, stopped");
}

/// The chain of the returned policy; where it says that nothing matters, the first choice.
fn chain_of(model: &Model, solution: &Solution, first: &[u32]) -> Chain {
    let policy: Vec<usize> = (0..model.n())
        .map(|s| match solution.policy[s] {
            NO_CHOICE => 0,
            c => {
                assert!(c >= first[s] && c < first[s + 1], "choice {c} is not one of state {s}");
                (c - first[s]) as usize
            }
        })
        .collect();
    model.chain(&policy)
}

/// How many values are neither infinite nor 0 nor 1: those that graph analysis alone does not decide.
fn undecided(exact: &[Option<Value>], n: usize) -> u64 {
    let plain = |v: f64| matches!(v, f64::INFINITY | f64::NEG_INFINITY | 0.0 | 1.0);
    exact.iter().take(n).flatten().filter(|v| !plain(v.approximate())).count() as u64
}

/// Panics unless every value that is defined is inside its interval.
fn check(exact: &[Option<Value>], solution: &Solution, what: &str, model: &Model) {
    for (s, value) in exact.iter().enumerate().take(model.n()) {
        let (lower, upper) = (solution.lower[s], solution.upper[s]);
        assert!(
            value.as_ref().is_none_or(|value| value.between(lower, upper)),
            "{what}: state {s} is {value:?}, outside [{lower}, {upper}]: {model:?}",
        );
    }
}

/// Checks an answer, the same answer stopped on the way, and what the policy is worth.
fn check_answer(
    model: &Model,
    mdp: &Mdp,
    objective: About,
    direction: Direction,
    tolerance: f64,
    seed: u64,
) -> Vec<Option<Value>> {
    let exact = answer(model, objective, direction);
    let solution =
        solve_undiscounted_by(method(seed), mdp, objective, direction, &limits(tolerance)).unwrap();
    let what = format!("seed {seed}, {objective:?}, {direction:?}");
    check(&exact, &solution, &what, model);
    if exact[..model.n()].iter().all(Option::is_some) {
        assert!(solution.converged, "{what}: {solution:?} {model:?}");
        check_stopped(mdp, objective, direction, &exact, seed, &what, model);
        let attained = worth(&chain_of(model, &solution, mdp.choice_starts()), objective);
        check(&attained, &solution, &format!("{what}, policy"), model);
    }
    exact
}

#[test]
fn reachability() {
    let mut n_undecided = 0;
    for seed in 0..n_models() {
        let mut random = Random(seed);
        let model = random_model_with(&mut random, Signs::NotNegative, 16);
        let n = model.n();
        let (goal, avoid) = (random_set(&mut random, n), random_set(&mut random, n));
        let avoid: Vec<u32> = avoid.into_iter().filter(|s| !goal.contains(s)).collect();
        let (mdp, _) = rounded(&model);
        for direction in BOTH {
            let objective = About::Reach { goal: &goal, avoid: &avoid };
            n_undecided += undecided(&check_answer(&model, &mdp, objective, direction, 1e-9, seed), n);
        }
    }
    assert!(n_undecided > n_models() / 2, "{n_undecided}");
}

#[test]
fn reward_until_a_goal() {
    let mut n_undecided = 0;
    for seed in 0..n_models() {
        let mut random = Random(seed ^ 0x5eed);
        // The largest value is defined for any signs, the smallest is checked for costs here and for both signs below.
        let signs = [Signs::NotNegative, Signs::Both][random.below(2)];
        let model = random_model_with(&mut random, signs, [60, 12][(seed % 2) as usize]);
        let n = model.n();
        let goal = random_set(&mut random, n);
        let (mdp, reward) = rounded(&model);
        for direction in BOTH {
            if signs == Signs::Both && direction == Direction::Minimize {
                continue;
            }
            let objective = About::RewardUntil { reward: &reward, goal: &goal };
            n_undecided += undecided(&check_answer(&model, &mdp, objective, direction, 1e-7, seed), n);
        }
    }
    assert!(n_undecided > n_models() / 2, "{n_undecided}");
}

/// Costs of both signs, smallest value: minus infinity where a loop that earns can be used before the goal is reached.
#[test]
fn smallest_reward_of_both_signs_until_a_goal() {
    let (mut proven, mut infinite) = (0, 0);
    for seed in 0..n_models() {
        let mut random = Random(seed ^ 0xb075);
        let model = random_model_with(&mut random, Signs::Both, 60);
        let goal = random_set(&mut random, model.n());
        let (mdp, reward) = rounded(&model);
        let objective = About::RewardUntil { reward: &reward, goal: &goal };
        let exact = answer(&model, objective, Direction::Minimize);
        let solution =
            solve_undiscounted_by(method(seed), &mdp, objective, Direction::Minimize, &limits(1e-7)).unwrap();
        check(&exact, &solution, &format!("seed {seed}, until {goal:?}"), &model);
        proven += u64::from(solution.converged);
        infinite += u64::from(exact.contains(&Some(Value::Minus)));
    }
    // Loops whose rewards cancel exactly are rare, and the only ones left open.
    assert!(
        proven >= n_models() * 99 / 100 && infinite > n_models() / 20,
        "{proven} proven, {infinite} infinite"
    );
}

#[test]
fn total_reward() {
    let (mut n_undecided, mut open) = (0, 0);
    for seed in 0..n_models() {
        let mut random = Random(seed ^ 0x707a1);
        let signs = [Signs::NotNegative, Signs::NotPositive, Signs::Both][random.below(3)];
        let model = random_model(&mut random, signs);
        let (mdp, reward) = rounded(&model);
        for direction in BOTH {
            let objective = About::TotalReward { reward: &reward };
            let exact = check_answer(&model, &mdp, objective, direction, 1e-7, seed);
            n_undecided += undecided(&exact, model.n());
            open += u64::from(exact[..model.n()].contains(&None));
        }
    }
    assert!(n_undecided > n_models() / 2, "{n_undecided}");
    assert!(open < n_models() / 4, "{open} undefined");
}

#[test]
fn long_run_average() {
    let mut n_undecided = 0;
    for seed in 0..n_models() {
        let mut random = Random(seed ^ 0xa7e);
        let model = random_model(&mut random, Signs::Both);
        let (mdp, reward) = rounded(&model);
        for direction in BOTH {
            let objective = About::Average { reward: &reward };
            let exact = check_answer(&model, &mdp, objective, direction, 1e-7, seed);
            n_undecided += undecided(&exact, model.n());
        }
    }
    assert!(n_undecided > n_models() / 2, "{n_undecided}");
}

#[test]
fn a_number_of_steps() {
    for seed in 0..n_models() {
        let mut random = Random(seed ^ 0x57e5);
        let model = random_model(&mut random, Signs::Both);
        let n = model.n();
        let steps = random.below(8) as u64;
        let goal = random_set(&mut random, n);
        let avoid: Vec<u32> = random_set(&mut random, n).into_iter().filter(|s| !goal.contains(s)).collect();
        let (mdp, reward) = rounded(&model);
        let objectives = [
            About::Horizon { reward: &reward, steps, discount: [1.0, 0.75][(seed % 2) as usize] },
            About::ReachWithin { goal: &goal, avoid: &avoid, steps },
        ];
        for (objective, direction) in objectives.into_iter().flat_map(|about| BOTH.map(|to| (about, to))) {
            let solution = solve_undiscounted(&mdp, objective, direction, &limits(1e-9)).unwrap();
            let what = format!("seed {seed}, {objective:?}, {direction:?}");
            assert!(solution.converged, "{what}");
            check(&answer(&model, objective, direction), &solution, &what, &model);
        }
    }
}
