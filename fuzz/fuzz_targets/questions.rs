//! A small model and a question about it, read from bytes: every objective, both directions, every method, stopped at any
//! moment. The exact answer, by trying every policy in rational numbers, is inside every interval; a policy is worth what was
//! proven; and the independent check, which shares no code with the solver, confirms what was proven.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/backsweep-solve/tests/it/ask.rs"]
mod ask;
#[path = "../../crates/backsweep-solve/tests/it/common.rs"]
mod common;
#[allow(dead_code)]
#[path = "../../crates/backsweep-solve/tests/it/exact.rs"]
mod exact;
#[path = "../../crates/backsweep-solve/tests/it/exact_answer.rs"]
mod exact_answer;
#[path = "../../crates/backsweep-solve/tests/it/exact_models.rs"]
mod exact_models;

use ask::{About, with_rewards};
use backsweep_mdp::{Direction, Mdp, NO_CHOICE, Question, Rewards};
use backsweep_solve::{DISCOUNTED_METHODS, DiscountedMethod, Limits, Solution, solve};
use backsweep_verify::{ResultFile, Verification, fingerprint, verify};
use common::Small;
use exact::{Choice, Model, Number, Value};
use libfuzzer_sys::fuzz_target;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Takes numbers from the front of the input; 0 where it has ended.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn below(&mut self, n: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first) % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn set(&mut self, n: usize) -> Vec<u32> {
        let bits = self.below(256);
        (0..n as u32).filter(|s| bits >> s & 1 == 1).collect()
    }
}

/// At most this many policies are tried.
const MAX_POLICIES: usize = 48;

/// Up to six states. Probabilities are n/16, which doubles hold exactly, or fractions that they do not.
fn model(input: &mut Input) -> Model {
    let n = 1 + input.below(6);
    let is_dyadic = input.below(2) == 0;
    let sizes = input.pick(&[
        [0.0, 1.0, -1.0, 2.5],
        [0.0, 1.0, 0.1, 3.0],
        [0.0, -1.0, -7.0, -0.3],
        [1e9, -1e9, 1e-9, 0.0],
    ]);
    let mut n_policies = 1;
    let mut states = Vec::new();
    for _ in 0..n {
        let mut n_choices = input.below(4);
        if n_policies * n_choices > MAX_POLICIES {
            n_choices = 1;
        }
        n_policies *= n_choices.max(1);
        let mut choices = Vec::new();
        for _ in 0..n_choices {
            let mut arcs: Vec<(usize, usize)> =
                (0..1 + input.below(3)).map(|_| (input.below(n), 1 + input.below(9))).collect();
            let ends = input.pick(&[0, 0, 0, 1, 5]);
            let mut whole = arcs.iter().map(|arc| arc.1).sum::<usize>() + ends;
            if is_dyadic && ends == 0 {
                arcs[0].1 += whole.next_power_of_two() - whole;
            }
            if is_dyadic {
                whole = whole.next_power_of_two();
            }
            let ratio = |k: usize| Number::new((k as i64).into(), (whole as i64).into());
            let arcs = arcs.iter().map(|&(to, weight)| (to, ratio(weight))).collect();
            choices.push(Choice { arcs, reward: Number::from_float(input.pick(&sizes)).expect("finite") });
        }
        states.push(choices);
    }
    Model { states }
}

fn show(model: &Model) -> String {
    let number = |x: &Number| x.to_string();
    let choice =
        |c: &Choice| (number(&c.reward), c.arcs.iter().map(|a| (a.0, number(&a.1))).collect::<Vec<_>>());
    let state = |choices: &Vec<Choice>| choices.iter().map(choice).collect::<Vec<_>>();
    format!("{:?}", model.states.iter().map(state).collect::<Vec<_>>())
}

/// Whatever was reached holds, and `converged` means that intervals are narrow.
fn check(solution: &Solution, values: &[Option<Value>], tolerance: f64, what: &str) {
    for (s, (&lower, &upper)) in solution.lower.iter().zip(&solution.upper).enumerate() {
        assert!(
            !lower.is_nan() && !upper.is_nan() && lower <= upper,
            "{what}: state {s}: [{lower}, {upper}]"
        );
        assert!(
            !solution.converged || lower == upper || upper - lower <= 2.0 * tolerance,
            "{what}: [{lower}, {upper}]"
        );
        if let Some(value) = &values[s] {
            assert!(
                value.between(lower, upper),
                "{what}: state {s} is {value:?}, outside [{lower}, {upper}]"
            );
        }
    }
}

/// The sizes of the finite bounds.
fn values(solution: &Solution) -> impl Iterator<Item = f64> {
    solution.lower.iter().chain(&solution.upper).map(|x| x.abs()).filter(|x| x.is_finite())
}

/// The independent check never contradicts an answer, and confirms one that has converged.
fn confirm(
    mdp: &Mdp,
    question: &Question,
    solution: &Solution,
    tolerance: f64,
    is_decidable: bool,
    what: &str,
) {
    let result = ResultFile {
        model: fingerprint(mdp),
        objective: question.objective.clone(),
        direction: question.direction,
        tolerance,
        relative: 0.0,
        converged: solution.converged,
        lower: solution.lower.clone(),
        upper: solution.upper.clone(),
        policy: solution.policy.iter().map(|&choice| (choice != NO_CHOICE).then_some(choice)).collect(),
        states: Vec::new(),
        method: String::new(),
        iterations: solution.iterations,
        seconds: 0.0,
        peak_memory: None,
    };
    let report = verify(mdp, &result);
    assert!(!matches!(report.verdict, Verification::Wrong(_)), "{what}: {report:?} {solution:?}");
    // Below a hundredth of the tolerance there must be room for rounding; the check says so.
    let largest = values(solution).fold(1.0, f64::max);
    if solution.converged && is_decidable && tolerance >= 1e-11 * largest {
        assert!(report.verdict == Verification::Proven, "{what}: {report:?} {solution:?}");
    }
}

