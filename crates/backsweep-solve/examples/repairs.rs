//! The time of repairs, relative to fresh solves:
//! `cargo run --release -p backsweep-solve --example repairs -- [WHAT] [RUNS]`.
//!
//! Every chain of changes is run RUNS times, fresh solves alternating with repairs; each change counts with the fastest of
//! its runs. WHAT selects the rows whose objective and model contain it. With a third argument, changes that took longer
//! than a fresh solve are listed.

use backsweep::Random;
use backsweep_bench::families::{self, applied};
use backsweep_bench::thread_time;
use backsweep_mdp::{Change, Direction, Label, Mdp, Objective, Question, Rewards};
use backsweep_solve::{Limits, Repair, solve};
use std::hint::black_box;

const LIMITS: Limits = Limits { tolerance: 1e-6, relative: 0.0, stop: &|| false, threads: 1 };
/// Changes per chain.
const CHANGES: usize = 200;

/// Which rewards a chain has.
#[derive(Clone, Copy, PartialEq)]
enum Paid {
    Costs,
    Both,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let what = arguments.first().map_or("", String::as_str);
    let runs: usize = arguments.get(1).and_then(|runs| runs.parse().ok()).unwrap_or(5);
    println!("{:44} solved again  median  median of those  worst  best", "objective and model");
    for (objective, query, direction, paid) in questions() {
        for (model, mdp) in models(paid) {
            let name = format!("{objective}, {model}");
            if name.contains(what) {
                measure(&name, &query, direction, paid, &mdp, runs);
            }
        }
    }
}

fn questions() -> Vec<(&'static str, Objective, Direction, Paid)> {
    use Direction::{Maximize, Minimize};
    let reward = || Some("r".to_owned());
    let reach = |avoid: bool, steps| Objective::Reach {
        goal: "goal".to_owned(),
        avoid: avoid.then(|| "trap".to_owned()),
        steps,
    };
    let until = || Objective::Total { reward: reward(), until: Some("goal".to_owned()) };
    let total = || Objective::Total { reward: reward(), until: None };
    let discounted = |discount| Objective::Discounted { reward: reward(), discount };
    vec![
        ("discounted 0.99", discounted(0.99), Maximize, Paid::Costs),
        ("discounted 0.999", discounted(0.999), Maximize, Paid::Costs),
        ("reach max", reach(true, None), Maximize, Paid::Costs),
        ("reach min", reach(true, None), Minimize, Paid::Costs),
        ("costs until min", until(), Minimize, Paid::Costs),
        ("costs until max", until(), Maximize, Paid::Costs),
        ("both signs until min", until(), Minimize, Paid::Both),
        ("both signs until max", until(), Maximize, Paid::Both),
        ("both signs total max", total(), Maximize, Paid::Both),
        ("50 steps", Objective::Horizon { reward: reward(), steps: 50, discount: 1.0 }, Maximize, Paid::Both),
        ("reach within 50", reach(true, Some(50)), Maximize, Paid::Both),
        ("average", Objective::Average { reward: reward() }, Maximize, Paid::Both),
    ]
}

/// Models, each with a goal, a few states to avoid, and rewards.
fn models(paid: Paid) -> Vec<(&'static str, Mdp)> {
    let all = [
        ("maze 60 x 60", families::MazeModel::new(60, 3).family()),
        ("random 2,000", families::garnet(2000, 3, 4, 5)),
        ("corridor 3,000", families::corridor(3000, None)),
        ("layers 20,000", families::layered(200, 100, 7)),
        ("queues 40 x 40", applied::tandem_queue(40, 0.99)),
        ("maze 120 x 120", families::MazeModel::new(120, 3).family()),
    ];
    let labelled = all.into_iter().map(|(name, family)| {
        let mut random = Random::from_seed(11);
        let mut mdp = family.mdp;
        let n = mdp.n_states() as u32;
        let rewards = (0..mdp.n_choices()).map(|_| reward(&mut random, paid)).collect();
        mdp.rewards = vec![Rewards { name: "r".to_owned(), choices: rewards, ..Rewards::default() }];
        let traps = (1..n - 1).filter(|_| random.chance(0.02)).collect();
        mdp.labels = vec![
            Label { name: "goal".to_owned(), states: vec![n - 1] },
            Label { name: "trap".to_owned(), states: traps },
        ];
        (name, mdp)
    });
    labelled.collect()
}

fn reward(random: &mut Random, paid: Paid) -> f64 {
    match paid {
        Paid::Costs => 0.25 + f64::from(random.below(8)) / 4.0,
        // Loops lose on average, so that totals are finite.
        Paid::Both if random.chance(0.1) => 0.05,
        Paid::Both => -0.25 - f64::from(random.below(8)) / 4.0,
    }
}

