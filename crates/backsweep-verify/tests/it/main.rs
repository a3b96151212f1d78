//! True results are proven, and false ones are not.

mod common;

use backsweep::Random;
use backsweep_mdp::{Direction, Label, Mdp, MdpBuilder, Objective, Rewards};
use backsweep_verify::{ResultFile, Verification, fingerprint, verify};
use common::{below, evaluate, random_mdp, random_objective, solve};

const TOLERANCE: f64 = 1e-6;

/// A number from 0 to 1.
fn unit(random: &mut Random) -> f64 {
    random.next_u64() as f64 / u64::MAX as f64
}

/// A true result with bounds up to `width` tolerances from the values.
fn true_result(random: &mut Random, mdp: &Mdp, width: f64) -> (ResultFile, Vec<f64>) {
    let (objective, direction, (values, policy)) = loop {
        let (objective, direction) = random_objective(random, mdp);
        if let Some(solved) = solve(mdp, &objective, direction) {
            break (objective, direction, solved);
        }
    };
    let mut apart =
        |sign: f64| values.iter().map(|value| value + sign * width * TOLERANCE * unit(random)).collect();
    let (lower, upper) = (apart(-1.0), apart(1.0));
    let result = ResultFile {
        model: fingerprint(mdp),
        objective,
        direction,
        tolerance: TOLERANCE,
        relative: 0.0,
        converged: true,
        lower,
        upper,
        policy,
        states: Vec::new(),
        method: "every policy".to_owned(),
        iterations: 1,
        seconds: 0.5,
        peak_memory: None,
    };
    (result, values)
}

#[test]
fn true_results_are_proven() {
    let mut random = Random::from_seed(1);
    for i in 0..3000 {
        let mdp = random_mdp(&mut random);
        let width = [0.0, 0.9][i % 2];
        let (result, _) = true_result(&mut random, &mdp, width);
        let report = verify(&mdp, &result);
        assert_eq!(report.verdict, Verification::Proven, "{i}: {result:?} {mdp:?}");
    }
}

/// Changes one number of a true result so that a claim is false; `None` if this model does not allow the change.
fn tamper(random: &mut Random, mdp: &Mdp, result: &mut ResultFile, values: &[f64]) -> Option<&'static str> {
    let state = below(random, mdp.n_states());
    let far = TOLERANCE * 10f64.powf(4.0 * unit(random)) * 1.1;
    let finite = values[state].is_finite();
    match below(random, 8) {
        0 if finite => {
            result.lower[state] = values[state] + far;
            Some("lower bound above the value")
        }
        1 if finite => {
            result.upper[state] = values[state] - far;
            Some("upper bound below the value")
        }
        2 if finite => {
            // Below the upper bound, so that only the value tells.
            result.upper[state] = values[state] + 0.9 * TOLERANCE;
            result.lower[state] = values[state] + 0.5 * TOLERANCE;
            Some("lower bound a little above the value")
        }
        3 if finite => {
            result.lower[state] = values[state] - 2.0 * TOLERANCE - far;
            Some("bounds too far apart")
        }
        4 if finite => {
            *[&mut result.lower, &mut result.upper][below(random, 2)].get_mut(state)? = f64::INFINITY;
            Some("infinite bound of a finite value")
        }
        5 if !finite => {
            *[&mut result.lower, &mut result.upper][below(random, 2)].get_mut(state)? =
                10f64.powi(below(random, 9) as i32);
            Some("finite bound of an infinite value")
        }
        6 => {
            let choices = mdp.choices_of(state);
            let new = (choices.start + below(random, choices.len().max(1))) as u32;
            if choices.is_empty() {
                return None;
            }
            result.policy[state] = Some(new);
            let worse = evaluate(mdp, &result.objective, result.direction, &result.policy);
            let sign = if result.direction == Direction::Maximize { 1.0 } else { -1.0 };
            let lost = |(best, now): (&f64, &f64)| best != now && sign * (best - now) > 3.0 * TOLERANCE;
            values.iter().zip(&worse).any(lost).then_some("a policy that loses")
        }
        7 => {
            let at = below(random, result.model.len());
            let old = result.model.as_bytes()[at];
            result.model.replace_range(at..=at, if old == b'0' { "1" } else { "0" });
            Some("another model")
        }
        _ => None,
    }
}

