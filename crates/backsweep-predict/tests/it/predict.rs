//! Algorithm 1: Theorems 3.1 and 3.2 after every step, for all four ways to choose a pair; and TD(0).

use crate::small_backups;
use backsweep_core::{Array, Next, Random, State};
use backsweep_predict::{Predictor, Selection, SmallBackupPredictor, StepSize, Td0};
use std::collections::BTreeMap;

const SELECTIONS: [Selection; 4] =
    [Selection::MostRecent, Selection::RoundRobin, Selection::Random, Selection::Largest];

/// The test's own Algorithm 1, in its simplest form: relation (6) is recomputed, never corrected.
struct Plain {
    discount: f64,
    initial_value: f64,
    n: BTreeMap<u32, f64>,
    reward_sum: BTreeMap<u32, f64>,
    n_arcs: BTreeMap<(u32, u32), f64>,
    /// U by pair, and the pairs in the order in which they were first seen.
    u: BTreeMap<(u32, u32), f64>,
    order: Vec<(u32, u32)>,
}

impl Plain {
    /// Relation (6): V(s) = R̂ + γ Σ P̂ U.
    fn v(&self, state: u32) -> f64 {
        let Some(n) = self.n.get(&state) else { return self.initial_value };
        let arcs = self.n_arcs.iter().filter(|((s, _), _)| *s == state);
        let sum: f64 = arcs.map(|(arc, n_arc)| n_arc * self.u[arc]).sum();
        (self.reward_sum[&state] + self.discount * sum) / n
    }

    /// Theorem 3.2: the counts change, no U does. A new pair's U is the value of its state before.
    fn observe(&mut self, state: u32, reward: f64, next: Next) {
        if let Some(next) = after(next) {
            let arc = (state, next.0);
            let v = self.v(next.0);
            self.u.entry(arc).or_insert_with(|| {
                self.order.push(arc);
                v
            });
            *self.n_arcs.entry(arc).or_insert(0.0) += 1.0;
        }
        *self.n.entry(state).or_insert(0.0) += 1.0;
        *self.reward_sum.entry(state).or_insert(0.0) += reward;
    }

    /// Theorem 3.1: one U becomes the value of its state.
    fn back_up(&mut self, arc: (u32, u32)) {
        let v = self.v(arc.1);
        self.u.insert(arc, v);
    }
}

/// The state that follows, as the test reads it: a truncated step is not an end.
fn after(next: Next) -> Option<State> {
    match next {
        Next::Continue(state) | Next::Truncated(state) => Some(state),
        Next::Terminated => None,
    }
}

fn on(state: u32) -> Next {
    Next::Continue(State(state))
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-11 * scale.max(a.abs()).max(b.abs()).max(1.0)
}

