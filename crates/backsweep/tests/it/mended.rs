//! Regression tests: faults found in review, each in its original form.

use crate::common;
use crate::common::{QUEUES, on, step};
use backsweep::planner::{Model, Outcome, audit};
use backsweep::{Action, Agent, Budget, Next, PlannerKind, Random, Settings, State};
use std::cell::Cell;

fn certain(reward: f64, next: Next) -> [Outcome; 1] {
    [Outcome { probability: 1.0, reward, next }]
}

/// States 0 → 1 → 2 → 0 with rewards 1, −1, 0.
fn ring(scale: f64) -> Model {
    let mut model = Model::with_states([1, 1, 1]).unwrap();
    for (state, reward) in [(0, scale), (1, -scale), (2, 0.0)] {
        model.set_outcomes(State(state), Action(0), &certain(reward, on((state + 1) % 3))).unwrap();
    }
    model
}

/// In-place sweeps on a ring swapped values that are fixed points of rounding, forever.
#[test]
fn every_planner_ends_at_every_tolerance_and_says_whether_it_converged() {
    for (discount, scale, tolerance) in
        [(0.9999, 1.0, 1e-9), (0.999, 1.0, 1e-10), (0.99, 1e9, 1e-9), (0.9, 1e140, 1e-300)]
    {
        let model = ring(scale);
        for kind in backsweep_baselines::PLANNERS {
            // Planning ends, although 1e-300 is below what rounding allows.
            for tolerance in [tolerance, 1e-300] {
                let sweeps = kind == backsweep_baselines::VALUE_ITERATION;
                let threshold = if sweeps { tolerance } else { 0.0 };
                let settings = Settings { discount, threshold, ..Settings::default() };
                let mut planner = kind.build(settings).unwrap();
                planner.grow(&model);
                let planned = backsweep::planner::plan(&mut *planner, &model, Budget::UNTIL_IDLE);
                assert_eq!(planned.is_idle, planner.top_priority().is_none(), "{kind}, {discount}");
                assert!(sweeps || planned.is_idle, "{kind}, {discount}");
                let exact = scale * (1.0 - discount) / (1.0 - discount.powi(3));
                let error = (planner.values().value(State(0)) - exact).abs();
                let bound = audit(&model, &*planner).error_bound.unwrap();
                assert!(error <= bound, "{kind}, {discount}: error {error}, bound {bound}");
            }
        }
    }
}

/// Rewards of ±1e307 made V NaN, and that was called converged. Now they are refused, and the largest accepted ones
/// neither overflow nor prove anything false.
#[test]
fn the_largest_numbers_stay_numbers() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let settings = Settings { discount: 0.99, queue, ..Settings::default() };
            let mut agent = Agent::with_planner(kind, settings).unwrap();
            agent.add_state(2).unwrap();
            for (action, sign) in [(0, 1.0), (1, -1.0)] {
                assert!(agent.set_outcomes(State(0), Action(action), &certain(sign * 1e307, on(0))).is_err());
                agent.set_outcomes(State(0), Action(action), &certain(sign * 1e150, on(0))).unwrap();
            }
            let solution = common::solve(&mut agent, 1e-6);
            let bound = solution.error_bound.unwrap();
            assert!(!solution.converged && (agent.value(State(0)) - 1e152).abs() <= bound, "{kind}: {bound}");
            assert!(
                Agent::restore_among(&agent.store().unwrap(), &backsweep_baselines::PLANNERS).is_ok(),
                "{kind}"
            );
        }
    }
}

