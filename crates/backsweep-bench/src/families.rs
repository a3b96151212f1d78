//! Models to measure on, generated here: mazes, random models, layers and corridors; [`applied`] has those of applications.
//!
//! They follow the definitions of the generators used for the marks in `docs/performance.md`, but draw from another random
//! generator, so walls and probabilities differ in detail while sizes and shapes agree.

pub mod applied;

use backsweep::Random;
use backsweep_mdp::{Mdp, MdpBuilder, Rewards};

/// A model with its discount; values are maximized.
pub struct Family {
    /// The model, with one reward per choice.
    pub mdp: Mdp,
    /// The discount.
    pub discount: f64,
}

/// The choices of a state: the reward of each and its outcomes.
type Choices = Vec<(f64, Vec<(u32, f64)>)>;

/// The model whose states have these choices.
fn family(n_states: usize, discount: f64, mut choices: impl FnMut(usize) -> Choices) -> Family {
    let (mut builder, mut rewards) = (MdpBuilder::default(), Vec::new());
    for state in 0..n_states {
        for (reward, outcomes) in choices(state) {
            builder.add_choice(outcomes);
            rewards.push(reward);
        }
        builder.end_state();
    }
    let mut mdp = builder.finish().expect("every row was built from states and a normalized sum");
    mdp.rewards = vec![Rewards { choices: rewards, ..Rewards::default() }];
    Family { mdp, discount }
}

/// Choices that all stay in a state, without reward.
fn absorbing(state: usize, n_choices: usize) -> Choices {
    vec![(0.0, vec![(state as u32, 1.0)]); n_choices]
}

/// Probabilities drawn uniformly from the simplex.
fn probabilities(rng: &mut Random, n: usize) -> Vec<f64> {
    let drawn: Vec<f64> = (0..n).map(|_| -(1.0 - rng.unit()).ln()).collect();
    let sum: f64 = drawn.iter().sum();
    drawn.iter().map(|x| x / sum).collect()
}

/// A random model that never ends: `n_actions` choices per state, `n_successors` random successors each, discount 0.99.
pub fn garnet(n_states: usize, n_actions: usize, n_successors: usize, seed: u64) -> Family {
    let mut rng = Random::from_seed(seed);
    let mut choice = || {
        let p = probabilities(&mut rng, n_successors);
        let reward = rng.unit();
        (reward, p.into_iter().map(|p| (rng.below(n_states as u32), p)).collect())
    };
    family(n_states, 0.99, |_| (0..n_actions).map(|_| choice()).collect())
}

/// Layers of states, each state with three choices that lead to four random states of the next layer, the last layer to
/// an end; discount 0.999.
pub fn layered(n_layers: usize, width: usize, seed: u64) -> Family {
    let mut rng = Random::from_seed(seed);
    let end = n_layers * width;
    family(end + 1, 0.999, |state| {
        if state == end {
            return absorbing(end, 3);
        }
        let next = (state / width + 1) * width;
        let mut choice = || {
            let p = probabilities(&mut rng, 4);
            let reward = -rng.unit();
            let mut target = || if next == end { end } else { next + rng.below(width as u32) as usize };
            (reward, p.into_iter().map(|p| (target() as u32, p)).collect())
        };
        (0..3).map(|_| choice()).collect()
    })
}

/// A corridor with the end at its last state; one choice mostly steps forward, the other jumps two forward or one
/// back; discount 0.999. With a seed, states are numbered at random.
pub fn corridor(n_states: usize, shuffled_by: Option<u64>) -> Family {
    let mut name: Vec<u32> = (0..n_states as u32).collect();
    if let Some(seed) = shuffled_by {
        let mut rng = Random::from_seed(seed);
        for i in (1..n_states).rev() {
            name.swap(i, rng.below(i as u32 + 1) as usize);
        }
    }
    let mut place = vec![0; n_states];
    name.iter().enumerate().for_each(|(place_of, &name)| place[name as usize] = place_of);
    let last = n_states - 1;
    family(n_states, 0.999, |state| {
        let i = place[state];
        if i == last {
            return absorbing(state, 2);
        }
        let reward = -(1.0 + 0.5 * (i as f64 / 50.0).sin());
        let jumps = [(name[(i + 2).min(last)], 0.5), (name[i.saturating_sub(1)], 0.5)];
        vec![(reward, vec![(name[i + 1], 0.9), (state as u32, 0.1)]), (reward, jumps.to_vec())]
    })
}

/// A row of a maze: state, direction, outcomes.
pub type MazeRow = (usize, usize, Vec<(u32, f64)>);

