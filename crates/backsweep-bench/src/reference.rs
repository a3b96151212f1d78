//! The plain algorithm with a binary heap, which the engine must agree with and beat.
//!
//! To learn the algorithm, read `crates/backsweep-core/examples/plain.rs` instead. Here a vector of predecessors per state,
//! counts as integers and a heap do the same cycles and backups as any other plain program on the same observations. Line
//! numbers are those of Algorithm 2.

use crate::clock::{peak_memory, reset_peak_memory, thread_time};
use crate::fixed_point::rmse;
use crate::world::{DISCOUNT, N_ACTIONS, Observation, REWARD};
use crate::{BenchOptions, Speed};

const NONE: u32 = u32::MAX;

/// A binary heap of states with their places.
struct Heap {
    heap: Vec<u32>,
    position: Vec<u32>,
    priority: Vec<f64>,
}

impl Heap {
    fn new(n: usize) -> Self {
        Self { heap: Vec::new(), position: vec![NONE; n], priority: vec![0.0; n] }
    }

    fn of(&self, i: usize) -> f64 {
        self.priority[self.heap[i] as usize]
    }

    fn place(&mut self, i: usize, state: u32) {
        self.heap[i] = state;
        self.position[state as usize] = i as u32;
    }

    fn up(&mut self, mut i: usize) {
        let state = self.heap[i];
        while i > 0 && self.of((i - 1) / 2) < self.priority[state as usize] {
            self.place(i, self.heap[(i - 1) / 2]);
            i = (i - 1) / 2;
        }
        self.place(i, state);
    }

    fn down(&mut self, mut i: usize) {
        let state = self.heap[i];
        loop {
            let mut child = 2 * i + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.of(child + 1) > self.of(child) {
                child += 1;
            }
            if self.of(child) <= self.priority[state as usize] {
                break;
            }
            self.place(i, self.heap[child]);
            i = child;
        }
        self.place(i, state);
    }

    fn insert(&mut self, state: u32, priority: f64) {
        self.priority[state as usize] = priority;
        self.heap.push(state);
        self.up(self.heap.len() - 1);
    }

    fn promote(&mut self, state: u32, priority: f64) {
        if self.position[state as usize] == NONE {
            self.insert(state, priority);
        } else if priority > self.priority[state as usize] {
            self.priority[state as usize] = priority;
            self.up(self.position[state as usize] as usize);
        }
    }

    fn set(&mut self, state: u32, priority: f64, threshold: f64) {
        let i = self.position[state as usize];
        if priority <= threshold {
            if i != NONE {
                self.take(i as usize);
            }
        } else if i == NONE {
            self.insert(state, priority);
        } else {
            let before = std::mem::replace(&mut self.priority[state as usize], priority);
            if priority > before { self.up(i as usize) } else { self.down(i as usize) }
        }
    }

    fn take(&mut self, i: usize) -> u32 {
        let state = self.heap[i];
        self.position[state as usize] = NONE;
        let Some(last) = self.heap.pop() else { return state };
        if last != state {
            self.place(i, last);
            self.up(i);
            self.down(self.position[last as usize] as usize);
        }
        state
    }

    fn pop(&mut self) -> Option<u32> {
        (!self.heap.is_empty()).then(|| self.take(0))
    }
}

/// A pair that leads to a state, and how often it did.
struct ReferenceArc {
    pair: u32,
    n: u32,
}

/// Which version of Algorithm 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// arXiv: priorities |Q − Q_prev|, promoted; V changes when its state is popped.
    Small,
    /// ICML: priorities |V − U|, set; the greedy pair is remembered.
    Reversed,
}

/// A plain learner.
pub struct Reference {
    version: Version,
    threshold: f64,
    q: Vec<f64>,
    q_prev: Vec<f64>,
    v: Vec<f64>,
    u: Vec<f64>,
    n: Vec<u32>,
    best: Vec<usize>,
    predecessors: Vec<Vec<ReferenceArc>>,
    heap: Heap,
    /// The work of every cycle, for the floor: the state and the change of its value. Kept only on request.
    pub tape: Option<Vec<(u32, f64)>>,
    /// Update cycles done.
    pub cycles: u64,
    /// Small backups done.
    pub backups: u64,
}

