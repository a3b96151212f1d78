//! A small world to learn in: a ring of states, forwards or backwards, with a random end.

use backsweep::explore::{EpsilonGreedy, Optimism};
use backsweep::planner::QueueKind;
use backsweep::save::{AgentNames, Name, SavedAgent};
use backsweep::{Agent, Budget, Next, PlannerKind, Random, Settings, State, Transition};
use std::cell::Cell;

/// A learner with every kind of name.
pub fn learner(planner: PlannerKind, queue: QueueKind, n_states: u32, steps: u32) -> SavedAgent {
    let optimism = Optimism { value: 2.0, min_visits: 2 };
    let settings = Settings { discount: 0.9, optimism, queue, ..Settings::default() };
    let mut agent =
        Agent::with_planner(planner, settings).unwrap().with_policy(EpsilonGreedy::new(0.1).unwrap());
    for _ in 0..n_states {
        agent.add_state(2).unwrap();
    }
    let names = AgentNames {
        states: (0..n_states).map(name).collect(),
        actions: vec![Name::Text("back".into()), Name::Text("forth".into()), Name::Bytes(vec![0, 255])],
        default_actions: Some(vec![0, 1]),
        rows: (0..n_states).map(|s| if s % 2 == 0 { None } else { Some(vec![2, 1]) }).collect(),
        ends: vec![Name::Text("the end".into())],
    };
    let mut learner = SavedAgent { agent, random: Random::from_seed(11), names: Some(names) };
    run(&mut learner, steps);
    learner
}

fn name(s: u32) -> Name {
    match s % 8 {
        0 => Name::Int(i64::from(s) - 4),
        1 => Name::Text(format!("Zustand ü{s}")),
        2 => Name::Tuple(vec![Name::Int(1), Name::Tuple(vec![Name::Float(0.5), Name::Text("x".into())])]),
        3 => Name::None,
        4 => Name::Bool(true),
        5 => Name::BigInt(vec![0, 0, 0, 0, 0, 0, 0, 0, 1]),
        6 => Name::Float(-0.0),
        _ => Name::Encoded(Box::new(Name::Tuple(vec![]))),
    }
}

/// Acts, learns and plans for some steps, and stops some cycles halfway, so that one is pending when the learner is saved.
pub fn run(learner: &mut SavedAgent, steps: u32) -> Vec<u64> {
    let n = learner.agent.model().n_states() as u32;
    let mut state = State(0);
    let mut trace = Vec::new();
    for step in 0..steps {
        let action = learner.agent.act(state, &mut learner.random).unwrap();
        let hop = 1 + learner.random.below(2);
        let to = State(if action.0 == 0 { (state.0 + n - hop) % n } else { (state.0 + hop) % n });
        let ends = learner.random.chance(0.02);
        let reward = if ends { 1.0 } else { -f64::from(to.0 % 3) / 7.0 };
        let next = if ends { Next::Terminated } else { Next::Continue(to) };
        learner.agent.observe_transition(&Transition { state, action, reward, next }).unwrap();
        if step % 3 == 0 {
            let asked = Cell::new(0);
            learner.agent.plan(Budget::UntilStopped(&|| asked.replace(asked.get() + 1) >= 2));
        } else {
            learner.agent.plan(Budget::Cycles(1));
        }
        trace.push(learner.agent.value(state).to_bits() ^ u64::from(action.0));
        state = if ends { State(0) } else { to };
    }
    trace
}

pub fn all_planners() -> impl Iterator<Item = (PlannerKind, QueueKind)> {
    backsweep_baselines::PLANNERS
        .into_iter()
        .flat_map(|kind| [(kind, QueueKind::Exact), (kind, QueueKind::Bucket)])
}

/// Everything that a reader of the file should find in it, as text.
pub fn describe(learner: &SavedAgent) -> String {
    let agent = &learner.agent;
    let mut text = format!("{} {:?}\n", agent.planner().kind().unwrap(), agent.planner().settings().unwrap());
    text += &format!(
        "{:?} {:x?} {:?}\n",
        agent.policy(),
        learner.random.state(),
        agent.planner().counters().unwrap()
    );
    text += &format!("{:#?}\n", learner.names);
    for state in agent.model().states() {
        text += &format!(
            "{state}: {:016x} {}\n",
            agent.value(state).to_bits(),
            agent.planner().queue().map_or(0.0, |queue| queue.priority(agent.model(), state))
        );
        for pair in agent.model().pairs(state) {
            let q = agent.planner().values().action_value(pair).to_bits();
            let model = agent.model();
            text += &format!("  {q:016x} {} {}:", model.weight(pair), model.reward_sum(pair));
            model.successors(pair).for_each(|s| text += &format!(" {}x{}", s.state.0, s.weight));
            text += "\n";
        }
    }
    text
}
