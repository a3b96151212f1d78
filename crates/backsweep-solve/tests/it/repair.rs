//! Repairs after changes against fresh solves, and what-if questions that leave no trace.

use crate::ask::{self, discounted, solve_discounted};
use crate::common::{Small, assert_inside, exact_values, random_model, random_reward, random_row};
use backsweep::Random;
use backsweep_bench::families;
use backsweep_mdp::{Change, Direction};
use backsweep_mdp::{Mdp, Rewards};
use backsweep_solve::{Limits, Repair, solve, solve_for_repair};

const LIMITS: Limits = Limits { tolerance: 1e-6, relative: 0.0, stop: &|| false, threads: 1 };

fn random_change(random: &mut Random, repair: &Repair, n_states: u32) -> Option<Change> {
    let (_, _, ids) = repair.model().unwrap();
    let state = random.below(n_states);
    let outcomes = random_row(random, state, n_states, false, true);
    if ids.is_empty() || random.chance(0.1) {
        return Some(Change::Add { state, reward: random_reward(random), outcomes });
    }
    let choice = ids[random.below(ids.len() as u32) as usize];
    Some(match random.below(10) {
        0 => Change::Remove { choice },
        1..=4 => Change::Reward { choice, reward: random_reward(random) },
        _ => Change::Outcomes { choice, outcomes },
    })
}

/// Chains of 1,000 changes; after each, a fresh solve of the model as it is then must agree, and now and then rationals.
#[test]
fn chains_of_changes_agree_with_fresh_solves() {
    for (seed, direction) in [(1, Direction::Maximize), (2, Direction::Minimize), (3, Direction::Maximize)] {
        let mut random = Random::from_seed(seed);
        let small = random_model(&mut random, 40);
        let n = small.mdp.n_states() as u32;
        let discount = [0.9, 0.99, 0.999][seed as usize % 3];
        let mut repair = ask::repair(&small.mdp, &small.rewards, discount, direction, &LIMITS).unwrap();
        for i in 0..1000 {
            let Some(change) = random_change(&mut random, &repair, n) else { continue };
            let repaired = repair.apply(std::slice::from_ref(&change), &LIMITS).unwrap();
            assert!(repaired.converged, "chain {seed}, change {i}: {change:?}");
            let (mdp, rewards, ids) = repair.model().unwrap();
            let solution = repair.solution();
            assert!(solution.converged);
            let fresh = solve_discounted(&mdp, &rewards, discount, direction, None, &LIMITS).unwrap();
            assert!(fresh.converged);
            for s in 0..n as usize {
                let apart = solution.lower[s] > fresh.upper[s] || solution.upper[s] < fresh.lower[s];
                assert!(!apart, "chain {seed}, change {i}, state {s}: {change:?}");
                let choices = mdp.choice_starts()[s] as usize..mdp.choice_starts()[s + 1] as usize;
                assert!(choices.is_empty() || ids[choices].contains(&solution.policy[s]), "state {s}");
            }
        }
    }
}

#[test]
fn repaired_values_are_exact_to_the_bound() {
    let mut random = Random::from_seed(5);
    for i in 0..60 {
        let mut small = random_model(&mut random, 6);
        small.discount = [0.5, 0.9, 0.99][i % 3];
        let n = small.mdp.n_states() as u32;
        let mut repair =
            ask::repair(&small.mdp, &small.rewards, small.discount, Direction::Minimize, &LIMITS).unwrap();
        for _ in 0..10 {
            let Some(change) = random_change(&mut random, &repair, n) else { continue };
            repair.apply(&[change], &LIMITS).unwrap();
        }
        let (mdp, rewards, _) = repair.model().unwrap();
        let exact = exact_values(&Small { mdp, rewards, discount: small.discount }, Direction::Minimize);
        assert_inside(&exact, &repair.solution(), &format!("model {i}"));
    }
}

/// A question is answered as if the change were made, and afterwards all is as before, choice by choice.
#[test]
fn what_if_leaves_no_trace() {
    let mut random = Random::from_seed(6);
    for round in 0..20 {
        let small = random_model(&mut random, 30);
        let n = small.mdp.n_states() as u32;
        let make = || ask::repair(&small.mdp, &small.rewards, 0.95, Direction::Maximize, &LIMITS).unwrap();
        let (mut asked, mut made) = (make(), make());
        for _ in 0..20 {
            let changes: Vec<Change> = (0..3).filter_map(|_| random_change(&mut random, &asked, n)).collect();
            let (before, model) = (asked.solution(), asked.model().unwrap());
            let Ok(answer) = asked.what_if(&changes, &LIMITS) else { continue };
            assert_eq!(asked.solution(), before, "round {round}");
            // Restored choices may have another place in their state.
            assert_eq!(asked.model().unwrap().0.n_choices(), model.0.n_choices());
            made.apply(&changes, &LIMITS).unwrap();
            for s in 0..n as usize {
                assert!((answer.before[s] - before.value(s)).abs() <= 1e-12);
                assert!((answer.after[s] - made.value(s)).abs() <= 2.0 * answer.bound);
                let moved = answer.policy_changes.contains(&(s as u32));
                assert_eq!(moved, made.choice(s) != before.policy[s], "round {round}, state {s}");
            }
            made = make();
            // The next question starts from another model.
            if let Some(change) = random_change(&mut random, &asked, n) {
                asked.apply(std::slice::from_ref(&change), &LIMITS).unwrap();
                made = ask::repair(
                    &asked.model().unwrap().0,
                    &asked.model().unwrap().1,
                    0.95,
                    Direction::Maximize,
                    &LIMITS,
                )
                .unwrap();
                asked = ask::repair(
                    &asked.model().unwrap().0,
                    &asked.model().unwrap().1,
                    0.95,
                    Direction::Maximize,
                    &LIMITS,
                )
                .unwrap();
            }
        }
    }
}

