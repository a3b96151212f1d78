//! An oracle that is slow and plain: every policy there is, each by Gaussian elimination.

use backsweep::Random;
use backsweep_mdp::{Direction, Label, Mdp, MdpBuilder, Objective, Rewards};

/// A number below `n`.
pub fn below(random: &mut Random, n: usize) -> usize {
    (random.next_u64() % n as u64) as usize
}

/// A small model with end components, loops without reward, states without choices, episodes that end, and unreachable parts.
/// Probabilities are eighths, so that rows sum to 1 exactly.
pub fn random_mdp(random: &mut Random) -> Mdp {
    let n = 2 + below(random, 5);
    let mut builder = MdpBuilder::default();
    let mut rewards = Rewards { name: "cost".to_owned(), ..Rewards::default() };
    let ending = below(random, 3) == 0;
    // Some models have costs, or rewards of both signs. Uneven numbers, so that loops do not cancel by chance.
    let least = [0.0, 0.0, 2.0, 0.12345][below(random, 4)];
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
                builder.add_arc(target as u32, f64::from(*weight) / 8.0);
            }
            builder.end_choice();
            rewards.choices.push(below(random, 3) as f64 - least);
        }
        builder.end_state();
    }
    let mut mdp = builder.finish().unwrap();
    mdp.rewards.push(rewards);
    mdp.labels.push(Label { name: "goal".to_owned(), states: vec![below(random, n) as u32] });
    let bad = below(random, n) as u32;
    mdp.labels.push(Label { name: "bad".to_owned(), states: vec![bad] });
    mdp.check().unwrap();
    mdp
}

/// Some objective. The total until a label is asked only where no reward is negative: elsewhere going round first may pay, and
/// no policy of those here does that.
pub fn random_objective(random: &mut Random, mdp: &Mdp) -> (Objective, Direction) {
    let direction = if below(random, 2) == 0 { Direction::Maximize } else { Direction::Minimize };
    let reward = Some("cost".to_owned());
    let objective = match below(random, 9) {
        4 | 5 => Objective::Total { reward, until: None },
        6 => Objective::Average { reward },
        7 => {
            let discount = [0.5, 1.0][below(random, 2)];
            Objective::Horizon { reward, steps: below(random, 6) as u64, discount }
        }
        8 => {
            let avoid = (below(random, 2) == 0).then(|| "bad".to_owned());
            Objective::Reach { goal: "goal".to_owned(), avoid, steps: Some(below(random, 6) as u64) }
        }
        0 => {
            let discount = [0.0, 0.5, 0.9, 0.99, 0.999][below(random, 5)];
            Objective::Discounted { discount, reward: None }
        }
        1 if mdp.rewards[0].choices.iter().all(|reward| *reward >= 0.0) => {
            Objective::Total { reward, until: Some("goal".to_owned()) }
        }
        kind => Objective::Reach {
            goal: "goal".to_owned(),
            avoid: (kind == 2).then(|| "bad".to_owned()),
            steps: None,
        },
    };
    (objective, direction)
}

