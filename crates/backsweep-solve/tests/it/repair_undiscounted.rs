//! Repairs without discount: chains of changes against fresh solves, and walls of a maze without a fresh solve.

use crate::common::{random_model, random_reward, random_row};
use backsweep::Random;
use backsweep_bench::families;
use backsweep_mdp::{Change, Direction, Objective, Question};
use backsweep_mdp::{Label, Mdp, Rewards};
use backsweep_solve::{Limits, Repair, Solution, solve};

fn asked(objective: &Objective, direction: Direction) -> Question {
    Question { objective: objective.clone(), direction }
}

const LIMITS: Limits = Limits { tolerance: 1e-6, relative: 0.0, stop: &|| false, threads: 1 };

/// Rewards of a chain: costs above 0, or of both signs.
#[derive(Clone, Copy, PartialEq)]
enum Paid {
    Costs,
    Any,
}

fn reward(random: &mut Random, paid: Paid) -> f64 {
    match paid {
        Paid::Costs => 0.25 + f64::from(random.below(8)) / 4.0,
        Paid::Any => random_reward(random),
    }
}

fn labelled(mut mdp: Mdp, rewards: Vec<f64>, goal: &[u32], avoid: &[u32]) -> Mdp {
    mdp.rewards = vec![Rewards { name: "r".to_owned(), choices: rewards, ..Rewards::default() }];
    let label = |name: &str, states: &[u32]| Label { name: name.to_owned(), states: states.to_vec() };
    mdp.labels = vec![label("goal", goal), label("avoid", avoid)];
    mdp
}

/// A random model with a goal and a set to avoid.
fn model(random: &mut Random, paid: Paid) -> Mdp {
    loop {
        let small = random_model(random, 30);
        let n = small.mdp.n_states() as u32;
        if n < 4 {
            continue;
        }
        let rewards = small.rewards.iter().map(|_| reward(random, paid)).collect();
        return labelled(small.mdp, rewards, &[n / 2, n - 1], &[n / 3]);
    }
}

fn change(random: &mut Random, repair: &Repair, n: u32, paid: Paid) -> Change {
    let (_, _, ids) = repair.model().unwrap();
    let state = random.below(n);
    // Mostly rows that lose nothing, so that goals can be certain.
    let ends = random.chance(0.2);
    let outcomes = random_row(random, state, n, false, ends);
    if ids.is_empty() || random.chance(0.1) {
        return Change::Add { state, reward: reward(random, paid), outcomes };
    }
    let choice = ids[random.below(ids.len() as u32) as usize];
    match random.below(10) {
        0 => Change::Remove { choice },
        1..=4 => Change::Reward { choice, reward: reward(random, paid) },
        _ => Change::Outcomes { choice, outcomes },
    }
}

fn assert_same(kept: &Solution, fresh: &Solution, what: &str) {
    for s in 0..fresh.lower.len() {
        let (a, b) = ((kept.lower[s], kept.upper[s]), (fresh.lower[s], fresh.upper[s]));
        assert!(a.0 <= b.1 && b.0 <= a.1, "{what}: state {s}: {a:?} and {b:?} are apart");
        assert_eq!(a.0 == f64::INFINITY, b.0 == f64::INFINITY, "{what}: state {s}: {a:?}, {b:?}");
        assert_eq!(a.1 == f64::NEG_INFINITY, b.1 == f64::NEG_INFINITY, "{what}: state {s}: {a:?}, {b:?}");
    }
    assert_eq!(kept.converged, fresh.converged, "{what}: {:?}", kept.explanation);
}

