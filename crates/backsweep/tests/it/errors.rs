//! Every bad input gives the documented error, with the place, what was found and what is expected in its message; and it
//! leaves model and planner as they were.

use crate::common::{QUEUES, on, step};
use backsweep::explore::{EpsilonGreedy, Optimism};
use backsweep::planner::{Model, Outcome, Pair, QueueKind, Snapshot};
use backsweep::{Action, Agent, Error, Next, PlannerKind, Random, Settings, State};

#[track_caller]
fn says(error: &Error, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "'{message}' does not say '{word}'");
    }
    assert!(!message.contains('\n'), "'{message}' is more than one line");
}

#[test]
fn settings_out_of_range() {
    let good = Settings::default();
    let optimism = |value| Settings { optimism: Optimism { value, min_visits: 1 }, ..good };
    for kind in backsweep_baselines::PLANNERS {
        for discount in [-0.1, 1.0000001, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = kind.build(Settings { discount, ..good }).unwrap_err();
            assert!(matches!(error, Error::Setting { name: "discount", .. }));
            says(&error, &["discount", &discount.to_string(), "from 0 to 1"]);
        }
        for value in [f64::NAN, f64::INFINITY] {
            let error = kind.build(optimism(value)).unwrap_err();
            says(&error, &["optimism value", &value.to_string(), "finite"]);
        }
        for threshold in [-1e-9, f64::NAN, f64::INFINITY] {
            let error = kind.build(Settings { threshold, ..good }).unwrap_err();
            says(&error, &["threshold", &threshold.to_string(), "0 or more"]);
        }
        for discount in [0.0, 1.0] {
            assert!(kind.build(Settings { discount, ..good }).is_ok());
        }
    }
    for epsilon in [-0.1, 1.1, f64::NAN] {
        says(&EpsilonGreedy::new(epsilon).unwrap_err(), &["epsilon", &epsilon.to_string(), "from 0 to 1"]);
    }
    says(
        &PlannerKind::named("sweep", &backsweep_baselines::PLANNERS).unwrap_err(),
        &["planner", "'sweep'", "small_backups", "peng_williams"],
    );
    says(&"stack".parse::<QueueKind>().unwrap_err(), &["queue", "'stack'", "exact, bucket"]);
}

/// An agent that has made a few observations, with a queue that is not empty.
fn agent(planner: PlannerKind, queue: QueueKind) -> Agent {
    let mut agent = Agent::with_planner(planner, Settings { queue, ..Settings::default() }).unwrap();
    for n_actions in [2, 1, 0] {
        agent.add_state(n_actions).unwrap();
    }
    agent.observe_transition(&step(0, 0, 1.0, on(1))).unwrap();
    agent.observe_transition(&step(0, 0, 2.0, Next::Terminated)).unwrap();
    agent.observe_transition(&step(1, 0, 3.0, on(2))).unwrap();
    agent
}

type Attempt = Box<dyn Fn(&mut Agent) -> Error>;

