//! One suite that every planner must pass, with both queues, on all problems of `tests/testdata`: with unlimited cycles the
//! values agree with the stored answers and with policy iteration on the same model to 1e-9.

use crate::common::{Book, Problem, QUEUES, on, problem, problems, solve, threshold_for, values, worst};
use backsweep::explore::Optimism;
use backsweep::planner::{Outcome, QueueKind};
use backsweep::{Agent, Budget, Next, PlannerKind, Random, Settings, State};

/// Every planner with every queue.
fn planners() -> impl Iterator<Item = (PlannerKind, QueueKind)> {
    backsweep_baselines::PLANNERS.into_iter().flat_map(|kind| QUEUES.map(|queue| (kind, queue)))
}

fn agent(planner: PlannerKind, queue: QueueKind, discount: f64) -> Agent {
    let threshold = threshold_for(5e-10, discount);
    Agent::with_planner(planner, Settings { discount, queue, threshold, ..Settings::default() }).unwrap()
}

/// Returns whether values are defined without discount, and the planners' start of 0 is on the right side of them.
fn is_defined_undiscounted(problem: &Problem, every_policy_ends: bool) -> bool {
    let rewards: Vec<f64> = problem.book().rows.iter().flatten().map(|row| row.reward_sum).collect();
    every_policy_ends || rewards.iter().all(|&r| r >= 0.0) || rewards.iter().all(|&r| r <= 0.0)
}

const ENDS_ALWAYS: [&str; 8] = [
    "sb-gambler",
    "tiny-self-loop",
    "tiny-duplicates",
    "tiny-uneven-actions",
    "tiny-dead-end",
    "tiny-chain",
    "tiny-scales",
    "tiny-unreachable",
];

#[test]
fn known_models_are_solved_by_every_planner() {
    for problem in problems() {
        let ends_always = ENDS_ALWAYS.contains(&problem.name.as_str());
        for (discount, answers) in &problem.answers {
            let by_policy_iteration =
                (*discount < 1.0 || ends_always).then(|| problem.book().policy_iteration(*discount, 0.0, 1));
            for (planner, queue) in planners() {
                let place = format!("{planner}, {queue:?}, {} at {discount}", problem.name);
                let mut agent = agent(planner, queue, *discount);
                problem.give(&mut agent);
                if *discount == 1.0 && !is_defined_undiscounted(&problem, ends_always) {
                    continue;
                }
                let solution = solve(&mut agent, 5e-10);
                let found = values(&agent);
                let (error, state) = worst(&found, answers);
                assert!(error <= 1e-9, "{place}: state {state} is {} not {}", found[state], answers[state]);
                if let Some(expected) = &by_policy_iteration {
                    let (error, state) = worst(&found, expected);
                    assert!(error <= 1e-9, "{place}: state {state}, policy iteration {}", expected[state]);
                }
                // Rounding alone keeps values of 1e6 from being proven to 5e-10.
                let largest = answers.iter().fold(0.0f64, |a, v| a.max(v.abs()));
                assert!(solution.converged || largest > 1e3, "{place}: {solution:?}");
                assert_eq!(solution.error_bound.is_none(), *discount == 1.0, "{place}");
            }
        }
    }
}

/// The rounding error that the reference itself may have.
fn reference_error(values: &[f64], discount: f64) -> f64 {
    let largest = values.iter().fold(1.0f64, |a, v| a.max(v.abs()));
    16.0 * f64::EPSILON * largest / (1.0 - discount).max(1e-3)
}

#[test]
fn the_error_bound_bounds_the_true_error() {
    let mut n_loose = 0;
    for problem in problems().iter().filter(|problem| problem.n_states() <= 101) {
        for (discount, _) in &problem.answers {
            let ends_always = ENDS_ALWAYS.contains(&problem.name.as_str());
            if *discount == 1.0 && !ends_always {
                continue;
            }
            let optimum = problem.book().policy_iteration(*discount, 0.0, 1);
            for (planner, queue) in planners() {
                let mut agent = agent(planner, queue, *discount);
                problem.give(&mut agent);
                let error = |agent: &Agent| {
                    let found = values(agent);
                    found.iter().zip(&optimum).map(|(f, o)| (f - o).abs()).fold(0.0, f64::max)
                };
                let place = format!("{planner}, {queue:?}, {} at {discount}", problem.name);
                let slack = reference_error(&optimum, *discount);
                // Midway: the audit's bound holds at any moment, however little was planned.
                for _ in 0..10 {
                    if let Some(bound) = agent.audit().error_bound {
                        assert!(error(&agent) <= bound + slack, "{place}: {} > {bound}", error(&agent));
                        n_loose += usize::from(bound > 1e-3);
                    }
                    agent.plan(Budget::Cycles(problem.n_states() as u64 / 4 + 1));
                }
                for tolerance in [1.0, 1e-2, 1e-4, 1e-8] {
                    let solution = solve(&mut agent, tolerance);
                    let Some(bound) = solution.error_bound else { continue };
                    assert!(error(&agent) <= bound + slack, "{place}: {} > {bound}", error(&agent));
                    assert!(!solution.converged || bound <= tolerance, "{place}");
                }
            }
        }
    }
    assert!(n_loose > 1000, "the bound was hardly tried on values that are far off: {n_loose}");
}

