//! Layouts lose no arc, and sweeps over them give the values of a plain sweep.

use crate::common::{Model, Shape, plain_sweep, plain_value, random_model};
use crate::host::HostEngine;
use backsweep_cuda::{LONG_ROW, Layout, LayoutOptions, SweepEngine, TILE_ARCS, TILE_ROWS};
use backsweep_mdp::{MdpBuilder, NO_CHOICE};

const SHORT: Shape = Shape { n_states: 3000, most_choices: 4, most_arcs: 6, ends: true, weights: 9 };

/// Shapes with and without ends, long rows, many choices, few and many different probabilities.
const SHAPES: [Shape; 6] = [
    SHORT,
    Shape { ends: false, ..SHORT },
    Shape { weights: 1_000_000, ..SHORT },
    Shape { n_states: 40, most_choices: 3, most_arcs: 3000, ..SHORT },
    Shape { n_states: 60, most_choices: 3000, most_arcs: 3, ..SHORT },
    Shape { n_states: 400, most_choices: 20, most_arcs: 300, ends: false, weights: 1_000_000 },
];

fn every_layout(mut check: impl FnMut(&Model, &Layout, &str)) {
    for (i, shape) in SHAPES.into_iter().enumerate() {
        let model = random_model(i as u64, shape);
        for passes in [1, 2, 5] {
            for uncoded in [false, true] {
                let options =
                    LayoutOptions { passes: Some(passes), uncoded, local: Some(uncoded), threads: 3 };
                let layout = Layout::new(&model.mdp, &options);
                check(&model, &layout, &format!("shape {i}, {passes} passes, uncoded {uncoded}"));
            }
        }
    }
}

#[test]
fn every_arc_is_in_one_place() {
    every_layout(|model, layout, what| {
        let mdp = &model.mdp;
        for row in 0..mdp.n_choices() {
            let mut found = Vec::new();
            for pass in 0..layout.passes() {
                let starts = layout.starts_of(pass);
                let arcs = starts[row] as usize..starts[row + 1] as usize;
                found.extend(arcs.map(|arc| (layout.targets[arc], layout.probability(arc).to_bits())));
            }
            let (targets, probabilities) = mdp.row(row);
            let mut expected: Vec<_> =
                targets.iter().zip(probabilities).map(|(t, p)| (*t, p.to_bits())).collect();
            if layout.passes() > 1 {
                found.sort_unstable();
                expected.sort_unstable();
            }
            assert_eq!(found, expected, "{what}, row {row}");
        }
    });
}

#[test]
fn tiles_cover_every_state_once_and_fit() {
    every_layout(|model, layout, what| {
        let (last, before) = layout.tiles.split_last().unwrap();
        let mut states: Vec<u32> = layout.long_states.clone();
        for tile in last {
            assert!((tile.end_arc - tile.arc) as usize <= TILE_ARCS, "{what}");
            assert!((tile.end_row - tile.row) as usize <= TILE_ROWS, "{what}");
            assert!((tile.end_state - tile.state) as usize <= TILE_ROWS, "{what}");
            let starts = layout.starts_of(layout.passes() - 1);
            assert_eq!([tile.arc, tile.end_arc], [starts[tile.row as usize], starts[tile.end_row as usize]]);
            assert_eq!(tile.row, layout.choices[tile.state as usize]);
            assert_eq!(tile.end_row, layout.choices[tile.end_state as usize]);
            states.extend(tile.state..tile.end_state);
        }
        states.sort_unstable();
        assert!(states.iter().copied().eq(0..model.mdp.n_states() as u32), "{what}");
        for tiles in before {
            assert!(tiles.iter().all(|tile| (tile.end_arc - tile.arc) as usize <= TILE_ARCS), "{what}");
            assert!(tiles.windows(2).all(|pair| pair[0].end_row == pair[1].row), "{what}");
            assert_eq!(tiles.last().map_or(0, |tile| tile.end_row) as usize, model.mdp.n_choices(), "{what}");
        }
        let mut chained: Vec<u32> = layout.long_chain.clone();
        for tile in &layout.chain_tiles {
            assert!(
                (tile.end_arc - tile.arc) as usize <= TILE_ARCS
                    && tile.end_arc as usize <= layout.chain_space
            );
            chained.extend(tile.state..tile.end_state);
        }
        chained.sort_unstable();
        assert!(chained.iter().copied().eq(0..model.mdp.n_states() as u32), "{what}");
    });
}