fn solved(
    mdp: &Mdp,
    question: &Question,
    method: Option<&str>,
    tolerance: f64,
    stop_after: Option<u64>,
) -> Option<Solution> {
    let calls = AtomicU64::new(0);
    let stop = || stop_after.is_some_and(|n| calls.fetch_add(1, Relaxed) >= n);
    // A method may refuse a model (backward needs one without cycles).
    solve(mdp, question, method, &Limits { tolerance, relative: 0.0, stop: &stop, threads: 1 }).ok()
}

fn discounted(
    input: &mut Input,
    model: &Model,
    mdp: &Mdp,
    rewards: &Rewards,
    direction: Direction,
    tolerance: f64,
) {
    let discount = input.pick(&common::DISCOUNTS);
    let question = ask::discounted(discount, direction);
    // Here stored probabilities are taken for exact.
    let small = Small { mdp: mdp.clone(), rewards: rewards.choices.clone(), discount };
    let exact: Vec<_> =
        common::exact_values(&small, direction).into_iter().map(|v| Some(Value::Finite(v))).collect();
    let method = DISCOUNTED_METHODS.get(input.below(16)).copied().map(DiscountedMethod::name);
    let stop_after = [None, Some(input.below(32) as u64)][input.below(2)];
    let what = format!(
        "discount {discount}, {direction:?}, {method:?}, {tolerance:e}, stop {stop_after:?}: {}",
        show(model)
    );
    let mdp = with_rewards(mdp, &rewards.choices);
    let Some(solution) = solved(&mdp, &question, method, tolerance, stop_after) else { return };
    check(&solution, &exact, tolerance, &what);
    // Without an answer to confirm, the check may sweep for seconds this close to 1.
    if solution.converged || discount < 0.9999 {
        confirm(&mdp, &question, &solution, tolerance, true, &what);
    }
}

fn undiscounted(
    input: &mut Input,
    model: &Model,
    mdp: &Mdp,
    rewards: &Rewards,
    direction: Direction,
    tolerance: f64,
) {
    let n = model.n();
    let goal = input.set(n);
    let avoid: Vec<u32> = input.set(n).into_iter().filter(|s| !goal.contains(s)).collect();
    let steps = input.below(9) as u64;
    let about = match input.below(6) {
        0 => About::Reach { goal: &goal, avoid: &avoid },
        1 => About::ReachWithin { goal: &goal, avoid: &avoid, steps },
        2 => About::RewardUntil { reward: rewards, goal: &goal },
        3 => About::TotalReward { reward: rewards },
        4 => About::Horizon { reward: rewards, steps, discount: input.pick(&[1.0, 0.75]) },
        _ => About::Average { reward: rewards },
    };
    let method = input.pick(&[None, Some("sweeps"), Some("elimination")]);
    let stop_after = [None, Some(input.below(32) as u64)][input.below(2)];
    let what =
        format!("{about:?}, {direction:?}, {method:?}, {tolerance:e}, stop {stop_after:?}: {}", show(model));
    let (mdp, objective) = about.named(mdp);
    let question = Question { objective, direction };
    let Some(solution) = solved(&mdp, &question, method, tolerance, stop_after) else { return };
    let exact = exact_answer::answer(model, about, direction);
    check(&solution, &exact[..n], tolerance, &what);
    let is_staged = matches!(about, About::ReachWithin { .. } | About::Horizon { .. });
    if solution.converged && !is_staged && exact[..n].iter().all(Option::is_some) {
        let first = mdp.choice_starts();
        let choice =
            |s: usize| solution.policy[s].checked_sub(first[s]).filter(|_| solution.policy[s] != NO_CHOICE);
        let policy: Vec<usize> = (0..n).map(|s| choice(s).unwrap_or(0) as usize).collect();
        let mut worth = exact_answer::worth(&model.chain(&policy), about);
        // Loops that pay before a goal have no last use, so that no policy has this value.
        if let (About::RewardUntil { .. }, Direction::Minimize) = (about, direction) {
            let is_endless = |s: &usize| exact[*s] == Some(Value::Minus);
            (0..n).filter(is_endless).for_each(|s| worth[s] = None);
        }
        check(&solution, &worth[..n], tolerance, &format!("policy, {what}"));
    }
    // Rewards that cancel in loops are what the check may leave open.
    let is_mixed = |about| matches!(about, About::RewardUntil { .. } | About::TotalReward { .. });
    let has = |sign: f64| rewards.choices.iter().any(|r| r * sign > 0.0);
    confirm(
        &mdp,
        &question,
        &solution,
        tolerance,
        !(is_mixed(about) && has(-1.0)),
        &what,
    );
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let is_discounted = input.below(4) == 0;
    let direction = input.pick(&[Direction::Maximize, Direction::Minimize]);
    let tolerance = input.pick(&[1e-6, 1e-9, 1e-3, 1e-13]);
    let model = model(&mut input);
    let (mdp, rewards) = exact_models::rounded(&model);
    let ask = if is_discounted { discounted } else { undiscounted };
    ask(&mut input, &model, &mdp, &rewards, direction, tolerance);
});