/// Four observations of ±1.7e308 panicked in release: an infinite change met lanes of weight 0.
#[test]
fn no_finite_input_panics() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            for seed in 0..40 {
                let mut random = Random::from_seed(seed);
                let settings = Settings { discount: 0.99, threshold: 0.0, queue, ..Settings::default() };
                let mut agent = Agent::with_planner(kind, settings).unwrap();
                for _ in 0..2 {
                    agent.add_state(2).unwrap();
                }
                for _ in 0..60 {
                    let reward = [0.0, 1.7e308, -1.7e308, 1e150, -1e150, 1e-300][random.below(6) as usize];
                    let next = if random.chance(0.2) { Next::Terminated } else { on(random.below(2)) };
                    let found =
                        agent.observe_transition(&step(random.below(2), random.below(2), reward, next));
                    assert_eq!(found.is_ok(), reward.abs() <= 1e150);
                    let asked = Cell::new(random.below(4));
                    agent.plan(Budget::UntilStopped(&|| asked.replace(asked.get().wrapping_sub(1)) == 0));
                }
                assert!([0, 1].iter().all(|&s| agent.value(State(s)).abs() < 1e170), "{kind}, seed {seed}");
                assert!(
                    Agent::restore_among(&agent.store().unwrap(), &backsweep_baselines::PLANNERS).is_ok(),
                    "{kind}, seed {seed}"
                );
            }
        }
    }
}

#[test]
fn taking_back_leaves_what_was_never_there() {
    // An end, recorded and undone on a row of known probabilities.
    let mut random = Random::from_seed(1);
    for _ in 0..500 {
        let mut model = Model::with_states([1, 1, 1, 1]).unwrap();
        let weights: Vec<f64> = (0..4).map(|_| random.unit() + 0.01).collect();
        let sum: f64 = weights.iter().sum();
        let outcomes: Vec<Outcome> = (0..4)
            .map(|i| Outcome { probability: weights[i as usize] / sum, reward: 0.1, next: on(i) })
            .collect();
        let pair = model.set_outcomes(State(0), Action(0), &outcomes).unwrap();
        let before = (model.weight(pair), model.ended_weight(pair));
        let reward_before = model.reward_sum(pair);
        model.record(&step(0, 0, 0.3, Next::Terminated)).unwrap();
        model.forget(&step(0, 0, 0.3, Next::Terminated)).unwrap();
        assert_eq!((model.weight(pair), model.ended_weight(pair)), before);
        assert!((model.reward_sum(pair) - reward_before).abs() <= f64::EPSILON * reward_before);
        assert!(model.forget(&step(0, 0, 0.3, Next::Terminated)).is_err());
    }
    // A large weight in between.
    let mut agent = Agent::new(Settings::default()).unwrap();
    for _ in 0..3 {
        agent.add_state(1).unwrap();
    }
    agent.observe_weighted(&step(0, 0, 1.0, on(1)), 0.3).unwrap();
    agent.observe_weighted(&step(0, 0, 1.0, on(2)), 1e9).unwrap();
    agent.observe_weighted(&step(0, 0, 1.0, on(2)), -1e9).unwrap();
    let pair = agent.model().pair(State(0), Action(0)).unwrap();
    assert_eq!((agent.model().weight(pair), agent.model().reward_sum(pair)), (0.3, 0.3));
    assert!(Agent::restore_among(&agent.store().unwrap(), &backsweep_baselines::PLANNERS).is_ok());
    // A large reward in between.
    let mut model = Model::with_states([1]).unwrap();
    for reward in [1e17, 1.0] {
        model.record(&step(0, 0, reward, Next::Terminated)).unwrap();
    }
    model.forget(&step(0, 0, 1e17, Next::Terminated)).unwrap();
    assert_eq!(model.mean_reward(backsweep::planner::Pair(0)), 1.0);
    // A reward that was never recorded, and more than was recorded.
    let refused = model.forget(&step(0, 0, 2.0, Next::Terminated)).unwrap_err().to_string();
    assert!(refused.contains("never recorded"), "{refused}");
    assert!(model.record_weighted(&step(0, 0, 1.0, Next::Terminated), -1.5).is_err());
    model.forget(&step(0, 0, 1.0, Next::Terminated)).unwrap();
    assert_eq!(
        (model.weight(backsweep::planner::Pair(0)), model.reward_sum(backsweep::planner::Pair(0))),
        (0.0, 0.0)
    );
    // Nothing remains of a known row either.
    let pair = model.set_outcomes(State(0), Action(0), &certain(2.0, Next::Terminated)).unwrap();
    model.forget(&step(0, 0, 2.0, Next::Terminated)).unwrap();
    assert!(!model.is_given(pair) && model.weight(pair) == 0.0);
}

