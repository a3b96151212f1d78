//! The two loops: planning within budgets, and acting until an episode ends.

use crate::common;
use crate::common::{on, problem, solve, step, values, worst};
use backsweep::episode::{Environment, EpisodeEnd, Step, run_episode};
use backsweep::explore::EpsilonGreedy;
use backsweep::{Action, Agent, Budget, Error, Next, PlannerKind, Random, Settings, State, Transition};
use std::cell::Cell;

fn solved_gridworld(planner: PlannerKind) -> (Agent, Vec<f64>) {
    let problem = problem("sb-gridworld");
    let settings = Settings { discount: 0.9, threshold: 0.0, ..Settings::default() };
    let mut agent = Agent::with_planner(planner, settings).unwrap();
    problem.give(&mut agent);
    (agent, problem.answers[0].1.clone())
}

#[test]
fn budgets_are_kept() {
    for kind in backsweep_baselines::PLANNERS {
        let (mut agent, answers) = solved_gridworld(kind);
        let name = kind;
        let before = agent.planner().counters().unwrap().cycles;
        let planned = agent.plan(Budget::Cycles(3));
        assert_eq!((planned.cycles, planned.is_idle), (3, false), "{name}");
        assert_eq!(agent.planner().counters().unwrap().cycles - before, 3, "{name}");
        assert_eq!(agent.plan(Budget::Cycles(0)).cycles, 0, "{name}");

        let planned = agent.plan(Budget::Until { tolerance: 0.0, max_cycles: 2 });
        assert_eq!((planned.cycles, planned.is_idle), (2, false), "{name}: the cap");
        let planned = agent.plan(Budget::Until { tolerance: 1e-3, max_cycles: u64::MAX });
        assert!(planned.is_idle, "{name}");
        assert!(agent.planner().top_priority().is_none_or(|priority| priority <= 1e-3), "{name}");

        let asked = Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) >= 5;
        let planned = agent.plan(Budget::UntilStopped(&stop));
        assert!(planned.cycles <= 5 && asked.get() <= 6, "{name}: {planned:?} after {asked:?} questions");

        assert!(agent.plan(Budget::Until { tolerance: 1e-11, max_cycles: u64::MAX }).is_idle, "{name}");
        assert!(worst(&values(&agent), &answers).0 < 1e-8, "{name}");
        solve(&mut agent, 1e-9);
        // The rest is below the tolerance, but above this agent's own threshold of 0.
        assert!(agent.plan(Budget::UNTIL_IDLE).is_idle, "{name}");
        let planned = agent.plan(Budget::UNTIL_IDLE);
        assert_eq!((planned.cycles, planned.is_idle), (0, true), "{name}: nothing is left");
    }
}

#[test]
fn a_deadline_is_checked_within_a_long_cycle() {
    for name in [PlannerKind::REVERSED_FULL_BACKUPS, PlannerKind::SMALL_BACKUPS] {
        let mut agent = Agent::with_planner(name, Settings::default()).unwrap();
        for _ in 0..5001 {
            agent.add_state(1).unwrap();
        }
        for s in 1..5001 {
            agent.observe_transition(&step(s, 0, 0.0, on(0))).unwrap();
        }
        agent.observe_transition(&step(0, 0, 1.0, Next::Terminated)).unwrap();
        let asked = Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) >= 3;
        let planned = agent.plan(Budget::UntilStopped(&stop));
        assert_eq!(planned.cycles, 0, "{name}: 5000 backups take more than three questions");
        let backups = agent.planner().counters().unwrap().small_backups;
        assert!((3 * 8..3 * 15).contains(&backups), "{name}: {backups}");
        assert!(agent.planner().top_priority().is_some(), "{name}: a cycle is under way");
        assert!(agent.audit().relative_relation < 1e-12, "{name}: values are consistent in between");
        assert_eq!(agent.plan(Budget::Cycles(1)).cycles, 1, "{name}: it is finished first");
        assert!(
            agent
                .model()
                .states()
                .skip(1)
                .all(|s| agent.planner().values().pair_values(agent.model(), s)[0].value() == 0.99)
        );
    }
}

/// States 0 to n − 1 in a line; action 1 moves on, action 0 stays; the last step terminates with reward 1.
struct Line {
    n: u32,
    reward: f64,
}

impl Environment for Line {
    fn n_actions(&self, _state: State) -> usize {
        2
    }

    fn start(&self, _random: &mut Random) -> State {
        State(0)
    }

    fn step(&self, state: State, action: Action, _random: &mut Random) -> Step {
        let next = state.0 + action.0;
        if next == self.n {
            return Step { reward: self.reward, next: Next::Terminated };
        }
        Step { reward: 0.5, next: Next::Continue(State(next)) }
    }
}