#[test]
fn ten_thousand_false_results_are_refused() {
    let mut random = Random::from_seed(2);
    let (mut n, mut n_wrong) = (0, 0);
    let mut kinds = std::collections::BTreeMap::new();
    while n < 10_000 {
        let mdp = random_mdp(&mut random);
        let (truth, values) = true_result(&mut random, &mdp, 0.3);
        for _ in 0..8 {
            let mut result = truth.clone();
            let Some(kind) = tamper(&mut random, &mdp, &mut result, &values) else { continue };
            let report = verify(&mdp, &result);
            assert_ne!(report.verdict, Verification::Proven, "{kind}: {result:?} {mdp:?}");
            n += 1;
            n_wrong += usize::from(matches!(report.verdict, Verification::Wrong(_)));
            *kinds.entry(kind).or_insert(0) += 1;
        }
    }
    assert!(kinds.len() == 8, "{kinds:?}");
    assert!(kinds.values().all(|n| *n > 50), "{kinds:?}");
    // On models this small nothing is left undecided.
    assert_eq!(n_wrong, n, "{kinds:?}");
}

/// A chain of 2n + 1 states in which plain value iteration stops far from the answer: each half has to be climbed step by step,
/// and any step may fall back to the middle.
fn two_ladders(n: u32) -> Mdp {
    let mut builder = MdpBuilder::default();
    let mut row = |arcs: &[(u32, f64)]| {
        builder.add_choice(arcs.iter().copied());
        builder.end_state();
    };
    row(&[(1, 0.7), (n + 1, 0.3)]);
    for ladder in [0, n] {
        for step in 1..n {
            row(&[(0, 0.5), (ladder + step + 1, 0.5)]);
        }
        row(&[(ladder + n, 1.0)]);
    }
    let mut mdp = builder.finish().unwrap();
    mdp.chain = true;
    mdp.labels.push(Label { name: "goal".to_owned(), states: vec![n] });
    mdp.rewards.push(Rewards { choices: vec![1.0; 2 * n as usize + 1], ..Rewards::default() });
    mdp
}

#[test]
fn a_chain_that_takes_a_million_steps() {
    check_two_ladders(20);
}

/// No weight that falls along the way can carry a proof over 2^100 steps: the equations have to be solved to the last digit.
#[test]
fn a_chain_that_takes_longer_than_the_universe() {
    check_two_ladders(60);
    check_two_ladders(100);
}

fn check_two_ladders(n: u32) {
    let mdp = two_ladders(n);
    let states = 2 * n as usize + 1;
    let mut values = vec![0.7; states];
    // From step k of a ladder: up with 2^-(n - k), otherwise back to the middle.
    for step in 1..=n {
        let up = 0.5f64.powi((n - step) as i32);
        values[step as usize] = up + (1.0 - up) * 0.7;
        values[(n + step) as usize] = (1.0 - up) * 0.7;
    }
    let result = ResultFile {
        model: fingerprint(&mdp),
        objective: Objective::Reach { goal: "goal".to_owned(), avoid: None, steps: None },
        direction: Direction::Maximize,
        tolerance: 1e-9,
        relative: 0.0,
        converged: true,
        lower: values.iter().map(|value| value - 1e-10).collect(),
        upper: values.iter().map(|value| value + 1e-10).collect(),
        policy: (0..states as u32).map(Some).collect(),
        states: Vec::new(),
        method: String::new(),
        iterations: 0,
        seconds: 0.0,
        peak_memory: None,
    };
    assert_eq!(verify(&mdp, &result).verdict, Verification::Proven);
    // What value iteration would say.
    let mut early = result.clone();
    early.lower[0] = 1e-6;
    early.upper[0] = 1e-6 + 1e-10;
    assert!(matches!(verify(&mdp, &early).verdict, Verification::Wrong(_)));
}

