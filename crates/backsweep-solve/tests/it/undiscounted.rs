//! Problems whose answers are known from their definitions, large components, stops, bytes and errors.

use crate::ask::{About, solve_undiscounted, solve_undiscounted_by};
use crate::exact::{Number, Value};
use crate::exact_models::Random;
use backsweep_mdp::{Direction, NO_CHOICE};
use backsweep_mdp::{Mdp, MdpBuilder, Rewards};
use backsweep_solve::{Limits, Solution};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

fn limits(tolerance: f64) -> Limits<'static> {
    Limits { tolerance, relative: 0.0, stop: &|| false, threads: 1 }
}

/// A model from rows: per state its choices, per choice the arcs.
fn model(states: &[Vec<Vec<(u32, f64)>>]) -> Mdp {
    let mut builder = MdpBuilder::default();
    for choices in states {
        for arcs in choices {
            for &(t, p) in arcs {
                builder.add_arc(t, p);
            }
            builder.end_choice();
        }
        builder.end_state();
    }
    builder.finish().unwrap()
}

fn per_step(mdp: &Mdp, reward: f64) -> Rewards {
    Rewards { choices: vec![reward; mdp.n_choices()], ..Rewards::default() }
}

fn width(solution: &Solution) -> f64 {
    let widths = solution.lower.iter().zip(&solution.upper).map(|(l, u)| if l == u { 0.0 } else { u - l });
    widths.fold(0.0, f64::max)
}

/// Haddad and Monmege's chain: from the start to one of two lines of `n` states, with probability .7 to the one that ends in
/// the target; every state of a line goes on or back to the start with probability 1/2.
fn haddad_monmege(n: u32) -> Mdp {
    let (target, lost) = (2 * n + 1, 2 * n + 2);
    let mut states = vec![vec![vec![(1, 0.7), (n + 1, 0.3)]]];
    for (first, end) in [(1, target), (n + 1, lost)] {
        for i in 0..n {
            let on = if i + 1 == n { end } else { first + i + 1 };
            states.push(vec![vec![(0, 0.5), (on, 0.5)]]);
        }
    }
    states.extend([vec![vec![(target, 1.0)]], vec![vec![(lost, 1.0)]]]);
    model(&states)
}

#[test]
fn haddad_and_monmege_is_seven_tenths_at_once() {
    for n in [19, 100, 900] {
        let mdp = haddad_monmege(n);
        let start = Instant::now();
        for direction in [Direction::Maximize, Direction::Minimize] {
            let goal = [2 * n + 1];
            let objective = About::Reach { goal: &goal, avoid: &[] };
            let solution = solve_undiscounted(&mdp, objective, direction, &limits(1e-9)).unwrap();
            assert!(solution.converged, "{n}: {:?}", solution.explanation);
            assert!(solution.lower[0] <= 0.7 && 0.7 <= solution.upper[0], "{n}: {}", solution.value(0));
            assert!((solution.value(0) - 0.7).abs() <= 1e-9);
        }
        assert!(start.elapsed().as_secs_f64() < 1.0, "{n}: {:?}", start.elapsed());
    }
    // Every try takes one step to a line and 2 − 2^(1−n) on it, and one in 2^n succeeds: 3 · 2^n − 2 steps.
    let mdp = haddad_monmege(19);
    let reward = per_step(&mdp, 1.0);
    let goal = [39, 40];
    let objective = About::RewardUntil { reward: &reward, goal: &goal };
    let solution = solve_undiscounted(&mdp, objective, Direction::Minimize, &limits(1e-6)).unwrap();
    let exact = 3.0 * 2_f64.powi(19) - 2.0;
    assert!(
        solution.converged && solution.lower[0] <= exact && exact <= solution.upper[0],
        "{}",
        solution.value(0)
    );
}

/// The gambler with a fair coin: from k of n, reaching n before 0 has probability k/n and takes k (n − k) steps.
#[test]
fn the_fair_gambler() {
    let n = 60_u32;
    let states: Vec<_> = (0..=n)
        .map(|k| if k == 0 || k == n { vec![] } else { vec![vec![(k - 1, 0.5), (k + 1, 0.5)]] })
        .collect();
    let mdp = model(&states);
    let reward = per_step(&mdp, 1.0);
    for method in [None, Some("elimination"), Some("sweeps")] {
        let (rich, over) = ([n], [0, n]);
        let reach = About::Reach { goal: &rich, avoid: &[] };
        let until = About::RewardUntil { reward: &reward, goal: &over };
        let total = About::TotalReward { reward: &reward };
        let solve = |objective| {
            solve_undiscounted_by(method, &mdp, objective, Direction::Maximize, &limits(1e-7)).unwrap()
        };
        let (p, until, total) = (solve(reach), solve(until), solve(total));
        assert!(p.converged && until.converged && total.converged, "{method:?}");
        for k in 0..=n as usize {
            let (chance, steps) = (k as f64 / f64::from(n), (k * (n as usize - k)) as f64);
            assert!(p.lower[k] <= chance && chance <= p.upper[k] + 1e-16, "{method:?}: {k}");
            assert!(until.lower[k] <= steps && steps <= until.upper[k], "{method:?}: {k}");
            assert!(total.lower[k] <= steps && steps <= total.upper[k], "{method:?}: {k}");
        }
    }
}