/// A grid with walls.
pub struct MazeModel {
    size: i32,
    free: Vec<bool>,
    /// The state of each cell; `u32::MAX` for walls and for cells that the goal cannot be reached from.
    states: Vec<u32>,
    cells: Vec<(i32, i32)>,
}

impl MazeModel {
    /// A square grid, a fifth of it walls; the goal is the last cell.
    pub fn new(size: usize, seed: u64) -> Self {
        let mut rng = Random::from_seed(seed);
        let mut wall: Vec<bool> = (0..size * size).map(|_| rng.unit() < 0.2).collect();
        for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
            wall[r * size + c] = false;
            wall[(size - 1 - r) * size + size - 1 - c] = false;
        }
        let mut maze =
            Self { size: size as i32, free: vec![false; size * size], states: Vec::new(), cells: Vec::new() };
        let goal = (maze.size - 1, maze.size - 1);
        let mut reached = vec![goal];
        maze.free[size * size - 1] = true;
        while let Some((r, c)) = reached.pop() {
            for (r, c) in [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)] {
                if (0..maze.size).contains(&r) && (0..maze.size).contains(&c) {
                    let cell = r as usize * size + c as usize;
                    if !wall[cell] && !maze.free[cell] {
                        maze.free[cell] = true;
                        reached.push((r, c));
                    }
                }
            }
        }
        maze.states = vec![u32::MAX; size * size];
        for cell in (0..size * size).filter(|&cell| maze.free[cell]) {
            maze.states[cell] = maze.cells.len() as u32;
            maze.cells.push(((cell / size) as i32, (cell % size) as i32));
        }
        maze
    }

    /// The number of states of the maze.
    pub fn n_states(&self) -> usize {
        self.cells.len()
    }

    /// The model: four directions, each with up to 15 cells in sight, equally likely; -1 per step, discount 0.99.
    pub fn family(&self) -> Family {
        family(self.n_states(), 0.99, |state| {
            if state + 1 == self.n_states() {
                return absorbing(state, 4);
            }
            (0..4).map(|direction| (-1.0, self.outcomes(state, direction, None))).collect()
        })
    }

    /// The outcomes of a direction in a state, if the cell of the state `wall` were a wall.
    pub fn outcomes(&self, state: usize, direction: usize, wall: Option<usize>) -> Vec<(u32, f64)> {
        let (row, column) = self.cells[state];
        let turned = |(r, c): (i32, i32)| match direction {
            0 => (row + r, column + c),
            1 => (row + c, column - r),
            2 => (row - r, column - c),
            _ => (row - c, column + r),
        };
        let open = |(r, c): (i32, i32)| {
            let inside = (0..self.size).contains(&r) && (0..self.size).contains(&c);
            inside && self.free[(r * self.size + c) as usize] && wall.is_none_or(|w| self.cells[w] != (r, c))
        };
        let mut seen = Vec::with_capacity(15);
        for ahead in 1..=3_i32 {
            for aside in -ahead..=ahead {
                // Every cell on the straight line there must be open.
                let line = |k: i32| {
                    (-k, (f64::from(aside) * f64::from(k) / f64::from(ahead)).round_ties_even() as i32)
                };
                if (1..=ahead).all(|k| open(turned(line(k)))) {
                    let (r, c) = turned((-ahead, aside));
                    seen.push(self.states[(r * self.size + c) as usize]);
                }
            }
        }
        if seen.is_empty() {
            seen.push(state as u32);
        }
        seen.sort_unstable();
        let p = 1.0 / seen.len() as f64;
        seen.into_iter().map(|target| (target, p)).collect()
    }

    /// The rows (state, direction, outcomes) that change when the cell of a state becomes a wall.
    pub fn changes(&self, wall: usize) -> Vec<MazeRow> {
        let (row, column) = self.cells[wall];
        let mut changed = Vec::new();
        for (r, c) in (row - 3..=row + 3).flat_map(|r| (column - 3..=column + 3).map(move |c| (r, c))) {
            if !(0..self.size).contains(&r) || !(0..self.size).contains(&c) || (r, c) == (row, column) {
                continue;
            }
            let state = self.states[(r * self.size + c) as usize];
            if state == u32::MAX || state as usize == self.n_states() - 1 {
                continue;
            }
            for direction in 0..4 {
                let outcomes = self.outcomes(state as usize, direction, Some(wall));
                if outcomes != self.outcomes(state as usize, direction, None) {
                    changed.push((state as usize, direction, outcomes));
                }
            }
        }
        changed
    }
}
