//! Discounted values against exact rationals: never outside, by any method, stopped at any moment, with any number of threads.

use crate::ask::{discounted, solve_discounted};
use crate::common::{DISCOUNTS, Small, assert_inside, exact_values, random_model, rational};
use backsweep::Random;
use backsweep_bench::families::{self, applied};
use backsweep_mdp::{Direction, Mdp, MdpBuilder, NO_CHOICE};
use backsweep_solve::{DISCOUNTED_METHODS, DiscountedMethod, Error, Limits, Result, Solution};
use std::sync::atomic::{AtomicUsize, Ordering};

const DIRECTIONS: [Direction; 2] = [Direction::Maximize, Direction::Minimize];

fn solve(
    small: &Small,
    direction: Direction,
    method: Option<DiscountedMethod>,
    tolerance: f64,
) -> Result<Solution> {
    let limits = Limits { tolerance, relative: 0.0, stop: &|| false, threads: 1 };
    solve_discounted(&small.mdp, &small.rewards, small.discount, direction, method, &limits)
}

/// Every method on every model: the exact value is inside, and the goal is reached where rounding allows it.
#[test]
fn exact_values_are_inside_every_interval() {
    let mut random = Random::from_seed(1);
    let (mut refused, mut solved) = (0, 0);
    for i in 0..400 {
        let mut small = random_model(&mut random, 7);
        small.discount = DISCOUNTS[i % DISCOUNTS.len()];
        let direction = DIRECTIONS[i / 8 % 2];
        let exact = exact_values(&small, direction);
        for method in std::iter::once(None).chain(DISCOUNTED_METHODS.map(Some)) {
            let what = format!("model {i}, discount {}, {direction:?}, {method:?}", small.discount);
            // Values of a million are exact to about 1e-9; a residual of that is worth 1e-3.
            let tolerance = if small.discount < 0.9999 { 1e-7 } else { 0.1 };
            match solve(&small, direction, method, tolerance) {
                Ok(solution) => {
                    assert_inside(&exact, &solution, &what);
                    // Methods that iterate, when the caller insists on them, may give up where a million sweeps would be
                    // needed; the portfolio may not.
                    let sweeps = [
                        DiscountedMethod::Outward,
                        DiscountedMethod::Simultaneous,
                        DiscountedMethod::InPlace,
                        DiscountedMethod::Krylov,
                    ]
                    .map(Some);
                    let may_give_up = small.discount > 0.99 && sweeps.contains(&method);
                    assert!(solution.converged || may_give_up, "{what}: {:?}", solution.explanation);
                    check_policy(&small, &solution, &what);
                    solved += 1;
                }
                Err(error) => {
                    assert_eq!(method, Some(DiscountedMethod::Backward), "{what}: {error}");
                    assert_eq!(error, Error::Cycles);
                    refused += 1;
                }
            }
        }
    }
    assert!(solved > 2400 && refused > 50, "{solved} solved, {refused} refused");
}

fn check_policy(small: &Small, solution: &Solution, what: &str) {
    for (s, &choice) in solution.policy.iter().enumerate() {
        let choices = small.mdp.choice_starts()[s]..small.mdp.choice_starts()[s + 1];
        assert!(
            choices.contains(&choice) || (choices.is_empty() && choice == NO_CHOICE),
            "{what}: state {s}"
        );
    }
}

/// Solving with an unreachable tolerance still ends, with an interval that holds.
#[test]
fn impossible_tolerances_end() {
    let mut random = Random::from_seed(2);
    for i in 0..150 {
        let small = random_model(&mut random, 6);
        let exact = exact_values(&small, Direction::Maximize);
        for method in std::iter::once(None).chain(DISCOUNTED_METHODS.map(Some)) {
            let what = format!("model {i}, discount {}, {method:?}", small.discount);
            let Ok(solution) = solve(&small, Direction::Maximize, method, 1e-300) else { continue };
            assert_inside(&exact, &solution, &what);
            let widths = solution.lower.iter().zip(&solution.upper).map(|(l, u)| u - l);
            assert_eq!(solution.converged, widths.fold(0.0, f64::max) <= 2e-300, "{what}");
        }
    }
}

/// Stopped at the first, second, third ... question, each method still proves what it has.
#[test]
fn intervals_hold_whenever_the_work_is_stopped() {
    let mut random = Random::from_seed(3);
    let mut stopped_short = 0;
    for i in 0..40 {
        let mut small = random_model(&mut random, 6);
        small.discount = DISCOUNTS[1 + i % 5];
        let exact = exact_values(&small, Direction::Minimize);
        for method in std::iter::once(None).chain(DISCOUNTED_METHODS.map(Some)) {
            for last in 0..200 {
                let asked = AtomicUsize::new(0);
                let stop = || asked.fetch_add(1, Ordering::Relaxed) >= last;
                let limits = Limits { tolerance: 1e-9, relative: 0.0, stop: &stop, threads: 1 };
                let Ok(solution) = solve_discounted(
                    &small.mdp,
                    &small.rewards,
                    small.discount,
                    Direction::Minimize,
                    method,
                    &limits,
                ) else {
                    break;
                };
                assert_inside(&exact, &solution, &format!("model {i}, {method:?}, stopped at {last}"));
                stopped_short += usize::from(!solution.converged);
                if asked.load(Ordering::Relaxed) <= last {
                    break;
                }
            }
        }
    }
    assert!(stopped_short > 500, "{stopped_short}");
}

