//! The world of the measurements: an open grid with 15 outcomes per action, and one fixed stream of random observations.
//!
//! Any program can regenerate the stream from its seed: state = y × side + x; actions 0 to 3 are north, east, south, west;
//! an action has 15 equally likely outcomes, forward d = 1, 2, 3 with lateral −d … d, in that order, clamped to the grid.
//! Start (2, side − 3), goal (side − 3, 2), reward −1. Behaviour is uniformly random, from SplitMix64: action = next() ≫ 62,
//! outcome = (next() ≫ 32) mod 15. After the goal the walk restarts.

use backsweep::{Action, Next, State, Transition};

/// Actions of every state.
pub const N_ACTIONS: usize = 4;
/// The reward of every step.
pub const REWARD: f64 = -1.0;
/// The discount of every measurement.
pub const DISCOUNT: f64 = 0.99;
/// The smallest grid that has a start and a goal.
pub const MIN_SIDE: usize = 6;
/// The largest grid whose pairs have ids of 32 bits.
pub const MAX_SIDE: usize = 30_000;

/// One step of the walk, as small as it can be: a measurement reads it from memory while the clock runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Where the step began.
    pub state: u32,
    /// Where it led.
    pub next: u32,
    /// The action.
    pub action: u8,
    /// True if the goal was reached.
    pub terminated: bool,
}

impl Observation {
    /// The observation as the library takes it.
    #[inline]
    pub fn transition(self) -> Transition {
        Transition {
            state: State(self.state),
            action: Action(u32::from(self.action)),
            reward: REWARD,
            next: if self.terminated { Next::Terminated } else { Next::Continue(State(self.next)) },
        }
    }

    /// The pair of the observation, all states having as many actions.
    #[inline]
    pub fn pair(self) -> usize {
        self.state as usize * N_ACTIONS + usize::from(self.action)
    }
}

/// SplitMix64 (Steele, Lea & Flood 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// The first `n` observations of the walk on a grid.
pub fn observations(side: usize, n: usize, seed: u64) -> Vec<Observation> {
    steps(side, n, seed, false)
}

/// The same, but every step begins in a newly drawn state, (next() ≫ 32) mod states: a walk would not cover a large grid.
pub fn scattered_observations(side: usize, n: usize, seed: u64) -> Vec<Observation> {
    steps(side, n, seed, true)
}

fn steps(side: usize, n: usize, seed: u64, is_scattered: bool) -> Vec<Observation> {
    let mut random = SplitMix64(seed);
    let side = side as i64;
    let (start, goal) = ((side - 3) * side + 2, 2 * side + side - 3);
    let outcomes: Vec<(i64, i64)> = (1..=3).flat_map(|d| (-d..=d).map(move |l| (d, l))).collect();
    let mut state = start;
    let mut walk = Vec::with_capacity(n);
    while walk.len() < n {
        if is_scattered {
            state = ((random.next() >> 32) % (side * side) as u64) as i64;
        }
        let action = (random.next() >> 62) as u8;
        let (forward, lateral) = outcomes[((random.next() >> 32) % 15) as usize];
        let (dx, dy) = match action {
            0 => (lateral, -forward),
            1 => (forward, lateral),
            2 => (lateral, forward),
            _ => (-forward, lateral),
        };
        let clamp = |coordinate: i64| coordinate.clamp(0, side - 1);
        let next = clamp(state / side + dy) * side + clamp(state % side + dx);
        let terminated = next == goal;
        walk.push(Observation { state: state as u32, next: next as u32, action, terminated });
        state = if terminated { start } else { next };
    }
    walk
}
