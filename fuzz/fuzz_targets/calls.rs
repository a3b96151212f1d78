//! A byte string read as a sequence of calls to an agent, checked against a plain dictionary.
//!
//! After every call: weights, ended weights and mean rewards are those of the dictionary, the error if there is one was
//! expected, the relation is small for the two planners that keep it in constant time, and no value is NaN.
#![no_main]

use backsweep::planner::{QueueKind, Outcome};
use backsweep::explore::Optimism;
use backsweep::{Action, Agent, Budget, Error, Next, PlannerKind, Settings, State, Transition};
use libfuzzer_sys::fuzz_target;
use std::cell::Cell;
use std::collections::BTreeMap;

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

    fn pick(&mut self, from: &[f64]) -> f64 {
        from[self.below(from.len())]
    }
}

/// What was recorded of a pair: the weight of each (next state, reward), in units of 1/1024, so that sums are exact.
#[derive(Default, Clone)]
struct Row {
    weights: BTreeMap<(Option<u32>, i64), i128>,
    given: bool,
}

const UNITS: f64 = 1024.0;

fn in_units(weight: f64) -> i128 {
    (weight * UNITS) as i128
}

impl Row {
    fn weight(&self) -> f64 {
        self.weights.values().sum::<i128>() as f64 / UNITS
    }

    fn weight_to(&self, next: Option<u32>) -> f64 {
        let weights = self.weights.iter().filter(|((to, _), _)| *to == next).map(|(_, weight)| weight);
        weights.sum::<i128>() as f64 / UNITS
    }

    /// Rounded once, as the model's is.
    fn reward_sum(&self) -> f64 {
        self.weights.iter().map(|((_, reward), weight)| i128::from(*reward) * weight).sum::<i128>() as f64
            / UNITS
    }
}

/// An agent, and what it should hold.
struct Pair {
    agent: Agent,
    rows: BTreeMap<(u32, u32), Row>,
    largest: f64,
}

const REWARDS: [f64; 8] = [0.0, 1.0, -1.0, 7.0, -100.0, 1e6, -1e9, 3.0];
const WEIGHTS: [f64; 6] = [1.0, 2.0, 0.5, 1.0 / 1024.0, 1000.0, 65536.0];

impl Pair {
    fn place(&self, input: &mut Input<'_>) -> (u32, u32) {
        // Now and then a state or an action that does not exist.
        let state = input.below(self.agent.model().n_states() + 1) as u32;
        (state, input.below(self.agent.model().n_actions(State(state)) + 1) as u32)
    }

    fn next(&self, input: &mut Input<'_>) -> Next {
        let state = State(input.below(self.agent.model().n_states().max(1)) as u32);
        [Next::Continue(state), Next::Continue(state), Next::Truncated(state), Next::Terminated]
            [input.below(4)]
    }

    fn observe(&mut self, input: &mut Input<'_>, sign: f64) {
        let (s, a) = self.place(input);
        let (next, reward) = (self.next(input), input.pick(&REWARDS));
        let weight = sign * input.pick(&WEIGHTS);
        let key = (next.state().map(|next| next.0), reward as i64);
        let step = Transition { state: State(s), action: Action(a), reward, next };
        let exists = (a as usize) < self.agent.model().n_actions(State(s));
        let row = self.rows.entry((s, a)).or_default();
        let known = row.weights.get(&key).copied().unwrap_or(0) as f64 / UNITS;
        let recorded = row.weight_to(key.0);
        // Rewards are kept as a sum: undoing a wrong one cannot always be detected, and is not tried.
        if sign < 0.0 && known < -weight && recorded >= -weight {
            return;
        }
        let result = if weight == 1.0 {
            self.agent.observe_transition(&step)
        } else {
            self.agent.observe_weighted(&step, weight)
        };
        match result {
            Ok(is_recorded) => {
                assert!(exists && is_recorded && (sign > 0.0 || recorded >= -weight), "{step:?} taken");
                *row.weights.entry(key).or_default() += in_units(weight);
                row.weights.retain(|_, weight| *weight != 0);
                row.given &= !row.weights.is_empty();
                self.largest = self.largest.max(reward.abs());
            }
            Err(Error::NotRecorded { .. }) => assert!(exists && recorded < -weight, "{step:?} refused"),
            Err(error) => assert!(!exists, "{step:?}: {error}"),
        }
    }