/// One wall of a maze: few backups, no fresh solve, and the values of a fresh solve.
#[test]
fn a_wall_of_a_maze_is_repaired_locally() {
    let maze = families::MazeModel::new(60, 3);
    let family = maze.family();
    let mut repair = ask::repair(
        &family.mdp,
        &family.mdp.rewards[0].choices,
        family.discount,
        Direction::Maximize,
        &LIMITS,
    )
    .unwrap();
    let mut random = Random::from_seed(7);
    let mut local = 0;
    for _ in 0..20 {
        let wall = random.below(maze.n_states() as u32 - 1) as usize;
        let rows: Vec<Change> = maze
            .changes(wall)
            .into_iter()
            .map(|(s, a, outcomes)| Change::Outcomes {
                choice: family.mdp.choice_starts()[s] + a as u32,
                outcomes,
            })
            .collect();
        let repaired = repair.apply(&rows, &LIMITS).unwrap();
        assert!(repaired.converged);
        local += usize::from(repaired.backups < 20_000);
        let (mdp, rewards, _) = repair.model().unwrap();
        let fresh =
            solve_discounted(&mdp, &rewards, family.discount, Direction::Maximize, None, &LIMITS).unwrap();
        let solution = repair.solution();
        for s in 0..maze.n_states() {
            assert!(solution.lower[s] <= fresh.upper[s] && solution.upper[s] >= fresh.lower[s], "state {s}");
        }
    }
    assert!(local >= 10, "{local} of 20 walls were local");
}

/// Stopped at once, the interval is wider and still holds; the next repair finishes the work.
#[test]
fn a_stopped_repair_is_proven_and_can_continue() {
    let maze = families::MazeModel::new(80, 3);
    let family = maze.family();
    let mut repair = ask::repair(
        &family.mdp,
        &family.mdp.rewards[0].choices,
        family.discount,
        Direction::Maximize,
        &LIMITS,
    )
    .unwrap();
    let changes: Vec<Change> = (0..2000).map(|choice| Change::Reward { choice, reward: -3.0 }).collect();
    let stop = Limits { stop: &|| true, ..LIMITS };
    let repaired = repair.apply(&changes, &stop).unwrap();
    assert!(!repaired.converged);
    let stopped = repair.solution();
    assert!(!stopped.converged);
    // A question in between does not make the unfinished work look done.
    repair.what_if(&[Change::Reward { choice: 9000, reward: 0.0 }], &LIMITS).unwrap();
    assert_eq!(repair.solution(), stopped);
    assert!(repair.apply(&[], &LIMITS).unwrap().converged);
    let done = repair.solution();
    for s in 0..maze.n_states() {
        assert!(stopped.lower[s] <= done.upper[s] && stopped.upper[s] >= done.lower[s]);
    }
}

#[test]
fn wrong_changes_are_refused_and_change_nothing() {
    let family = families::corridor(10, None);
    let mut repair = ask::repair(
        &family.mdp,
        &family.mdp.rewards[0].choices,
        family.discount,
        Direction::Maximize,
        &LIMITS,
    )
    .unwrap();
    let before = (repair.solution(), repair.model().unwrap());
    let good = Change::Reward { choice: 3, reward: 5.0 };
    for (bad, expected) in [
        (Change::Reward { choice: 99, reward: 0.0 }, "choice 99"),
        (Change::Reward { choice: 1, reward: f64::NAN }, "reward is NaN"),
        (Change::Outcomes { choice: 1, outcomes: vec![(1, 0.7), (2, 0.7)] }, "sum to 1.4"),
        (Change::Outcomes { choice: 1, outcomes: vec![(10, 0.7)] }, "state 10"),
        (Change::Outcomes { choice: 1, outcomes: vec![(1, f64::INFINITY)] }, "inf"),
        (Change::Add { state: 10, reward: 0.0, outcomes: vec![] }, "state 10"),
        (Change::Remove { choice: 20 }, "choice 20"),
    ] {
        let error = repair.apply(&[good.clone(), bad], &LIMITS).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("change 1"), "{error}");
        assert_eq!((repair.solution(), repair.model().unwrap()), before);
    }
    let twice = [Change::Remove { choice: 2 }, Change::Remove { choice: 2 }];
    assert!(repair.apply(&twice, &LIMITS).is_err());
}