impl Reference {
    /// A learner that has seen nothing.
    pub fn new(version: Version, n_states: usize, threshold: f64) -> Self {
        Self {
            version,
            threshold,
            q: vec![0.0; n_states * N_ACTIONS],      // l.2
            q_prev: vec![0.0; n_states * N_ACTIONS], // l.2
            v: vec![0.0; n_states],                  // l.1
            u: vec![0.0; n_states],
            n: vec![0; n_states * N_ACTIONS], // l.3
            best: (0..n_states).map(|s| s * N_ACTIONS).collect(),
            predecessors: (0..n_states).map(|_| Vec::new()).collect(),
            heap: Heap::new(n_states),
            tape: None,
            cycles: 0,
            backups: 0,
        }
    }

    /// V of every state.
    pub fn values(&self) -> &[f64] {
        &self.v
    }

    /// The number of different (state, action, next state) seen.
    pub fn n_arcs(&self) -> usize {
        self.predecessors.iter().map(Vec::len).sum()
    }

    fn row_maximum(&self, state: usize) -> (usize, f64) {
        let first = state * N_ACTIONS;
        let mut best = (first, self.q[first]);
        for pair in first + 1..first + N_ACTIONS {
            if self.q[pair] > best.1 {
                best = (pair, self.q[pair]);
            }
        }
        best
    }

    /// Restores what depends on Q of a pair.
    fn touch(&mut self, pair: usize) {
        let s = pair / N_ACTIONS;
        match self.version {
            Version::Reversed if pair == self.best[s] || self.q[pair] > self.v[s] => {
                (self.best[s], self.v[s]) = self.row_maximum(s);
                self.heap.set(s as u32, (self.v[s] - self.u[s]).abs(), self.threshold); // l.11, 12, 21, 22
            }
            Version::Reversed => {}
            Version::Small => {
                let priority = (self.q[pair] - self.q_prev[pair]).abs(); // l.11, 21
                if priority > self.threshold {
                    self.heap.promote(s as u32, priority); // l.12, 22
                }
            }
        }
    }

    /// Learns from one step.
    pub fn observe(&mut self, step: Observation) {
        let pair = step.pair();
        self.n[pair] += 1; // l.9
        let mut value = 0.0;
        if !step.terminated {
            let next = step.next as usize;
            let list = &mut self.predecessors[next];
            match list.iter_mut().find(|p| p.pair == pair as u32) {
                Some(found) => found.n += 1, // l.9
                None => list.push(ReferenceArc { pair: pair as u32, n: 1 }),
            }
            value = DISCOUNT * if self.version == Version::Reversed { self.u[next] } else { self.v[next] };
        }
        let n = f64::from(self.n[pair]);
        // Fused, as compilers of other languages do, so that counts agree to the last cycle.
        self.q[pair] = (self.q[pair].mul_add(n - 1.0, REWARD) + value) / n; // l.10
        self.touch(pair); // l.11, 12
    }

    /// One update cycle; `false` if the queue was empty.
    pub fn update_cycle(&mut self) -> bool {
        let Some(state) = self.heap.pop() else { return false }; // l.14
        let s = state as usize;
        self.cycles += 1;
        let delta = match self.version {
            Version::Reversed => self.v[s] - std::mem::replace(&mut self.u[s], self.v[s]), // l.16, 17, 18, with U for V
            Version::Small => {
                let row = s * N_ACTIONS..(s + 1) * N_ACTIONS;
                self.q_prev[row.clone()].copy_from_slice(&self.q[row]); // l.15
                let v = self.row_maximum(s).1; // l.17
                v - std::mem::replace(&mut self.v[s], v) // l.16, 18
            }
        };
        if let Some(tape) = &mut self.tape {
            tape.push((state, delta));
        }
        if delta == 0.0 {
            return true;
        }
        let list = std::mem::take(&mut self.predecessors[s]); // l.19
        self.backups += list.len() as u64;
        for &ReferenceArc { pair, n } in &list {
            let pair = pair as usize;
            self.q[pair] += DISCOUNT * delta * f64::from(n) / f64::from(self.n[pair]); // l.20
            self.touch(pair); // l.21, 22
        }
        self.predecessors[s] = list;
        true
    }

