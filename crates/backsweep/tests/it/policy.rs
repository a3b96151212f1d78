//! From values to actions: the best one, ties drawn evenly, and every action as often while exploring.

use backsweep::explore::EpsilonGreedy;
use backsweep::{Action, Agent, Next, Random, Settings, State};

/// One state whose actions end with these rewards, each seen once.
fn agent(rewards: &[f64], epsilon: f64) -> Agent {
    let mut agent = Agent::new(Settings { discount: 0.9, ..Settings::default() }).unwrap();
    agent.add_state(rewards.len()).unwrap();
    for (action, &reward) in rewards.iter().enumerate() {
        agent.observe(State(0), Action(action as u32), reward, Next::Terminated).unwrap();
    }
    agent.with_policy(EpsilonGreedy::new(epsilon).unwrap())
}

/// How often each action is taken in 12,000 draws.
fn drawn(agent: &Agent, among: Option<&[Action]>) -> Vec<u32> {
    let mut random = Random::from_seed(7);
    let mut n = vec![0; agent.model().n_actions(State(0))];
    for _ in 0..12_000 {
        let action = match among {
            None => agent.act(State(0), &mut random),
            Some(among) => agent.act_among(State(0), among, &mut random),
        };
        n[action.unwrap().index()] += 1;
    }
    n
}

/// Asserts counts of draws: five standard deviations is 275 at most.
fn assert_near(found: &[u32], expected: &[u32]) {
    let near = found.iter().zip(expected).all(|(&a, &b)| a.abs_diff(b) < 275 && (a == 0) == (b == 0));
    assert!(near, "{found:?} instead of {expected:?}");
}

#[test]
fn the_best_action_is_taken_and_ties_are_drawn_evenly() {
    assert_near(&drawn(&agent(&[1.0, 3.0, 2.0], 0.0), None), &[0, 12_000, 0]);
    assert_near(&drawn(&agent(&[3.0, 1.0, 3.0, 3.0], 0.0), None), &[4_000, 0, 4_000, 4_000]);
    // Only what may be chosen counts, and equal values among it.
    let among = [Action(3), Action(1), Action(2)];
    assert_near(&drawn(&agent(&[3.0, 2.0, 1.0, 2.0], 0.0), Some(&among)), &[0, 6_000, 0, 6_000]);
}

#[test]
fn exploring_draws_every_action_as_often() {
    assert_near(&drawn(&agent(&[1.0, 3.0, 2.0], 1.0), None), &[4_000, 4_000, 4_000]);
    assert_near(&drawn(&agent(&[1.0, 3.0, 2.0], 0.3), None), &[1_200, 9_600, 1_200]);
    let among = [Action(2), Action(0)];
    assert_near(&drawn(&agent(&[1.0, 3.0, 2.0], 1.0), Some(&among)), &[6_000, 0, 6_000]);
}