/// The gambler with a coin of 2/5, in rationals: 2/5 is not a double, and the rounding of many steps adds up to more than the
/// last digit. With r = 3/2, from k of n the chance is (r^k − 1) / (r^n − 1).
#[test]
fn the_unfair_gambler_is_inside_to_the_last_digit() {
    let n = 80_u32;
    // Digits that stop early are off by more than a double is, and so are rows that do not sum to 1 exactly.
    for (win, lose) in [(0.4, 0.6), (0.4 - 3e-12, 0.6), (0.4 * (1.0 + 1e-13), 0.6 * (1.0 + 1e-13))] {
        let states: Vec<_> = (0..=n)
            .map(|k| if k == 0 || k == n { vec![] } else { vec![vec![(k - 1, lose), (k + 1, win)]] })
            .collect();
        let mdp = model(&states);
        let ratio = Number::new(3.into(), 2.into());
        let one = Number::from_integer(1.into());
        for method in [Some("elimination"), Some("sweeps")] {
            for direction in [Direction::Maximize, Direction::Minimize] {
                let objective = About::Reach { goal: &[n], avoid: &[] };
                let solution =
                    solve_undiscounted_by(method, &mdp, objective, direction, &limits(1e-14)).unwrap();
                for k in 0..=n as usize {
                    let chance = (ratio.pow(k as i32) - &one) / (ratio.pow(n as i32) - &one);
                    let inside = Value::Finite(chance).between(solution.lower[k], solution.upper[k]);
                    assert!(inside, "{win}, {method:?}, {k}: [{}, {}]", solution.lower[k], solution.upper[k]);
                }
            }
        }
    }
}

/// A state that may wait for free, at a cost, or pay to leave: waiting never reaches the goal, so it does not make the way
/// cheaper.
#[test]
fn waiting_for_free_is_not_progress() {
    // State 0: wait, go to 1 for free, or pay 5; state 1: back for free, or pay 3; state 2 is the goal.
    let mdp = model(&[
        vec![vec![(0, 1.0)], vec![(1, 1.0)], vec![(2, 1.0)]],
        vec![vec![(0, 1.0)], vec![(2, 1.0)]],
        vec![],
    ]);
    let reward = Rewards { choices: vec![0.0, 0.0, 5.0, 0.0, 3.0], ..Rewards::default() };
    let goal = [2];
    let objective = About::RewardUntil { reward: &reward, goal: &goal };
    let cheapest = solve_undiscounted(&mdp, objective, Direction::Minimize, &limits(1e-9)).unwrap();
    assert!((cheapest.value(0) - 3.0).abs() < 1e-12 && (cheapest.value(1) - 3.0).abs() < 1e-12);
    assert_eq!(cheapest.policy, [1, 4, NO_CHOICE], "leaves by the cheap way instead of waiting");
    let dearest = solve_undiscounted(&mdp, objective, Direction::Maximize, &limits(1e-9)).unwrap();
    assert_eq!(dearest.value(0), f64::INFINITY, "waiting forever misses the goal");
    let total = About::TotalReward { reward: &reward };
    let least = solve_undiscounted(&mdp, total, Direction::Minimize, &limits(1e-9)).unwrap();
    assert_eq!((least.lower[0], least.upper[0]), (0.0, 0.0), "without a goal, waiting is free");
    let most = solve_undiscounted(&mdp, total, Direction::Maximize, &limits(1e-9)).unwrap();
    assert!((most.value(0) - 5.0).abs() < 1e-12 && (most.value(1) - 5.0).abs() < 1e-12);
}