/// A chain of changes; after each, a fresh solve of the model as it is then must agree. Returns how many were repaired
/// without one.
fn chain(query: &Objective, direction: Direction, paid: Paid, n_changes: usize, seed: u64) -> usize {
    let mut random = Random::from_seed(seed);
    let first = model(&mut random, paid);
    let n = first.n_states() as u32;
    let (goal, avoid) = (first.labels[0].states.clone(), first.labels[1].states.clone());
    let mut repair = Repair::new(&first, &asked(query, direction), &LIMITS).unwrap();
    let mut local = 0;
    for i in 0..n_changes {
        let change = change(&mut random, &repair, n, paid);
        let what = format!("{query}, {direction:?}, chain {seed}, change {i}: {change:?}");
        let repaired = repair.apply(std::slice::from_ref(&change), &LIMITS).unwrap();
        local += usize::from(!repaired.solved_afresh);
        let (mdp, rewards, ids) = repair.model().unwrap();
        let mdp = labelled(mdp, rewards, &goal, &avoid);
        let fresh = solve(&mdp, &asked(query, direction), None, &LIMITS).unwrap();
        let kept = repair.solution();
        assert_same(&kept, &fresh, &what);
        assert_eq!(repaired.converged, kept.converged, "{what}");
        for s in 0..n as usize {
            assert_eq!(repair.interval(s), (kept.lower[s], kept.upper[s]), "{what}: state {s}");
            let of_state = &ids[mdp.choices_of(s)];
            let chosen = kept.policy[s];
            assert!(chosen == u32::MAX || of_state.contains(&chosen), "{what}: state {s} takes {chosen}");
        }
    }
    local
}

fn until() -> Objective {
    Objective::Total { reward: Some("r".to_owned()), until: Some("goal".to_owned()) }
}

fn total() -> Objective {
    Objective::Total { reward: Some("r".to_owned()), until: None }
}

fn reach(avoid: bool) -> Objective {
    Objective::Reach { goal: "goal".to_owned(), avoid: avoid.then(|| "avoid".to_owned()), steps: None }
}

#[test]
fn chains_of_costs_are_repaired_by_small_backups() {
    let mut local = 0;
    for seed in 0..4 {
        local += chain(&until(), Direction::Minimize, Paid::Costs, 1000, seed);
        local += chain(&total(), Direction::Minimize, Paid::Costs, 1000, 10 + seed);
    }
    assert!(local >= 2000, "only {local} of 8,000 changes were repaired without a fresh solve");
}

#[test]
fn chains_of_probabilities_agree_with_fresh_solves() {
    for seed in 20..22 {
        for direction in [Direction::Maximize, Direction::Minimize] {
            chain(&reach(true), direction, Paid::Any, 1000, seed);
            chain(&reach(false), direction, Paid::Any, 1000, seed + 2);
        }
    }
}

#[test]
fn chains_of_other_questions_agree_with_fresh_solves() {
    let steps = Objective::Horizon { reward: Some("r".to_owned()), steps: 7, discount: 1.0 };
    let within =
        Objective::Reach { goal: "goal".to_owned(), avoid: Some("avoid".to_owned()), steps: Some(5) };
    let average = Objective::Average { reward: Some("r".to_owned()) };
    for (i, query) in [until(), total(), steps, within, average].iter().enumerate() {
        for direction in [Direction::Maximize, Direction::Minimize] {
            chain(query, direction, Paid::Any, 1000, 30 + i as u64);
            chain(query, direction, Paid::Costs, 1000, 40 + i as u64);
        }
    }
}

/// Choices that the policy does not use and that stay worse need no new solve; everything that could matter does.
#[test]
fn changes_that_cannot_matter_are_not_solved_again() {
    let mut local = 0;
    for (i, query) in [reach(true), reach(false), until(), total()].iter().enumerate() {
        for direction in [Direction::Maximize, Direction::Minimize] {
            let here: usize =
                (50..54).map(|seed| chain(query, direction, Paid::Any, 1000, seed + i as u64)).sum();
            let asked = !matches!(query, Objective::Total { .. });
            assert!(!asked || here >= 400, "{query}, {direction:?}: {here} of 4,000");
            local += here;
        }
    }
    assert!(local >= 8000, "only {local} of 32,000 changes needed no new solve");
}