#[test]
fn theorems_hold_after_every_step() {
    for seed in 0..3000u64 {
        let mut random = Random::stream(seed, &[2]);
        let selection = SELECTIONS[seed as usize % 4];
        let iterations = random.below(4) as usize;
        let discount = [0.0, 0.5, 0.95, 1.0][random.below(4) as usize];
        let initial_value = [0.0, 10.0, -5.0][random.below(3) as usize];
        let mut predictor = small_backups(discount, initial_value, selection, iterations, seed).unwrap();
        let mut plain = Plain {
            discount,
            initial_value,
            n: BTreeMap::new(),
            reward_sum: BTreeMap::new(),
            n_arcs: BTreeMap::new(),
            u: BTreeMap::new(),
            order: Vec::new(),
        };
        let n_states = 1 + random.below(6);
        let mut turn = 0;
        for i in 0..40 {
            let place = format!("seed {seed}, step {i}, {selection:?} × {iterations}");
            let state = random.below(n_states);
            let next = match random.below(6) {
                0 => Next::Terminated,
                1 => Next::Truncated(State(random.below(n_states))),
                _ => Next::Continue(State(random.below(n_states))),
            };
            let reward = f64::from(random.below(17)) / 4.0 - 2.0;
            predictor.observe(State(state), reward, next).unwrap();
            plain.observe(state, reward, next);
            for k in 0..iterations {
                let arc = match selection {
                    Selection::MostRecent => after(next).map(|next| (state, next.0)),
                    Selection::RoundRobin if plain.order.is_empty() => None,
                    Selection::RoundRobin => {
                        let arc = plain.order[turn % plain.order.len()];
                        turn = turn % plain.order.len() + 1;
                        Some(arc)
                    }
                    // For these, the test follows what the predictor reports, and checks it.
                    Selection::Random | Selection::Largest => {
                        changed_arc(&plain, &predictor, selection, k, iterations, &place)
                    }
                };
                if let Some(arc) = arc {
                    plain.back_up(arc);
                }
            }
            // Relation (6), from the test's own counts and the predictor's U; and U itself.
            for state in 0..n_states {
                let own = plain.v(state);
                let found = predictor.value(State(state));
                if selection == Selection::MostRecent || selection == Selection::RoundRobin || iterations <= 1
                {
                    assert!(close(found, own, 1.0), "{place}: V({state}) is {found}, not {own}");
                }
                if let Some(n) = plain.n.get(&state) {
                    let arcs = plain.n_arcs.iter().filter(|((s, _), _)| *s == state);
                    let u = |arc: &(u32, u32)| predictor.backed_up_value(State(arc.0), State(arc.1)).unwrap();
                    let sum: f64 = arcs.map(|(arc, n_arc)| n_arc * u(arc)).sum();
                    let relation = (plain.reward_sum[&state] + discount * sum) / n;
                    assert!(
                        close(found, relation, 1.0),
                        "{place}: V({state}) is {found}, relation {relation}"
                    );
                } else {
                    assert_eq!(found, initial_value, "{place}: state {state} was not visited");
                }
            }
            for (&(s, t), &u) in &plain.u {
                let found = predictor.backed_up_value(State(s), State(t)).unwrap();
                if iterations <= 1 || selection == Selection::MostRecent || selection == Selection::RoundRobin
                {
                    assert!(close(found, u, 1.0), "{place}: U({s},{t}) is {found}, not {u}");
                }
            }
            // In longer runs of these two only the relation is checked; U is the predictor's.
            if iterations > 1 && matches!(selection, Selection::Random | Selection::Largest) {
                for (&(s, t), u) in &mut plain.u {
                    *u = predictor.backed_up_value(State(s), State(t)).unwrap();
                }
            }
            assert!(predictor.deviation() <= 1e-11 * (1.0 + initial_value.abs() + 100.0), "{place}");
            assert_eq!(predictor.backed_up_value(State(0), State(77)), None);
        }
    }
}

/// The pair whose U the predictor moved in a step of one iteration; the largest must have been the most urgent one.
fn changed_arc(
    plain: &Plain,
    predictor: &SmallBackupPredictor,
    selection: Selection,
    k: usize,
    iterations: usize,
    place: &str,
) -> Option<(u32, u32)> {
    if iterations > 1 || k > 0 {
        return None;
    }
    let moved: Vec<(u32, u32)> = plain
        .u
        .iter()
        .filter(|&(&(s, t), &u)| !close(predictor.backed_up_value(State(s), State(t)).unwrap(), u, 1.0))
        .map(|(&arc, _)| arc)
        .collect();
    assert!(moved.len() <= 1, "{place}: one small backup moved {moved:?}");
    if selection == Selection::Largest {
        let urgency = |arc: &(u32, u32)| (plain.v(arc.1) - plain.u[arc]).abs();
        let highest = plain.u.keys().map(urgency).fold(0.0, f64::max);
        match moved.first() {
            Some(arc) => {
                assert!(close(urgency(arc), highest, 1.0), "{place}: {arc:?} is not the most urgent")
            }
            None => assert!(highest <= 1e-10, "{place}: {highest} was left"),
        }
    }
    moved.first().copied()
}

#[test]
fn each_selection_reaches_the_fixed_point() {
    // Two states in turn, rewards 1 and 0, γ = ½: V(0) = 1 + ½V(1), V(1) = ½V(0), so 4/3 and 2/3.
    for selection in SELECTIONS {
        let mut predictor = small_backups(0.5, 100.0, selection, 4, 0).unwrap();
        for _ in 0..200 {
            predictor.observe(State(0), 1.0, Next::Continue(State(1))).unwrap();
            predictor.observe(State(1), 0.0, Next::Continue(State(0))).unwrap();
        }
        let found = [0, 1].map(|s| predictor.value(State(s)));
        assert!((found[0] - 4.0 / 3.0).abs() < 1e-9 && (found[1] - 2.0 / 3.0).abs() < 1e-9, "{found:?}");
        assert_eq!(predictor.n_states(), 2);
        assert_eq!(predictor.value(State(50)), 100.0);
    }
}

