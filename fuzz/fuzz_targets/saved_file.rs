//! A saved learner with changed contents and valid checksums: refused, or a learner that can plan, continue learning and
//! be saved again.
//!
//! The input is a list of changes (array, item, 8 bytes in its place, or cut or extended) to a learner that was really saved;
//! the first bytes choose which. So every input gets past the checksums and deep into the reader.
#![no_main]

use backsweep::planner::{Array, QueueKind, Snapshot};
use backsweep::save::{SavedAgent, encode};
use backsweep::{Action, Agent, Budget, Next, PlannerKind, Random, Settings, State, Transition};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// Learners in the middle of their work, one for each planner and queue.
static LEARNERS: LazyLock<Vec<Snapshot>> = LazyLock::new(|| {
    let queues = [QueueKind::Exact, QueueKind::Bucket];
    let kinds = backsweep_baselines::PLANNERS.into_iter().flat_map(|kind| queues.map(|queue| (kind, queue)));
    kinds.map(|(kind, queue)| learner(kind, queue).store().expect("it has no names")).collect()
});

fn learner(kind: PlannerKind, queue: QueueKind) -> SavedAgent {
    let settings = Settings { discount: 0.9, queue, ..Settings::default() };
    let mut agent = Agent::with_planner(kind, settings).expect("settings in range");
    let mut random = Random::from_seed(1);
    for n_actions in [2, 3, 1, 2, 0, 2] {
        agent.add_state(n_actions).expect("room");
    }
    for i in 0..60 {
        let state = State([0, 1, 2, 3, 5][random.below(5) as usize]);
        let action = Action(random.below(agent.model().n_actions(state) as u32));
        let next = if i % 7 == 0 { Next::Terminated } else { Next::Continue(State(random.below(6))) };
        let step = Transition { state, action, reward: random.unit() - 0.3, next };
        agent.observe_weighted(&step, if i % 5 == 0 { 0.7 } else { 1.0 }).expect("a valid step");
        agent.plan(Budget::Cycles(1));
    }
    agent.add_action(State(1)).expect("room");
    SavedAgent::new(agent, random)
}

fn change(array: &mut Array, how: u8, item: usize, bytes: [u8; 8]) {
    fn edit<T: Copy>(items: &mut Vec<T>, how: u8, item: usize, value: T) {
        match how % 8 {
            0 => items.push(value),
            1 => drop(items.pop()),
            2 if !items.is_empty() => {
                let (i, j) = (item % items.len(), item / 7 % items.len());
                items.swap(i, j);
            }
            _ if !items.is_empty() => {
                let i = item % items.len();
                items[i] = value;
            }
            _ => {}
        }
    }
    let word = u64::from_le_bytes(bytes);
    let number = if how & 8 == 0 { f64::from_bits(word) } else { f64::from(word as i16) };
    match array {
        Array::F64(items) => edit(items, how, item, number),
        Array::U32(items) => edit(items, how, item, word as u32),
        Array::U64(items) => edit(items, how, item, word),
        Array::Bytes(items) => edit(items, how, item, bytes[0]),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, data)) = data.split_first() else { return };
    let mut snapshot = LEARNERS[usize::from(choice) % LEARNERS.len()].clone();
    for change_bytes in data.chunks_exact(11).take(16) {
        let index = usize::from(change_bytes[0]) % snapshot.iter().count();
        let (name, array) = snapshot.iter().nth(index).expect("an array");
        let (name, mut array) = (name.to_owned(), array.clone());
        let bytes = change_bytes[3..].try_into().expect("8 bytes");
        change(&mut array, change_bytes[1], usize::from(change_bytes[2]), bytes);
        snapshot.put(&name, array);
    }
    let Ok(mut learner) = SavedAgent::from_bytes_among(&encode(&snapshot), &backsweep_baselines::PLANNERS)
    else {
        return;
    };
    for cycles in [1, 10, 200] {
        learner.agent.plan(Budget::Cycles(cycles));
    }
    let states: Vec<State> = learner.agent.model().states().collect();
    for &state in &states {
        if learner.agent.model().n_actions(state) > 0 {
            let action = learner.agent.act(state, &mut learner.random).expect("the state has actions");
            let step = Transition { state, action, reward: 1.0, next: Next::Continue(states[0]) };
            // A pair that is full is refused.
            let _ = learner.agent.observe_transition(&step);
        }
        learner.agent.plan(Budget::Cycles(3));
        assert!(learner.agent.value(state).is_finite(), "the value of {state} is not finite");
    }
    assert!(!learner.agent.audit().residual.is_nan());
    let bytes = learner.to_bytes().expect("it can be saved");
    SavedAgent::from_bytes_among(&bytes, &backsweep_baselines::PLANNERS).expect("what was saved can be read");
});
