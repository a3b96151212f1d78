//! A maze with an outcome law: an environment, and the known model of it.

use crate::table::{drawn_start, known_model};
use crate::{Cell, CellKind, Error, Law, Maze, Result};
use backsweep::episode::{Environment, Step};
use backsweep::planner::{Model, Outcome, Pair};
use backsweep::{Action, Next, Random, State};

/// The names of actions 0 to 3.
pub const ACTION_NAMES: [&str; 4] = ["north", "east", "south", "west"];

const NONE: u32 = u32::MAX;

/// The most cells of a maze: its outcome tables take up to a kilobyte per cell, so 4 GB in all.
const MAX_CELLS: usize = 4_000_000;

/// One column of an alias table: draws `first` if 32 random bits are below `cut`, else `second`.
#[derive(Clone, Copy, Debug)]
struct Slot {
    cut: u64,
    first: u32,
    second: u32,
}

/// A maze task. States are the cells in which an agent can stand: free cells that do not end the episode, row by row.
///
/// ```
/// use backsweep::{Action, Random};
/// use backsweep::episode::Environment;
/// use backsweep_worlds::{Law, Maze, MazeTask, PAPER_MAZE};
/// let task = MazeTask::new(Maze::parse(PAPER_MAZE)?, Law::Fifteen, -1.0)?;
/// assert_eq!(task.n_states(), 500); // 501 free cells, one of them the goal
/// let mut random = Random::from_seed(1);
/// let step = task.step(task.start(&mut random), Action(0), &mut random);
/// assert_eq!(step.reward, -1.0);
/// # Ok::<(), backsweep_worlds::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MazeTask {
    maze: Maze,
    law: Law,
    step_reward: f64,
    cells: Vec<Cell>,
    /// The state of each cell, NONE if it has none.
    states: Vec<u32>,
    /// The reward of landing on each cell.
    landing: Vec<Step>,
    starts: Vec<State>,
    /// The alias table of pair (s,a) is `slots[table[4 s + a]..table[4 s + a + 1]]`.
    slots: Vec<Slot>,
    table: Vec<u32>,
}

impl MazeTask {
    /// A task in which every step gives `step_reward`, except onto cells with a reward of their own.
    ///
    /// # Errors
    /// If the maze has more than 4,000,000 cells, the reward is not finite, the law is out of range, a goal cannot be reached
    /// from any start, or some start cannot reach any goal.
    pub fn new(maze: Maze, law: Law, step_reward: f64) -> Result<Self> {
        let task = Self::allowing_blocked_goal(maze, law, step_reward)?;
        task.check_reachable()?;
        Ok(task)
    }

    /// Like [`new`](Self::new), but the way to the goal may be blocked, as can happen for a while when walls are built during
    /// learning. Episodes then continue until something else truncates them.
    ///
    /// # Errors
    /// If the maze has more than 4,000,000 cells, the reward is not finite or the law is out of range.
    pub fn allowing_blocked_goal(maze: Maze, law: Law, step_reward: f64) -> Result<Self> {
        let law = law.check()?;
        let (n_rows, n_columns) = (maze.n_rows(), maze.n_columns());
        if n_rows * n_columns > MAX_CELLS {
            return Err(Error::TooLarge { size: (n_rows, n_columns), limit: MAX_CELLS });
        }
        if !step_reward.is_finite() {
            return Err(Error::out_of_range("the reward of a step is", step_reward, "a finite number"));
        }
        Self::build(maze, law, step_reward, None)
    }

    /// The same task with some cells of its maze changed. Outcomes far from every change are copied, so that a change in a
    /// maze of 10,000 cells takes a few milliseconds.
    ///
    /// # Errors
    /// If the grid has a different size.
    pub fn repainted(&self, maze: Maze) -> Result<Self> {
        if (maze.n_rows(), maze.n_columns()) != (self.maze.n_rows(), self.maze.n_columns()) {
            return Err(Error::OtherSize);
        }
        Self::build(maze, self.law, self.step_reward, Some(self))
    }

