//! Reports of an exploring agent about itself: the bound is that of its recommendation, and an interval contains the true
//! values as often as it claims.

use crate::common;
use crate::common::Book;
use backsweep::explore::{Exploration, Explore, Forgetting};
use backsweep::planner::Outcome;
use backsweep::{Action, Agent, Budget, Next, Random, Settings, State};

/// An exploring agent is judged by what it recommends, after absorbing what it has not absorbed yet.
#[test]
fn the_bound_of_an_exploring_agent_is_that_of_its_recommendation() {
    let exploration = Exploration {
        explore: Explore::CountBonus { beta: 1.0 },
        reward_range: Some((0.0, 1.0)),
        ..Exploration::default()
    };
    let settings = Settings { discount: 0.9, ..Settings::default() };
    let mut agent = Agent::new(settings).unwrap().with_exploration(exploration).unwrap();
    agent.add_state(1).unwrap();
    agent.observe_transition(&common::step(0, 0, 1.0, common::on(0))).unwrap();
    agent.plan(Budget::UNTIL_IDLE);
    assert!(agent.bound().unwrap() > 1.0); // V went from 0 to 1, and has 10 before it
    agent.recommend(Budget::UNTIL_IDLE);
    assert!(agent.bound().unwrap() < 1e-7 && (agent.value(State(0)) - 10.0).abs() < 1e-6);
}

/// Two states, two actions, chance in rewards and in transitions.
fn world() -> [[Vec<Outcome>; 2]; 2] {
    let outcome = |probability, reward, next| Outcome { probability, reward, next };
    let (to0, to1) = (Next::Continue(State(0)), Next::Continue(State(1)));
    [
        [vec![outcome(0.5, 0.0, to0), outcome(0.5, 1.0, to1)], vec![outcome(1.0, 0.25, to0)]],
        [
            vec![outcome(0.7, 1.0, to1), outcome(0.3, 0.0, to0)],
            vec![outcome(0.9, 0.5, to0), outcome(0.1, 1.0, Next::Terminated)],
        ],
    ]
}

#[test]
fn intervals_contain_the_true_values() {
    let discount = 0.5;
    let mut truth = Book::new([2, 2]);
    for (s, actions) in world().iter().enumerate() {
        for (a, outcomes) in actions.iter().enumerate() {
            truth.set(s, a, outcomes);
        }
    }
    let true_values = truth.policy_iteration(discount, 0.0, 1);
    let settings = Settings { discount, ..Settings::default() };
    let exploration = Exploration { reward_range: Some((0.0, 1.0)), ..Exploration::default() };
    let (mut n_missed, mut widths) = (0, [0.0; 3]);
    let n_runs = 200;
    for seed in 0..n_runs {
        let mut random = Random::from_seed(seed);
        let mut agent = Agent::new(settings).unwrap().with_exploration(exploration).unwrap();
        for _ in 0..2 {
            agent.add_state(2).unwrap();
        }
        let mut is_missed = false;
        for (size, n_steps) in [0, 300, 6000].into_iter().enumerate() {
            for _ in 0..n_steps {
                let (s, a) = (random.below(2) as usize, random.below(2) as usize);
                let mut left = random.unit();
                let outcomes = &world()[s][a];
                let drawn = outcomes.iter().find(|outcome| {
                    left -= outcome.probability;
                    left < 0.0
                });
                let Outcome { reward, next, .. } = *drawn.unwrap_or(&outcomes[0]);
                agent.observe_transition(&common::step(s as u32, a as u32, reward, next)).unwrap();
            }
            let found = agent.intervals(0.5).unwrap();
            is_missed |= found.iter().zip(&true_values).any(|((low, high), v)| v < low || v > high);
            widths[size] += (found[0].1 - found[0].0) / n_runs as f64;
        }
        n_missed += u32::from(is_missed);
    }
    // Half may be missed; Hoeffding's inequality is far from tight.
    assert!(n_missed < n_runs as u32 / 2, "{n_missed} of {n_runs} runs have a value outside of its interval");
    assert!((widths[0] - 2.0).abs() < 1e-9 && widths[1] < 2.0 && widths[2] < 0.6 * widths[1], "{widths:?}");
    // Known probabilities leave no doubt.
    let mut known = Agent::new(settings).unwrap().with_exploration(exploration).unwrap();
    for _ in 0..2 {
        known.add_state(2).unwrap();
    }
    for (s, actions) in world().iter().enumerate() {
        for (a, outcomes) in actions.iter().enumerate() {
            known.set_outcomes(State(s as u32), Action(a as u32), outcomes).unwrap();
        }
    }
    for ((low, high), v) in known.intervals(0.99).unwrap().into_iter().zip(&true_values) {
        assert!(low <= *v && *v <= high && high - low < 1e-5, "{low} {v} {high}");
    }
}