/// Large enough for two threads: all bytes agree.
#[test]
fn threads_do_not_change_a_byte() {
    let garnet = families::garnet(30_000, 4, 10, 5);
    let layered = families::layered(100, 1000, 5);
    let maze = families::MazeModel::new(120, 5).family();
    for (family, name) in [(garnet, "garnet"), (layered, "layered"), (maze, "maze")] {
        for method in [None, Some(DiscountedMethod::Simultaneous)] {
            let solve = |threads| {
                let limits = Limits { tolerance: 1e-5, relative: 0.0, stop: &|| false, threads };
                let (mdp, rewards) = (&family.mdp, &family.mdp.rewards[0].choices);
                solve_discounted(mdp, rewards, family.discount, Direction::Maximize, method, &limits).unwrap()
            };
            let one = solve(1);
            assert!(one.converged, "{name}");
            assert_eq!(one, solve(2), "{name}");
            assert_eq!(one, solve(3), "{name}");
        }
    }
}

/// All methods agree on models of a size that rationals do not reach.
#[test]
fn methods_agree_on_families() {
    let families = [
        ("maze", families::MazeModel::new(40, 1).family()),
        ("garnet", families::garnet(300, 3, 5, 1)),
        ("layered", families::layered(30, 20, 1)),
        ("corridor", families::corridor(400, None)),
        ("shuffled corridor", families::corridor(400, Some(1))),
        ("inventory", applied::inventory(40, 0.99)),
        ("two products", applied::two_products(10, 0.99)),
        ("mountain car", applied::mountain_car(20, 0.99)),
        ("pendulum", applied::pendulum(12, 0.99)),
        ("queues", applied::tandem_queue(12, 0.99)),
        ("epidemic", applied::epidemic(12, 0.99)),
        ("gambler", applied::gambler(60, 0.99)),
        ("replacement", applied::replacement(300, 0.99)),
        ("forest", applied::forest(300, 0.99)),
        ("self-loops", applied::self_loops(100, 0.99)),
        ("torus", applied::torus(12, 0.99)),
    ];
    for (name, family) in families {
        let small = Small {
            rewards: family.mdp.rewards[0].choices.clone(),
            mdp: family.mdp,
            discount: family.discount,
        };
        for direction in DIRECTIONS {
            let reference = solve(&small, direction, None, 1e-6).unwrap();
            assert!(reference.converged, "{name}: {:?}", reference.explanation);
            for method in DISCOUNTED_METHODS {
                let Ok(solution) = solve(&small, direction, Some(method), 1e-6) else {
                    let acyclic = name == "layered" || name == "epidemic";
                    assert!(method == DiscountedMethod::Backward && !acyclic, "{name}, {method}");
                    continue;
                };
                assert!(solution.converged, "{name}, {method}: {:?}", solution.explanation);
                for s in 0..small.mdp.n_states() {
                    let apart =
                        solution.lower[s] > reference.upper[s] || solution.upper[s] < reference.lower[s];
                    assert!(!apart, "{name}, {method}, {direction:?}: state {s}");
                }
            }
        }
    }
}

/// The portfolio takes the method that each family is made for.
#[test]
fn the_portfolio_chooses() {
    let expected = [
        ("backward", families::layered(30, 20, 1)),
        ("elimination: the envelope", families::corridor(2000, None)),
        ("elimination: renumbered", families::corridor(2000, Some(1))),
        ("outward", families::MazeModel::new(200, 1).family()),
        ("in-place", families::MazeModel::new(60, 1).family()),
        ("in-place", applied::self_loops(500, 0.99)),
        ("simultaneous", families::garnet(2000, 3, 5, 1)),
    ];
    for (start, family) in expected {
        let small = Small {
            rewards: family.mdp.rewards[0].choices.clone(),
            mdp: family.mdp,
            discount: family.discount,
        };
        let solution = solve(&small, Direction::Maximize, None, 1e-4).unwrap();
        assert!(solution.explanation[0].starts_with(start), "{start}: {:?}", solution.explanation);
    }
}