/// Each of these rewards lets Q fall by less than a thousand, all together by fifteen orders of magnitude.
#[test]
fn a_collapse_is_judged_by_the_peak() {
    let rewards = [1e15, 1e15, -1996992573335884.0, -3003330433733.0, -4091037612.0, -5186386.0, -6377.0];
    for kind in [PlannerKind::REVERSED_FULL_BACKUPS, PlannerKind::SMALL_BACKUPS] {
        let mut agent = Agent::with_planner(kind, Settings::default()).unwrap();
        agent.add_state(1).unwrap();
        for reward in rewards {
            agent.observe_transition(&step(0, 0, reward, Next::Terminated)).unwrap();
        }
        let exact = rewards.iter().map(|&r| r as i64).sum::<i64>() as f64 / 7.0;
        let q = agent.action_value(State(0), Action(0)).unwrap();
        // The rounding error of the rest is at most a thousand times that of the value itself.
        assert!((q - exact).abs() <= 1000.0 * f64::EPSILON * exact.abs(), "{kind}: {q}, expected {exact}");
    }
}

/// Q that returns to 0 on every second visit was recomputed in full each time.
#[test]
fn a_value_that_returns_to_zero_costs_no_more() {
    let n = 20_000;
    let mut agent = Agent::new(Settings { threshold: 1e9, ..Settings::default() }).unwrap();
    agent.add_state(1).unwrap();
    for _ in 0..n {
        agent.add_state(1).unwrap();
    }
    for s in 1..=n {
        agent.observe_transition(&step(0, 0, if s % 2 == 0 { 1.0 } else { -1.0 }, on(s))).unwrap();
    }
    let before = agent.planner().counters().unwrap().refreshes;
    for i in 0..4000 {
        agent.observe_transition(&step(0, 0, if i % 2 == 0 { 1.0 } else { -1.0 }, on(1))).unwrap();
    }
    let refreshes = agent.planner().counters().unwrap().refreshes - before;
    // The credit at the start pays for 52 of 20,000 successors, 4000 observations for 13 more.
    assert!(refreshes <= 70, "{refreshes} recomputations in 4000 observations");
    assert!(agent.audit().relative_relation < 1e-12);
}

#[test]
fn the_error_bound_counts_rows_that_sum_to_more_than_one() {
    let mut random = Random::from_seed(9);
    for seed in 0..300 {
        let n = 2 + random.below(4);
        let discount = [0.9, 0.999, 0.999999][random.below(3) as usize];
        let size = 10f64.powi(random.below(30) as i32 - 25);
        let mut model = Model::with_states(vec![1; n as usize]).unwrap();
        for s in 0..n {
            let weights: Vec<f64> = (0..n).map(|_| random.unit() + 1e-3).collect();
            let sum: f64 = weights.iter().sum();
            let outcomes: Vec<Outcome> = (0..n)
                .map(|i| Outcome { probability: weights[i as usize] / sum, reward: size, next: on(i) })
                .collect();
            model.set_outcomes(State(s), Action(0), &outcomes).unwrap();
        }
        let settings = Settings { discount, threshold: 0.0, ..Settings::default() };
        let mut planner = PlannerKind::default().build(settings).unwrap();
        planner.grow(&model);
        backsweep::planner::plan(&mut *planner, &model, Budget::Cycles(20_000));
        let found = audit(&model, &*planner);
        let exact = size / (1.0 - discount); // as if every row summed to 1
        let error = (planner.values().value(State(0)) - exact).abs();
        // Rows that sum to 1 only up to rounding change the exact value by about this much.
        let slack = exact * 8.0 * f64::EPSILON / (1.0 - discount);
        assert!(error <= found.error_bound.unwrap() + slack, "seed {seed}: {error} {found:?}");
        assert!(found.rounding <= 1e-12 * exact, "seed {seed}: tiny values have tiny bounds: {found:?}");
    }
}

