//! A byte string read as a sequence of calls to an agent that explores: every planner, every way to explore, every way to
//! forget. A call that fails changes nothing; at any moment the agent can be stored, what was stored can be restored, and the
//! restored agent goes on like the original, bit for bit.
#![no_main]

use backsweep::explore::{EpsilonGreedy, Exploration, Explore, Forgetting, Optimism};
use backsweep::planner::{Model, Outcome};
use backsweep::{Action, Agent, Budget, Next, Random, Settings, State, Transition};
use libfuzzer_sys::fuzz_target;
use std::cell::Cell;

/// Takes numbers from the front of the input; 0 where it has ended.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n.max(1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const EXPLORES: [Explore; 9] = [
    Explore::AchievableBonus { beta: 1.0, d: 2.0 },
    Explore::EpsilonGreedy { epsilon: 0.2 },
    Explore::Optimism(Optimism { value: 30.0, min_visits: 1 }),
    Explore::Optimism(Optimism { value: 30.0, min_visits: 3 }),
    Explore::CountBonus { beta: 0.5 },
    Explore::VarianceBonus { c: 1.0, d: 0.3 },
    Explore::BayesBonus { beta: 2.0 },
    Explore::PosteriorSampling { worlds: 1, prior: 0.5 },
    Explore::PosteriorSampling { worlds: 3, prior: 0.0 },
];
const FORGETTINGS: [Forgetting; 7] = [
    Forgetting::Never,
    Forgetting::PerVisit(0.9),
    Forgetting::PerVisit(1e-8),
    Forgetting::HalfLife(7.0),
    Forgetting::HalfLife(0.1),
    Forgetting::Window(1),
    Forgetting::Window(20),
];

fn agent(input: &mut Input) -> Option<Agent> {
    let planner = input.pick(&backsweep_baselines::PLANNERS);
    let exploration = Exploration {
        explore: input.pick(&EXPLORES),
        forgetting: input.pick(&FORGETTINGS),
        reward_range: Some((-3.0, 3.0)),
        start: input.pick(&[None, None, Some(5.0)]),
        age_bonus: input.pick(&[0.0, 0.0, 0.1]),
        seed: u64::from(input.byte()),
    };
    let settings = Settings { discount: input.pick(&[0.9, 0.99, 0.0]), ..Settings::default() };
    let model = match input.pick(&[None, None, Some(2)]) {
        None => Model::new(),
        Some(visits) => Model::new().with_freeze_at(visits),
    };
    let agent = Agent::from_parts(model, planner.build(settings).ok()?, EpsilonGreedy::GREEDY);
    // Some planners keep no bonuses, and some ways to forget exclude some ways to explore.
    agent.with_exploration(exploration).ok()
}

fn call(agent: &mut Agent, input: &mut Input, random: &mut Random) {
    let n_states = agent.model().n_states();
    let state = State(input.below(n_states) as u32);
    let n_actions = agent.model().n_actions(state);
    let action = Action(input.below(n_actions + 1) as u32);
    let next = match input.below(8) {
        0 => Next::Terminated,
        1 => Next::Truncated(State(input.below(n_states) as u32)),
        _ => Next::Continue(State(input.below(n_states + 1) as u32)),
    };
    let reward = input.pick(&[0.0, 1.0, -3.0, 3.0, 0.1, 1e9, 1e-9, f64::NAN, 1e150]);
    let transition = Transition { state, action, reward, next };
    let weight = input.pick(&[1.0, 2.5, 0.3, -1.0, -0.3, 1e-30, 1e6, 0.0, -0.5, -1.0 / 3.0, -1e-17]);
    // Reading all arrays of many worlds takes long, so a failure is checked now and then.
    let before = (input.below(16) == 0).then(|| agent.store().expect("it can be stored"));
    let is_ok = match input.below(16) {
        0 => agent.add_state(input.below(4)).is_ok(),
        1 => agent.add_action(state).is_ok(),
        2 => agent.observe_weighted(&transition, weight).is_ok(),
        3 => agent.forget(&transition).is_ok(),
        4 => agent.add_counts(state, action, next, input.pick(&[3, -3, 1, 0]), reward).is_ok(),
        5 => {
            let first = input.pick(&[0.5, 0.3, 1.0 / 3.0, 1e-17, 1e-90]);
            let outcomes = [(first, next), (1.0 - first, Next::Terminated)]
                .map(|(probability, next)| Outcome { probability, reward, next });
            agent.set_outcomes(state, action, &outcomes).is_ok()
        }
        6 => {
            agent.recommend(Budget::Cycles(input.below(5) as u64));
            true
        }
        7 | 8 => {
            agent.plan(Budget::Cycles(input.below(5) as u64));
            true
        }
        9 => {
            let left = Cell::new(input.below(4));
            let stop = || left.replace(left.get().saturating_sub(1)) == 0;
            agent.plan(Budget::UntilStopped(&stop));
            true
        }
        _ => {
            // As agents do, by the action that they choose.
            let action = agent.act(state, random).unwrap_or(action);
            agent.observe_transition(&Transition { action, ..transition }).is_ok()
        }
    };
    if let (false, Some(before)) = (is_ok, before) {
        assert!(agent.store().expect("it can be stored") == before, "a call that failed has changed something");
    }
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let Some(mut agent) = agent(&mut input) else { return };
    for n_actions in [2, 1, 0, 3] {
        agent.add_state(n_actions).expect("room");
    }
    let mut random = Random::from_seed(1);
    // The copy is restored from what the original stored, at a moment that the input chooses.
    let mut copy: Option<(Agent, Random)> = None;
    while !input.0.is_empty() {
        if input.below(24) == 0 {
            let stored = agent.store().expect("it can be stored");
            let restored = Agent::restore_among(&stored, &backsweep_baselines::PLANNERS);
            let restored = restored.expect("what was stored can be restored");
            assert!(restored.store().expect("it can be stored") == stored, "restoring changed something");
            copy = Some((restored, random.clone()));
        }
        let mut same = Input(input.0);
        call(&mut agent, &mut input, &mut random);
        if let Some((copy, random)) = &mut copy {
            call(copy, &mut same, random);
        }
        for state in agent.model().states() {
            assert!(!agent.value(state).is_nan() && !agent.acting_values().value(state).is_nan());
        }
    }
    if let Some((copy, _)) = copy {
        assert!(copy.store().unwrap() == agent.store().unwrap(), "the restored agent went on differently");
    }
});
