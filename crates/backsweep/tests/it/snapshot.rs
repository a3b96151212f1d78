//! A restored agent continues bit for bit like the one that was stored, for every planner and both queues, at any moment; and
//! nothing in a snapshot is trusted: however it is damaged, the result is an error or an agent, never a panic.

use crate::common;
use crate::common::{QUEUES, act};
use backsweep::explore::{EpsilonGreedy, Optimism};
use backsweep::planner::{Array, Cycle, Model, Outcome, Planner, QueueKind, Snapshot};
use backsweep::{Action, Agent, Budget, Next, PlannerKind, Random, Settings, State};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn settings(queue: QueueKind) -> Settings {
    let optimism = Optimism { value: 2.0, min_visits: 2 };
    Settings { discount: 0.9, queue, optimism, ..Settings::default() }
}

/// The numbers of a snapshot to the last bit, so that −0 and 0 differ.
fn bits(snapshot: &Snapshot) -> Vec<(String, Vec<u64>)> {
    let of = |array: &Array| match array {
        Array::F64(items) => items.iter().map(|x| x.to_bits()).collect(),
        Array::U32(items) => items.iter().map(|&x| u64::from(x)).collect(),
        Array::U64(items) => items.clone(),
        Array::Bytes(items) => items.iter().map(|&x| u64::from(x)).collect(),
    };
    snapshot.iter().map(|(name, array)| (name.to_owned(), of(array))).collect()
}

/// Plans block by block until a cycle is in progress, if there is one that long.
fn stop_within_a_cycle(agent: &mut Agent) {
    agent.observe_transition(&common::step(0, 0, 50.0, Next::Terminated)).unwrap();
    for _ in 0..50 {
        let asked = Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) == 1;
        agent.plan(Budget::UntilStopped(&stop));
        if matches!(agent.store().unwrap().get("partial_cycle.numbers"), Some(Array::U64(pass)) if !pass.is_empty())
        {
            return;
        }
    }
}

fn start(planner: PlannerKind, queue: QueueKind) -> Agent {
    let policy = EpsilonGreedy::new(0.3).unwrap();
    let mut agent = Agent::with_planner(planner, settings(queue)).unwrap().with_policy(policy);
    for i in 0..150 {
        agent.add_state(if i % 50 == 49 { 0 } else { 3 }).unwrap();
    }
    agent
}

#[test]
fn a_restored_agent_continues_bit_for_bit() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let mut n_cut = 0;
            for seed in 0..6 {
                let mut random = Random::from_seed(seed);
                let mut agent = start(kind, queue);
                for _ in 0..1500 + random.below(900) {
                    act(&mut agent, &mut random);
                }
                for moment in 0..8 {
                    let place = format!("{}, {queue:?}, seed {seed}, moment {moment}", kind);
                    if moment % 2 == 0 {
                        stop_within_a_cycle(&mut agent);
                    }
                    let stored = agent.store().unwrap();
                    if let Some(Array::U64(pass)) = stored.get("partial_cycle.numbers") {
                        n_cut += usize::from(!pass.is_empty());
                    }
                    let mut again = Agent::restore_among(&stored, &backsweep_baselines::PLANNERS)
                        .unwrap_or_else(|e| panic!("{place}: {e}"));
                    assert_eq!(bits(&again.store().unwrap()), bits(&stored), "{place}: at once");
                    let mut same = random.clone();
                    for _ in 0..60 {
                        act(&mut agent, &mut random);
                        act(&mut again, &mut same);
                    }
                    assert_eq!(random, same, "{place}: they acted differently");
                    assert_eq!(
                        bits(&again.store().unwrap()),
                        bits(&agent.store().unwrap()),
                        "{place}: after 60 steps"
                    );
                }
            }
            if kind == PlannerKind::REVERSED_FULL_BACKUPS || kind == PlannerKind::SMALL_BACKUPS {
                assert!(n_cut >= 5, "{}: only {n_cut} moments were within a cycle", kind);
            }
        }
    }
}

