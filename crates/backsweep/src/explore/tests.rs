//! The weights of drawn worlds against the distributions that they are draws of. Seeds are fixed.

use super::draws::{exponential, gamma, normal};
use super::posterior::Posterior;
use super::statistics::Statistics;
use super::{Constants, Exploration};
use crate::planner::Pair;
use crate::{Action, Model, Next, PlannerKind, Random, Settings, State, Transition};

const N: usize = 4000;

/// The largest distance between the draws' distribution and this one (Kolmogorov–Smirnov), in units of what chance alone
/// exceeds one time in a thousand.
fn distance(mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let gaps = draws.iter().enumerate().map(|(i, &x)| {
        let p = cdf(x);
        (p - i as f64 / n).abs().max(((i + 1) as f64 / n - p).abs())
    });
    gaps.fold(0.0, f64::max) / (1.95 / n.sqrt())
}

fn moments(draws: &[f64]) -> (f64, f64) {
    let mean = draws.iter().sum::<f64>() / draws.len() as f64;
    (mean, draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64)
}

/// The integral of a density from 0 to x, by Simpson's rule.
fn integral(density: impl Fn(f64) -> f64, x: f64) -> f64 {
    let (n, h) = (2000, x / 2000.0);
    let weight = |i: usize| if i == 0 || i == n { 1.0 } else { [2.0, 4.0][i % 2] };
    (0..=n).map(|i| weight(i) * density(i as f64 * h)).sum::<f64>() * h / 3.0
}

/// The distribution of Beta(a, b) for whole a and b: a or more heads of a + b − 1 coins.
fn beta(a: u32, b: u32, x: f64) -> f64 {
    let n = a + b - 1;
    let choose = |k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
    (a..=n).map(|k| choose(k) * x.powi(k as i32) * (1.0 - x).powi((n - k) as i32)).sum()
}

#[test]
fn draws_have_their_distributions() {
    let mut random = Random::from_seed(1);
    let draws: Vec<f64> = (0..N).map(|_| exponential(&mut random)).collect();
    assert!(distance(draws, |x| 1.0 - (-x).exp()) < 1.0);
    let draws: Vec<f64> = (0..N).map(|_| normal(&mut random)).collect();
    let half = |x: f64| integral(|x| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt(), x.abs());
    assert!(distance(draws, |x| 0.5 + half(x).copysign(x)) < 1.0);
    for shape in [0.05f64, 0.3, 1.0, 2.5, 3.0, 40.0, 1e6] {
        let draws: Vec<f64> = (0..N).map(|_| gamma(&mut random, shape)).collect();
        let (mean, variance) = moments(&draws);
        assert!((mean - shape).abs() < 4.0 * (shape / N as f64).sqrt(), "shape {shape}: mean {mean}");
        // The fourth moment of a gamma distribution is 3 shape² + 6 shape.
        let deviation = ((2.0 * shape * shape + 6.0 * shape) / N as f64).sqrt();
        assert!((variance - shape).abs() < 4.0 * deviation, "shape {shape}: variance {variance}");
        if [1.0, 3.0, 40.0].contains(&shape) {
            let factorial: f64 = (1..shape as u32).map(|i| f64::from(i).ln()).sum();
            let cdf = |x: f64| integral(|t| ((shape - 1.0) * t.ln() - t - factorial).exp(), x);
            assert!(distance(draws, cdf) < 1.0, "shape {shape}");
        }
    }
    assert_eq!(gamma(&mut random, 0.0), 0.0);
    assert_eq!(gamma(&mut random, f64::NAN), 0.0);
}

fn posterior(prior: f64) -> Posterior {
    let settings = Settings::default();
    let mut posterior =
        Posterior::new(N as u32, prior, PlannerKind::default(), settings, &Exploration::default()).unwrap();
    for _ in 0..3 {
        posterior.add_state(1).unwrap();
    }
    posterior
}

/// The pair (0, 0) is seen 5 times to state 1, twice to state 2, and ends 3 times.
const COUNTS: [u32; 3] = [5, 2, 3];