/// Probabilities that sum to 1 only up to rounding leave nothing out.
#[test]
fn rounding_of_a_row_is_not_an_end() {
    let mdp = model(&[vec![vec![(0, 0.1), (0, 0.2), (1, 0.7)]], vec![]]);
    let third = model(&[vec![vec![(0, 1.0 / 3.0), (0, 1.0 / 3.0), (1, 0.33333333333)]], vec![]]);
    for mdp in [mdp, third] {
        let reward = per_step(&mdp, 1.0);
        let objective = About::RewardUntil { reward: &reward, goal: &[1] };
        let solution = solve_undiscounted(&mdp, objective, Direction::Minimize, &limits(1e-6)).unwrap();
        assert!(solution.converged && solution.value(0).is_finite(), "{solution:?}");
    }
    let ends = model(&[vec![vec![(0, 0.5), (1, 0.25)]], vec![]]);
    let reward = per_step(&ends, 1.0);
    let until = About::RewardUntil { reward: &reward, goal: &[1] };
    assert_eq!(
        solve_undiscounted(&ends, until, Direction::Minimize, &limits(1e-6)).unwrap().value(0),
        f64::INFINITY
    );
    let total = About::TotalReward { reward: &reward };
    assert!(
        (solve_undiscounted(&ends, total, Direction::Minimize, &limits(1e-9)).unwrap().value(0) - 2.0).abs()
            < 1e-9
    );
}

/// Stopped before it began, an answer that the rewards alone give names choices: `converged` is about the policy, too.
#[test]
fn an_answer_that_needs_no_work_has_a_policy() {
    let mdp = model(&[vec![vec![(0, 1.0)], vec![(1, 1.0)]], vec![]]);
    let at_once = Limits { stop: &|| true, ..limits(1e-6) };
    for reward in [0.0, 1e-9, 1.0].map(|reward| per_step(&mdp, reward)) {
        for about in [About::Average { reward: &reward }, About::TotalReward { reward: &reward }] {
            for direction in [Direction::Maximize, Direction::Minimize] {
                let solution = solve_undiscounted(&mdp, about, direction, &at_once).unwrap();
                assert!(!solution.converged || solution.policy[0] != NO_CHOICE, "{about:?}: {solution:?}");
            }
        }
    }
}

/// What is missing from a row beyond the slack of its sum ends the episode, however little it is.
#[test]
fn a_small_chance_to_end_is_one() {
    for end in [1e-8, 1e-6, 1e-4] {
        let mdp = model(&[vec![vec![(0, 1.0 - end)]]]);
        let reward = per_step(&mdp, 1.0);
        let about = About::TotalReward { reward: &reward };
        let exact =
            Value::Finite(Number::from_float(1.0).unwrap() / Number::from_float(1.0 - (1.0 - end)).unwrap());
        for direction in [Direction::Maximize, Direction::Minimize] {
            let solution = solve_undiscounted(&mdp, about, direction, &limits(1.0)).unwrap();
            assert!(
                exact.between(solution.lower[0], solution.upper[0]),
                "{end}, {direction:?}: {solution:?}"
            );
        }
    }
}

/// A square with walls: four directions, .2 to slip aside; the goal in one corner, a pit in another.
fn square(side: u32, seed: u64) -> Mdp {
    let mut random = Random(seed);
    let wall: Vec<bool> =
        (0..side * side).map(|i| i > 0 && i + 1 < side * side && random.below(5) == 0).collect();
    let go = |s: u32, d: usize| {
        let (x, y) = (s % side, s / side);
        let (x2, y2) = [(x + 1, y), (x, y + 1), (x.wrapping_sub(1), y), (x, y.wrapping_sub(1))][d];
        let t = if x2 < side && y2 < side { y2 * side + x2 } else { s };
        if wall[t as usize] { s } else { t }
    };
    let states: Vec<_> = (0..side * side)
        .map(|s| {
            if s == side - 1 || s + 1 == side * side {
                return vec![];
            }
            (0..4)
                .map(|d| vec![(go(s, d), 0.8), (go(s, (d + 1) % 4), 0.1), (go(s, (d + 3) % 4), 0.1)])
                .collect()
        })
        .collect();
    model(&states)
}

/// Components above the size that is eliminated at once: both methods, and they agree.
#[test]
fn large_components_by_either_method() {
    let side = 30;
    let mdp = square(side, 3);
    let reward = per_step(&mdp, 1.0);
    let (goal, over) = ([side * side - 1], [side - 1, side * side - 1]);
    let avoid = [side - 1];
    let objectives = [
        About::Reach { goal: &goal, avoid: &avoid },
        About::RewardUntil { reward: &reward, goal: &over },
        About::TotalReward { reward: &reward },
    ];
    for objective in objectives {
        let solve = |method| {
            solve_undiscounted_by(method, &mdp, objective, Direction::Minimize, &limits(1e-6)).unwrap()
        };
        let [swept, eliminated] = [Some("sweeps"), Some("elimination")].map(solve);
        assert!(swept.converged, "{objective:?}: {} {:?}", width(&swept), swept.explanation);
        assert!(eliminated.converged, "{objective:?}: {} {:?}", width(&eliminated), eliminated.explanation);
        for s in 0..mdp.n_states() {
            let apart = swept.lower[s] > eliminated.upper[s] || eliminated.lower[s] > swept.upper[s];
            assert!(!apart, "{objective:?}: state {s}");
        }
    }
}