#[test]
fn crowds_of_equal_priorities_are_stored() {
    // A ring of states that all cost 1 per step: hundreds of them are equally urgent, and the queue splits their bucket.
    let mut agent =
        Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, settings(QueueKind::Exact)).unwrap();
    for _ in 0..400 {
        agent.add_state(1).unwrap();
    }
    for i in 0..400 {
        let next = Next::Continue(State((i + 1) % 400));
        let outcome = Outcome { probability: 1.0, reward: -1.0, next };
        agent.set_outcomes(State(i), Action(0), &[outcome]).unwrap();
    }
    let mut largest = 0;
    for cycles in [1, 5, 200, 250, 300] {
        agent.plan(Budget::Cycles(cycles));
        let stored = agent.store().unwrap();
        let Some(Array::F64(priorities)) = stored.get("queue.priorities") else {
            panic!("no queue is stored")
        };
        let equal = |p: &f64| priorities.iter().filter(|other| *other == p).count();
        largest = largest.max(priorities.iter().map(equal).max().unwrap_or(0));
        let mut again = Agent::restore_among(&stored, &backsweep_baselines::PLANNERS).unwrap();
        assert_eq!(bits(&again.store().unwrap()), bits(&stored));
        for agent in [&mut agent, &mut again] {
            agent.plan(Budget::Cycles(37));
        }
        assert_eq!(bits(&again.store().unwrap()), bits(&agent.store().unwrap()));
    }
    assert!(largest > 100, "the largest crowd had {largest} keys");
}

#[test]
fn a_cycle_cut_at_every_block_is_stored() {
    for name in [PlannerKind::REVERSED_FULL_BACKUPS, PlannerKind::SMALL_BACKUPS] {
        for queue in QUEUES {
            let mut model = Model::with_states(vec![1; 40]).unwrap();
            let mut planner = name.build(settings(queue)).unwrap();
            planner.grow(&model);
            for round in 0..2 {
                for s in 0..40 {
                    let next = if s == 0 { Next::Terminated } else { Next::Continue(State(0)) };
                    let reward = f64::from(round) - 3.0;
                    let change = model.record(&common::step(s, 0, reward, next)).unwrap().unwrap();
                    planner.observe(&model, &change);
                }
            }
            let mut n_cuts = 0;
            while planner.top_priority().is_some() {
                n_cuts += usize::from(planner.update_cycle(&model, 1) == Cycle::Cut);
                let mut snapshot = Snapshot::new();
                model.store(&mut snapshot);
                planner.storable().unwrap().store(&mut snapshot);
                let mut model_again = Model::restore(&snapshot).unwrap();
                let mut again = name.restore(settings(queue), &model_again, &snapshot).unwrap();
                let mut here = (model.clone(), planner.clone());
                // A new predecessor of the state whose cycle is under way; then the rest of the cycle.
                let step = common::step(1, 0, 1.0, Next::Continue(State(n_cuts as u32 % 40)));
                let finish = |model: &mut Model, planner: &mut Box<dyn Planner>| {
                    let change = model.record(&step).unwrap().unwrap();
                    planner.observe(model, &change);
                    backsweep::planner::plan(&mut **planner, model, Budget::UNTIL_IDLE);
                    let mut snapshot = Snapshot::new();
                    model.store(&mut snapshot);
                    planner.storable().unwrap().store(&mut snapshot);
                    bits(&snapshot)
                };
                assert_eq!(
                    finish(&mut here.0, &mut here.1),
                    finish(&mut model_again, &mut again),
                    "{name}, {queue:?}, cut {n_cuts}"
                );
            }
            assert!(
                n_cuts >= 5,
                "{name}: 39 predecessors fill at least 6 blocks, but there were {n_cuts} cuts"
            );
        }
    }
}