/// Every bad input to an agent, and what the message must say.
fn attempts() -> Vec<(Attempt, Vec<&'static str>)> {
    fn observe(state: u32, action: u32, reward: f64, next: Next, weight: f64) -> Attempt {
        Box::new(move |agent| agent.observe_weighted(&step(state, action, reward, next), weight).unwrap_err())
    }
    fn set(state: u32, action: u32, outcomes: Vec<Outcome>) -> Attempt {
        Box::new(move |agent| agent.set_outcomes(State(state), Action(action), &outcomes).unwrap_err())
    }
    let outcome = |probability, reward, next| Outcome { probability, reward, next };
    let end = Next::Terminated;
    vec![
        (observe(3, 0, 0.0, end, 1.0), vec!["state 3", "3 states", "0 to 2"]),
        (observe(u32::MAX, 0, 0.0, end, 1.0), vec!["state 4294967295", "3 states"]),
        (observe(0, 0, 0.0, on(9), 1.0), vec!["state 9", "3 states"]),
        (observe(0, 0, 0.0, Next::Truncated(State(9)), 1.0), vec!["state 9", "3 states"]),
        (observe(0, 2, 0.0, end, 1.0), vec!["action 2", "state 0", "2 actions", "0 to 1"]),
        (observe(1, u32::MAX, 0.0, end, 1.0), vec!["action 4294967295", "state 1"]),
        (observe(2, 0, 0.0, end, 1.0), vec!["state 2", "terminal", "no actions"]),
        (observe(0, 1, f64::NAN, end, 1.0), vec!["reward", "action 1", "state 0", "NaN", "finite"]),
        (observe(1, 0, f64::INFINITY, on(0), 1.0), vec!["reward", "action 0", "state 1", "inf"]),
        (observe(1, 0, f64::NEG_INFINITY, on(0), 1.0), vec!["-inf"]),
        (observe(1, 0, 1e300, on(0), 1e10), vec!["reward", "state 1"]),
        (observe(0, 0, 1.0, end, 0.0), vec!["weight", "action 0", "state 0", "0", "at least 1e-100"]),
        (observe(0, 0, 1.0, end, f64::NAN), vec!["action 0", "state 0", "NaN"]),
        (observe(0, 0, 1.0, end, f64::INFINITY), vec!["action 0", "state 0"]),
        (observe(0, 0, 0.0, end, 1e16), vec!["observations of one pair", "9007199254740992"]),
        // Undone although never recorded: another next state, one time too many, an end of a pair that never ended.
        (observe(0, 0, 1.0, on(0), -1.0), vec!["undo", "1", "action 0", "state 0", "0 was recorded"]),
        (observe(0, 0, 1.0, on(1), -2.0), vec!["undo", "2", "only 1"]),
        (observe(1, 0, 1.0, end, -1.0), vec!["undo", "state 1", "only 0"]),
        (observe(0, 1, 1.0, end, -1.0), vec!["undo", "action 1"]),
        (
            set(0, 0, vec![outcome(1.5, 0.0, end)]),
            vec!["probability", "action 0", "state 0", "1.5", "0 to 1"],
        ),
        (set(0, 0, vec![outcome(-0.5, 0.0, end), outcome(1.5, 0.0, end)]), vec!["-0.5"]),
        (set(0, 1, vec![outcome(f64::NAN, 0.0, end)]), vec!["probability", "action 1", "NaN"]),
        (set(0, 1, vec![outcome(0.5, 0.0, end)]), vec!["sum to 0.5", "action 1", "state 0", "expected 1"]),
        (set(0, 1, vec![outcome(0.5, 0.0, end), outcome(0.500001, 0.0, on(1))]), vec!["sum to 1.000001"]),
        (set(0, 1, vec![]), vec!["sum to 0", "expected 1"]),
        (set(0, 1, vec![outcome(1.0, f64::NAN, end)]), vec!["reward", "action 1", "state 0", "NaN"]),
        (set(0, 1, vec![outcome(0.5, 0.0, end), outcome(0.5, 0.0, on(7))]), vec!["state 7", "3 states"]),
        (set(7, 0, vec![outcome(1.0, 0.0, end)]), vec!["state 7"]),
        (set(1, 1, vec![outcome(1.0, 0.0, end)]), vec!["action 1", "state 1", "1 actions"]),
        (set(2, 0, vec![outcome(1.0, 0.0, end)]), vec!["state 2", "terminal"]),
        (Box::new(|agent| agent.add_action(State(3)).unwrap_err()), vec!["state 3", "3 states"]),
        (
            Box::new(|agent| agent.add_state(u32::MAX as usize).unwrap_err()),
            vec!["state-action pairs", "at most"],
        ),
        (
            Box::new(|agent| agent.act(State(2), &mut Random::from_seed(0)).unwrap_err()),
            vec!["state 2", "terminal"],
        ),
        (
            Box::new(|agent| agent.act(State(5), &mut Random::from_seed(0)).unwrap_err()),
            vec!["state 5", "3 states"],
        ),
        (Box::new(|agent| agent.action_value(State(0), Action(4)).unwrap_err()), vec!["action 4", "state 0"]),
    ]
}

#[test]
fn bad_input_is_refused_and_changes_nothing() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let mut agent = agent(kind, queue);
            let before = agent.store().unwrap();
            for (i, (attempt, words)) in attempts().into_iter().enumerate() {
                let error = attempt(&mut agent);
                says(&error, &words);
                assert_eq!(
                    agent.store().unwrap(),
                    before,
                    "{}, {queue:?}: attempt {i} changed something",
                    kind
                );
            }
        }
    }
}

#[test]
fn numbers_beyond_the_promised_range_are_refused() {
    let mut model = Model::with_states([1]).unwrap();
    model.record(&step(0, 0, 1e150, Next::Terminated)).unwrap();
    let error = model.record(&step(0, 0, 1.7e308, Next::Terminated)).unwrap_err();
    says(&error, &["reward", "action 0", "state 0", "1e150"]);
    let error = model.record_weighted(&step(0, 0, 1.0, Next::Terminated), 5e-324).unwrap_err();
    says(&error, &["weight", "action 0", "state 0", "1e-100"]);
    let huge = Outcome { probability: 1.0, reward: -1e151, next: Next::Terminated };
    assert!(model.set_outcomes(State(0), Action(0), &[huge]).is_err());
    assert_eq!(
        (model.weight(backsweep::planner::Pair(0)), model.reward_sum(backsweep::planner::Pair(0))),
        (1.0, 1e150)
    );
    // Up to 2^53 counts are exact; at 2^53 they would no longer be.
    model.record_weighted(&step(0, 0, 0.0, Next::Terminated), 9007199254740990.0).unwrap();
    assert!(model.record(&step(0, 0, 0.0, Next::Terminated)).is_err());
}