/// Stopped at any moment, the intervals contain the ones that are proven with time; and the same input gives the same bytes.
#[test]
fn a_stop_leaves_proven_intervals() {
    let side = 25;
    let mdp = square(side, 8);
    let reward = per_step(&mdp, 1.0);
    let goal = [side * side - 1];
    let until = About::RewardUntil { reward: &reward, goal: &goal };
    let reach = About::Reach { goal: &goal, avoid: &[] };
    for (objective, direction) in
        [(until, Direction::Minimize), (reach, Direction::Minimize), (reach, Direction::Maximize)]
    {
        for method in [Some("sweeps"), Some("elimination")] {
            let solve = |stop: &(dyn Fn() -> bool + Sync), threads| {
                let limits = Limits { tolerance: 1e-7, relative: 0.0, stop, threads };
                solve_undiscounted_by(method, &mdp, objective, direction, &limits).unwrap()
            };
            let finished = solve(&|| false, 1);
            assert!(finished.converged);
            assert_eq!(finished, solve(&|| false, 2), "the same bytes");
            for after in [0, 1, 2, 3, 5, 8, 13, 30, 60, 100, 200] {
                let asked = AtomicU64::new(0);
                let stopped = solve(&|| asked.fetch_add(1, Relaxed) >= after, 1);
                for s in 0..mdp.n_states() {
                    assert!(
                        stopped.lower[s] <= finished.upper[s] && finished.lower[s] <= stopped.upper[s],
                        "{after}: {s}"
                    );
                }
                assert!(asked.into_inner() < after + 200, "{method:?} continues after the stop");
            }
        }
    }
}