#[test]
fn the_first_visit_overwrites_the_start_value() {
    let mut predictor = small_backups(0.9, 1e12, Selection::MostRecent, 0, 0).unwrap();
    predictor.observe(State(0), -3.0, Next::Terminated).unwrap();
    assert_eq!(predictor.value(State(0)), -3.0);
}

/// The rounding error that a start value of 1e12 leaves behind, after every step.
#[test]
fn a_huge_start_value_leaves_nothing_behind() {
    for selection in SELECTIONS {
        let mut random = Random::from_seed(1);
        let mut predictor = small_backups(0.9, 1e12, selection, 3, 1).unwrap();
        for i in 0..5000 {
            let next = if random.chance(0.1) { Next::Terminated } else { on(random.below(8)) };
            predictor.observe(State(random.below(8)), random.unit() - 0.5, next).unwrap();
            let largest = (0..8).map(|s| predictor.value(State(s)).abs()).fold(1.0, f64::max);
            let deviation = predictor.deviation() / largest;
            assert!(deviation < 1e-10, "{selection:?}, step {i}: {deviation:e} of {largest}");
        }
    }
}

/// The shortest such fall: V(0) is built on the start value of 1, which then turns out to be worth −1.
#[test]
fn a_start_value_that_was_never_computed_is_taken_out_exactly() {
    for selection in [Selection::RoundRobin, Selection::Random, Selection::Largest] {
        let mut predictor = small_backups(0.9, 1e12, selection, 1, 0).unwrap();
        predictor.observe(State(0), 0.3, Next::Continue(State(1))).unwrap();
        predictor.observe(State(1), -1.0, Next::Terminated).unwrap();
        assert!((predictor.value(State(0)) - (0.3 - 0.9)).abs() < 1e-12, "{selection:?}");
        assert!(predictor.deviation() < 1e-15, "{selection:?}: {}", predictor.deviation());
    }
}

/// After 1e8 small backups, and after a start value of 1e12, the values are still those of relation (6).
#[test]
fn prediction_does_not_drift() {
    for selection in [Selection::RoundRobin, Selection::Random, Selection::MostRecent] {
        for initial_value in [0.0, 1e12] {
            let n_steps = 100_000_000 / 500;
            let mut predictor = small_backups(0.99, initial_value, selection, 500, 1).unwrap();
            let mut random = Random::from_seed(2);
            for _ in 0..n_steps {
                let next = if random.chance(0.01) { Next::Terminated } else { on(random.below(10)) };
                predictor.observe(State(random.below(10)), random.unit() * 60.0 - 30.0, next).unwrap();
            }
            let largest = (0..10).map(|s| predictor.value(State(s)).abs()).fold(1.0, f64::max);
            let deviation = predictor.deviation() / largest;
            assert!(deviation < 1e-10, "{selection:?} from {initial_value}: {deviation:e} of {largest}");
        }
    }
}

fn td0(step_size: StepSize, initial_value: f64, seed: u64) -> Vec<f64> {
    let mut random = Random::from_seed(seed);
    let mut td0 = Td0::new(0.95, step_size, initial_value).unwrap();
    for _ in 0..2000 {
        let next = if random.chance(0.1) { Next::Terminated } else { on(random.below(10)) };
        td0.observe(State(random.below(10)), random.unit(), next).unwrap();
    }
    (0..10).map(|s| td0.value(State(s))).collect()
}

#[test]
fn a_decay_of_0_is_a_step_size_of_1_bit_for_bit() {
    for seed in 0..20 {
        let decaying = td0(StepSize::Decaying(0.0), 3.0, seed);
        let constant = td0(StepSize::Constant(1.0), 3.0, seed);
        let bits = |values: Vec<f64>| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(decaying), bits(constant), "seed {seed}");
    }
}

