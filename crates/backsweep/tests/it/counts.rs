//! Many transitions at once: the same model as adding them one by one, in any order, and undone without a trace.

use backsweep::planner::{Model, Snapshot};
use backsweep::{Action, Agent, Budget, Error, Next, PlannerKind, Random, Settings, State, Transition};

const N_STATES: u32 = 12;
const N_ACTIONS: u32 = 3;

type Key = (State, Action, Next);

/// Steps with whole rewards, and their counts, in order of first occurrence.
fn log(seed: u64, n: usize) -> (Vec<Transition>, Vec<(Key, i64, f64)>) {
    let mut random = Random::from_seed(seed);
    let mut counts: Vec<(Key, i64, f64)> = Vec::new();
    let steps = (0..n).map(|_| {
        let next = random.below(N_STATES + 1);
        let next = if next == N_STATES { Next::Terminated } else { Next::Continue(State(next)) };
        let state = State(random.below(N_STATES));
        let action = Action(random.below(N_ACTIONS));
        Transition { state, action, reward: f64::from(random.below(21)) - 10.0, next }
    });
    let steps: Vec<Transition> = steps.collect();
    for step in &steps {
        let key = (step.state, step.action, step.next);
        match counts.iter_mut().find(|(known, ..)| *known == key) {
            Some((_, n, sum)) => (*n, *sum) = (*n + 1, *sum + step.reward),
            None => counts.push((key, 1, step.reward)),
        }
    }
    (steps, counts)
}

fn empty(planner: PlannerKind) -> Agent {
    let mut agent = Agent::with_planner(planner, Settings::default()).unwrap();
    for _ in 0..N_STATES {
        agent.add_state(N_ACTIONS as usize).unwrap();
    }
    agent
}

type Contents = Vec<(u64, u64, Vec<(State, u64)>)>;

/// Weights and sums of rewards: the whole content of a model.
fn contents(model: &Model) -> Contents {
    (0..N_STATES)
        .flat_map(|s| (0..N_ACTIONS).map(move |a| (State(s), Action(a))))
        .map(|(state, action)| {
            let pair = model.pair(state, action).unwrap();
            let arcs = model.successors(pair).map(|arc| (arc.state, arc.weight.to_bits()));
            let mut arcs: Vec<_> = arcs.filter(|&(_, weight)| weight != 0).collect();
            arcs.sort();
            (model.weight(pair).to_bits(), model.reward_sum(pair).to_bits(), arcs)
        })
        .collect()
}

#[test]
fn counts_are_the_steps_they_sum_up() {
    let (steps, counts) = log(1, 2000);
    for planner in backsweep_baselines::PLANNERS {
        let (mut one_by_one, mut at_once) = (empty(planner), empty(planner));
        for step in &steps {
            one_by_one.observe_transition(step).unwrap();
        }
        for &((state, action, next), n, sum) in counts.iter().rev() {
            at_once.add_counts(state, action, next, n, sum).unwrap();
        }
        assert_eq!(contents(one_by_one.model()), contents(at_once.model()));
        one_by_one.plan(Budget::Cycles(100_000));
        at_once.plan(Budget::Cycles(100_000));
        for s in 0..N_STATES {
            let (a, b) = (one_by_one.value(State(s)), at_once.value(State(s)));
            assert!((a - b).abs() < 1e-6, "{planner}: state {s}: {a} and {b}");
        }
    }
}

#[test]
fn counts_taken_back_leave_no_trace() {
    let (_, all) = log(2, 1500);
    let (_, some) = log(3, 700);
    let planner = PlannerKind::SMALL_BACKUPS;
    let (mut kept, mut erased) = (empty(planner), empty(planner));
    for &((state, action, next), n, sum) in &all {
        kept.add_counts(state, action, next, n, sum).unwrap();
        erased.add_counts(state, action, next, n, sum).unwrap();
    }
    for sign in [1, -1] {
        for &((state, action, next), n, sum) in &some {
            erased.add_counts(state, action, next, sign * n, sign as f64 * sum).unwrap();
        }
    }
    assert_eq!(contents(kept.model()), contents(erased.model()));
}

#[test]
fn impossible_counts_are_refused_and_change_nothing() {
    let mut agent = empty(PlannerKind::SMALL_BACKUPS);
    let (state, action, next) = (State(0), Action(0), Next::Continue(State(1)));
    agent.add_counts(state, action, next, 3, 6.0).unwrap();
    let before: Snapshot = agent.store().unwrap();
    let refused = [
        agent.add_counts(state, action, next, 0, 0.0),
        agent.add_counts(state, action, next, 1, f64::NAN),
        agent.add_counts(state, action, next, 1, f64::INFINITY),
        agent.add_counts(state, action, next, i64::MAX, 0.0),
        agent.add_counts(state, action, next, -4, -8.0),
        agent.add_counts(state, action, next, -3, -5.0),
        agent.add_counts(state, action, Next::Terminated, -1, -2.0),
        agent.add_counts(State(99), action, next, 1, 0.0),
    ];
    assert!(matches!(refused[0], Err(Error::Weight { .. })), "{:?}", refused[0]);
    refused.iter().for_each(|answer| assert!(answer.is_err(), "{answer:?}"));
    assert_eq!(before, agent.store().unwrap());
}