    fn build(maze: Maze, law: Law, step_reward: f64, earlier: Option<&Self>) -> Result<Self> {
        let mut task = Self {
            law,
            step_reward,
            cells: Vec::new(),
            states: Vec::new(),
            landing: Vec::new(),
            starts: Vec::new(),
            slots: Vec::with_capacity(earlier.map_or(0, |earlier| earlier.slots.len() + 64)),
            table: vec![0],
            maze,
        };
        for cell in task.maze.cells() {
            let reward = task.maze.reward(cell).unwrap_or(step_reward);
            let state = task.cells.len() as u32;
            if task.maze.kind(cell) == CellKind::Wall || task.maze.ends(cell) {
                task.states.push(NONE);
                task.landing.push(Step { reward, next: Next::Terminated });
            } else {
                task.states.push(state);
                task.landing.push(Step { reward, next: Next::Continue(State(state)) });
                task.cells.push(cell);
            }
        }
        task.starts = task.maze.cells_of(CellKind::Start).filter_map(|cell| task.state(cell)).collect();
        let unchanged = earlier.map(|earlier| (earlier, far_from_changes(&earlier.maze, &task.maze)));
        for state in 0..task.cells.len() as u32 {
            let cell = task.cells[state as usize];
            let index = cell.row * task.maze.n_columns() + cell.column;
            if let Some((earlier, is_far)) = &unchanged
                && is_far[index]
                && earlier.states[index] != NONE
            {
                // Outcomes are cells, which keep their numbers.
                let pairs = 4 * earlier.states[index] as usize;
                let begin = earlier.table[pairs];
                let offset = task.slots.len() as u32;
                task.slots
                    .extend_from_slice(&earlier.slots[begin as usize..earlier.table[pairs + 4] as usize]);
                task.table
                    .extend(earlier.table[pairs + 1..=pairs + 4].iter().map(|end| end - begin + offset));
                continue;
            }
            for action in 0..4 {
                let outcomes = law.outcomes(&task.maze, cell, Action(action));
                let numbered: Vec<(u32, f64)> = outcomes
                    .iter()
                    .filter_map(|&(cell, p)| Some((task.maze.contains(cell)? as u32, p)))
                    .collect();
                task.slots.extend(alias_table(&numbered));
                task.table.push(task.slots.len() as u32);
            }
        }
        Ok(task)
    }

    /// The maze.
    pub fn maze(&self) -> &Maze {
        &self.maze
    }

    /// The states in which episodes begin.
    pub fn starts(&self) -> &[State] {
        &self.starts
    }

    /// The cell of a state; `None` if there is no such state.
    pub fn cell(&self, state: State) -> Option<Cell> {
        self.cells.get(state.index()).copied()
    }

    /// The state of a cell; `None` for walls and for cells that end the episode.
    pub fn state(&self, cell: Cell) -> Option<State> {
        self.state_in(self.maze.contains(cell)?)
    }

    /// The state of the cell with this number, row by row.
    #[inline]
    pub(crate) fn state_in(&self, cell: usize) -> Option<State> {
        self.states.get(cell).filter(|&&state| state != NONE).map(|&state| State(state))
    }

    /// The number of a state's cell, row by row.
    #[inline]
    pub(crate) fn cell_number(&self, state: State) -> u32 {
        let Cell { row, column } = self.cells[state.index()];
        (row * self.maze.n_columns() + column) as u32
    }

    /// The exact outcomes of an action, as a model takes them.
    pub fn outcomes(&self, state: State, action: Action) -> Vec<Outcome> {
        let Some(cell) = self.cell(state) else { return Vec::new() };
        let outcomes = self.law.outcomes(&self.maze, cell, action).into_iter();
        outcomes
            .filter_map(|(cell, probability)| {
                let Step { reward, next } = self.landing[self.maze.contains(cell)?];
                Some(Outcome { probability, reward, next })
            })
            .collect()
    }

    /// The known model of the task.
    pub fn model(&self) -> Result<Model> {
        Ok(known_model(self.cells.iter().map(|_| 4), |state, action| self.outcomes(state, action))?)
    }

    /// Refuses a goal that no start reaches, and a start that reaches no goal.
    fn check_reachable(&self) -> Result<()> {
        let mut landed_on = vec![false; self.landing.len()];
        let goals = || self.maze.cells_of(CellKind::Goal);
        let is_among = |cells: &[bool], goal: Cell| self.maze.contains(goal).is_some_and(|i| cells[i]);
        for &start in &self.starts {
            let reached = self.reached_from(start);
            let cell = self.cells[start.index()];
            if !goals().any(|goal| is_among(&reached, goal)) {
                return Err(Error::text(
                    self.maze.place(cell),
                    "no goal can be reached from this start; open a path through the walls",
                ));
            }
            landed_on.iter_mut().zip(reached).for_each(|(all, one)| *all |= one);
        }
        match goals().find(|&goal| !is_among(&landed_on, goal)) {
            Some(goal) => Err(Error::text(
                self.maze.place(goal),
                "this goal cannot be reached from any start; open a path through the walls",
            )),
            None => Ok(()),
        }
    }