#[test]
fn a_step_size_of_0_leaves_the_values() {
    assert_eq!(td0(StepSize::Constant(0.0), 3.0, 0), vec![3.0; 10]);
    assert_ne!(td0(StepSize::Constant(0.1), 3.0, 0), vec![3.0; 10]);
}

#[test]
fn td0_counts_this_visit_in_its_step_size() {
    // d = ½: α = 1, 1/1.5, 1/2. Rewards 3, 0, 4 that end: V = 3, then 3 − 3/1.5 = 1, then 1 + 3/2 = 2.5.
    let mut td0 = Td0::new(0.9, StepSize::Decaying(0.5), 50.0).unwrap();
    for (reward, expected) in [(3.0, 3.0), (0.0, 1.0), (4.0, 2.5)] {
        td0.observe(State(0), reward, Next::Terminated).unwrap();
        assert!((td0.value(State(0)) - expected).abs() < 1e-15);
    }
    // A truncated step bootstraps from its next state, a terminated one does not.
    let mut td0 = Td0::new(0.5, StepSize::Constant(1.0), 8.0).unwrap();
    td0.observe(State(0), 1.0, Next::Truncated(State(1))).unwrap();
    td0.observe(State(2), 1.0, Next::Terminated).unwrap();
    assert_eq!((td0.value(State(0)), td0.value(State(2))), (5.0, 1.0));
}

/// A transition of a random walk among ten states, with an end now and then.
fn any_step(random: &mut Random) -> (State, f64, Next) {
    let next = if random.chance(0.1) { Next::Terminated } else { Next::Continue(State(random.below(10))) };
    (State(random.below(10)), random.unit() - 0.3, next)
}

#[test]
fn a_restored_predictor_continues_bit_for_bit() {
    for selection in SELECTIONS {
        let mut random = Random::from_seed(9);
        let mut predictor = small_backups(0.9, 1.0, selection, 2, 5).unwrap();
        let mut restored = predictor.clone();
        for step in 0..500 {
            if step % 37 == 0 {
                restored = SmallBackupPredictor::restore(&predictor.store()).unwrap();
            }
            let (state, reward, next) = any_step(&mut random);
            predictor.observe(state, reward, next).unwrap();
            restored.observe(state, reward, next).unwrap();
            assert_eq!(predictor.store(), restored.store(), "{selection:?}, step {step}");
        }
    }
}

/// A stored predictor with a truncated array or its last item replaced is either refused or usable.
#[test]
fn a_damaged_predictor_is_refused_or_can_be_used() {
    let mut random = Random::from_seed(3);
    for selection in SELECTIONS {
        let mut predictor = small_backups(0.9, 1.0, selection, 2, 5).unwrap();
        for _ in 0..60 {
            let (state, reward, next) = any_step(&mut random);
            predictor.observe(state, reward, next).unwrap();
        }
        let stored = predictor.store();
        let mut n_refused = 0;
        for (name, array) in stored.iter() {
            for damage in 0..3 {
                fn damaged<T: Copy>(items: &[T], damage: u32, odd: [T; 2]) -> Vec<T> {
                    let kept = items[..items.len().saturating_sub(1)].iter().copied();
                    kept.chain((damage > 0).then(|| odd[damage as usize - 1])).collect()
                }
                let mut snapshot = stored.clone();
                match array {
                    Array::F64(items) => snapshot.put(name, damaged(items, damage, [f64::NAN, 1e250])),
                    Array::U32(items) => snapshot.put(name, damaged(items, damage, [u32::MAX, 3])),
                    Array::U64(items) => snapshot.put(name, damaged(items, damage, [u64::MAX, 1 << 40])),
                    Array::Bytes(items) => snapshot.put(name, damaged(items, damage, [7, 0])),
                }
                match SmallBackupPredictor::restore(&snapshot) {
                    Err(_) => n_refused += 1,
                    Ok(mut usable) => {
                        for _ in 0..100 {
                            let (state, reward, next) = any_step(&mut random);
                            usable.observe(state, reward, next).unwrap();
                        }
                    }
                }
            }
        }
        assert!(n_refused > 30, "{selection:?}: only {n_refused} were refused");
    }
}
