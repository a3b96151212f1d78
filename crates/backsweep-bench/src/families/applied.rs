//! Models as people write them down: stock, queues, vehicles, epidemics, bets and machines.
//!
//! Their shapes differ from one another: full rows and short ones, models that end and models that never do, chains that mix
//! at once and chains that hardly move. The choice of a method is measured on them.

use super::{Family, family, probabilities};
use backsweep::Random;

/// Stock of one product up to a capacity, demand of any size, orders that arrive before it: every row is full. Costs of
/// ordering, holding and lost sales.
pub fn inventory(capacity: usize, discount: f64) -> Family {
    let mean = 0.3 * capacity as f64;
    let demand = poisson(mean, capacity + 1);
    family(capacity + 1, discount, |stock| {
        let order = |tenth: usize| {
            let order = (capacity - stock) * tenth / 10;
            let filled = stock + order;
            let mut outcomes: Vec<(u32, f64)> = Vec::with_capacity(filled + 1);
            let mut lost = 1.0;
            for (sold, &p) in demand.iter().enumerate().take(filled) {
                outcomes.push(((filled - sold) as u32, p));
                lost -= p;
            }
            if lost > 1e-12 {
                outcomes.push((0, lost));
            }
            let fixed = if order > 0 { 20.0 } else { 0.0 };
            let sold = mean.min(filled as f64);
            let earned = 8.0 * sold - fixed - 4.0 * order as f64 - 0.5 * filled as f64;
            (earned / capacity as f64, outcomes)
        };
        (0..=10).map(order).collect()
    })
}

/// Two products that share a truck: stock of each up to `capacity`, orders of a few sizes, demands that are independent.
pub fn two_products(capacity: usize, discount: f64) -> Family {
    let demand = [poisson(2.0, 7), poisson(3.0, 7)];
    let n = capacity + 1;
    family(n * n, discount, |state| {
        let order = |(a, b): (usize, usize)| {
            let (first, second) = ((state / n + a).min(capacity), (state % n + b).min(capacity));
            let mut outcomes = Vec::with_capacity(49);
            let mut reward = if a + b > 0 { -3.0 } else { 0.0 } - 0.1 * (first + second) as f64;
            for (x, p) in demand[0].iter().enumerate() {
                for (y, q) in demand[1].iter().enumerate() {
                    let (sold_x, sold_y) = (x.min(first), y.min(second));
                    outcomes.push((((first - sold_x) * n + second - sold_y) as u32, p * q));
                    reward += p * q * (2.0 * sold_x as f64 + 3.0 * sold_y as f64);
                }
            }
            (reward - 0.5 * (a + b) as f64, outcomes)
        };
        [(0, 0), (3, 0), (0, 4), (3, 4), (8, 0), (0, 9), (8, 9)].map(order).into()
    })
}

/// A car in a valley that cannot climb out at once, on a grid of positions and speeds with values interpolated; -1 per step.
pub fn mountain_car(side: usize, discount: f64) -> Family {
    let position = GridAxis { least: -1.2, most: 0.6, n: side };
    let speed = GridAxis { least: -0.07, most: 0.07, n: side };
    let end = side * side;
    family(end + 1, discount, |state| {
        if state == end {
            return Vec::new();
        }
        let (x, v) = (position.value(state / side), speed.value(state % side));
        let pushed = |push: f64| {
            let v = (v + 0.001 * push - 0.0025 * (3.0 * x).cos()).clamp(speed.least, speed.most);
            let x_next = (x + v).clamp(position.least, position.most);
            let v = if x_next <= position.least { 0.0 } else { v };
            let is_out = x_next >= 0.5;
            let out = || vec![(end as u32, 1.0)];
            (-1.0, if is_out { out() } else { interpolated(&position, x_next, &speed, v) })
        };
        [-1.0, 0.0, 1.0].map(pushed).into()
    })
}

