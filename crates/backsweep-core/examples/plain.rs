//! The paper's algorithm in plain form: Algorithm 2, prioritized sweeping with small backups, in
//! both of its versions.
//!
//! Nothing is optimized: the queue is an array that is searched for its highest priority, and the
//! successors of a state are found by comparing. Line numbers are those of Algorithm 2. The library
//! does the same work; docs/paper.md says where.
//!
//! `cargo run -p backsweep-core --example plain`

const MAZE: [&str; 5] = ["S.#...", "..#.#.", ".....#", ".##...", "...#.G"];
const MOVES: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const GAMMA: f64 = 0.95;
const EPSILON: f64 = 0.2;
const CYCLES: usize = 5;
const THRESHOLD: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    /// arXiv: V changes when its state is popped; priorities are |Q − Q_prev| and only rise.
    Small,
    /// ICML: V = max Q at all times, and U is the value that predecessors use; priorities are |V −
    /// U|.
    Reversed,
}

struct Learner {
    version: Version,
    /// N(s,a), Q(s,a) and Q_prev(s,a), by pair: state × 4 + action.
    n: Vec<f64>,
    q: Vec<f64>,
    q_prev: Vec<f64>,
    v: Vec<f64>,
    u: Vec<f64>,
    /// For each state s', the pairs that led to it and N(s,a,s').
    predecessors: Vec<Vec<(usize, f64)>>,
    /// The queue: the priority of each state, 0 if it is not queued.
    priority: Vec<f64>,
}

impl Learner {
    fn new(version: Version, n_states: usize) -> Self {
        let (states, pairs) = (vec![0.0; n_states], vec![0.0; n_states * MOVES.len()]);
        Self {
            version,
            n: pairs.clone(), // l.3
            q: pairs.clone(), // l.2
            q_prev: pairs,
            v: states.clone(), // l.1
            u: states.clone(),
            predecessors: vec![Vec::new(); n_states],
            priority: states,
        }
    }

    fn max_q(&self, s: usize) -> f64 {
        self.q[s * 4..s * 4 + 4].iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The model and the value of a pair after a step; `next` is `None` where the episode ended.
    fn observe(&mut self, pair: usize, reward: f64, next: Option<usize>) {
        self.n[pair] += 1.0; // l.9
        let mut value = 0.0;
        if let Some(next) = next {
            match self.predecessors[next].iter_mut().find(|(known, _)| *known == pair) {
                Some((_, n)) => *n += 1.0, // l.9
                None => self.predecessors[next].push((pair, 1.0)),
            }
            value = if self.version == Version::Small { self.v[next] } else { self.u[next] };
        }
        self.q[pair] += (reward + GAMMA * value - self.q[pair]) / self.n[pair]; // l.10
        self.prioritize(pair);
    }

    /// Queues the state of a pair whose Q changed.
    fn prioritize(&mut self, pair: usize) {
        let s = pair / 4;
        if self.version == Version::Small {
            let priority = (self.q[pair] - self.q_prev[pair]).abs(); // l.11, 21
            self.priority[s] = self.priority[s].max(priority); // l.12, 22
        } else {
            self.v[s] = self.max_q(s);
            self.priority[s] = (self.v[s] - self.u[s]).abs(); // l.11, 12, 21, 22
        }
    }

    fn update_cycle(&mut self) {
        let highest = |a: &usize, b: &usize| self.priority[*a].total_cmp(&self.priority[*b]);
        let Some(s) = (0..self.v.len()).max_by(highest) else { return }; // l.14
        if std::mem::take(&mut self.priority[s]) <= THRESHOLD {
            return;
        }
        let delta = if self.version == Version::Small {
            for pair in s * 4..s * 4 + 4 {
                self.q_prev[pair] = self.q[pair]; // l.15
            }
            let v_old = self.v[s]; // l.16
            self.v[s] = self.max_q(s); // l.17
            self.v[s] - v_old // l.18
        } else {
            let u_old = self.u[s]; // l.16
            self.u[s] = self.v[s]; // l.17
            self.u[s] - u_old // l.18
        };
        for (pair, n) in self.predecessors[s].clone() {
            // l.19
            self.q[pair] += GAMMA * n / self.n[pair] * delta; // l.20
            self.prioritize(pair);
        }
    }
}

/// Where a move in the maze leads; a wall stops it.
fn step(s: usize, action: usize) -> usize {
    let width = MAZE[0].len();
    let (row, column) = ((s / width) as i32 + MOVES[action].0, (s % width) as i32 + MOVES[action].1);
    let cell = MAZE.get(row as usize).and_then(|cells| cells.as_bytes().get(column as usize));
    if cell.is_none_or(|&cell| cell == b'#') { s } else { row as usize * width + column as usize }
}

fn main() {
    let n_states = MAZE.len() * MAZE[0].len();
    for version in [Version::Small, Version::Reversed] {
        let mut learner = Learner::new(version, n_states);
        let mut random = 1u32;
        let mut chance = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(random) / f64::from(u32::MAX)
        };
        for _episode in 0..100 {
            let mut s = 0; // l.4, 5
            while s != n_states - 1 {
                // l.6
                let greedy = (0..4).max_by(|&a, &b| learner.q[s * 4 + a].total_cmp(&learner.q[s * 4 + b]));
                let explores = chance() < EPSILON || learner.max_q(s) == 0.0;
                let action = if explores { (chance() * 3.99) as usize } else { greedy.unwrap_or(0) }; // l.7
                let next = step(s, action); // l.8
                let ends = next == n_states - 1;
                learner.observe(s * 4 + action, f64::from(ends), (!ends).then_some(next));
                for _ in 0..CYCLES {
                    learner.update_cycle(); // l.13
                }
                s = next; // l.25
            } // l.26
        }
        println!("{version:?}: the value of each cell");
        for row in learner.v.chunks(MAZE[0].len()) {
            println!("{}", row.iter().map(|v| format!("{v:6.3}")).collect::<String>());
        }
        assert!((learner.v[0] - GAMMA.powi(8)).abs() < 1e-6, "nine steps lead from S to G");
    }
}