#[test]
fn learned_models_are_solved_by_every_planner() {
    let mut random = Random::from_seed(7);
    for problem in problems() {
        let discount = 0.95;
        // Steps from anywhere, so that every part of the table is seen; a third of them are truncated, which changes nothing.
        let n_steps = 20 * problem.n_states().min(200);
        let mut book = Book::new(problem.n_actions());
        let mut steps = Vec::new();
        let states: Vec<usize> =
            (0..problem.n_states()).filter(|&s| !problem.outcomes[s].is_empty()).collect();
        for i in 0..n_steps {
            let state = states[random.below(states.len() as u32) as usize];
            let action = random.below(problem.outcomes[state].len() as u32) as usize;
            let mut transition = problem.sample(state, action, &mut random);
            if let (Some(next), 0) = (transition.next.state(), i % 3) {
                transition.next = Next::Truncated(next);
            }
            book.record(&transition, 1.0);
            steps.push(transition);
        }
        for (value, min_visits) in [(0.0, 1), (3.0, 2)] {
            let expected = book.policy_iteration(discount, value, min_visits);
            for (planner, queue) in planners() {
                let place = format!("{planner}, {queue:?}, {}, min_visits {min_visits}", problem.name);
                let optimism = Optimism { value, min_visits };
                let threshold = threshold_for(5e-10, discount);
                let settings = Settings { discount, queue, optimism, threshold };
                let mut agent = Agent::with_planner(planner, settings).unwrap();
                for n in problem.n_actions() {
                    agent.add_state(n).unwrap();
                }
                // Value iteration would sweep over all states after every step.
                let cycles = if planner == backsweep_baselines::VALUE_ITERATION { 0 } else { 2 };
                for transition in &steps {
                    agent.observe_transition(transition).unwrap();
                    agent.plan(Budget::Cycles(cycles));
                }
                solve(&mut agent, 5e-10);
                let found = values(&agent);
                let (error, state) = worst(&found, &expected);
                assert!(error <= 1e-9, "{place}: state {state} is {} not {}", found[state], expected[state]);
                if (planner, queue) == (PlannerKind::REVERSED_FULL_BACKUPS, QueueKind::Exact) {
                    check_best_actions(&agent, &book, discount, value, min_visits);
                }
            }
        }
    }
}

/// The value of the chosen action equals that of the state (with ties, the actions themselves cannot be compared).
fn check_best_actions(agent: &Agent, book: &Book, discount: f64, optimism: f64, min_visits: u32) {
    for state in agent.model().states() {
        let rows = &book.rows[state.index()];
        let Some(action) = agent.best_action(state) else {
            assert!(rows.is_empty());
            continue;
        };
        let row = &rows[action.index()];
        let worth = if row.is_known(min_visits) {
            row.expectation(discount, |s| agent.value(State(s as u32)))
        } else {
            optimism
        };
        assert!((worth - agent.value(state)).abs() <= 1e-8 * worth.abs().max(1.0), "{state}");
    }
}

#[test]
fn after_a_small_change_values_are_those_of_solving_from_scratch() {
    let mut random = Random::from_seed(11);
    for problem in problems().iter().filter(|problem| problem.n_states() <= 101) {
        for (planner, queue) in planners() {
            let mut warm = agent(planner, queue, 0.9);
            problem.give(&mut warm);
            solve(&mut warm, 1e-10);
            let mut changed =
                Problem { name: problem.name.clone(), outcomes: problem.outcomes.clone(), answers: vec![] };
            for _ in 0..3 {
                // One pair gets another next state and another reward.
                let states: Vec<usize> =
                    (0..problem.n_states()).filter(|&s| !problem.outcomes[s].is_empty()).collect();
                let state = states[random.below(states.len() as u32) as usize];
                let action = random.below(problem.outcomes[state].len() as u32) as usize;
                let other = Outcome {
                    probability: 0.5,
                    reward: f64::from(random.below(9)) - 4.0,
                    next: on(random.below(problem.n_states() as u32)),
                };
                let mut outcomes = vec![other];
                outcomes.extend(problem.outcomes[state][action].iter().map(|&outcome| {
                    let probability = outcome.probability / 2.0;
                    Outcome { probability, ..outcome }
                }));
                changed.outcomes[state][action] = outcomes.clone();
                let action = backsweep::Action(action as u32);
                warm.set_outcomes(State(state as u32), action, &outcomes).unwrap();
                solve(&mut warm, 1e-10);
            }
            let mut cold = agent(planner, queue, 0.9);
            changed.give(&mut cold);
            solve(&mut cold, 1e-10);
            let place = format!("{planner}, {queue:?}, {}", problem.name);
            let (error, state) = worst(&values(&warm), &values(&cold));
            assert!(error <= 1e-9, "{place}: state {state} differs by {error:e} from a solve from scratch");
            let expected = changed.book().policy_iteration(0.9, 0.0, 1);
            assert!(worst(&values(&warm), &expected).0 <= 1e-9, "{place}: not the optimum");
        }
    }
}

#[test]
fn known_answers_of_the_book() {
    // Sutton & Barto, 2nd edition: gridworld 3.5/3.8 has v*(A) = 24.4 and v*(B) = 19.4 at discount 0.9; the Dyna maze takes
    // 14 steps; with a capital of 50 the gambler wins with probability 0.4.
    let solved = |name: &str, discount: f64| {
        let mut agent = agent(PlannerKind::REVERSED_FULL_BACKUPS, QueueKind::Exact, discount);
        problem(name).give(&mut agent);
        solve(&mut agent, 1e-10);
        agent
    };
    let grid = solved("sb-gridworld", 0.9);
    assert_eq!((grid.value(State(1)) * 10.0).round() / 10.0, 24.4);
    assert_eq!((grid.value(State(3)) * 10.0).round() / 10.0, 19.4);
    assert!((solved("sb-dyna-maze", 0.95).value(State(18)) - 0.95f64.powi(13)).abs() < 1e-9);
    assert!((solved("sb-gambler", 1.0).value(State(50)) - 0.4).abs() < 1e-9);
    assert!((solved("FrozenLake-4x4-slippery", 1.0).value(State(0)) - 14.0 / 17.0).abs() < 1e-8);
}