/// A pendulum that is to stand upright, on a grid of angles and speeds with values interpolated; it never ends.
pub fn pendulum(side: usize, discount: f64) -> Family {
    // The last angle is the first again.
    let angle = GridAxis { least: -std::f64::consts::PI, most: std::f64::consts::PI, n: side + 1 };
    let speed = GridAxis { least: -8.0, most: 8.0, n: side };
    let n_states = side * side;
    family(n_states, discount, |state| {
        let (theta, omega) = (angle.value(state / side), speed.value(state % side));
        let turned = |torque: f64| {
            let omega_next =
                (omega + 0.05 * (15.0 * theta.sin() + 3.0 * torque)).clamp(speed.least, speed.most);
            let turn = 2.0 * std::f64::consts::PI;
            let theta_next = (theta + 0.05 * omega_next - angle.least).rem_euclid(turn) + angle.least;
            let cost = theta * theta + 0.1 * omega * omega + 0.001 * torque * torque;
            let outcomes = interpolated(&angle, theta_next, &speed, omega_next);
            (-cost, outcomes.into_iter().map(|(s, p)| (s % n_states as u32, p)).collect())
        };
        [-2.0, -1.0, 0.0, 1.0, 2.0].map(turned).into()
    })
}

/// Two queues in a row with a rate of service to choose for each; one event per step, and customers are lost where it is full.
pub fn tandem_queue(capacity: usize, discount: f64) -> Family {
    const ARRIVAL: f64 = 0.2;
    const RATES: [f64; 2] = [0.25, 0.4];
    let n = capacity + 1;
    let to = |a: usize, b: usize| (a * n + b) as u32;
    family(n * n, discount, |state| {
        let (first, second) = (state / n, state % n);
        let serve = |(i, j): (usize, usize)| {
            let mut outcomes = vec![(to((first + 1).min(capacity), second), ARRIVAL)];
            let mut stay = 1.0 - ARRIVAL;
            if first > 0 {
                outcomes.push((to(first - 1, (second + 1).min(capacity)), RATES[i]));
                stay -= RATES[i];
            }
            if second > 0 {
                outcomes.push((to(first, second - 1), RATES[j]));
                stay -= RATES[j];
            }
            if stay > 1e-12 {
                outcomes.push((state as u32, stay));
            }
            let lost = if first == capacity { 10.0 } else { 0.0 };
            (-((first + second) as f64) - 5.0 * (i + j) as f64 - lost, outcomes)
        };
        [(0, 0), (0, 1), (1, 0), (1, 1)].map(serve).into()
    })
}

/// An epidemic among `population` people: susceptible and infected, with measures of four strengths; it ends with the last
/// infection.
pub fn epidemic(population: usize, discount: f64) -> Family {
    let index = |s: usize, i: usize| (s * (population + 1) - s * s.saturating_sub(1) / 2 + i) as u32;
    let people: Vec<(usize, usize)> =
        (0..=population).flat_map(|s| (0..=population - s).map(move |i| (s, i))).collect();
    family(people.len(), discount, |state| {
        let (susceptible, infected) = people[state];
        let measured = |(measure, contact): (usize, f64)| {
            let risk = 1.0 - (-contact * infected as f64 / population as f64).exp();
            let (caught, healed) = (binomial(susceptible, risk), binomial(infected, 0.3));
            let mut outcomes = Vec::new();
            for (new, p) in caught.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                for (gone, q) in healed.iter().enumerate().filter(|(_, q)| **q > 0.0) {
                    outcomes.push((index(susceptible - new, infected + new - gone), p * q));
                }
            }
            let sum: f64 = outcomes.iter().map(|(_, p)| p).sum();
            outcomes.iter_mut().for_each(|(_, p)| *p /= sum);
            (-(infected as f64) - 4.0 * measure as f64, outcomes)
        };
        let measures = [0.6, 0.4, 0.25, 0.1].into_iter().enumerate();
        if infected == 0 { Vec::new() } else { measures.map(measured).collect() }
    })
}

/// A gambler who bets on a coin that comes up heads with 0.4, until nothing is left or the goal is reached; all bets.
pub fn gambler(goal: usize, discount: f64) -> Family {
    family(goal + 1, discount, |capital| {
        let bet = |bet: usize| {
            let reward = if capital + bet == goal { 0.4 } else { 0.0 };
            (reward, vec![((capital + bet) as u32, 0.4), ((capital - bet) as u32, 0.6)])
        };
        (1..=capital.min(goal - capital)).map(bet).collect()
    })
}

/// A machine that wears by a few units per step, faster when old, and may be replaced; it never ends.
pub fn replacement(n_states: usize, discount: f64) -> Family {
    let mut rng = Random::from_seed(1);
    family(n_states, discount, |wear| {
        let p = probabilities(&mut rng, 6).into_iter().enumerate();
        let worn = p.map(|(more, p)| ((wear + more).min(n_states - 1) as u32, p)).collect();
        let new = vec![(0, 0.9), (1.min(n_states - 1) as u32, 0.1)];
        vec![(-10.0 * wear as f64 / n_states as f64, worn), (-500.0, new)]
    })
}

