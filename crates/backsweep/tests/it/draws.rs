//! The weights of drawn worlds against the distributions that they are draws of. Seeds are fixed.

use backsweep::explore::{Exploration, Explore};
use backsweep::planner::Snapshot;
use backsweep::{Action, Agent, Next, Settings, State, Transition};

/// Draws: as many worlds as one agent may have, for several seeds.
const SEEDS: u64 = 4;
const WORLDS: u32 = 1000;
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

/// An agent with three states of one action, in which nothing was observed yet.
fn agent(prior: f64, seed: u64) -> Agent {
    let explore = Explore::PosteriorSampling { worlds: WORLDS, prior };
    let reward_range = Some((0.0, 2.0));
    let exploration = Exploration { explore, reward_range, seed, ..Exploration::default() };
    let mut agent = Agent::new(Settings::default()).unwrap().with_exploration(exploration).unwrap();
    agent.add_states([1, 1, 1]).unwrap();
    agent
}

/// Pair 0 of every world: the weights of its successors by state, the weight that ended, and the mean reward.
struct Drawn {
    to: [f64; 3],
    ended: f64,
    mean_reward: f64,
}

impl Drawn {
    fn weight(&self) -> f64 {
        self.ended + self.to.iter().sum::<f64>()
    }
}

fn drawn(agent: &Agent) -> Vec<Drawn> {
    let snapshot = agent.store().unwrap();
    let world = |i: u32| snapshot.part(&format!("world{i}."));
    let of_pair = |world: Snapshot| {
        let [pair, next] = ["arcs.pair", "arcs.next_state"].map(|name| world.u32s(name).unwrap());
        let weights = world.f64s("arcs.weight").unwrap();
        let mut to = [0.0; 3];
        for i in (0..pair.len()).filter(|&i| pair[i] == 0) {
            to[next[i] as usize] += weights[i];
        }
        let first = |name: &str| world.f64s(name).unwrap().first().copied().unwrap_or(0.0);
        let mean_reward = first("model.reward_sum") / first("model.weight");
        Drawn { to, ended: first("model.ended"), mean_reward }
    };
    (0..WORLDS).map(world).map(of_pair).collect()
}

/// All worlds of all seeds, after these calls.
fn all_drawn(prior: f64, calls: impl Fn(&mut Agent)) -> Vec<Drawn> {
    let one = |seed| {
        let mut agent = agent(prior, seed);
        calls(&mut agent);
        drawn(&agent)
    };
    (0..SEEDS).flat_map(one).collect()
}

fn step(reward: f64, next: Next) -> Transition {
    Transition { state: State(0), action: Action(0), reward, next }
}

#[test]
fn a_single_observation_weighs_an_exponential_draw() {
    let worlds = all_drawn(0.0, |agent| {
        agent.observe_transition(&step(1.0, Next::Continue(State(1)))).unwrap();
    });
    assert!(distance(worlds.iter().map(|w| w.to[1]).collect(), |x| 1.0 - (-x).exp()) < 1.0);
}

/// An untried pair has nothing but its prior, whose weight is a gamma draw.
#[test]
fn the_weight_of_the_prior_is_a_gamma_draw() {
    for shape in [0.05f64, 0.3, 1.0, 2.5, 3.0, 40.0, 1e6] {
        let draws: Vec<f64> = all_drawn(shape, |_| ()).iter().map(Drawn::weight).collect();
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
}

/// A call other than an observation, after which all worlds are redrawn.
fn redraw(agent: &mut Agent) {
    let passing = step(1.0, Next::Continue(State(1)));
    agent.observe_weighted(&passing, 2.0).unwrap();
    agent.observe_weighted(&passing, -2.0).unwrap();
}

#[test]
fn redrawn_mean_rewards_are_normal_draws() {
    let worlds = all_drawn(0.0, |agent| {
        for reward in [0.0, 2.0, 0.5, 1.5] {
            agent.observe_transition(&step(reward, Next::Continue(State(1)))).unwrap();
        }
        redraw(agent);
    });
    // The variance of the four rewards is 5/8, and that of a mean with Dirichlet weights a fifth of it.
    let draws = worlds.iter().map(|world| (world.mean_reward - 1.0) / 0.125f64.sqrt()).collect();
    let half = |x: f64| integral(|x| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt(), x.abs());
    assert!(distance(draws, |x| 0.5 + half(x).copysign(x)) < 1.0);
}

#[test]
fn outcomes_that_were_taken_back_weigh_nothing_when_redrawn() {
    let worlds = all_drawn(0.0, |agent| {
        agent.observe_transition(&step(1.0, Next::Continue(State(1)))).unwrap();
        agent.observe_transition(&step(1.0, Next::Continue(State(2)))).unwrap();
        agent.forget(&step(1.0, Next::Continue(State(2)))).unwrap();
    });
    assert!(worlds.iter().all(|world| world.to[2] == 0.0 && world.to[1] > 0.0));
}

/// The pair is seen 5 times to state 1, twice to state 2, and ends 3 times.
const COUNTS: [u32; 3] = [5, 2, 3];

fn observe(agent: &mut Agent) {
    let to = [Next::Continue(State(1)), Next::Truncated(State(2)), Next::Terminated];
    for (n, next) in COUNTS.into_iter().zip(to) {
        for _ in 0..n {
            agent.observe_transition(&step(1.0, next)).unwrap();
        }
    }
}

/// The shares of the three outcomes in every world.
fn shares(worlds: &[Drawn]) -> [Vec<f64>; 3] {
    let share = |of: fn(&Drawn) -> f64| worlds.iter().map(|world| of(world) / world.weight()).collect();
    [share(|world| world.to[1]), share(|world| world.to[2]), share(|world| world.ended)]
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
    check_dirichlet(10, &shares(&all_drawn(0.0, observe)));
}

#[test]
fn redrawn_weights_are_a_dirichlet_draw() {
    let before = shares(&all_drawn(0.0, observe));
    let after = shares(&all_drawn(0.0, |agent| {
        observe(agent);
        redraw(agent);
    }));
    check_dirichlet(10, &after);
    // They are independent of what they were.
    let mean = f64::from(COUNTS[0]) / 10.0;
    let product = before[0].iter().zip(&after[0]).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    assert!((product / N as f64).abs() < 4.0 * moments(&before[0]).1 / (N as f64).sqrt());
}

#[test]
fn the_prior_is_one_more_outcome() {
    check_dirichlet(12, &shares(&all_drawn(2.0, observe)));
    check_dirichlet(
        12,
        &shares(&all_drawn(2.0, |agent| {
            observe(agent);
            redraw(agent);
        })),
    );
}