/// A question is answered as if the change were made, and afterwards all is as before.
#[test]
fn what_if_leaves_no_trace() {
    for (seed, query) in [until(), total(), reach(true)].iter().enumerate() {
        let mut random = Random::from_seed(60 + seed as u64);
        let first = model(&mut random, Paid::Costs);
        let n = first.n_states() as u32;
        let mut repair = Repair::new(&first, &asked(query, Direction::Minimize), &LIMITS).unwrap();
        for i in 0..200 {
            let changes: Vec<Change> = (0..3).map(|_| change(&mut random, &repair, n, Paid::Costs)).collect();
            let (before, model) = (repair.solution(), repair.model().unwrap().0.n_choices());
            let Ok(answer) = repair.what_if(&changes, &LIMITS) else { continue };
            assert_eq!(repair.solution(), before, "{query}, round {i}");
            assert_eq!(repair.model().unwrap().0.n_choices(), model);
            repair.apply(&changes, &LIMITS).unwrap();
            for s in 0..n as usize {
                let (after, made) = (answer.after[s], repair.value(s));
                assert!(after == made || (after - made).abs() <= 2e-6, "{query}, round {i}, state {s}");
            }
        }
    }
}

/// One wall of a maze: few backups, no fresh solve, and the values of a fresh solve.
#[test]
fn a_wall_of_a_maze_without_discount_is_repaired_locally() {
    let maze = families::MazeModel::new(40, 3);
    let family = maze.family();
    let goal = maze.n_states() as u32 - 1;
    let costs: Vec<f64> = family.mdp.rewards[0].choices.iter().map(|r| -r).collect();
    let first = labelled(family.mdp.clone(), costs, &[goal], &[]);
    let mut repair = Repair::new(&first, &asked(&until(), Direction::Minimize), &LIMITS).unwrap();
    assert!(repair.solution().converged);
    let mut random = Random::from_seed(7);
    let mut local = 0;
    for _ in 0..20 {
        let wall = random.below(goal) as usize;
        let rows: Vec<Change> = maze
            .changes(wall)
            .into_iter()
            .map(|(s, a, outcomes)| Change::Outcomes {
                choice: first.choice_starts()[s] + a as u32,
                outcomes,
            })
            .collect();
        let repaired = repair.apply(&rows, &LIMITS).unwrap();
        assert!(repaired.converged);
        local += usize::from(!repaired.solved_afresh);
        let (mdp, rewards, _) = repair.model().unwrap();
        let mdp = labelled(mdp, rewards, &[goal], &[]);
        let fresh = solve(&mdp, &asked(&until(), Direction::Minimize), None, &LIMITS).unwrap();
        assert_same(&repair.solution(), &fresh, &format!("wall {wall}"));
    }
    assert!(local >= 10, "{local} of 20 walls were repaired without a fresh solve");
}

/// Stopped at once, intervals are wider and still hold; the next repair finishes the work.
#[test]
fn a_stopped_repair_is_proven_and_can_continue() {
    let maze = families::MazeModel::new(30, 3);
    let family = maze.family();
    let goal = maze.n_states() as u32 - 1;
    let costs: Vec<f64> = family.mdp.rewards[0].choices.iter().map(|r| -r).collect();
    let first = labelled(family.mdp, costs, &[goal], &[]);
    for query in [until(), reach(false)] {
        let mut repair = Repair::new(&first, &asked(&query, Direction::Minimize), &LIMITS).unwrap();
        let changes: Vec<Change> = (0..500).map(|choice| Change::Reward { choice, reward: 3.0 }).collect();
        repair.apply(&changes, &Limits { stop: &|| true, ..LIMITS }).unwrap();
        let stopped = repair.solution();
        assert!(repair.apply(&[], &LIMITS).unwrap().converged, "{query}");
        let done = repair.solution();
        for s in 0..goal as usize {
            assert!(stopped.lower[s] <= done.upper[s] && stopped.upper[s] >= done.lower[s], "state {s}");
        }
    }
}