    fn set_outcomes(&mut self, input: &mut Input<'_>) {
        let (s, a) = self.place(input);
        let mut row = Row { given: true, ..Row::default() };
        let mut outcomes = Vec::new();
        let mut left = 1.0;
        let n = 1 + input.below(6);
        for i in 0..n {
            let probability = if i + 1 == n { left } else { left / 2.0 };
            left -= probability;
            let (next, reward) = (self.next(input), input.pick(&REWARDS));
            outcomes.push(Outcome { probability, reward, next });
            let key = (next.state().map(|next| next.0), reward as i64);
            *row.weights.entry(key).or_default() += in_units(probability);
            self.largest = self.largest.max(reward.abs());
        }
        let exists = (a as usize) < self.agent.model().n_actions(State(s));
        let result = self.agent.set_outcomes(State(s), Action(a), &outcomes);
        assert_eq!(result.is_ok(), exists, "{outcomes:?}: {result:?}");
        if exists {
            self.rows.insert((s, a), row);
        }
    }

    fn restore(&mut self) {
        let stored = self.agent.store().expect("every planner here can be stored");
        let agent = Agent::restore_among(&stored, &backsweep_baselines::PLANNERS)
            .expect("what was stored can be restored");
        assert_eq!(agent.store().as_ref(), Ok(&stored), "a restored agent stores something else");
        self.agent = agent;
    }

    fn plan(&mut self, input: &mut Input<'_>) {
        let asked = Cell::new(0);
        let most = u32::from(input.byte());
        let stop = || asked.replace(asked.get() + 1) >= most;
        let budget = match input.below(4) {
            0 => Budget::UntilStopped(&stop),
            1 => Budget::Until { tolerance: input.pick(&[0.0, 1e-6, 1.0]), max_cycles: u64::from(most) },
            _ => Budget::Cycles(u64::from(most) % 16),
        };
        self.agent.plan(budget);
    }

    fn check(&self) {
        let model = self.agent.model();
        for (&(s, a), row) in &self.rows {
            let Ok(pair) = model.pair(State(s), Action(a)) else {
                assert!(row.weights.is_empty());
                continue;
            };
            assert_eq!(model.weight(pair), row.weight(), "weight of {s}, {a}");
            assert_eq!(model.ended_weight(pair), row.weight_to(None), "ended weight of {s}, {a}");
            assert_eq!(model.reward_sum(pair), row.reward_sum(), "rewards of {s}, {a}");
            assert_eq!(model.is_given(pair), row.given, "whether {s}, {a} is given");
            let mut sum = 0.0;
            for next in model.successors(pair) {
                assert_eq!(
                    next.weight,
                    row.weight_to(Some(next.state.0)),
                    "weight of {s}, {a} to {}",
                    next.state
                );
                sum += next.weight;
            }
            assert_eq!(sum + row.weight_to(None), row.weight(), "successors of {s}, {a}");
        }
        let audit = self.agent.audit();
        assert!(audit.residual.is_finite() && audit.relation.is_finite(), "{audit:?}");
        let kind = self.agent.planner().kind().expect("a planner of the library");
        if PlannerKind::SWEEPING.contains(&kind) {
            // Relative to the largest reward that there has ever been: what it left behind is rounding too.
            let scale = self.largest / (1.0 - self.agent.planner().values().discount()).max(0.01);
            assert!(audit.relation <= 1e-9 * scale.max(1.0), "{audit:?} at scale {scale}");
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let input = &mut Input(data);
    let settings = Settings {
        discount: input.pick(&[0.9, 0.5, 0.99, 0.0]),
        optimism: Optimism { value: input.pick(&[0.0, 10.0, -3.0]), min_visits: input.below(3) as u32 },
        threshold: input.pick(&[1e-9, 0.0, 1.0]),
        queue: [QueueKind::Exact, QueueKind::Bucket][input.below(2)],
        ..Settings::default()
    };
    let kind = backsweep_baselines::PLANNERS[input.below(6)];
    let agent = Agent::with_planner(kind, settings).expect("settings in range");
    let mut pair = Pair { agent, rows: BTreeMap::new(), largest: settings.optimism.value.abs() };
    for _ in 0..2 {
        pair.agent.add_state(2).expect("room");
    }
    for _ in 0..200 {
        if input.0.is_empty() {
            break;
        }
        match input.below(16) {
            0..=4 => pair.observe(input, 1.0),
            5..=7 => pair.observe(input, -1.0),
            8 | 9 => pair.set_outcomes(input),
            10 if pair.agent.model().n_states() < 40 => {
                pair.agent.add_state(input.below(4)).expect("room");
            }
            11 if pair.agent.model().n_pairs() < 500 => {
                let state = State(input.below(pair.agent.model().n_states()) as u32);
                pair.agent.add_action(state).expect("the state exists");
            }
            12 => pair.restore(),
            13 => {
                let tolerance = input.pick(&[1e-3, 1.0, 1e-9]);
                pair.agent.plan(Budget::Until { tolerance, max_cycles: 10_000 });
                assert!(pair.agent.audit().error_bound.is_some(), "there is a discount");
            }
            _ => pair.plan(input),
        }
        pair.check();
    }
});