/// A planner whose first notice of a model is a moved row.
#[test]
fn a_moved_row_may_be_the_first_notice_a_planner_gets() {
    for kind in backsweep_baselines::PLANNERS {
        let mut model = Model::with_states([1, 1]).unwrap();
        model.set_outcomes(State(0), Action(0), &certain(3.0, Next::Terminated)).unwrap();
        model.set_outcomes(State(1), Action(0), &certain(0.0, on(0))).unwrap();
        let moved = model.add_action(State(0)).unwrap().unwrap();
        let mut planner = kind.build(Settings { discount: 0.5, ..Settings::default() }).unwrap();
        planner.pairs_moved(&model, &moved);
        backsweep::planner::plan(&mut *planner, &model, Budget::UNTIL_IDLE);
        assert_eq!([0, 1].map(|s| planner.values().value(State(s))), [3.0, 1.5], "{kind}");
    }
}

/// A permitted residue proportional to the reward refused to undo rewards of 0.
#[test]
fn what_was_recorded_can_be_taken_back_in_any_order() {
    let mut model = Model::with_states([1]).unwrap();
    let step = |reward| step(0, 0, reward, on(0));
    for (reward, weight) in [(1.0, 1.0), (0.1, 0.3), (0.0, 0.3)] {
        model.record_weighted(&step(reward), weight).unwrap();
    }
    for (reward, weight) in [(0.1, 0.3), (1.0, 1.0), (0.0, 0.3)] {
        model.record_weighted(&step(reward), -weight).unwrap();
    }
    let mut random = Random::from_seed(1);
    for round in 0..20_000 {
        let n = 2 + random.below(6);
        let mut rows: Vec<(f64, f64)> = (0..n)
            .map(|_| {
                let unit = random.unit();
                let reward = [0.0, unit, 1e9 * unit, 1e-9 * unit, 1.0, -0.1][random.below(6) as usize];
                let weight = [1.0, 0.3, 0.7, unit + 0.1, 1e-6, 1e6][random.below(6) as usize];
                (reward, if round % 2 == 0 { 1.0 } else { weight })
            })
            .collect();
        for &(reward, weight) in &rows {
            model.record_weighted(&step(reward), weight).unwrap();
        }
        while !rows.is_empty() {
            let (reward, weight) = rows.swap_remove(random.below(rows.len() as u32) as usize);
            let taken = model.record_weighted(&step(reward), -weight);
            assert!(taken.is_ok(), "round {round}: {taken:?}, {} left", rows.len());
        }
        let pair = model.pair(State(0), Action(0)).unwrap();
        assert_eq!((model.weight(pair), model.reward_sum(pair)), (0.0, 0.0), "round {round}");
        // Still refused: a reward that was never recorded.
        model.record(&step(0.5)).unwrap();
        assert!(model.forget(&step(0.25)).is_err(), "round {round}");
        model.forget(&step(0.5)).unwrap();
    }
}

/// Weights so far apart that their sum is rounded: when all are taken back, nothing is left of it.
#[test]
fn rounding_leaves_no_weight() {
    let mut random = Random::from_seed(4);
    let mut n_rounded = 0;
    for seed in 0..2000 {
        let mut model = Model::with_states([1]).unwrap();
        let mut recorded = Vec::new();
        for _ in 0..3 + random.below(6) {
            let weight = (0.5 + random.unit()) * 0.5f64.powi(random.below(95) as i32);
            let taken = model.record_weighted(&step(0, 0, 1.0, on(0)), weight);
            recorded.extend(taken.is_ok().then_some(weight));
            n_rounded += u32::from(taken.is_err());
        }
        while !recorded.is_empty() {
            let weight = recorded.swap_remove(random.below(recorded.len() as u32) as usize);
            model.record_weighted(&step(0, 0, 1.0, on(0)), -weight).unwrap();
        }
        let pair = model.pair(State(0), Action(0)).unwrap();
        assert_eq!((model.weight(pair), model.reward_sum(pair)), (0.0, 0.0), "seed {seed}");
        assert!(model.successors(pair).all(|next| next.weight == 0.0), "seed {seed}");
    }
    assert!(n_rounded > 0, "no weight was too small to be kept");
}