/// The same targets, but now the row may end the episode, or no longer: the goal is not certain where it was.
#[test]
fn rows_that_begin_to_end_agree_with_fresh_solves() {
    let models = [families::MazeModel::new(12, 3).family().mdp, families::corridor(60, None).mdp];
    for mdp in &models {
        let n = mdp.n_states() as u32;
        let rewards = vec![-1.0; mdp.n_choices()];
        for (query, direction) in [
            (reach(false), Direction::Maximize),
            (until(), Direction::Maximize),
            (until(), Direction::Minimize),
        ] {
            let first = labelled(mdp.clone(), rewards.clone(), &[n - 1], &[]);
            let mut repair = Repair::new(&first, &asked(&query, direction), &LIMITS).unwrap();
            let mut random = Random::from_seed(8);
            let mut choice = 0;
            for step in 0..12 {
                // Each row ends now and then, and in the next step no longer.
                let whole = [0.75, 1.0][step % 2];
                choice = if whole < 1.0 { random.below(mdp.n_choices() as u32 - 4) } else { choice };
                let row = mdp.arcs_of(choice as usize);
                let outcomes = row.map(|a| (mdp.targets()[a], whole * mdp.probabilities()[a])).collect();
                let change = Change::Outcomes { choice, outcomes };
                let what = format!("{query}, {direction:?}, step {step}: {change:?}");
                repair.apply(&[change], &LIMITS).unwrap();
                let (changed, rewards, _) = repair.model().unwrap();
                let changed = labelled(changed, rewards, &[n - 1], &[]);
                let fresh = solve(&changed, &asked(&query, direction), None, &LIMITS).unwrap();
                assert_same(&repair.solution(), &fresh, &what);
            }
        }
    }
}

/// Other probabilities, rewards and targets in models with large components: most changes are answered without a fresh solve,
/// by solving a part again, and a fresh solve agrees.
#[test]
fn changes_that_leave_the_graph_are_solved_again_in_part() {
    let models = [
        families::MazeModel::new(22, 3).family().mdp,
        families::corridor(500, None).mdp,
        families::layered(30, 20, 7).mdp,
        families::garnet(400, 3, 4, 5).mdp,
    ];
    for (i, mdp) in models.iter().enumerate() {
        let n = mdp.n_states() as u32;
        for (query, direction) in [
            (reach(true), Direction::Maximize),
            (reach(true), Direction::Minimize),
            (until(), Direction::Maximize),
            (until(), Direction::Minimize),
        ] {
            let mut random = Random::from_seed(70 + i as u64);
            // Negative rewards and a few positive ones, so that small backups of costs do not take over.
            let paid =
                |random: &mut Random| if random.chance(0.05) { 0.125 } else { -reward(random, Paid::Costs) };
            let rewards = (0..mdp.n_choices()).map(|_| paid(&mut random)).collect();
            let traps: Vec<u32> = (1..n - 1).filter(|_| random.chance(0.03)).collect();
            let first = labelled(mdp.clone(), rewards, &[n - 1], &traps);
            let mut repair = Repair::new(&first, &asked(&query, direction), &LIMITS).unwrap();
            let (mut local, mut in_part) = (0, 0);
            for step in 0..60 {
                let choice = random.below(mdp.n_choices() as u32 - 4);
                let row = mdp.arcs_of(choice as usize);
                let mut outcomes: Vec<(u32, f64)> =
                    row.clone().map(|a| (mdp.targets()[a], 0.1 + random.unit())).collect();
                let sum: f64 = outcomes.iter().map(|(_, p)| p).sum();
                outcomes.iter_mut().for_each(|(_, p)| *p /= sum);
                if random.chance(0.2) {
                    outcomes[0].0 = mdp.targets()[random.below(mdp.n_arcs() as u32) as usize];
                }
                let change = match random.below(3) {
                    0 => Change::Reward { choice, reward: paid(&mut random) },
                    _ => Change::Outcomes { choice, outcomes },
                };
                let what = format!("model {i}, {query}, {direction:?}, step {step}: {change:?}");
                let before = repair.solution();
                repair.what_if(std::slice::from_ref(&change), &LIMITS).unwrap();
                assert_eq!(repair.solution(), before, "{what}");
                let repaired = repair.apply(&[change], &LIMITS).unwrap();
                local += usize::from(!repaired.solved_afresh);
                let kept = repair.solution();
                in_part += usize::from(kept.explanation.iter().any(|line| line.contains("solved again")));
                let (changed, rewards, _) = repair.model().unwrap();
                let changed = labelled(changed, rewards, &[n - 1], &traps);
                let fresh = solve(&changed, &asked(&query, direction), None, &LIMITS).unwrap();
                assert_same(&kept, &fresh, &what);
            }
            // Smallest totals are infinite: the loop pays.
            let is_infinite = direction == Direction::Minimize && query == until();
            let enough = is_infinite || (local > 0 && in_part > 0);
            assert!(enough, "model {i}, {query}, {direction:?}: {local}, {in_part} of 60");
        }
    }
}