/// The values of one policy; of a number of steps, those of runs that begin with it. Not a number where a total is undefined.
pub fn evaluate(mdp: &Mdp, objective: &Objective, direction: Direction, policy: &[Option<u32>]) -> Vec<f64> {
    let n = mdp.n_states();
    match objective {
        Objective::Average { .. } => return long_run(mdp, policy).1,
        Objective::Total { until: None, .. } => return episode(mdp, policy),
        Objective::Horizon { .. } | Objective::Reach { steps: Some(_), .. } => {
            return steps(mdp, objective, direction, Some(policy)).0;
        }
        _ => {}
    }
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
        Objective::Reach { goal, avoid, .. } => {
            let goal = has(goal);
            let avoid = avoid.as_ref().map_or(vec![false; n], |avoid| has(avoid));
            let moves = |state: usize| !goal[state] && !avoid[state];
            let can = reaches(mdp, &goal, &row, &moves);
            let open = (0..n).map(|state| can[state] && !goal[state]).collect();
            (open, 1.0, goal.iter().map(|goal| f64::from(u8::from(*goal))).collect(), vec![0.0; n])
        }
        Objective::Total { until: Some(until), .. } => {
            let goal = has(until);
            let can = reaches(mdp, &goal, &row, &|state| !goal[state]);
            let mut misses: Vec<bool> = can.iter().map(|can| !can).collect();
            for state in (0..n).filter(|&state| !goal[state]) {
                misses[state] |= mdp.probabilities()[row(state)].iter().sum::<f64>() < 1.0;
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
            let (target, p) = (mdp.targets()[arc] as usize, discount * mdp.probabilities()[arc]);
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
            found[state] |= row(state).any(|arc| found[mdp.targets()[arc] as usize]);
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

/// Where a policy is in the long run, from each state, and what it earns there per step.
fn long_run(mdp: &Mdp, policy: &[Option<u32>]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let n = mdp.n_states();
    let rewards = mdp.expected_rewards(None).unwrap();
    // Half of every step, against periods, and squared again and again. What ends goes to one more state, so that every row
    // sums to 1 and can be kept there: errors would double otherwise.
    let mut p = vec![vec![0.0; n + 1]; n + 1];
    for (state, row) in p.iter_mut().enumerate() {
        row[state] = 0.5;
        let choice = policy.get(state).copied().flatten();
        for arc in choice.map_or(0..0, |choice| mdp.arcs_of(choice as usize)) {
            row[mdp.targets()[arc] as usize] += 0.5 * mdp.probabilities()[arc];
        }
        row[n] += 1.0 - row.iter().sum::<f64>();
    }
    for _ in 0..50 {
        let product = |i: usize, j: usize| (0..=n).map(|k| p[i][k] * p[k][j]).sum::<f64>();
        p = (0..=n).map(|i| (0..=n).map(|j| product(i, j)).collect()).collect();
        for row in &mut p {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }
    }
    let reward = |state: usize| policy[state].map_or(0.0, |choice| rewards[choice as usize]);
    let gains = (0..n).map(|s| (0..n).map(|t| p[s][t] * reward(t)).sum()).collect();
    (p, gains)
}

/// The total reward of a policy.
fn episode(mdp: &Mdp, policy: &[Option<u32>]) -> Vec<f64> {
    let n = mdp.n_states();
    let (visits, gains) = long_run(mdp, policy);
    let rewards = mdp.expected_rewards(None).unwrap();
    let reward = |state: usize| policy[state].map_or(0.0, |choice| rewards[choice as usize]);
    let recurrent = |state: usize| visits[state][state] > 1e-9;
    // Each recurrent state is worth what its class earns: infinite, nothing, or undefined if rewards cancel.
    let class = |state: usize| {
        let quiet = (0..n).all(|t| visits[state][t] <= 1e-9 || reward(t) == 0.0);
        match gains[state] {
            _ if quiet => 0.0,
            gain if gain.abs() < 1e-9 => f64::NAN,
            gain => gain * f64::INFINITY,
        }
    };
    let transient: Vec<usize> = (0..n).filter(|&s| !recurrent(s)).collect();
    let place = |state: usize| transient.iter().position(|&other| other == state);
    let ends = |state: usize| -> Vec<f64> {
        (0..n).filter(|&t| recurrent(t) && visits[state][t] > 1e-9).map(class).collect()
    };
    let finite = |state: usize| ends(state).iter().all(|worth| *worth == 0.0);
    let mut system = Vec::new();
    for (i, &state) in transient.iter().enumerate() {
        let mut equation = vec![0.0; transient.len() + 1];
        equation[i] = 1.0;
        equation[transient.len()] = reward(state);
        let arcs = policy[state].map(|choice| mdp.arcs_of(choice as usize)).unwrap_or(0..0);
        for arc in arcs {
            if let Some(j) = place(mdp.targets()[arc] as usize) {
                equation[j] -= mdp.probabilities()[arc];
            }
        }
        system.push(equation);
    }
    let totals = gauss(system);
    (0..n)
        .map(|state| match place(state) {
            Some(i) if finite(state) => totals[i],
            // Infinite of both signs is not a number.
            Some(_) => ends(state).iter().filter(|worth| **worth != 0.0).sum(),
            None => class(state),
        })
        .collect()
}

/// Backward induction; the first step by `first`, if given. Also the best choices of the first step.
fn steps(
    mdp: &Mdp,
    objective: &Objective,
    direction: Direction,
    first: Option<&[Option<u32>]>,
) -> (Vec<f64>, Vec<Option<u32>>) {
    let n = mdp.n_states();
    let has = |label: &str, state: usize| mdp.label(label).unwrap().contains(&(state as u32));
    let (n_steps, discount, paid) = match objective {
        Objective::Horizon { steps, discount, .. } => (*steps, *discount, true),
        Objective::Reach { steps: Some(steps), .. } => (*steps, 1.0, false),
        other => panic!("{other:?} has no number of steps"),
    };
    let fixed = |state: usize| match objective {
        Objective::Reach { goal, .. } if has(goal, state) => Some(1.0),
        Objective::Reach { avoid: Some(avoid), .. } if has(avoid, state) => Some(0.0),
        _ => None,
    };
    let rewards = mdp.expected_rewards(None).unwrap();
    let sign = if direction == Direction::Maximize { 1.0 } else { -1.0 };
    let mut values: Vec<f64> = (0..n).map(|state| fixed(state).unwrap_or(0.0)).collect();
    let mut policy = vec![None; n];
    for step in 1..=n_steps {
        let before = values.clone();
        for state in (0..n).filter(|&state| fixed(state).is_none()) {
            let q = |choice: usize| {
                let mean: f64 = mdp
                    .arcs_of(choice)
                    .map(|a| mdp.probabilities()[a] * before[mdp.targets()[a] as usize])
                    .sum();
                discount * mean + if paid { rewards[choice] } else { 0.0 }
            };
            let only = first.filter(|_| step == n_steps).and_then(|first| first[state]);
            let all = mdp.choices_of(state).filter(|&choice| only.is_none_or(|only| only as usize == choice));
            let best = all.max_by(|&a, &b| (sign * q(a)).total_cmp(&(sign * q(b))));
            policy[state] = best.map(|choice| choice as u32);
            values[state] = best.map_or(0.0, q);
        }
    }
    (values, policy)
}

/// The best values, and a policy that has them in every state; `None` if a policy's value is undefined.
pub fn solve(mdp: &Mdp, objective: &Objective, direction: Direction) -> Option<(Vec<f64>, Vec<Option<u32>>)> {
    let n = mdp.n_states();
    if matches!(objective, Objective::Horizon { .. } | Objective::Reach { steps: Some(_), .. }) {
        return Some(steps(mdp, objective, direction, None));
    }
    let first: Vec<Option<u32>> =
        (0..n).map(|state| mdp.choices_of(state).next().map(|choice| choice as u32)).collect();
    let sign = if direction == Direction::Maximize { 1.0 } else { -1.0 };
    let mut all = Vec::new();
    let mut policy = first.clone();
    loop {
        all.push((evaluate(mdp, objective, direction, &policy), policy.clone()));
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
    if all.iter().any(|(values, _)| values.iter().any(|value| value.is_nan())) {
        return None;
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
    Some((best, policy))
}
