//! Planning ends even if the threshold demands the last bit: the rounding of running sums must not keep values
//! changing forever.

use backsweep::planner::{Model, Outcome, QueueKind, audit, plan};
use backsweep::{Action, Budget, Next, Random, Settings, State};

/// A small random model without ends, with rewards of very different size.
fn random_model(random: &mut Random) -> Model {
    let n = 1 + random.below(8);
    let mut model =
        Model::with_states((0..n).map(|_| 1 + random.below(3) as usize).collect::<Vec<_>>()).unwrap();
    for state in model.states() {
        for action in 0..model.n_actions(state) as u32 {
            let weights: Vec<f64> = (0..1 + random.below(3)).map(|_| random.unit() + 0.01).collect();
            let sum: f64 = weights.iter().sum();
            let outcomes: Vec<Outcome> = weights
                .iter()
                .map(|weight| Outcome {
                    probability: weight / sum,
                    reward: (random.unit() - 0.5) * 10f64.powi(random.below(7) as i32 - 3),
                    next: Next::Continue(State(random.below(n))),
                })
                .collect();
            model.set_outcomes(state, Action(action), &outcomes).unwrap();
        }
    }
    model
}

#[test]
fn planning_with_threshold_zero_ends_at_the_fixed_point() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in [QueueKind::Exact, QueueKind::Bucket] {
            for seed in 0..150 {
                let mut random = Random::from_seed(seed);
                let discount = [0.5, 0.9, 0.99][random.below(3) as usize];
                let model = random_model(&mut random);
                let settings = Settings { discount, threshold: 0.0, queue, ..Settings::default() };
                let mut planner = kind.build(settings).unwrap();
                planner.grow(&model);
                let planned =
                    plan(&mut *planner, &model, Budget::Until { tolerance: 0.0, max_cycles: 200_000 });
                assert!(planned.is_idle, "{} with {queue:?}, seed {seed}, did not end", kind);
                let found = audit(&model, &*planner);
                assert!(found.relative_relation < 1e-14, "{} seed {seed}: {found:?}", kind);
                assert!(found.residual < 1e-11, "{} seed {seed}: {found:?}", kind);
            }
        }
    }
}
