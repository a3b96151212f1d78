//! R-max: the model of a pair is frozen at its m-th visit and used from then on, optimistic before.

use crate::common::{Book, QUEUES, on, solve, step, values, worst};
use backsweep::explore::{EpsilonGreedy, Optimism};
use backsweep::planner::Model;
use backsweep::{Agent, Budget, Next, PlannerKind, Random, Settings, State};

const M: u32 = 6;

fn rmax(planner: PlannerKind, queue: backsweep::planner::QueueKind) -> Agent {
    let optimism = Optimism { value: 100.0, min_visits: M };
    let settings = Settings { discount: 0.9, queue, optimism, ..Settings::default() };
    let planner = planner.build(settings).unwrap();
    Agent::from_parts(Model::with_states([3; 5]).unwrap().with_freeze_at(M), planner, EpsilonGreedy::GREEDY)
}

#[test]
fn a_pair_is_optimistic_until_known_and_frozen_after() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let place = format!("{}, {queue:?}", kind);
            let mut agent = rmax(kind, queue);
            for visit in 1..=M {
                assert!(
                    agent
                        .observe(State(0), backsweep::Action(0), f64::from(visit), Next::Terminated)
                        .unwrap()
                );
                assert_eq!(agent.model().weight(backsweep::planner::Pair(0)), f64::from(visit));
                agent.plan(Budget::UNTIL_IDLE);
                let expected = if visit < M { 100.0 } else { 3.5 }; // the mean of 1 to 6
                let found = agent.action_value(State(0), backsweep::Action(0)).unwrap();
                assert_eq!(found, expected, "{place}: visit {visit}");
            }
            let before = agent.store().unwrap();
            for _ in 0..10 {
                assert!(!agent.observe_transition(&step(0, 0, 1e6, on(3))).unwrap(), "{place}: frozen");
            }
            assert_eq!(agent.store().unwrap(), before, "{place}: nothing changed");
            assert_eq!(agent.model().freeze_at(), Some(M));
            // What was forgotten can be learned again.
            assert!(agent.observe_weighted(&step(0, 0, 1.0, Next::Terminated), -1.0).unwrap());
            assert!(agent.observe_transition(&step(0, 0, 13.0, Next::Terminated)).unwrap());
            agent.plan(Budget::UNTIL_IDLE);
            let found = agent.action_value(State(0), backsweep::Action(0)).unwrap();
            assert!((found - 5.5).abs() < 1e-12, "{place}: the mean of 2 to 6 and 13, not {found}");
        }
    }
}

/// Without random exploration an R-max agent learns every pair that it can reach, from the first M visits alone.
#[test]
fn an_agent_comes_to_know_its_world() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let place = format!("{}, {queue:?}", kind);
            let mut agent = rmax(kind, queue);
            let mut book = Book::new([3; 5]);
            let mut random = Random::from_seed(3);
            let mut state = State(0);
            for _ in 0..3000 {
                let action = agent.act(state, &mut random).unwrap();
                let next = State((state.0 + action.0 + random.below(2)) % 5);
                let reward = f64::from(next.0 * action.0) - 2.0 * random.unit();
                let transition = backsweep::Transition { state, action, reward, next: Next::Continue(next) };
                if book.rows[state.index()][action.index()].weight < f64::from(M) {
                    book.record(&transition, 1.0);
                    assert!(agent.observe_transition(&transition).unwrap(), "{place}");
                } else {
                    assert!(!agent.observe_transition(&transition).unwrap(), "{place}");
                }
                agent.plan(Budget::Cycles(if kind == backsweep_baselines::VALUE_ITERATION {
                    1000
                } else {
                    5
                }));
                state = next;
            }
            assert!(book.rows.iter().flatten().all(|row| row.weight == f64::from(M)), "{place}: {book:?}");
            solve(&mut agent, 1e-10);
            let expected = book.policy_iteration(0.9, 100.0, M);
            assert!(worst(&values(&agent), &expected).0 <= 1e-9, "{place}");
        }
    }
}
