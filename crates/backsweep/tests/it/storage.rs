//! Storage of the model's numbers, as far as it can be seen from outside.

use crate::common::{on, step};
use backsweep::planner::{Model, prefetch_run};
use backsweep::{Random, State};

/// The states of pairs are computed while all states have equally many actions; then a table takes over.
#[test]
fn the_state_of_every_pair_is_right_however_many_actions_states_have() {
    for rows in [&[3usize, 3, 3, 0, 2, 3, 1][..], &[0, 2, 2], &[2, 2, 2, 2]] {
        let (mut model, mut expected) = (Model::new(), Vec::new());
        for &n in rows {
            let state = model.add_state(n).unwrap();
            expected.extend(std::iter::repeat_n(state, n));
            let pairs = model.states().flat_map(|state| model.pairs(state));
            assert_eq!(pairs.map(|pair| model.state_of(pair)).collect::<Vec<_>>(), expected, "{rows:?}");
        }
    }
}

#[test]
fn what_is_taken_back_leaves_nothing() {
    let mut model = Model::with_states([1, 1]).unwrap();
    let pair = model.pairs(State(0)).next().unwrap();
    let step = |reward| step(0, 0, reward, on(1));
    model.record(&step(1e17)).unwrap();
    model.record(&step(1.0)).unwrap();
    model.forget(&step(1e17)).unwrap();
    assert_eq!((model.weight(pair), model.reward_sum(pair)), (1.0, 1.0));
    model.forget(&step(1.0)).unwrap();
    for sign in [1.0, -1.0] {
        for _ in 0..3 {
            model.record_weighted(&step(0.3), 0.1 * sign).unwrap();
        }
    }
    assert_eq!((model.weight(pair), model.reward_sum(pair)), (0.0, 0.0));
}

#[test]
fn random_sums_are_undone_in_any_order() {
    let mut random = Random::from_seed(5);
    for _ in 0..2000 {
        let mut model = Model::with_states([1, 1]).unwrap();
        let pair = model.pairs(State(0)).next().unwrap();
        model.record(&step(0, 0, 0.0, on(1))).unwrap();
        let mut terms: Vec<f64> =
            (0..20).map(|_| (random.unit() - 0.5) * 10f64.powi(random.below(12) as i32)).collect();
        for &term in &terms {
            model.record(&step(0, 0, term, on(1))).unwrap();
        }
        while !terms.is_empty() {
            let term = terms.swap_remove(random.below(terms.len() as u32) as usize);
            model.forget(&step(0, 0, term, on(1))).unwrap();
        }
        let left = model.reward_sum(pair);
        assert!(left.abs() < 1e-18, "{left:e} of sums of up to 1e12");
    }
}

/// Rounding errors of sums take memory only where they are not 0.
#[test]
fn only_what_is_not_zero_takes_memory() {
    let mut model = Model::with_states(vec![1; 2000]).unwrap();
    let bytes = |model: &Model| model.row_bytes();
    let empty = bytes(&model);
    for state in 0..2000 {
        model.record(&step(state, 0, 7.0, on(0))).unwrap();
    }
    assert_eq!(bytes(&model), empty);
    model.record_weighted(&step(700, 0, 7.0, on(0)), 1e-17).unwrap();
    let column = 512 * 16;
    assert!((column..4 * column).contains(&(bytes(&model) - empty)), "{}", bytes(&model) - empty);
}

#[test]
fn any_item_of_any_slice_may_be_prefetched() {
    let items = vec![1u64, 2, 3];
    for i in [0, 2, 3, 1000, 1 << 40, usize::MAX / 2, usize::MAX] {
        prefetch_run(&items, i);
        prefetch_run::<u64>(&[], i);
        prefetch_run(&[[0u8; 64]], i);
        prefetch_run::<()>(&[], i);
    }
    assert_eq!(items, [1, 2, 3]);
}