/// A weight more than 2⁸⁰ times smaller than one that was taken back became 0, while its arc kept it.
#[test]
fn a_small_weight_survives_a_large_one_that_is_taken_back() {
    for small in [1e-20, 1e-25, 1e-40, 1e-99] {
        let mut model = Model::with_states([1, 1]).unwrap();
        model.record_weighted(&step(0, 0, 1.0, on(0)), small).unwrap();
        model.record(&step(0, 0, 1.0, on(1))).unwrap();
        model.forget(&step(0, 0, 1.0, on(1))).unwrap();
        let pair = model.pair(State(0), Action(0)).unwrap();
        assert_eq!(model.weight(pair), small);
        assert_eq!(model.successors(pair).map(|next| next.weight).sum::<f64>(), small);
        let mut snapshot = backsweep::planner::Snapshot::new();
        model.store(&mut snapshot);
        Model::restore(&snapshot).unwrap();
        model.record_weighted(&step(0, 0, 1.0, on(0)), -small).unwrap();
        assert_eq!(model.weight(pair), 0.0);
    }
    // What the sum rounded away meanwhile is as large as what is left of it.
    let mut random = Random::from_seed(3);
    for seed in 0..200 {
        let mut model = Model::with_states([1, 1]).unwrap();
        model.record_weighted(&step(0, 0, 1.0, on(0)), 1e-30).unwrap();
        let others: Vec<f64> = (0..300).map(|_| random.unit() + 1e-3).collect();
        for &weight in &others {
            model.record_weighted(&step(0, 0, 1.0, on(1)), weight).unwrap();
        }
        for &weight in &others {
            model.record_weighted(&step(0, 0, 1.0, on(1)), -weight).unwrap();
        }
        let pair = model.pair(State(0), Action(0)).unwrap();
        let left = model.weight(pair);
        assert!((left / 1e-30 - 1.0).abs() < 1e-3, "seed {seed}: {left:e}");
        let mut snapshot = backsweep::planner::Snapshot::new();
        model.store(&mut snapshot);
        Model::restore(&snapshot).unwrap();
        model.record_weighted(&step(0, 0, 1.0, on(0)), -1e-30).unwrap();
        assert_eq!(model.weight(pair), 0.0, "seed {seed}");
    }
    // Three sizes that no sum can hold: refused when it is recorded, and nothing has changed.
    let mut model = Model::with_states([1]).unwrap();
    for weight in [1.0, 1e-25] {
        model.record_weighted(&step(0, 0, 1.0, on(0)), weight).unwrap();
    }
    let before = format!("{model:?}");
    assert!(model.record_weighted(&step(0, 0, 1.0, on(0)), 1e-60).is_err());
    assert_eq!(format!("{model:?}"), before);
}