/// Where one method needs thousands of sweeps and another a few, attempts find the other: counted in sweeps, of which a
/// method that is not stopped takes more.
#[test]
fn attempts_find_the_method_that_needs_few_sweeps() {
    let cases = [
        ("a chain with resets", applied::replacement(2000, 0.9999), 1500),
        ("a forest", applied::forest(5000, 0.9999), 600),
        ("self loops", applied::self_loops(1000, 0.9999), 600),
        ("a car", applied::mountain_car(60, 0.9999), 250),
    ];
    for (name, family, most) in cases {
        let small = Small {
            rewards: family.mdp.rewards[0].choices.clone(),
            mdp: family.mdp,
            discount: family.discount,
        };
        let solution = solve(&small, Direction::Maximize, None, 1e-4).unwrap();
        let (iterations, why) = (solution.iterations, &solution.explanation);
        assert!(solution.converged && iterations <= most, "{name}: {iterations} sweeps, {why:?}");
    }
}

/// Widely different magnitudes, long rows, and the largest rewards: finite, and inside.
#[test]
fn extreme_numbers_stay_finite() {
    let mut random = Random::from_seed(4);
    for scale in [1e-300, 1e-12, 1e9, 1e149] {
        for _ in 0..20 {
            let mut small = random_model(&mut random, 5);
            small.rewards.iter_mut().for_each(|r| *r *= scale);
            let exact = exact_values(&small, Direction::Maximize);
            for method in std::iter::once(None).chain(DISCOUNTED_METHODS.map(Some)) {
                let Ok(solution) = solve(&small, Direction::Maximize, method, 1e-6 * scale) else { continue };
                assert_inside(&exact, &solution, &format!("scale {scale}, {method:?}"));
            }
        }
    }
}

/// A row of a million arcs: blocks of the sum keep rounding small enough for a tight bound.
#[test]
fn a_hub_does_not_spoil_the_bound() {
    let n = 200_000;
    let mut builder = MdpBuilder::default();
    builder.add_choice((0..n).map(|target| (target, 1.0 / f64::from(n))));
    builder.end_state();
    for _ in 1..n {
        builder.add_choice([(0, 1.0)]);
        builder.end_state();
    }
    let mdp = builder.finish().unwrap();
    let small = Small { rewards: vec![1.0; n as usize], mdp, discount: 0.9 };
    let solution = solve(&small, Direction::Maximize, None, 1e-8).unwrap();
    assert!(solution.converged, "{:?}", solution.explanation);
    // The row sums to 1 within 1e-9, so 10 is the value of a model that the stored one may stand for.
    assert!(rational(solution.lower[0]) <= rational(10.0) && solution.upper[0] >= 10.0);
}

/// Each mistake is refused with its place, what was found and what was expected.
#[test]
fn wrong_input_is_refused() {
    let good = || families::corridor(5, None);
    let solve = |family: &families::Family, tolerance: f64| {
        let limits = Limits { tolerance, relative: 0.0, stop: &|| false, threads: 1 };
        let question = discounted(family.discount, Direction::Maximize);
        backsweep_solve::solve(&family.mdp, &question, None, &limits)
    };
    assert!(solve(&good(), 1e-6).is_ok());
    type Spoil = fn(&mut families::Family);
    let spoils: [(Spoil, &str); 6] = [
        (|f| f.discount = 1.0, "the discount is 1"),
        (|f| f.discount = f64::NAN, "the discount is NaN"),
        (|f| f.discount = -0.1, "the discount is -0.1"),
        (|f| f.mdp.rewards[0].choices[3] = f64::NAN, "state 1, choice 1: the reward '' is NaN"),
        (|f| f.mdp.rewards[0].choices[3] = 1e151, "state 1, choice 1: the reward '' is"),
        (|f| f.mdp.rewards[0].choices.truncate(3), "found 3; expected 10"),
    ];
    for (spoil, expected) in spoils {
        let mut family = good();
        spoil(&mut family);
        let error = solve(&family, 1e-6).unwrap_err().to_string();
        assert!(error.contains(expected), "expected {expected:?}, found {error:?}");
    }
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(solve(&good(), tolerance).unwrap_err().to_string().contains("tolerance"));
    }
}

#[test]
fn empty_models_are_solved() {
    let mut builder = MdpBuilder::default();
    (0..2).for_each(|_| builder.end_state());
    for mdp in [Mdp::default(), builder.finish().unwrap()] {
        let n = mdp.n_states();
        let small = Small { mdp, rewards: vec![], discount: 0.9 };
        for method in std::iter::once(None).chain(DISCOUNTED_METHODS.map(Some)) {
            let solution = solve(&small, Direction::Maximize, method, 1e-6).unwrap();
            assert!(solution.converged, "{method:?}");
            assert_eq!(solution.lower, vec![0.0; n]);
            assert_eq!(solution.upper, vec![0.0; n]);
        }
    }
}

#[test]
fn methods_have_names() {
    for method in DISCOUNTED_METHODS {
        assert_eq!(DiscountedMethod::named(&method.to_string()).unwrap(), method);
    }
    let error = DiscountedMethod::named("magic").unwrap_err().to_string();
    assert!(error.contains("magic") && error.contains("outward"), "{error}");
}