    /// The cells on which an agent from this state can land.
    fn reached_from(&self, start: State) -> Vec<bool> {
        let mut reached = vec![false; self.landing.len()];
        let mut open = vec![start];
        while let Some(state) = open.pop() {
            let row = self.table[4 * state.index()] as usize..self.table[4 * state.index() + 4] as usize;
            for cell in self.slots[row].iter().flat_map(|slot| [slot.first, slot.second]) {
                if !std::mem::replace(&mut reached[cell as usize], true) {
                    open.extend(self.landing[cell as usize].next.state());
                }
            }
        }
        reached
    }

    /// The number of states: the free cells that are not goals.
    pub fn n_states(&self) -> usize {
        self.cells.len()
    }
}

/// Returns whether each cell is so far from every changed cell that none of its outcomes can have changed. A move passes at most 3
/// cells ahead and 1 to the side, and checks one cell further.
fn far_from_changes(one: &Maze, other: &Maze) -> Vec<bool> {
    const REACH: usize = 4;
    let mut is_far = vec![true; one.n_rows() * one.n_columns()];
    for changed in one.cells().filter(|&cell| one.kind(cell) != other.kind(cell)) {
        for row in changed.row.saturating_sub(REACH)..(changed.row + REACH + 1).min(one.n_rows()) {
            for column in
                changed.column.saturating_sub(REACH)..(changed.column + REACH + 1).min(one.n_columns())
            {
                is_far[row * one.n_columns() + column] = false;
            }
        }
    }
    is_far
}

impl Environment for MazeTask {
    fn n_actions(&self, _state: State) -> usize {
        4
    }

    fn start(&self, random: &mut Random) -> State {
        drawn_start(&self.starts, random)
    }

    #[inline]
    fn step(&self, state: State, action: Action, random: &mut Random) -> Step {
        let pair = 4 * state.index() + action.index();
        let slots = &self.slots[self.table[pair] as usize..self.table[pair + 1] as usize];
        let bits = random.next_u64();
        let slot = &slots[(((bits >> 32) * slots.len() as u64) >> 32) as usize];
        let cell = if (bits & 0xFFFF_FFFF) < slot.cut { slot.first } else { slot.second };
        self.landing[cell as usize]
    }
}

/// Walker's alias table, built as Vose does: a draw takes one random number for any number of outcomes. The upper 32
/// bits choose the slot and the lower 32 the outcome, so probabilities are met to within 2⁻³² (Departure 24).
fn alias_table(outcomes: &[(u32, f64)]) -> Vec<Slot> {
    let n = outcomes.len() as f64;
    let mut rest: Vec<f64> = outcomes.iter().map(|(_, p)| p * n).collect();
    let mut slots: Vec<Slot> =
        outcomes.iter().map(|&(cell, _)| Slot { cut: 1 << 32, first: cell, second: cell }).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..rest.len()).partition(|&i| rest[i] < 1.0);
    while let (Some(&few), Some(&much)) = (small.last(), large.last()) {
        small.pop();
        slots[few].cut = (rest[few] * (1u64 << 32) as f64).round() as u64;
        slots[few].second = outcomes[much].0;
        rest[much] -= 1.0 - rest[few];
        if rest[much] < 1.0 {
            large.pop();
            small.push(much);
        }
    }
    slots
}

/// A sweep over the values of a policy in a known model, in place. `policy` gives the probability of each pair; the pairs of a
/// state sum to 1. Returns the lowest change of a value, at most 0, and the highest, at least 0.
pub fn sweep_policy(
    model: &Model,
    policy: impl Fn(Pair) -> f64,
    discount: f64,
    values: &mut [f64],
) -> (f64, f64) {
    let (mut lowest, mut highest) = (0.0f64, 0.0f64);
    for state in model.states() {
        let mut v = 0.0;
        for (pair, p) in model.pairs(state).map(|pair| (pair, policy(pair))).filter(|(_, p)| *p > 0.0) {
            let on: f64 = model.successors(pair).map(|s| s.weight * values[s.state.index()]).sum();
            v += p * (model.mean_reward(pair) + discount * on / model.weight(pair));
        }
        let change = v - std::mem::replace(&mut values[state.index()], v);
        (lowest, highest) = (lowest.min(change), highest.max(change));
    }
    (lowest, highest)
}