/// Damages one array at random.
fn damage(snapshot: &Snapshot, random: &mut Random) -> (Snapshot, String) {
    let mut damaged = Snapshot::new();
    let chosen = random.below(snapshot.iter().count() as u32) as usize;
    let mut what = String::new();
    for (i, (name, array)) in snapshot.iter().enumerate() {
        let mut array = array.clone();
        if i == chosen {
            let kind = random.below(6);
            what = format!("{name}, kind {kind}");
            let floats = [f64::NAN, f64::INFINITY, -1.0, 0.0, -0.0, 1e300, 5.0, f64::MIN_POSITIVE, 1.5];
            let wholes = [0, 1, 2, 5, u64::from(u32::MAX), u64::from(u32::MAX) - 1, u64::MAX, 1 << 40, 100];
            fn edit<T: Copy>(items: &mut Vec<T>, kind: u32, random: &mut Random, other: T) {
                let n = items.len() as u32;
                match kind {
                    0 => items.push(other),
                    1 => drop(items.pop()),
                    2 => items.clear(),
                    3 if n > 1 => items.swap(random.below(n) as usize, random.below(n) as usize),
                    4 if n > 1 => items[random.below(n) as usize] = items[random.below(n) as usize],
                    _ if n > 0 => items[random.below(n) as usize] = other,
                    _ => {}
                }
            }
            let float = floats[random.below(9) as usize];
            let whole = if random.chance(0.5) {
                wholes[random.below(9) as usize]
            } else {
                u64::from(random.below(200))
            };
            match &mut array {
                Array::F64(items) => edit(items, kind, random, float),
                Array::U32(items) => edit(items, kind, random, whole as u32),
                Array::U64(items) => edit(items, kind, random, whole),
                Array::Bytes(items) => edit(items, kind, random, whole as u8),
            }
            if random.chance(0.02) {
                continue; // missing altogether
            }
            if random.chance(0.02) {
                array = Array::U64(vec![whole]); // of another type
            }
        }
        damaged.put(name, array);
    }
    (damaged, what)
}

#[test]
fn a_damaged_snapshot_never_panics() {
    let (mut n_refused, mut n_taken) = (0, 0);
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            let mut random = Random::from_seed(5);
            let mut agent = Agent::with_planner(kind, settings(queue)).unwrap();
            for i in 0..12 {
                agent.add_state(i % 4).unwrap();
            }
            for _ in 0..400 {
                act(&mut agent, &mut random);
            }
            let stored = agent.store().unwrap();
            for i in 0..3000 {
                let (mut damaged, mut what) = damage(&stored, &mut random);
                if random.chance(0.3) {
                    let (twice, and) = damage(&damaged, &mut random);
                    damaged = twice;
                    what = format!("{what}; {and}");
                }
                let place = format!("{}, {queue:?}, damage {i}: {what}", kind);
                let result = catch_unwind(AssertUnwindSafe(|| {
                    let Ok(mut agent) = Agent::restore_among(&damaged, &backsweep_baselines::PLANNERS) else {
                        return false;
                    };
                    let mut random = Random::from_seed(i);
                    for _ in 0..40 {
                        act(&mut agent, &mut random);
                    }
                    let _ = agent.audit();
                    let _ = agent.store().unwrap();
                    agent.plan(Budget::Cycles(20));
                    true
                }));
                match result {
                    Ok(true) => n_taken += 1,
                    Ok(false) => n_refused += 1,
                    Err(_) => panic!("{place}: a panic"),
                }
            }
        }
    }
    assert!(n_refused > 5000 && n_taken > 1000, "{n_refused} refused, {n_taken} taken");
}

#[test]
fn refusals_name_the_part() {
    let stored = start(PlannerKind::REVERSED_FULL_BACKUPS, QueueKind::Exact).store().unwrap();
    for (name, _) in stored.iter() {
        let mut damaged = Snapshot::new();
        for (other, array) in stored.iter().filter(|(other, _)| *other != name) {
            damaged.put(other, array.clone());
        }
        let restored = Agent::restore_among(&damaged, &backsweep_baselines::PLANNERS);
        // The one part that earlier files of this format lack; additions are then counted from 0.
        if name == "counters.additions" {
            assert_eq!(restored.unwrap().planner().counters().unwrap().additions, 0);
            continue;
        }
        let refusal = restored.map(drop).unwrap_err().to_string();
        assert!(refusal.contains(name) && refusal.contains("missing"), "{name}: {refusal}");
    }
}

/// A pair that lost its state to damage would queue a state that does not exist.
#[test]
fn a_pair_without_a_state_is_refused() {
    for kind in backsweep_baselines::PLANNERS {
        let mut agent = Agent::with_planner(kind, Settings::default()).unwrap();
        agent.add_state(2).unwrap();
        agent.observe_transition(&common::step(0, 1, 1.0, Next::Terminated)).unwrap();
        let mut damaged = agent.store().unwrap();
        damaged.put("model.n_actions", vec![1u32]);
        let refusal = Agent::restore_among(&damaged, &backsweep_baselines::PLANNERS).unwrap_err().to_string();
        assert!(refusal.contains("belongs to no state"), "{}: {refusal}", kind);
    }
}