    /// Learns a whole walk with this many cycles after every step.
    pub fn learn(&mut self, walk: &[Observation], cycles: u64) {
        for &step in walk {
            self.observe(step);
            for _ in 0..cycles {
                // l.13
                if !self.update_cycle() {
                    break;
                }
            }
        }
    }

    fn row(
        &self,
        planner: &str,
        queue: &str,
        side: usize,
        observations: usize,
        seconds: f64,
        rmse: Option<f64>,
    ) -> Speed {
        let n_arcs = self.n_arcs();
        let list = size_of::<Vec<ReferenceArc>>();
        let arcs: usize =
            self.predecessors.iter().map(|p| list + p.capacity() * size_of::<ReferenceArc>()).sum();
        // Q, Q_prev, N of a pair; V, U, best, place and priority of a state.
        let others = self.n.len() * (8 + 8 + 4) + self.v.len() * (8 + 8 + 8 + 4 + 8);
        Speed {
            planner: planner.to_owned(),
            queue: queue.to_owned(),
            side,
            observations,
            cycles: self.cycles,
            backups: self.backups,
            us_per_observation: seconds / observations as f64 * 1e6,
            us_per_cycle: seconds / self.cycles.max(1) as f64 * 1e6,
            ns_per_backup: seconds / self.backups.max(1) as f64 * 1e9,
            arcs: n_arcs,
            bytes_per_arc: arcs as f64 / n_arcs.max(1) as f64,
            bytes_per_pair: others as f64 / self.n.len() as f64,
            peak_mb: peak_memory().map(|bytes| bytes as f64 / f64::from(1 << 20)),
            rmse,
        }
    }

    /// The weights γ/N with which [`replay`](Self::replay) does only the additions.
    pub fn weights(&self) -> Vec<f64> {
        self.n.iter().map(|&n| if n > 0 { DISCOUNT / f64::from(n) } else { 0.0 }).collect()
    }

    /// The floor: the additions of a recorded run, Q += w n ΔV, with no queue, no maximum and no division. No implementation of
    /// the same backups with the same storage can go below it.
    pub fn replay(&mut self, tape: &[(u32, f64)], weights: &[f64]) {
        for &(state, delta) in tape {
            if delta != 0.0 {
                for &ReferenceArc { pair, n } in &self.predecessors[state as usize] {
                    self.q[pair as usize] += weights[pair as usize] * f64::from(n) * delta;
                }
            }
        }
    }
}

/// Both versions and the floor, timed on a walk.
pub fn run_references(options: &BenchOptions, walk: &[Observation], exact: Option<&[f64]>) -> Vec<Speed> {
    let n_states = options.side * options.side;
    let mut rows = Vec::new();
    for (name, version) in [("reference reversed", Version::Reversed), ("reference small", Version::Small)] {
        reset_peak_memory();
        let mut learner = Reference::new(version, n_states, options.threshold);
        let start = thread_time();
        learner.learn(walk, options.cycles);
        let seconds = (thread_time() - start).as_secs_f64();
        let error = exact.map(|exact| rmse(learner.values().iter().copied(), exact));
        rows.push(learner.row(name, "binary heap", options.side, walk.len(), seconds, error));
    }
    reset_peak_memory();
    let mut learner = Reference::new(Version::Small, n_states, options.threshold);
    learner.tape = Some(Vec::new());
    learner.learn(walk, options.cycles);
    let tape = learner.tape.take().unwrap_or_default();
    let weights = learner.weights();
    let start = thread_time();
    learner.replay(&tape, &weights);
    let seconds = (thread_time() - start).as_secs_f64();
    rows.push(learner.row("floor", "none", options.side, walk.len(), seconds, None));
    rows
}