/// A state, the reward of one of its choices, and where that leads.
type ChoiceRow<'a> = (u32, f64, &'a [(u32, f64)]);

/// A model from its choices; the goal is the last state.
fn small(n: u32, rows: &[ChoiceRow]) -> Mdp {
    let mut builder = MdpBuilder::default();
    let mut rewards = Rewards::default();
    for state in 0..n {
        for (_, reward, arcs) in rows.iter().filter(|row| row.0 == state) {
            builder.add_choice(arcs.iter().copied());
            rewards.choices.push(*reward);
        }
        builder.end_state();
    }
    let mut mdp = builder.finish().unwrap();
    mdp.rewards.push(rewards);
    mdp.labels.push(Label { name: "goal".to_owned(), states: vec![n - 1] });
    mdp
}

/// A result that claims these bounds and this policy.
fn claim(
    mdp: &Mdp,
    objective: Objective,
    direction: Direction,
    tolerance: f64,
    bounds: [&[f64]; 2],
    policy: &[Option<u32>],
) -> ResultFile {
    ResultFile {
        model: fingerprint(mdp),
        objective,
        direction,
        tolerance,
        relative: 0.0,
        converged: true,
        lower: bounds[0].to_vec(),
        upper: bounds[1].to_vec(),
        policy: policy.to_vec(),
        states: Vec::new(),
        method: String::new(),
        iterations: 1,
        seconds: 0.0,
        peak_memory: None,
    }
}

/// What the check says about these totals, claimed as both bounds, and this policy.
fn judge(
    mdp: &Mdp,
    until: Option<&str>,
    direction: Direction,
    values: &[f64],
    policy: &[Option<u32>],
) -> Verification {
    let objective = Objective::Total { reward: None, until: until.map(str::to_owned) };
    verify(mdp, &claim(mdp, objective, direction, TOLERANCE, [values, values], policy)).verdict
}

#[test]
fn loops_that_earn_before_the_goal_are_infinite() {
    const LESS: f64 = f64::NEG_INFINITY;
    // A free loop, a loop that earns, and the way to the goal; the state before has only the way on.
    let rows: [ChoiceRow; 4] = [
        (0, 5.0, &[(1, 0.5), (2, 0.5)]),
        (1, 0.0, &[(1, 1.0)]),
        (1, -1.0, &[(1, 1.0)]),
        (1, 1.0, &[(2, 1.0)]),
    ];
    let mdp = small(3, &rows);
    let of = |values: [f64; 3], choice| {
        judge(&mdp, Some("goal"), Direction::Minimize, &values, &[Some(0), choice, None])
    };
    assert_eq!(of([LESS, LESS, 0.0], Some(2)), Verification::Proven);
    assert_eq!(of([LESS, LESS, 0.0], None), Verification::Proven, "no policy attains it");
    assert!(
        matches!(of([5.5, 1.0, 0.0], Some(3)), Verification::Wrong(_)),
        "the loop that earns is left out"
    );
    // A loop that costs is not used, whatever is free beside it.
    let mdp = small(3, &[rows[0], rows[1], (1, 1.0, &[(1, 1.0)]), rows[3]]);
    let of =
        |values: [f64; 3]| judge(&mdp, Some("goal"), Direction::Minimize, &values, &[Some(0), Some(3), None]);
    assert_eq!(of([5.5, 1.0, 0.0]), Verification::Proven);
    assert!(matches!(of([LESS, LESS, 0.0]), Verification::Wrong(_)));
}