/// Without discount, values that are far from the truth can leave nothing to do: forward or back to the start, with a `stay` in every
/// state. Planners call that idle, and claim nothing; the solver with proofs is another crate.
#[test]
fn without_discount_planning_proves_nothing() {
    let n = 40;
    for kind in backsweep_baselines::PLANNERS {
        let settings = Settings { discount: 1.0, ..Settings::default() };
        let mut agent = Agent::with_planner(kind, settings).unwrap();
        agent.add_states(vec![2; n]).unwrap();
        for s in 0..n as u32 {
            let ahead = if s + 1 == n as u32 { Next::Terminated } else { on(s + 1) };
            let half = |reward, next| Outcome { probability: 0.5, reward, next };
            let goal = if s + 1 == n as u32 { 1.0 } else { 0.0 };
            agent.set_outcomes(State(s), Action(0), &[half(goal, ahead), half(0.0, on(0))]).unwrap();
            agent.set_outcomes(State(s), Action(1), &certain(0.0, on(s))).unwrap();
        }
        let planned = agent.plan(Budget::Until { tolerance: 0.0, max_cycles: 100_000 });
        assert!(
            agent.value(State(0)) < 0.5,
            "{kind}: the truth is 1, and the threshold keeps it off the queue"
        );
        let audit = agent.audit();
        assert_eq!((audit.error_bound, agent.bound()), (None, None), "{kind}, {planned:?}");
    }
}

/// A file with the largest accepted counts, resumed and saved, could not be read again.
#[test]
fn counts_at_their_limit_stay_readable() {
    let agent = Agent::new(Settings::default()).unwrap();
    let stored = agent.store().unwrap();
    for count in [1 << 62, u64::MAX / 2, u64::MAX] {
        let mut forged = stored.clone();
        forged.put("counters", vec![count; 5]);
        let Ok(mut agent) = Agent::restore(&forged) else { continue };
        assert_eq!(count, 1 << 62);
        agent.add_states([1, 1]).unwrap();
        agent.observe(State(0), Action(0), 1.0, State(1)).unwrap();
        agent.plan(Budget::Cycles(5));
        Agent::restore(&agent.store().unwrap()).unwrap();
    }
}

/// Known probabilities rarely sum to exactly 1: what was left of a row when all had been undone was the weight of no outcome, and an
/// outcome that the sum could not hold outlived its row. Neither could be stored.
#[test]
fn known_probabilities_can_be_undone_one_by_one() {
    let mut random = Random::from_seed(8);
    for seed in 0..3000 {
        let n = 2 + random.below(6);
        let tiny = [1.0, 1e-17, 1e-90][random.below(3) as usize];
        let weights: Vec<f64> =
            (0..n).map(|i| (random.unit() + 1e-3) * if i == 0 { tiny } else { 1.0 }).collect();
        let sum: f64 = weights.iter().sum();
        let to = |i: u32| if i == 1 { Next::Terminated } else { on(i) };
        let outcomes: Vec<Outcome> = (0..n)
            .map(|i| Outcome { probability: weights[i as usize] / sum, reward: 2.0, next: to(i) })
            .collect();
        let mut agent = Agent::new(Settings::default()).unwrap();
        agent.add_states(vec![1; n as usize]).unwrap();
        let pair = agent.set_outcomes(State(0), Action(0), &outcomes).unwrap();
        let mut left: Vec<u32> = (0..n).collect();
        while !left.is_empty() {
            let i = left.swap_remove(random.below(left.len() as u32) as usize);
            let model = agent.model();
            let outcome_weight = |i: u32| match to(i) {
                Next::Terminated => model.ended_weight(pair),
                _ => model.successors(pair).find(|next| next.state.0 == i).map_or(0.0, |next| next.weight),
            };
            let weight = outcome_weight(i);
            agent.observe_weighted(&step(0, 0, 2.0, to(i)), -weight).unwrap();
            if let Err(error) = Agent::restore(&agent.store().unwrap()) {
                panic!("seed {seed}, without {i}: {error}");
            }
        }
        assert_eq!(agent.model().weight(pair), 0.0, "seed {seed}");
    }
    // Below the smallest weight there is no arc that a file could hold.
    let mut agent = Agent::new(Settings::default()).unwrap();
    agent.add_states([1, 1]).unwrap();
    let outcomes = [(1e-200, on(1)), (1.0, Next::Terminated)].map(|(probability, next)| Outcome {
        probability,
        reward: 0.0,
        next,
    });
    assert!(agent.set_outcomes(State(0), Action(0), &outcomes).is_err());
}