#[test]
fn probabilities_within_rounding_are_normalized() {
    let mut model = Model::with_states([1, 1]).unwrap();
    let third = |next| Outcome { probability: 0.333333333333, reward: 3.0, next };
    let pair = model.set_outcomes(State(0), Action(0), &[third(on(0)), third(on(1)), third(on(1))]).unwrap();
    let sum: f64 = model.successors(pair).map(|s| s.weight).sum();
    assert!((sum - 1.0).abs() < 1e-15 && (model.mean_reward(pair) - 3.0).abs() < 1e-14);
    assert_eq!(model.n_successors(pair), 2);
}

/// Rows that are scaled or drawn are checked too, and a refused one changes nothing.
#[test]
fn bad_rows_are_refused_and_change_nothing() {
    let mut model = agent(PlannerKind::default(), QueueKind::Exact).model().clone();
    let stored = |model: &Model| {
        let mut snapshot = Snapshot::new();
        model.store(&mut snapshot);
        snapshot
    };
    let before = stored(&model);
    for factor in [-0.5, 1.5, f64::NAN, f64::INFINITY] {
        let error = model.scale_weights(Pair(0), factor).unwrap_err();
        says(&error, &["factor", &factor.to_string(), "from 0 to 1"]);
    }
    says(&model.scale_weights(Pair(3), 0.5).unwrap_err(), &["pair is 3", "of the model"]);
    let none: [(State, f64); 0] = [];
    says(&model.set_weights(Pair(u32::MAX), &none, 1.0, 0.0).unwrap_err(), &["pair is 4294967295"]);
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let error = model.set_weights(Pair(0), &[(State(1), weight)], 0.0, 0.0).unwrap_err();
        says(&error, &["weight", "action 0", "state 0", &weight.to_string(), "finite number, 0 or more"]);
        says(&model.set_weights(Pair(2), &none, weight, 0.0).unwrap_err(), &["weight", "state 1"]);
    }
    let third = 0.4 * 2f64.powi(53);
    let thirds = [(State(0), third), (State(1), third)];
    says(&model.set_weights(Pair(0), &thirds, third, 0.0).unwrap_err(), &["one pair", "9007199254740992"]);
    says(&model.set_weights(Pair(0), &[(State(9), 1.0)], 0.0, 0.0).unwrap_err(), &["state 9", "3 states"]);
    for reward_sum in [f64::NAN, f64::INFINITY, 3e150] {
        let error = model.set_weights(Pair(1), &[(State(1), 1.0)], 1.0, reward_sum).unwrap_err();
        says(&error, &["reward", "action 1", "state 0"]);
    }
    assert_eq!(stored(&model), before);
    model.set_weights(Pair(0), &[(State(1), 3.0)], 1.0, 8.0).unwrap();
    model.scale_weights(Pair(0), 0.5).unwrap();
    let row = (model.weight(Pair(0)), model.ended_weight(Pair(0)), model.mean_reward(Pair(0)));
    assert_eq!(row, (2.0, 0.5, 2.0));
    assert_eq!(model.successors(Pair(0)).map(|next| next.weight).collect::<Vec<_>>(), [1.5]);
    // A state that is listed twice, weights too small to keep, and a row that was given: all can be stored and restored.
    let sure = [Outcome { probability: 1.0, reward: 0.0, next: on(1) }];
    model.set_outcomes(State(0), Action(0), &sure).unwrap();
    model.set_weights(Pair(0), &[(State(1), 1.0), (State(1), 2.0), (State(0), 1.0)], 0.0, 8.0).unwrap();
    assert_eq!(
        (model.weight(Pair(0)), model.mean_reward(Pair(0)), model.is_given(Pair(0))),
        (4.0, 2.0, false)
    );
    assert_eq!(Model::restore(&stored(&model)).unwrap().weight(Pair(0)), 4.0);
    model.scale_weights(Pair(0), 0.5e-100).unwrap();
    let weights: Vec<f64> = model.successors(Pair(0)).map(|next| next.weight).collect();
    assert_eq!(
        (weights, model.weight(Pair(0)), model.ended_weight(Pair(0))),
        (vec![0.0, 1.5e-100], 1.5e-100, 0.0)
    );
    assert!((model.mean_reward(Pair(0)) - 2.0).abs() < 1e-12);
    Model::restore(&stored(&model)).unwrap();
    model.scale_weights(Pair(0), 0.0).unwrap();
    assert_eq!((model.weight(Pair(0)), model.reward_sum(Pair(0))), (0.0, 0.0));
    Model::restore(&stored(&model)).unwrap();
}
