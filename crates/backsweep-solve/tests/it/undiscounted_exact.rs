//! A thousand random models against every policy in rational numbers: the exact value is inside every interval, and the
//! policy returned is worth a value inside it, too.

use crate::ask::{About, solve_undiscounted, solve_undiscounted_by};
use crate::exact::{Chain, Model, Number, Value};
use crate::exact_models::{Random, Signs, random_model, random_model_with, random_set, rounded};
use backsweep_mdp::Mdp;
use backsweep_mdp::{Direction, NO_CHOICE};
use backsweep_solve::{Limits, Solution};
use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const MODELS: u64 = 1000;

const BOTH: [Direction; 2] = [Direction::Maximize, Direction::Minimize];

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
    exact: &[Value],
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

fn member(states: &[u32], n: usize) -> Vec<bool> {
    (0..n as u32).map(|s| states.contains(&s)).collect()
}

/// The best of the policies' values per state.
fn best(values: impl Iterator<Item = Vec<Value>>, direction: Direction) -> Vec<Value> {
    let better = if direction == Direction::Maximize { Ordering::Greater } else { Ordering::Less };
    values
        .reduce(|best, next| {
            best.into_iter().zip(next).map(|(b, v)| if v.cmp(&b) == better { v } else { b }).collect()
        })
        .expect("there is a policy")
}