#[test]
fn an_episode_adds_up_and_ends() {
    for kind in backsweep_baselines::PLANNERS {
        let settings = Settings { discount: 0.5, ..Settings::default() };
        let policy = EpsilonGreedy::new(1.0).unwrap();
        let mut agent = Agent::with_planner(kind, settings).unwrap().with_policy(policy);
        let mut random = Random::from_seed(1);
        let mut steps: Vec<Transition> = Vec::new();
        let mut watch = |_: &Agent, transition: &Transition| steps.push(*transition);
        let line = Line { n: 4, reward: 1.0 };
        let episode =
            run_episode(&line, &mut agent, Budget::Cycles(1), None, &mut random, &mut watch).unwrap();
        assert_eq!(episode.end, EpisodeEnd::Terminated);
        assert_eq!(episode.steps, steps.len() as u64);
        assert_eq!(episode.total_reward, steps.iter().map(|t| t.reward).sum::<f64>());
        let discounted: f64 = steps.iter().enumerate().map(|(i, t)| 0.5f64.powi(i as i32) * t.reward).sum();
        assert!((episode.discounted_return - discounted).abs() < 1e-12);
        assert!(
            steps.windows(2).all(|pair| pair[0].next == Next::Continue(pair[1].state)),
            "each step begins where one ended"
        );
        assert_eq!(steps.last().unwrap().next, Next::Terminated);
        let recorded: f64 = (0..agent.model().n_pairs())
            .map(|p| agent.model().weight(backsweep::planner::Pair(p as u32)))
            .sum();
        assert_eq!(recorded, steps.len() as f64, "every step was learned");
    }
}

#[test]
fn a_limit_truncates_and_does_not_terminate() {
    let settings = Settings { discount: 0.5, ..Settings::default() };
    let mut agent = Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, settings).unwrap();
    let mut random = Random::from_seed(1);
    let mut last = None;
    let mut watch = |_: &Agent, transition: &Transition| last = Some(*transition);
    let line = Line { n: 1000, reward: 1.0 };
    let episode =
        run_episode(&line, &mut agent, Budget::Cycles(1), Some(7), &mut random, &mut watch).unwrap();
    assert_eq!((episode.steps, episode.end), (7, EpisodeEnd::Truncated));
    let last = last.unwrap();
    let Next::Truncated(next) = last.next else { panic!("the last step is {last:?}") };
    let pair = agent.model().pair(last.state, last.action).unwrap();
    assert!(
        agent.model().successors(pair).any(|s| s.state == next),
        "a truncated step has its arc in the model"
    );
    let none = run_episode(&line, &mut agent, Budget::Cycles(1), Some(0), &mut random, &mut |_, _| {});
    assert_eq!(none.unwrap().steps, 0);
    // An episode that terminates at the limit has terminated.
    let short = Line { n: 1, reward: 1.0 };
    let mut agent = Agent::with_planner(PlannerKind::SMALL_BACKUPS, settings).unwrap();
    let mut ends = 0;
    for _ in 0..20 {
        let episode =
            run_episode(&short, &mut agent, Budget::Cycles(1), Some(1), &mut random, &mut |_, _| {});
        ends += u32::from(episode.unwrap().end == EpisodeEnd::Terminated);
    }
    assert!(ends > 0);
}

#[test]
fn faults_of_an_environment_are_errors() {
    let mut agent = Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, Settings::default()).unwrap();
    let mut random = Random::from_seed(1);
    let line = Line { n: 1, reward: f64::NAN };
    let mut found = Ok(());
    for _ in 0..20 {
        let budget = Budget::Cycles(1);
        found = run_episode(&line, &mut agent, budget, Some(10), &mut random, &mut |_, _| {}).map(drop);
        if found.is_err() {
            break;
        }
    }
    assert!(matches!(found, Err(Error::Reward { .. })), "{found:?}");
}

/// The same seed gives the same run to the last bit.
#[test]
fn the_same_seed_gives_the_same_run() {
    for kind in backsweep_baselines::PLANNERS {
        let run = |seed| {
            let policy = EpsilonGreedy::new(0.2).unwrap();
            let mut agent = Agent::with_planner(kind, Settings::default()).unwrap().with_policy(policy);
            let mut random = Random::from_seed(seed);
            let line = Line { n: 6, reward: 1.0 };
            for _ in 0..20 {
                let budget = Budget::Cycles(2);
                run_episode(&line, &mut agent, budget, Some(500), &mut random, &mut |_, _| {}).unwrap();
            }
            (agent.store().unwrap(), random)
        };
        assert!(run(1) == run(1), "{}", kind);
        assert!(run(1) != run(2), "{}", kind);
    }
}

/// Small backups of the size of rounding errors, kept alive by rounding: a change of one unit in the last place, times γ, is
/// rounded to one unit again, so that the value would change forever.
#[test]
fn planning_comes_to_rest_although_values_are_large() {
    for kind in
        backsweep_baselines::PLANNERS.into_iter().filter(|&kind| kind != backsweep_baselines::VALUE_ITERATION)
    {
        for queue in common::QUEUES {
            for (discount, reward) in [(0.99, 1e4), (0.99, -1e4), (0.9, 1e9), (0.999, 1e5), (0.9999, 1.0)] {
                for threshold in [0.0, 1e-9] {
                    let settings = Settings { discount, queue, threshold, ..Settings::default() };
                    let mut agent = Agent::with_planner(kind, settings).unwrap();
                    for s in 0..3 {
                        agent.add_state(1).unwrap();
                        agent.observe_transition(&step(s, 0, reward, on(0))).unwrap();
                    }
                    let planned = agent.plan(Budget::Until { tolerance: 0.0, max_cycles: 3_000_000 });
                    let place = format!("{}, {queue:?}, {discount}, {reward}, {threshold}", kind);
                    assert!(planned.is_idle, "{place}: does not come to rest");
                    if kind == backsweep_baselines::WIERING_SCHMIDHUBER {
                        continue; // An observation empties its queue, so that coming to rest is not the optimum.
                    }
                    let exact = reward / (1.0 - discount);
                    assert!((agent.value(State(0)) - exact).abs() <= 1e-9 * exact.abs().max(1e4), "{place}");
                }
            }
        }
    }
}