#[test]
fn intervals_say_what_they_need() {
    let build = |exploration, discount| {
        let settings = Settings { discount, ..Settings::default() };
        Agent::new(settings).unwrap().with_exploration(exploration).unwrap()
    };
    let ranged = Exploration { reward_range: Some((0.0, 1.0)), ..Exploration::default() };
    let says = |agent: Agent, confidence, word: &str| {
        let error = agent.intervals(confidence).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    says(build(Exploration::default(), 0.9), 0.9, "reward_range");
    says(Agent::new(Settings::default()).unwrap(), 0.9, "reward_range");
    says(build(Exploration { forgetting: Forgetting::Window(9), ..ranged }, 0.9), 0.9, "forget");
    says(build(ranged, 1.0), 0.9, "discount");
    for confidence in [0.0, 1.0, -1.0, f64::NAN] {
        says(build(ranged, 0.9), confidence, "confidence");
    }
}

/// Known outcomes are exact, but what is observed on top of them is drawn; so is less than one observation.
#[test]
fn whatever_was_drawn_has_a_bonus() {
    let settings = Settings { discount: 0.5, ..Settings::default() };
    let exploration = Exploration { reward_range: Some((0.0, 1.0)), ..Exploration::default() };
    let mut agent = Agent::new(settings).unwrap().with_exploration(exploration).unwrap();
    agent.add_states([1, 1]).unwrap();
    let outcomes = [0.0, 1.0].map(|reward| Outcome { probability: 0.5, reward, next: Next::Terminated });
    agent.set_outcomes(State(0), Action(0), &outcomes).unwrap();
    assert_eq!(agent.confidence_bonuses(0.9).unwrap().bonuses, [0.0, 0.0]);
    agent.observe(State(0), Action(0), 1.0, Next::Terminated).unwrap();
    agent.observe_weighted(&common::step(1, 0, 1.0, Next::Terminated), 0.01).unwrap();
    let found = agent.intervals(0.9).unwrap();
    assert!(found[0].0 <= 0.5 && 0.5 <= found[0].1 && found[0].0 < found[0].1, "{found:?}");
    assert_eq!(found[1], (0.0, 2.0), "a hundredth of an observation says nothing");
}

/// A history that was dropped because the world had changed: neither door answers.
#[test]
fn a_world_that_has_changed_has_no_interval() {
    let exploration = Exploration {
        explore: Explore::AchievableBonus { beta: 1.0, d: 0.1 },
        reward_range: Some((0.0, 1.0)),
        ..Exploration::default()
    };
    let mut agent = Agent::new(Settings::default()).unwrap().with_exploration(exploration).unwrap();
    agent.add_states([1, 1]).unwrap();
    for (n, next) in [(100, 0), (3, 1)] {
        for _ in 0..n {
            agent.observe(State(0), Action(0), 0.0, State(next)).unwrap();
        }
    }
    assert!(agent.intervals(0.9).unwrap_err().to_string().contains("contradicted"));
    assert!(agent.confidence_bonuses(0.9).unwrap_err().to_string().contains("contradicted"));
}
