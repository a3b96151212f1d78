//! An oracle that is slow and plain: every policy there is, each by Gaussian elimination.

use backsweep::Random;
use backsweep_io::mdp::{Label, Mdp, Rewards};
use backsweep_verify::{Direction, Objective};

/// A number below `n`.
pub fn below(random: &mut Random, n: usize) -> usize {
    (random.next_u64() % n as u64) as usize
}

/// A small model with end components, loops without reward, states without choices, episodes that end, and unreachable parts.
/// Probabilities are eighths, so that rows sum to 1 exactly.
pub fn random_mdp(random: &mut Random) -> Mdp {
    let n = 2 + below(random, 5);
    let mut mdp = Mdp { choices: vec![0], arcs: vec![0], ..Mdp::default() };
    let mut rewards = Rewards { name: "cost".to_owned(), ..Rewards::default() };
    let ending = below(random, 3) == 0;
    for _ in 0..n {
        let n_choices = if below(random, 8) == 0 { 0 } else { 1 + below(random, 3) };
        for _ in 0..n_choices {
            let mut row = vec![0; n];
            let live = if ending && below(random, 4) == 0 { 6 } else { 8 };
            (0..live).for_each(|_| {
                let local = below(random, 2 * n);
                row[if local < n { local } else { below(random, 2).min(n - 1) }] += 1;
            });
            for (target, weight) in row.iter().enumerate().filter(|(_, weight)| **weight > 0) {
                mdp.targets.push(target as u32);
                mdp.probabilities.push(f64::from(*weight) / 8.0);
            }
            mdp.arcs.push(mdp.targets.len() as u32);
            rewards.choices.push(below(random, 3) as f64);
        }
        mdp.choices.push(mdp.arcs.len() as u32 - 1);
    }
    mdp.rewards.push(rewards);
    mdp.labels.push(Label { name: "goal".to_owned(), states: vec![below(random, n) as u32] });
    let bad = below(random, n) as u32;
    mdp.labels.push(Label { name: "bad".to_owned(), states: vec![bad] });
    mdp.check().unwrap();
    mdp
}

/// Some objective.
pub fn random_objective(random: &mut Random) -> (Objective, Direction) {
    let direction = if below(random, 2) == 0 { Direction::Maximize } else { Direction::Minimize };
    let objective = match below(random, 4) {
        0 => {
            let discount = [0.0, 0.5, 0.9, 0.99, 0.999][below(random, 5)];
            Objective::Discounted { discount, reward: None }
        }
        1 => Objective::Total { reward: Some("cost".to_owned()), until: "goal".to_owned() },
        kind => Objective::Reach { goal: "goal".to_owned(), avoid: (kind == 2).then(|| "bad".to_owned()) },
    };
    (objective, direction)
}