/// Solving with a tolerance that no double can meet still ends, without claiming to have met it.
#[test]
fn any_tolerance_ends() {
    let mdp = square(12, 1);
    let reward = per_step(&mdp, 1.0 / 3.0);
    let goal = [143];
    let objective = About::RewardUntil { reward: &reward, goal: &goal };
    for tolerance in [1e-300, 1e-18, 1e-3, 1e6] {
        for method in [None, Some("sweeps")] {
            let solution =
                solve_undiscounted_by(method, &mdp, objective, Direction::Minimize, &limits(tolerance))
                    .unwrap();
            assert_eq!(solution.converged, width(&solution) <= 2.0 * tolerance, "{method:?}, {tolerance}");
            assert_eq!(solution.converged, tolerance > 1e-9, "{method:?}, {tolerance}: {}", width(&solution));
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    let good = model(&[vec![vec![(1, 0.5), (0, 0.5)]], vec![]]);
    let goal = About::Reach { goal: &[1], avoid: &[] };
    let error = |mdp: &Mdp, objective| {
        solve_undiscounted(mdp, objective, Direction::Maximize, &limits(1e-6)).unwrap_err().to_string()
    };
    assert!(error(&Mdp::default(), goal).contains("empty"));
    assert!(
        error(&good, About::Reach { goal: &[5], avoid: &[] })
            .contains("label 'goal': state 5 does not exist")
    );
    let reward = Rewards { name: "cost".into(), choices: vec![f64::INFINITY], ..Rewards::default() };
    assert!(error(&good, About::TotalReward { reward: &reward }).contains("the reward 'cost' is inf"));
    let reward = Rewards { name: "cost".into(), states: vec![1.0], ..Rewards::default() };
    assert!(error(&good, About::Average { reward: &reward }).contains("per state: found 1; expected 2"));
    let reward = per_step(&good, 1.0);
    assert!(
        error(&good, About::Horizon { reward: &reward, steps: 3, discount: 1.5 }).contains("discount is 1.5")
    );
    let limits = Limits { tolerance: f64::NAN, relative: 0.0, stop: &|| false, threads: 1 };
    assert!(
        solve_undiscounted(&good, goal, Direction::Maximize, &limits)
            .unwrap_err()
            .to_string()
            .contains("tolerance")
    );
}

/// Many states without a cycle, and a horizon longer than anyone waits.
#[test]
fn size_and_length() {
    let n = 300_000_u32;
    let states: Vec<_> =
        (0..n)
            .map(|s| {
                if s + 2 >= n { vec![] } else { vec![vec![(s + 1, 0.75), (s + 2, 0.25)], vec![(s + 2, 1.0)]] }
            })
            .collect();
    let mdp = model(&states);
    let goal = [n - 1];
    let reach = About::Reach { goal: &goal, avoid: &[] };
    let solution = solve_undiscounted(&mdp, reach, Direction::Minimize, &limits(1e-9)).unwrap();
    assert!(solution.converged, "{}", width(&solution));
    let reward = per_step(&mdp, 1.0);
    let asked = AtomicU64::new(0);
    let stop = || asked.fetch_add(1, Relaxed) >= 1;
    let limits = Limits { tolerance: 1e-6, relative: 0.0, stop: &stop, threads: 1 };
    let horizon = About::Horizon { reward: &reward, steps: u64::MAX, discount: 1.0 };
    let solution = solve_undiscounted(&mdp, horizon, Direction::Maximize, &limits).unwrap();
    assert!(
        !solution.converged && solution.lower[0] <= f64::from(n) && solution.upper[0] >= f64::from(n - 3)
    );
    // The second time that it is asked comes within the first step: many of them would take seconds in larger models.
    assert_eq!(solution.iterations, 0);
}

/// A loop that pays 2 and costs 2, or 0.5 and 0.5, is free: it changes nothing, and the exit counts. A loop that pays a
/// little more than it costs is used forever; one whose rewards cancel only on average stays undecided.
#[test]
fn rewards_that_cancel_along_a_loop() {
    // 0 -> 1 -> 0; 1 also leads out, through 2, to the goal 3; 0 leads out at a high cost.
    let mdp = model(&[
        vec![vec![(1, 1.0)], vec![(3, 1.0)]],
        vec![vec![(0, 1.0)], vec![(2, 1.0)]],
        vec![vec![(1, 0.25), (3, 0.75)]],
        vec![vec![(3, 1.0)]],
    ]);
    let solve = |choices: [f64; 6], direction| {
        let reward = Rewards { choices: choices.to_vec(), ..Rewards::default() };
        let objective = About::RewardUntil { reward: &reward, goal: &[3] };
        solve_undiscounted(&mdp, objective, direction, &limits(1e-9)).unwrap()
    };
    for size in [2.0, 0.5, 3.25] {
        let solution = solve([size, 10.0, -size, 1.0, 1.0, 0.0], Direction::Minimize);
        assert!(solution.converged, "{:?}", solution.explanation);
        // From 1: one step to 2, and with probability 1/4 again. From 0: the step to 1 first.
        let exact = [size + 8.0 / 3.0, 8.0 / 3.0, 1.0 + 2.0 / 3.0, 0.0];
        for (s, exact) in exact.into_iter().enumerate() {
            assert!(
                solution.lower[s] <= exact + 1e-12 && exact - 1e-12 <= solution.upper[s],
                "{s}: {exact} {} {}",
                solution.lower[s],
                solution.upper[s]
            );
        }
        assert_eq!(solution.policy[1], 3);
        let pays = solve([size, 10.0, -size - 0.125, 1.0, 1.0, 0.0], Direction::Minimize);
        assert_eq!((pays.lower[0], pays.upper[0]), (f64::NEG_INFINITY, f64::NEG_INFINITY));
        let costs = solve([size, 10.0, -size + 0.125, 1.0, 1.0, 0.0], Direction::Minimize);
        assert!(costs.converged && (costs.value(0) - exact[0]).abs() < 1e-9);
    }
    // Only the mean of the two ways back cancels: doubles cannot establish that.
    let mdp = model(&[
        vec![vec![(1, 1.0)], vec![(3, 1.0)]],
        vec![vec![(0, 0.3), (2, 0.7)]],
        vec![vec![(0, 1.0)]],
        vec![vec![(3, 1.0)]],
    ]);
    let reward = Rewards { choices: vec![0.7, 5.0, 0.0, -1.0, 0.0], ..Rewards::default() };
    let objective = About::RewardUntil { reward: &reward, goal: &[3] };
    let open = solve_undiscounted(&mdp, objective, Direction::Minimize, &limits(1e-9)).unwrap();
    assert!(!open.converged && open.lower[0] == f64::NEG_INFINITY && open.upper[0] == f64::INFINITY);
    assert!(open.explanation.iter().any(|line| line.contains("both signs")), "{:?}", open.explanation);
}