/// A change of one choice: its reward, its probabilities, one of its targets, another choice like it, or none any more; `ids`
/// has the number of each choice for the repair.
fn change(random: &mut Random, mdp: &Mdp, ids: &[u32], has_rewards: bool, paid: Paid) -> Change {
    let place = random.below(mdp.n_choices() as u32 - 4);
    let (choice, row) = (ids[place as usize], mdp.arcs_of(place as usize));
    let state = mdp.choice_starts().partition_point(|&first| first <= place) - 1;
    let kind = random.below(if has_rewards { 20 } else { 14 });
    if kind >= 14 {
        return Change::Reward { choice, reward: reward(random, paid) };
    }
    if kind == 0 && mdp.choices_of(state).len() > 1 {
        return Change::Remove { choice };
    }
    let mut targets = mdp.targets()[row].to_vec();
    if kind < 8 {
        let last = targets.len() - 1;
        targets[last] = mdp.targets()[random.below(mdp.n_arcs() as u32) as usize];
    }
    let weights: Vec<f64> = targets.iter().map(|_| 0.1 + random.unit()).collect();
    let sum: f64 = weights.iter().sum();
    let outcomes = targets.iter().zip(&weights).map(|(&t, w)| (t, w / sum)).collect();
    if kind == 1 {
        return Change::Add { state: state as u32, reward: reward(random, paid), outcomes };
    }
    Change::Outcomes { choice, outcomes }
}

fn measure(name: &str, query: &Objective, direction: Direction, paid: Paid, first: &Mdp, runs: usize) {
    let question = Question { objective: query.clone(), direction };
    let has_rewards = !matches!(query, Objective::Reach { .. });
    let (mut fresh, mut repaired) = (vec![f64::INFINITY; CHANGES], vec![f64::INFINITY; CHANGES]);
    let (mut again, mut how) = (vec![false; CHANGES], vec![String::new(); CHANGES]);
    for _ in 0..runs {
        let mut random = Random::from_seed(17);
        let mut repair = Repair::new(first, &question, &LIMITS).expect("a model of ours");
        for i in 0..CHANGES {
            let (now, _, ids) = repair.model().expect("a model of ours");
            let change = change(&mut random, &now, &ids, has_rewards, paid);
            drop((now, ids));
            let (took, done) = timed(|| repair.apply(std::slice::from_ref(&change), &LIMITS));
            repaired[i] = repaired[i].min(took);
            again[i] = done.expect("a change of ours").solved_afresh;
            how[i] = format!("{change:?}: {}", repair.solution().explanation.join("; "));
            let (mut mdp, rewards, _) = repair.model().expect("a model of ours");
            mdp.labels.clone_from(&first.labels);
            mdp.rewards = vec![Rewards { name: "r".to_owned(), choices: rewards, ..Rewards::default() }];
            let (took, solved) = timed(|| solve(&mdp, &question, None, &LIMITS));
            fresh[i] = fresh[i].min(took);
            let (solved, kept) = (solved.expect("a model of ours"), repair.solution());
            assert_eq!(solved.converged, kept.converged, "{name}, change {i}");
            for s in 0..mdp.n_states() {
                assert!(
                    solved.lower[s] <= kept.upper[s] && kept.lower[s] <= solved.upper[s],
                    "{name}, {i}, {s}"
                );
            }
        }
    }
    let ratios: Vec<f64> = repaired.iter().zip(&fresh).map(|(r, f)| r / f).collect();
    let of_those = ratios.iter().zip(&again).filter(|(_, again)| **again).map(|(ratio, _)| *ratio).collect();
    let n_again = again.iter().filter(|again| **again).count();
    let [median, median_again, fresh] = [ratios.clone(), of_those, fresh].map(median);
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let best = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    if std::env::args().count() > 3 {
        let slow = (0..CHANGES).filter(|&i| ratios[i] > 1.02);
        slow.for_each(|i| println!("  {i}: {:.2}, again: {}, {}", ratios[i], again[i], how[i]));
    }
    let fresh = 1e3 * fresh;
    println!(
        "{name:44} {n_again:12}  {median:6.3}  {median_again:15.3}  {worst:5.2}  {best:.4}  (fresh {fresh:.2} ms)"
    );
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn timed<T>(call: impl FnOnce() -> T) -> (f64, T) {
    let start = thread_time();
    let done = black_box(call());
    ((thread_time() - start).as_secs_f64(), done)
}
