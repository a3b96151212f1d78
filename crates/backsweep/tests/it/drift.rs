//! Rounding must not add up: after 1e8 small backups, and after a start value of 1e12, the values are still those of the
//! defining relation to 1e-10.

use crate::common::{on, step};
use backsweep::explore::Optimism;
use backsweep::planner::{Model, Planner, QueueKind, audit};
use backsweep::{Next, PlannerKind, Random, Settings, State};

const N_BACKUPS: u64 = 100_000_000;

/// A small dense world: every action leads to any state. Its rewards change sign and size with time, so that values never
/// settle and every cycle has work.
fn run(name: PlannerKind, start_value: f64, n_backups: u64, mut check: impl FnMut(&Model, &dyn Planner)) {
    let optimism = Optimism { value: start_value, min_visits: 1 };
    let settings = Settings { discount: 0.99, threshold: 0.0, optimism, ..Settings::default() };
    let mut planner = name.build(settings).unwrap();
    let mut model = Model::with_states(vec![3; 12]).unwrap();
    planner.grow(&model);
    let mut random = Random::from_seed(4);
    while planner.counters().unwrap().backups() < n_backups {
        let reward = random.unit() * 60.0 - 30.0;
        let next = if random.chance(0.02) { Next::Terminated } else { on(random.below(12)) };
        let change = model.record(&step(random.below(12), random.below(3), reward, next)).unwrap().unwrap();
        planner.observe(&model, &change);
        check(&model, &*planner);
        for _ in 0..20 {
            planner.update_cycle(&model, usize::MAX);
            check(&model, &*planner);
        }
    }
}

fn stays_exact(name: PlannerKind) {
    for start_value in [0.0, 1e12] {
        let mut last = None;
        let mut n = 0u64;
        run(name, start_value, N_BACKUPS, |model, planner| {
            n += 1;
            if n.is_multiple_of(50_000) {
                let found = audit(model, planner);
                assert!(found.relative_relation < 1e-10, "{name} from {start_value}: {found:?}");
                last = Some(found);
            }
        });
        assert!(last.unwrap().relative_relation < 1e-10, "{name} from {start_value}: {last:?}");
    }
}

#[test]
fn reversed_full_backups_do_not_drift() {
    stays_exact(PlannerKind::REVERSED_FULL_BACKUPS);
}

#[test]
fn small_backups_do_not_drift() {
    stays_exact(PlannerKind::SMALL_BACKUPS);
}

/// Values fall from 1e12 to 100 while pairs are first seen: checked after every step and cycle.
#[test]
fn a_huge_start_value_leaves_nothing_behind() {
    for name in [PlannerKind::REVERSED_FULL_BACKUPS, PlannerKind::SMALL_BACKUPS] {
        for start_value in [1e12, -1e12] {
            run(name, start_value, 100_000, |model, planner| {
                let found = audit(model, planner);
                assert!(found.relative_relation < 1e-10, "{name} from {start_value}: {found:?}");
            });
        }
    }
}

/// The shortest such fall: a pair is built on the start value of its successor, which then turns out to be worth −1.
#[test]
fn a_start_value_that_was_never_computed_is_taken_out_exactly() {
    for name in [PlannerKind::REVERSED_FULL_BACKUPS, PlannerKind::SMALL_BACKUPS] {
        for queue in [QueueKind::Exact, QueueKind::Bucket] {
            let optimism = Optimism { value: 1e12, min_visits: 1 };
            let settings = Settings { discount: 0.9, queue, optimism, ..Settings::default() };
            let mut planner = name.build(settings).unwrap();
            let mut model = Model::with_states([1, 1]).unwrap();
            planner.grow(&model);
            for transition in [step(0, 0, 0.3, on(1)), step(1, 0, -1.0, Next::Terminated)] {
                let change = model.record(&transition).unwrap().unwrap();
                planner.observe(&model, &change);
            }
            backsweep::planner::plan(&mut *planner, &model, backsweep::Budget::UNTIL_IDLE);
            let found = planner.values().value(State(0));
            assert!((found - (0.3 - 0.9)).abs() < 1e-12, "{name}: V is {found}");
        }
    }
}