fn observe(model: &mut Model, posterior: &mut Posterior) {
    let to = [Next::Continue(State(1)), Next::Truncated(State(2)), Next::Terminated];
    for (n, next) in COUNTS.into_iter().zip(to) {
        for _ in 0..n {
            let transition = Transition { state: State(0), action: Action(0), reward: 1.0, next };
            model.record(&transition).unwrap();
            posterior.observe(&transition, 1.0, None);
        }
    }
}

/// The shares of the three outcomes in every world.
fn shares(posterior: &Posterior) -> [Vec<f64>; 3] {
    let worlds = posterior.weights(Pair(0));
    let share = |i: usize| {
        let part = |(arcs, ended): &(Vec<f64>, f64)| {
            // The newest successor comes first: state 2, then state 1, then what was imagined.
            [arcs[1], arcs[0], *ended][i] / (ended + arcs.iter().sum::<f64>())
        };
        worlds.iter().map(part).collect::<Vec<f64>>()
    };
    [share(0), share(1), share(2)]
}

/// Moments and marginals of a Dirichlet distribution of COUNTS and what is left of `total`.
fn check_dirichlet(total: u32, shares: &[Vec<f64>; 3]) {
    let counts = COUNTS;
    let (n, sum) = (N as f64, f64::from(total));
    for (i, &count) in counts.iter().enumerate() {
        let (mean, variance) = moments(&shares[i]);
        let p = f64::from(count) / sum;
        let expected = p * (1.0 - p) / (sum + 1.0);
        assert!((mean - p).abs() < 4.0 * (expected / n).sqrt(), "outcome {i}: mean {mean}, {p}");
        assert!((variance / expected - 1.0).abs() < 0.15, "outcome {i}: variance {variance}, {expected}");
        let off = distance(shares[i].clone(), |x| beta(count, total - count, x));
        assert!(off < 1.0, "outcome {i}: {off} times what chance explains");
        for j in 0..i {
            let q = f64::from(counts[j]) / sum;
            let found = shares[i].iter().zip(&shares[j]).map(|(x, y)| (x - p) * (y - q)).sum::<f64>() / n;
            let expected = -p * q / (sum + 1.0);
            assert!((found / expected - 1.0).abs() < 0.2, "outcomes {i} and {j}: {found}, {expected}");
        }
    }
}

#[test]
fn observed_weights_are_a_dirichlet_draw() {
    let mut posterior = posterior(0.0);
    observe(&mut Model::with_states([1; 3]).unwrap(), &mut posterior);
    check_dirichlet(10, &shares(&posterior));
}

/// Without squares of rewards, whose mean is then drawn as it is.
fn statistics() -> Statistics {
    let constants = Constants { lowest: 0.0, range: 0.0, start: 0.0, floor: 0.0 };
    Statistics::new(&Exploration::default(), constants)
}

#[test]
fn redrawn_weights_are_a_dirichlet_draw() {
    let (mut posterior, mut model) = (posterior(0.0), Model::with_states([1; 3]).unwrap());
    observe(&mut model, &mut posterior);
    let before = shares(&posterior);
    posterior.redraw_pair(&model, Pair(0), &statistics());
    let after = shares(&posterior);
    check_dirichlet(10, &after);
    // They are independent of what they were.
    let mean = f64::from(COUNTS[0]) / 10.0;
    let product = before[0].iter().zip(&after[0]).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    assert!((product / N as f64).abs() < 4.0 * moments(&before[0]).1 / (N as f64).sqrt());
}

#[test]
fn the_prior_is_one_more_outcome() {
    let mut posterior = posterior(2.0);
    let mut model = Model::with_states([1; 3]).unwrap();
    observe(&mut model, &mut posterior);
    check_dirichlet(12, &shares(&posterior));
    posterior.redraw_pair(&model, Pair(0), &statistics());
    check_dirichlet(12, &shares(&posterior));
}