fn finite(values: Vec<Number>) -> Vec<Value> {
    values.into_iter().map(Value::Finite).collect()
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
fn undecided(exact: &[Value], n: usize) -> u64 {
    let plain = |v: &&Value| matches!(v.approximate(), f64::INFINITY | f64::NEG_INFINITY | 0.0 | 1.0);
    n as u64 - exact.iter().take(n).filter(plain).count() as u64
}

fn check(exact: &[Value], solution: &Solution, what: &str, model: &Model) {
    for (s, value) in exact.iter().enumerate().take(model.n()) {
        assert!(
            value.between(solution.lower[s], solution.upper[s]),
            "{what}: state {s} is {value:?} = {}, outside [{}, {}]: {model:?}",
            value.approximate(),
            solution.lower[s],
            solution.upper[s],
        );
    }
}

#[test]
fn reachability() {
    let mut n_undecided = 0;
    for seed in 0..MODELS {
        let mut random = Random(seed);
        let model = random_model_with(&mut random, Signs::NotNegative, 16);
        let n = model.n();
        let (goal, avoid) = (random_set(&mut random, n), random_set(&mut random, n));
        let avoid: Vec<u32> = avoid.into_iter().filter(|s| !goal.contains(s)).collect();
        let (mdp, _) = rounded(&model);
        let (in_goal, in_avoid) = (member(&goal, n), member(&avoid, n));
        let worth = |chain: Chain| finite(chain.reach(&in_goal, &in_avoid));
        for direction in BOTH {
            let exact = best(model.policies().iter().map(|p| worth(model.chain(p))), direction);
            let objective = About::Reach { goal: &goal, avoid: &avoid };
            let solution =
                solve_undiscounted_by(method(seed), &mdp, objective, direction, &limits(1e-9)).unwrap();
            let what = format!("seed {seed}, reach {goal:?} avoiding {avoid:?}, {direction:?}");
            assert!(solution.converged, "{what}: {solution:?}");
            check(&exact, &solution, &what, &model);
            check_stopped(&mdp, objective, direction, &exact, seed, &what, &model);
            check(
                &worth(chain_of(&model, &solution, mdp.choice_starts())),
                &solution,
                &format!("{what}, policy"),
                &model,
            );
            n_undecided += undecided(&exact, n);
        }
    }
    assert!(n_undecided > MODELS / 2, "{n_undecided}");
}

#[test]
fn reward_until_a_goal() {
    let mut n_undecided = 0;
    for seed in 0..MODELS {
        let mut random = Random(seed ^ 0x5eed);
        // The largest value is defined for any signs, the smallest is checked for costs here and for both signs below.
        let signs = [Signs::NotNegative, Signs::Both][random.below(2)];
        let model = random_model_with(&mut random, signs, 60);
        let n = model.n();
        let goal = random_set(&mut random, n);
        let (mdp, reward) = rounded(&model);
        let in_goal = member(&goal, n);
        for direction in BOTH {
            if signs == Signs::Both && direction == Direction::Minimize {
                continue;
            }
            let exact = best(model.policies().iter().map(|p| model.chain(p).until(&in_goal)), direction);
            let objective = About::RewardUntil { reward: &reward, goal: &goal };
            let solution =
                solve_undiscounted_by(method(seed), &mdp, objective, direction, &limits(1e-7)).unwrap();
            let what = format!("seed {seed}, until {goal:?}, {direction:?}");
            assert!(solution.converged, "{what}: {solution:?}");
            check(&exact, &solution, &what, &model);
            check_stopped(&mdp, objective, direction, &exact, seed, &what, &model);
            let attained = chain_of(&model, &solution, mdp.choice_starts()).until(&in_goal);
            check(&attained, &solution, &format!("{what}, policy"), &model);
            n_undecided += undecided(&exact, model.n());
        }
    }
    assert!(n_undecided > MODELS / 2, "{n_undecided}");
}

/// Costs of both signs, smallest value: minus infinity where a loop that earns can be used before the goal is reached.
#[test]
fn smallest_reward_of_both_signs_until_a_goal() {
    let (mut proven, mut infinite) = (0, 0);
    for seed in 0..MODELS {
        let mut random = Random(seed ^ 0xb075);
        let model = random_model_with(&mut random, Signs::Both, 60);
        let n = model.n();
        let goal = random_set(&mut random, n);
        let (mdp, reward) = rounded(&model);
        let in_goal = member(&goal, n);
        let chains = || model.policies().into_iter().map(|p| model.chain(&p));
        // States from which some policy is certain to reach the goal, and the model with only the choices that stay there.
        let one = |s: usize| chains().any(|c| c.reach(&in_goal, &[])[s] == Number::from_integer(1.into()));
        let sure: Vec<bool> = (0..n).map(one).collect();
        let mut safe = model.clone();
        for (s, choices) in safe.states.iter_mut().enumerate() {
            let full = |arcs: &[(usize, Number)]| {
                arcs.iter().map(|a| a.1.clone()).sum::<Number>() == Number::from_integer(1.into())
            };
            choices.retain(|c| sure[s] && !in_goal[s] && full(&c.arcs) && c.arcs.iter().all(|a| sure[a.0]));
        }
        let mut exact = best(chains().map(|c| c.until(&in_goal)), Direction::Minimize);
        for policy in safe.policies() {
            let chain = safe.chain(&policy);
            for s in (0..n).filter(|&s| sure[s] && !in_goal[s]) {
                if chain.classes(s).iter().any(|(mean, _)| *mean < Number::from_integer(0.into())) {
                    exact[s] = Value::Minus;
                }
            }
        }
        let objective = About::RewardUntil { reward: &reward, goal: &goal };
        let solution =
            solve_undiscounted_by(method(seed), &mdp, objective, Direction::Minimize, &limits(1e-7)).unwrap();
        check(&exact, &solution, &format!("seed {seed}, until {goal:?}"), &model);
        proven += usize::from(solution.converged);
        infinite += usize::from(exact.contains(&Value::Minus));
    }
    // Loops whose rewards cancel exactly are rare, and the only ones left open.
    assert!(
        proven as u64 >= MODELS * 99 / 100 && infinite as u64 > MODELS / 20,
        "{proven} proven, {infinite} infinite"
    );
}

#[test]
fn total_reward() {
    let mut n_undecided = 0;
    let mut open = 0;
    for seed in 0..MODELS {
        let mut random = Random(seed ^ 0x707a1);
        let signs = [Signs::NotNegative, Signs::NotPositive, Signs::Both][random.below(3)];
        let model = random_model(&mut random, signs);
        let (mdp, reward) = rounded(&model);
        for direction in BOTH {
            let objective = About::TotalReward { reward: &reward };
            let solution =
                solve_undiscounted_by(method(seed), &mdp, objective, direction, &limits(1e-7)).unwrap();
            let what = format!("seed {seed}, total, {direction:?}");
            let totals: Vec<Vec<Option<Value>>> =
                model.policies().iter().map(|p| model.chain(p).total()).collect();
            // Rewards of both signs may make a policy's total undefined; then only states without such policies count.
            let defined: Vec<bool> = (0..model.n()).map(|s| totals.iter().all(|t| t[s].is_some())).collect();
            let known = totals.iter().map(|t| t.iter().map(|v| v.clone().unwrap_or(Value::Minus)).collect());
            let exact = best(known, direction);
            if defined.contains(&false) {
                open += 1;
                for s in (0..model.n()).filter(|&s| defined[s]) {
                    assert!(
                        exact[s].between(solution.lower[s], solution.upper[s]),
                        "{what}: state {s}: {model:?}"
                    );
                }
                continue;
            }
            assert!(solution.converged, "{what}: {solution:?} {model:?}");
            check(&exact, &solution, &what, &model);
            check_stopped(&mdp, objective, direction, &exact, seed, &what, &model);
            let attained: Vec<Value> = chain_of(&model, &solution, mdp.choice_starts())
                .total()
                .into_iter()
                .map(|v| v.unwrap())
                .collect();
            check(&attained, &solution, &format!("{what}, policy"), &model);
            n_undecided += undecided(&exact, model.n());
        }
    }
    assert!(n_undecided > MODELS / 2, "{n_undecided}");
    assert!((open as u64) < MODELS / 4, "{open} undefined");
}

#[test]
fn long_run_average() {
    let mut n_undecided = 0;
    for seed in 0..MODELS {
        let mut random = Random(seed ^ 0xa7e);
        let model = random_model(&mut random, Signs::Both);
        let (mdp, reward) = rounded(&model);
        for direction in BOTH {
            let exact = best(model.policies().iter().map(|p| finite(model.chain(p).average())), direction);
            let objective = About::Average { reward: &reward };
            let solution = solve_undiscounted(&mdp, objective, direction, &limits(1e-7)).unwrap();
            let what = format!("seed {seed}, average, {direction:?}");
            assert!(solution.converged, "{what}: {solution:?}");
            check(&exact, &solution, &what, &model);
            check_stopped(&mdp, objective, direction, &exact, seed, &what, &model);
            let attained = finite(chain_of(&model, &solution, mdp.choice_starts()).average());
            check(&attained, &solution, &format!("{what}, policy"), &model);
            n_undecided += undecided(&exact, model.n());
        }
    }
    assert!(n_undecided > MODELS / 2, "{n_undecided}");
}

#[test]
fn a_number_of_steps() {
    for seed in 0..MODELS {
        let mut random = Random(seed ^ 0x57e5);
        let model = random_model(&mut random, Signs::Both);
        let n = model.n();
        let steps = random.below(8) as u64;
        let goal = random_set(&mut random, n);
        let (mdp, reward) = rounded(&model);
        let zero = || Number::from_integer(0.into());
        for direction in BOTH {
            let induct = |start: Vec<Number>, fixed: &dyn Fn(usize) -> bool, rewards: bool| {
                (0..steps).fold(start, |v, _| {
                    let worth = |s: usize| {
                        let values = model.states[s].iter().map(|c| {
                            let reward = if rewards { c.reward.clone() } else { zero() };
                            c.arcs.iter().fold(reward, |sum, (t, p)| sum + p * &v[*t])
                        });
                        let best = if direction == Direction::Maximize { values.max() } else { values.min() };
                        best.unwrap_or_else(zero)
                    };
                    (0..n).map(|s| if fixed(s) { v[s].clone() } else { worth(s) }).collect()
                })
            };
            let objective = About::Horizon { reward: &reward, steps, discount: 1.0 };
            let solution = solve_undiscounted(&mdp, objective, direction, &limits(1e-9)).unwrap();
            let what = format!("seed {seed}, {steps} steps, {direction:?}");
            assert!(solution.converged, "{what}");
            check(&finite(induct(vec![zero(); n], &|_| false, true)), &solution, &what, &model);

            let objective = About::ReachWithin { goal: &goal, avoid: &[], steps };
            let solution = solve_undiscounted(&mdp, objective, direction, &limits(1e-9)).unwrap();
            let in_goal = member(&goal, n);
            let start = in_goal.iter().map(|&g| Number::from_integer(i64::from(g).into())).collect();
            check(
                &finite(induct(start, &|s| in_goal[s], false)),
                &solution,
                &format!("{what}, reach"),
                &model,
            );
        }
    }
}