/// A repair resumes from a solve after rows have changed: exact to the bound, and nothing is backed up if nothing changed.
#[test]
fn a_solve_is_resumed_after_a_change() {
    let mut random = Random::from_seed(8);
    for i in 0..60 {
        let small = random_model(&mut random, 8);
        let n = small.mdp.n_states() as u32;
        let direction = if i % 2 == 0 { Direction::Maximize } else { Direction::Minimize };
        let discount = [0.5, 0.9, 0.99][i % 3];
        let mut mdp = small.mdp.clone();
        mdp.rewards = vec![Rewards { choices: small.rewards.clone(), ..Rewards::default() }];
        let question = discounted(discount, direction);
        let tight = Limits { tolerance: 1e-8, ..LIMITS };
        let (solution, start) = solve_for_repair(&mdp, &question, None, &tight).unwrap();
        assert_eq!(solution, solve(&mdp, &question, None, &tight).unwrap());
        let start = start.unwrap();
        let resume = |mdp: &Mdp, rewards: &[f64], start| {
            ask::resume(mdp, rewards, discount, direction, start, &LIMITS).unwrap()
        };
        let (unchanged, repaired) = resume(&small.mdp, &small.rewards, start.clone());
        assert!(repaired.converged && repaired.backups == 0, "model {i}: {repaired:?}");
        let (same, rewards, _) = unchanged.model().unwrap();
        assert_inside(
            &exact_values(&Small { mdp: same, rewards, discount }, direction),
            &unchanged.solution(),
            "unchanged",
        );
        let mut changed = ask::repair(&small.mdp, &small.rewards, discount, direction, &LIMITS).unwrap();
        let change = random_change(&mut random, &changed, n).unwrap();
        changed.apply(&[change], &LIMITS).unwrap();
        let (mdp, rewards, _) = changed.model().unwrap();
        let (resumed, repaired) = resume(&mdp, &rewards, start);
        assert!(repaired.converged);
        let exact = exact_values(&Small { mdp, rewards, discount }, direction);
        assert_inside(&exact, &resumed.solution(), &format!("model {i}"));
    }
}

#[test]
fn a_solve_of_another_size_is_not_resumed() {
    let (small, large) = (families::garnet(5, 2, 2, 1), families::garnet(6, 2, 2, 1));
    let question = discounted(0.9, Direction::Maximize);
    let (_, start) = solve_for_repair(&small.mdp, &question, None, &LIMITS).unwrap();
    let resumed = Repair::resume(&large.mdp, &question, start.unwrap(), &LIMITS);
    assert_eq!(resumed.err().unwrap().to_string(), "expected values of 6 states, found 5");
}

/// On a random graph a change reaches every state within a few steps, and close to discount 1 small backups would pass it on
/// for millions of backups: they are given up early, and nothing is repaired at more work than a fresh solve.
#[test]
fn repairs_give_up_before_they_cost_more_than_a_fresh_solve() {
    let family = families::garnet(2000, 5, 10, 3);
    let rewards = family.mdp.expected_rewards(None).unwrap();
    for discount in [0.99, 0.999] {
        let mut repair = ask::repair(&family.mdp, &rewards, discount, Direction::Maximize, &LIMITS).unwrap();
        let mut random = Random::from_seed(4);
        let (mut again, mut from_scratch) = (0, 0);
        for i in 0..30 {
            let choice = random.below(10_000);
            let change = Change::Reward { choice, reward: random.unit() };
            let repaired = repair.apply(&[change], &LIMITS).unwrap();
            // An arc of a small backup costs what ten of a sweep do; each backup touches 50 here.
            assert!(repaired.converged && repaired.backups < 7_000, "{discount} {i}: {repaired:?}");
            let (mdp, rewards, _) = repair.model().unwrap();
            let fresh =
                solve_discounted(&mdp, &rewards, discount, Direction::Maximize, None, &LIMITS).unwrap();
            if repaired.solved_afresh {
                again += repair.solution().iterations;
                from_scratch += fresh.iterations;
            }
            for state in (0..2000).step_by(97) {
                let (lower, upper) = repair.interval(state);
                assert!(
                    lower <= fresh.upper[state] && fresh.lower[state] <= upper,
                    "{discount} {i}: {state}"
                );
                assert!(upper - lower <= 2.0 * LIMITS.tolerance);
            }
        }
        // Solving again starts from the values at hand.
        assert!(10 * again <= 9 * from_scratch, "{discount}: {again} sweeps instead of {from_scratch}");
        assert!(from_scratch > 0, "no change spread");
    }
}