/// A forest that grows older by a year unless it burns or is cut.
pub fn forest(n_states: usize, discount: f64) -> Family {
    let oldest = n_states - 1;
    family(n_states, discount, |age| {
        let [kept, cut] = match age {
            _ if age == oldest => [4.0, if age == 0 { 0.0 } else { 2.0 }],
            0 => [0.0, 0.0],
            _ => [0.0, 1.0],
        };
        vec![(kept, vec![((age + 1).min(oldest) as u32, 0.9), (0, 0.1)]), (cut, vec![(0, 1.0)])]
    })
}

/// A random graph in which every choice stays where it is most of the time: with 0.999 or 0.9999.
pub fn self_loops(n_states: usize, discount: f64) -> Family {
    let mut rng = Random::from_seed(2);
    let mut choice = |state: usize| {
        let stay = if rng.chance(0.5) { 0.999 } else { 0.9999 };
        let p = probabilities(&mut rng, 4);
        let left = p.into_iter().map(|p| (rng.below(n_states as u32), (1.0 - stay) * p));
        let outcomes = left.chain([(state as u32, stay)]).collect();
        (rng.unit(), outcomes)
    };
    family(n_states, discount, |state| (0..3).map(|_| choice(state)).collect())
}

/// A torus on which a walker drifts in the direction of the choice; rewards differ by place, and it never ends.
pub fn torus(side: usize, discount: f64) -> Family {
    let mut rng = Random::from_seed(3);
    family(side * side, discount, |state| {
        let (r, c) = (state / side, state % side);
        let reward = rng.unit();
        let to = |r: usize, c: usize| (r % side * side + c % side) as u32;
        let around = [to(r + 1, c), to(r, c + 1), to(r + side - 1, c), to(r, c + side - 1)];
        let drift = |direction: usize| {
            let outcomes = around.into_iter().enumerate();
            (reward, outcomes.map(|(i, to)| (to, if i == direction { 0.7 } else { 0.1 })).collect())
        };
        (0..4).map(drift).collect()
    })
}

/// Equally spaced numbers.
struct GridAxis {
    least: f64,
    most: f64,
    n: usize,
}

impl GridAxis {
    fn value(&self, i: usize) -> f64 {
        self.least + (self.most - self.least) * i as f64 / (self.n - 1) as f64
    }

    /// The point below a number, and how far the number is towards the next.
    fn place(&self, x: f64) -> (usize, f64) {
        let scaled = (x - self.least) / (self.most - self.least) * (self.n - 1) as f64;
        let below = (scaled.max(0.0) as usize).min(self.n - 2);
        (below, (scaled - below as f64).clamp(0.0, 1.0))
    }
}

/// The four points around a place, with weights whose mean is the place.
fn interpolated(first: &GridAxis, x: f64, second: &GridAxis, y: f64) -> Vec<(u32, f64)> {
    let ((i, u), (j, v)) = (first.place(x), second.place(y));
    let to = |i: usize, j: usize| (i * second.n + j) as u32;
    let corners = [
        (to(i, j), (1.0 - u) * (1.0 - v)),
        (to(i, j + 1), (1.0 - u) * v),
        (to(i + 1, j), u * (1.0 - v)),
        (to(i + 1, j + 1), u * v),
    ];
    corners.into_iter().filter(|(_, p)| *p > 0.0).collect()
}

/// The first `n` probabilities of a Poisson distribution, divided by their sum.
fn poisson(mean: f64, n: usize) -> Vec<f64> {
    let mut logs = vec![-mean];
    for k in 1..n {
        logs.push(logs[k - 1] + mean.ln() - (k as f64).ln());
    }
    let p: Vec<f64> = logs.into_iter().map(f64::exp).collect();
    let sum: f64 = p.iter().sum();
    p.into_iter().map(|p| p / sum).collect()
}

/// The probabilities of 0 to `n` successes; those below 1e-9 are left out as 0.
fn binomial(n: usize, p: f64) -> Vec<f64> {
    let mut row = vec![0.0; n + 1];
    row[0] = 1.0;
    for i in 0..n {
        for k in (0..=i).rev() {
            row[k + 1] += p * row[k];
            row[k] *= 1.0 - p;
        }
    }
    row.into_iter().map(|x| if x < 1e-9 { 0.0 } else { x }).collect()
}