#[test]
fn a_loop_that_earns_beside_a_free_one_makes_an_episode_infinite() {
    // Beside its free loop, state 0 has one that earns and a way round that costs.
    let rows: [ChoiceRow; 5] = [
        (0, 0.0, &[(0, 1.0)]),
        (0, 5.0, &[(0, 1.0)]),
        (0, -10.0, &[(1, 1.0)]),
        (1, -10.0, &[(0, 1.0)]),
        (2, 0.0, &[(2, 1.0)]),
    ];
    let mdp = small(3, &rows);
    let of = |values: [f64; 3], choice| {
        judge(&mdp, None, Direction::Maximize, &values, &[Some(choice), Some(3), Some(4)])
    };
    assert_eq!(of([f64::INFINITY, f64::INFINITY, 0.0], 1), Verification::Proven);
    assert!(matches!(of([0.0, -10.0, 0.0], 0), Verification::Wrong(_)));
}

/// A step that is off by a fraction of the last digit of a value adds up to many digits: sums have to keep more than a double.
#[test]
fn less_than_a_last_digit_per_step_is_not_overlooked() {
    let (p, discount) = (0.999, 1023.0 / 1024.0);
    // p is this times 2^-53.
    let mantissa = (p * (1_u64 << 53) as f64) as i128;
    let mut n_off = 0;
    for i in 0..100 {
        let claimed = (1_i128 << 52) + 2 * i + 1;
        let value = claimed as f64;
        let reward = value - discount * p * value;
        // 2^63 times what the claimed value falls short of the value of its step, exactly.
        let residual = (((2.0 * reward) as i128) << 62) - (claimed << 63) + 1023 * claimed * mantissa;
        // About 500 steps follow, so the claim is off by more than 15.
        if residual.abs() < 1 << 58 {
            continue;
        }
        n_off += 1;
        let mdp = small(1, &[(0, reward, &[(0, p)])]);
        let objective = Objective::Discounted { reward: None, discount };
        let bounds = [&[value - 4.0][..], &[value + 4.0]];
        let result = claim(&mdp, objective, Direction::Maximize, 4.0, bounds, &[Some(0)]);
        let report = verify(&mdp, &result);
        assert_ne!(report.verdict, Verification::Proven, "{value}, {residual}: {report:?}");
    }
    assert!(n_off > 50, "{n_off}");
}

/// Close to a discount of 1 sweeps gain little at a time, but they do gain.
#[test]
fn slow_sweeps_are_not_taken_for_none() {
    let mdp = small(4, &[(0, 0.0, &[(0, 1.0)]), (2, 1.0, &[(1, 0.125), (2, 0.875)])]);
    // The bounds of state 0 are far from symmetric around its value, 0.
    let (lower, upper) = ([-7e-10, 0.0, 7.994403916, 0.0], [6.2e-7, 0.0, 7.994404529, 0.0]);
    let objective = Objective::Discounted { reward: None, discount: 0.9999 };
    let policy = [Some(0), None, Some(1), None];
    let result = claim(&mdp, objective, Direction::Maximize, 1e-6, [&lower, &upper], &policy);
    assert_eq!(verify(&mdp, &result).verdict, Verification::Proven);
}

/// Rewards that cancel out to a gain far below the digits of their size.
#[test]
fn a_small_gain_of_large_rewards_is_confirmed() {
    // Sizes whose sums are rounded.
    let [a, b, c] = [1e9 / 3.0, 1e9 / 7.0, 1e9 / 11.0];
    let rows: [ChoiceRow; 7] = [
        (0, a, &[(1, 1.0)]),
        (1, b, &[(2, 1.0)]),
        (2, c, &[(3, 1.0)]),
        (3, -a, &[(4, 1.0)]),
        (4, -b, &[(5, 1.0)]),
        (5, -c, &[(6, 0.5), (0, 0.5)]),
        (6, 3e-9, &[(0, 0.75), (6, 0.25)]),
    ];
    let mdp = small(7, &rows);
    let average = || Objective::Average { reward: None };
    let policy = [0, 1, 2, 3, 4, 5, 6].map(Some);
    for (direction, values, is_true) in [
        (Direction::Maximize, [3e-10; 7], true),
        (Direction::Minimize, [3e-10; 7], true),
        (Direction::Maximize, [3e-8; 7], false),
        (Direction::Minimize, [-3e-8; 7], false),
    ] {
        let result = claim(&mdp, average(), direction, 1e-6, [&values, &values], &policy);
        let report = verify(&mdp, &result);
        assert_eq!(report.verdict == Verification::Proven, is_true, "{values:?}: {report:?}");
        assert_eq!(matches!(report.verdict, Verification::Wrong(_)), !is_true, "{values:?}: {report:?}");
    }
}