/// The values of one policy.
pub fn evaluate(mdp: &Mdp, objective: &Objective, policy: &[Option<u32>]) -> Vec<f64> {
    let n = mdp.n_states();
    let row = |state: usize| policy[state].map(|choice| mdp.arcs_of(choice as usize)).unwrap_or(0..0);
    let has = |label: &str| {
        let states = mdp.label(label).unwrap();
        (0..n).map(|state| states.contains(&(state as u32))).collect::<Vec<_>>()
    };
    let rewards = mdp.expected_rewards(None).unwrap();
    let reward = |state: usize| policy[state].map_or(0.0, |choice| rewards[choice as usize]);
    // Unknowns, the discount, known values of the others, and constants.
    let (open, discount, known, constant): (Vec<bool>, f64, Vec<f64>, Vec<f64>) = match objective {
        Objective::Discounted { discount, .. } => {
            (vec![true; n], *discount, vec![0.0; n], (0..n).map(reward).collect())
        }
        Objective::Reach { goal, avoid } => {
            let goal = has(goal);
            let avoid = avoid.as_ref().map_or(vec![false; n], |avoid| has(avoid));
            let moves = |state: usize| !goal[state] && !avoid[state];
            let can = reaches(mdp, &goal, &row, &moves);
            let open = (0..n).map(|state| can[state] && !goal[state]).collect();
            (open, 1.0, goal.iter().map(|goal| f64::from(u8::from(*goal))).collect(), vec![0.0; n])
        }
        Objective::Total { until, .. } => {
            let goal = has(until);
            let can = reaches(mdp, &goal, &row, &|state| !goal[state]);
            let mut misses: Vec<bool> = can.iter().map(|can| !can).collect();
            for state in (0..n).filter(|&state| !goal[state]) {
                misses[state] |= mdp.probabilities[row(state)].iter().sum::<f64>() < 1.0;
            }
            let infinite = reaches(mdp, &misses, &row, &|state| !goal[state] && !misses[state]);
            let open = (0..n).map(|state| !infinite[state] && !goal[state]).collect();
            let known = infinite.iter().map(|infinite| if *infinite { f64::INFINITY } else { 0.0 }).collect();
            (open, 1.0, known, (0..n).map(reward).collect())
        }
        other => panic!("the reference does not know {other:?}"),
    };
    let unknown: Vec<usize> = (0..n).filter(|&state| open[state]).collect();
    let place = |state: usize| unknown.iter().position(|&other| other == state);
    let mut system: Vec<Vec<f64>> = Vec::new();
    for (i, &state) in unknown.iter().enumerate() {
        let mut equation = vec![0.0; unknown.len() + 1];
        equation[i] = 1.0;
        equation[unknown.len()] = constant[state];
        for arc in row(state) {
            let (target, p) = (mdp.targets[arc] as usize, discount * mdp.probabilities[arc]);
            match place(target) {
                Some(j) => equation[j] -= p,
                None => equation[unknown.len()] += p * known[target],
            }
        }
        system.push(equation);
    }
    let solution = gauss(system);
    (0..n).map(|state| place(state).map_or(known[state], |i| solution[i])).collect()
}

/// States with a path to a set.
fn reaches(
    mdp: &Mdp,
    set: &[bool],
    row: &dyn Fn(usize) -> std::ops::Range<usize>,
    moves: &dyn Fn(usize) -> bool,
) -> Vec<bool> {
    let mut found = set.to_vec();
    for _ in 0..found.len() {
        for state in (0..found.len()).filter(|&state| moves(state)) {
            found[state] |= row(state).any(|arc| found[mdp.targets[arc] as usize]);
        }
    }
    found
}

fn gauss(mut system: Vec<Vec<f64>>) -> Vec<f64> {
    let n = system.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| system[a][k].abs().total_cmp(&system[b][k].abs())).unwrap();
        system.swap(k, pivot);
        for i in (0..n).filter(|&i| i != k) {
            let factor = system[i][k] / system[k][k];
            let above = system[k].clone();
            system[i].iter_mut().zip(&above).skip(k).for_each(|(entry, above)| *entry -= factor * above);
        }
    }
    (0..n).map(|k| system[k][n] / system[k][k]).collect()
}

/// The best values, and a policy that has them in every state.
pub fn solve(mdp: &Mdp, objective: &Objective, direction: Direction) -> (Vec<f64>, Vec<Option<u32>>) {
    let n = mdp.n_states();
    let first: Vec<Option<u32>> =
        (0..n).map(|state| mdp.choices_of(state).next().map(|choice| choice as u32)).collect();
    let sign = if direction == Direction::Maximize { 1.0 } else { -1.0 };
    let mut all = Vec::new();
    let mut policy = first.clone();
    loop {
        all.push((evaluate(mdp, objective, &policy), policy.clone()));
        // Counts through all policies.
        let mut state = 0;
        while state < n {
            match policy[state] {
                Some(choice) if (choice as usize) + 1 < mdp.choices_of(state).end => {
                    policy[state] = Some(choice + 1);
                    break;
                }
                _ => policy[state] = first[state],
            }
            state += 1;
        }
        if state == n {
            break;
        }
    }
    let best: Vec<f64> = (0..n)
        .map(|state| {
            all.iter().map(|(values, _)| sign * values[state]).fold(f64::NEG_INFINITY, f64::max) * sign
        })
        .collect();
    let near = |a: f64, b: f64| a == b || (a - b).abs() < 1e-9 * (1.0 + a.abs());
    let attains = |values: &Vec<f64>| values.iter().zip(&best).all(|(value, best)| near(*value, *best));
    let policy =
        all.iter().find(|(values, _)| attains(values)).expect("a policy that is best everywhere").1.clone();
    (best, policy)
}