#[test]
fn sweeps_are_those_of_the_definition() {
    every_layout(|model, layout, what| {
        let mut engine = HostEngine::new(layout, &model.rewards, 0.9);
        let mut values = vec![0.0; model.mdp.n_states()];
        let mut before = vec![NO_CHOICE; values.len()];
        for sweep in 0..3 {
            let (expected, best) = plain_sweep(model, 0.9, &values);
            let change = engine.sweep().unwrap();
            let (found, policy) = (engine.values().unwrap(), engine.policy().to_vec());
            let most = expected.iter().zip(&values).map(|(e, v)| e - v).fold(f64::MIN, f64::max);
            let least = expected.iter().zip(&values).map(|(e, v)| e - v).fold(f64::MAX, f64::min);
            assert!((change.most - most).abs() < 1e-12 && (change.least - least).abs() < 1e-12, "{what}");
            let changed = policy.iter().zip(&before).filter(|(new, old)| new != old).count();
            assert_eq!(change.changed, changed as u64, "{what}, sweep {sweep}");
            for state in 0..values.len() {
                // Short rows in one pass are added in the order of the model, so not a bit differs.
                let short =
                    model.mdp.choices_of(state).all(|choice| model.mdp.arcs_of(choice).len() <= LONG_ROW);
                let in_order = layout.passes() == 1 && short && !layout.long_states.contains(&(state as u32));
                let (found, expected) = (found[state], expected[state]);
                // In another order, a choice may win that is equal but for rounding.
                let own_choice = policy[state] == NO_CHOICE
                    || model.mdp.choices_of(state).contains(&(policy[state] as usize));
                let of_choice = plain_value(model, 0.9, &values, policy[state]);
                assert!(
                    if in_order {
                        found == expected && policy[state] == best[state]
                    } else {
                        let near = |value: f64| (value - expected).abs() < 1e-12;
                        near(found) && own_choice && near(of_choice)
                    },
                    "{what}, sweep {sweep}, state {state}"
                );
            }
            (values, before) = (found, policy);
        }
    });
}

#[test]
fn policy_sweeps_are_sweeps_over_the_chosen_rows() {
    every_layout(|model, layout, what| {
        let mut engine = HostEngine::new(layout, &model.rewards, 0.9);
        engine.sweep().unwrap();
        engine.gather().unwrap();
        let mut values = engine.values().unwrap();
        for _ in 0..2 {
            let policy = engine.policy().to_vec();
            assert!(engine.policy_sweep(true).unwrap().is_some());
            let found = engine.values().unwrap();
            for (state, &choice) in policy.iter().enumerate() {
                let expected = plain_value(model, 0.9, &values, choice);
                assert!((found[state] - expected).abs() < 1e-12, "{what}, state {state}");
            }
            values = found;
        }
    });
}

#[test]
fn layouts_do_not_depend_on_threads() {
    // Three parts of 2^16 states.
    let model = random_model(7, Shape { n_states: 150_000, most_arcs: 3, ..SHORT });
    let of = |threads| {
        Layout::new(&model.mdp, &LayoutOptions { passes: Some(3), uncoded: false, local: None, threads })
    };
    let (one, four) = (of(1), of(4));
    assert!(one.row_starts == four.row_starts && one.targets == four.targets && one.tiles == four.tiles);
    assert!(one.chain_tiles == four.chain_tiles && one.probabilities == four.probabilities);
    let codes = |layout: &Layout| layout.codes.as_ref().map(|codes| (codes.table, codes.of_arcs.clone()));
    assert!(codes(&one).is_some() && codes(&one) == codes(&four));
}

#[test]
fn more_than_256_probabilities_are_not_coded() {
    let model = |n: u32| {
        let mut builder = MdpBuilder::default();
        for i in 0..n {
            builder.add_choice([(i, 1.0 / f64::from(i + 2))]);
            builder.end_state();
        }
        builder.finish().unwrap()
    };
    let coded = |n| Layout::new(&model(n), &LayoutOptions::default()).codes.is_some();
    assert!(coded(256) && !coded(257));
}