/// The claimed policy leaves for 0, and what staying earns is known only as an interval around that: it may be better.
#[test]
fn staying_that_may_be_better_than_the_policy_is_counted() {
    let rows: [ChoiceRow; 5] = [
        (0, 1e9, &[(1, 6.0 / 11.0)]),
        (0, 0.0, &[(0, 0.875)]),
        (0, 1e-9, &[(0, 2.0 / 11.0), (1, 9.0 / 11.0)]),
        (1, 1e-9, &[(1, 7.0 / 11.0), (2, 4.0 / 11.0)]),
        (2, 0.0, &[(0, 1.0)]),
    ];
    let mdp = small(3, &rows);
    let bounds = [&[0.0; 3][..], &[1e-9; 3]];
    let policy = [Some(0), Some(3), Some(4)];
    let average = Objective::Average { reward: None };
    let result = claim(&mdp, average, Direction::Maximize, 1e-6, bounds, &policy);
    assert_eq!(verify(&mdp, &result).verdict, Verification::Proven);
}

/// A loop that costs far less per step than the tolerance is never as good as an exit that is free.
#[test]
fn a_loop_that_costs_hardly_anything_is_not_an_exit() {
    // The first two choices tie.
    let rows: [ChoiceRow; 4] =
        [(0, 0.0, &[(1, 0.8)]), (0, 0.0, &[(1, 0.75)]), (1, 0.0, &[(1, 0.8)]), (1, 1e-9, &[(1, 1.0)])];
    let mdp = small(2, &rows);
    let total = Objective::Total { reward: None, until: None };
    let policy = [Some(0), Some(2)];
    let result = claim(&mdp, total, Direction::Minimize, 1e-6, [&[0.0; 2], &[0.0; 2]], &policy);
    assert_eq!(verify(&mdp, &result).verdict, Verification::Proven);
}

/// A gain that rounding keeps wider than the tolerance is given up at once, not after the whole budget, which takes minutes.
#[test]
fn what_rounding_forbids_is_given_up_at_once() {
    let mdp = small(1, &[(0, 1e9, &[(0, 1.0)])]);
    let bounds = [&[1e9 - 1e-6][..], &[1e9 + 1e-6]];
    let mut result =
        claim(&mdp, Objective::Average { reward: None }, Direction::Minimize, 1e-13, bounds, &[Some(0)]);
    result.converged = false;
    let start = std::time::Instant::now();
    assert_eq!(verify(&mdp, &result).verdict, Verification::Proven);
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}

#[test]
fn results_survive_their_file() {
    let mut random = Random::from_seed(3);
    for _ in 0..200 {
        let mdp = random_mdp(&mut random);
        let (mut result, _) = true_result(&mut random, &mdp, 0.9);
        result.lower[0] = f64::NEG_INFINITY;
        result.policy[0] = None;
        let text = result.to_json().unwrap();
        assert_eq!(ResultFile::from_json(&text).unwrap(), result, "{text}");
    }
    let error = ResultFile::from_json("{\n \"model\": 3}").unwrap_err().to_string();
    assert!(error.starts_with("2:"), "{error}");
    let text = "{\"model\":\"\",\"lower\":[\"high\"]";
    assert!(ResultFile::from_json(text).unwrap_err().to_string().contains("found \"high\""), "{text}");
}
