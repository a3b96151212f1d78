//! Reading 5.1 of optimism: a pair seen fewer than M times is worth the optimistic value in every maximum and in every
//! priority. The tempting mix (raw Q in the priority, the optimistic value in the maximum, no zero priorities queued)
//! deadlocks with rewards of −1 and values that start at 0: V stays 0 forever and the agent wanders.

use crate::common::{QUEUES, on, step};
use backsweep::episode::{Environment, EpisodeEnd, Step, run_episode};
use backsweep::explore::{EpsilonGreedy, Optimism};
use backsweep::{Action, Agent, Budget, Next, Random, Settings, State};

/// A grid of SIDE × SIDE cells, four moves, −1 per step, from one corner to the other.
struct Grid;

const SIDE: u32 = 6;

impl Environment for Grid {
    fn n_actions(&self, state: State) -> usize {
        if state.0 == SIDE * SIDE - 1 { 0 } else { 4 }
    }

    fn start(&self, _random: &mut Random) -> State {
        State(0)
    }

    fn step(&self, state: State, action: Action, _random: &mut Random) -> Step {
        let (x, y) = (state.0 % SIDE, state.0 / SIDE);
        let (x, y) = match action.0 {
            0 => (x, y.saturating_sub(1)),
            1 => ((x + 1).min(SIDE - 1), y),
            2 => (x, (y + 1).min(SIDE - 1)),
            _ => (x.saturating_sub(1), y),
        };
        let next = State(y * SIDE + x);
        Step {
            reward: -1.0,
            next: if next.0 == SIDE * SIDE - 1 { Next::Terminated } else { Next::Continue(next) },
        }
    }
}

#[test]
fn values_go_down_and_the_goal_is_reached() {
    let discount = 0.99;
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let place = format!("{}, {queue:?}", kind);
            let optimism = Optimism { value: 0.0, min_visits: 4 };
            let settings = Settings { discount, queue, optimism, ..Settings::default() };
            let policy = EpsilonGreedy::new(0.05).unwrap();
            let mut agent = Agent::with_planner(kind, settings).unwrap().with_policy(policy);
            let mut random = Random::from_seed(1);
            let cycles = if kind == backsweep_baselines::VALUE_ITERATION { u64::MAX } else { 3 };
            let mut last_steps = 0;
            for episode in 0..150 {
                // Peng & Williams' agent can wander; the cap must not bind once values have spread.
                let budget = Budget::Cycles(cycles);
                let watch = &mut |_: &Agent, _: &backsweep::Transition| {};
                let found = run_episode(&Grid, &mut agent, budget, Some(20_000), &mut random, watch).unwrap();
                assert_eq!(found.end, EpisodeEnd::Terminated, "{place}: episode {episode} never ended");
                last_steps += if episode >= 140 { found.steps } else { 0 };
            }
            // Ten steps lead from corner to corner; one in twenty is random.
            assert!(last_steps <= 10 * 14, "{place}: the last ten episodes took {last_steps} steps");
            agent.plan(Budget::UNTIL_IDLE);
            let best = -(1.0 - discount.powi(10)) / (1.0 - discount);
            let found = agent.value(State(0));
            assert!((found - best).abs() < 1e-4, "{place}: V(start) is {found}, not {best}");
        }
    }
}

/// One state, one action, reward −1, back to itself: V must leave 0 at the fourth visit and not before.
#[test]
fn values_leave_the_optimistic_value_at_the_last_visit_that_it_covers() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let place = format!("{}, {queue:?}", kind);
            let optimism = Optimism { value: 0.0, min_visits: 4 };
            let settings = Settings { discount: 0.5, queue, optimism, ..Settings::default() };
            let mut agent = Agent::with_planner(kind, settings).unwrap();
            agent.add_state(1).unwrap();
            for visit in 1..=4 {
                agent.observe_transition(&step(0, 0, -1.0, on(0))).unwrap();
                agent.plan(Budget::UNTIL_IDLE);
                let expected = if visit < 4 { 0.0 } else { -2.0 };
                let found = agent.value(State(0));
                assert!((found - expected).abs() < 1e-5, "{place}: V is {found} after visit {visit}");
            }
        }
    }
}

/// If the optimistic value is above that of the best known action, it is the maximum.
#[test]
fn the_maximum_sees_the_optimistic_value() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let place = format!("{}, {queue:?}", kind);
            let optimism = Optimism { value: 7.0, min_visits: 2 };
            let settings = Settings { discount: 0.5, queue, optimism, ..Settings::default() };
            let mut agent = Agent::with_planner(kind, settings).unwrap();
            agent.add_state(2).unwrap();
            agent.add_state(1).unwrap();
            for _ in 0..2 {
                agent.observe_transition(&step(0, 0, 1.0, Next::Terminated)).unwrap();
                agent.observe_transition(&step(1, 0, 0.0, on(0))).unwrap();
            }
            agent.observe_transition(&step(0, 1, 2.0, Next::Terminated)).unwrap();
            agent.plan(Budget::UNTIL_IDLE);
            assert_eq!(agent.value(State(0)), 7.0, "{place}: action 1 was seen once only");
            assert_eq!(agent.value(State(1)), 3.5, "{place}");
            assert_eq!(agent.best_action(State(0)), Some(Action(1)), "{place}");
            agent.observe_transition(&step(0, 1, 2.0, Next::Terminated)).unwrap();
            agent.plan(Budget::UNTIL_IDLE);
            assert_eq!(agent.value(State(0)), 2.0, "{place}: both were seen twice");
            assert_eq!(agent.value(State(1)), 1.0, "{place}");
        }
    }
}

/// The start value is not a pseudo-count: the first visit overwrites it.
#[test]
fn the_first_visit_overwrites_the_start_value() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let optimism = Optimism { value: 1e6, min_visits: 1 };
            let settings = Settings { queue, optimism, ..Settings::default() };
            let mut agent = Agent::with_planner(kind, settings).unwrap();
            agent.add_state(1).unwrap();
            assert_eq!(agent.value(State(0)), 1e6, "{}", kind);
            agent.observe_transition(&step(0, 0, -3.0, Next::Terminated)).unwrap();
            agent.plan(Budget::UNTIL_IDLE);
            assert_eq!(agent.value(State(0)), -3.0, "{}, {queue:?}", kind);
        }
    }
}
