//! The world of a scene: the lab's maze task, but with a state for every cell of the grid, so that states keep their numbers
//! while walls are built and torn down. A wall is a state that is never visited.

mod breaking;

use crate::scene::{MAX_CELLS, MAX_TEXT, Scene};
use backsweep::{
    Action, Environment, EpsilonGreedy, Model, Next, Pair, PlannerKind, Random, Settings, State, Step, Values,
};
use backsweep_lab::{Cell, Error, Kind, Maze, MazeTask, Result, evaluate_policy};
use serde::Deserialize;

const NONE: u32 = u32::MAX;
/// The reward of a step, as in the paper.
const STEP_REWARD: f64 = -1.0;
/// Rewards lie between this and its negative: with a discount of 0.9999, values are then exact to a thousandth.
const MAX_REWARD: f64 = 1e9;

/// What a cell is painted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Brush {
    /// A wall, or a free cell if there is a wall.
    Toggle,
    /// A wall.
    Wall,
    /// A free cell.
    Free,
    /// The start; the old one becomes free.
    Start,
    /// The goal; the old one becomes free.
    Goal,
}

/// A maze task with one state for each cell, row by row.
#[derive(Clone, Debug)]
pub struct World {
    /// The rows of the maze, then its legend: the text from which it was read, without comments.
    rows: Vec<Vec<char>>,
    legend: Vec<String>,
    task: MazeTask,
    /// The cell of each state of the task.
    cell_of: Vec<u32>,
    /// The task's state of each cell, NONE if it has none.
    state_of: Vec<u32>,
}

impl World {
    /// The world of a scene.
    ///
    /// # Errors
    /// If the maze is not one, or too large, or the law is out of range.
    pub fn new(scene: &Scene) -> Result<Self> {
        // Refused by its length before anything is made of it; a cell takes up to 4 bytes, and a legend takes some.
        if scene.maze.len() > MAX_TEXT {
            return Err(Error::new(format!(
                "the maze's text has {} bytes; expected at most {MAX_TEXT}, for {MAX_CELLS} cells",
                scene.maze.len()
            )));
        }
        let (rows, legend) = split(scene.maze.strip_prefix('\u{feff}').unwrap_or(&scene.maze));
        let task =
            MazeTask::even_if_closed(checked_maze(&rows, &legend)?, scene.outcome_law()?, STEP_REWARD)?;
        Ok(Self::of_task(rows, legend, task))
    }

    fn of_task(rows: Vec<Vec<char>>, legend: Vec<String>, task: MazeTask) -> Self {
        let n_columns = task.maze().n_columns();
        let mut state_of = vec![NONE; rows.len() * n_columns];
        let mut cell_of = Vec::new();
        for state in (0..task.n_states() as u32).map(State) {
            let Some(cell) = task.cell(state) else { continue };
            let index = cell.row * n_columns + cell.column;
            state_of[index] = state.0;
            cell_of.push(index as u32);
        }
        Self { rows, legend, task, cell_of, state_of }
    }

    /// The maze as text.
    pub fn text(&self) -> String {
        text(&self.rows, &self.legend)
    }

    /// How many columns the maze has.
    pub fn n_columns(&self) -> usize {
        self.task.maze().n_columns()
    }

    /// How many rows the maze has.
    pub fn n_rows(&self) -> usize {
        self.task.maze().n_rows()
    }

    /// What a cell is.
    pub fn kind(&self, state: State) -> Kind {
        self.task.maze().kind(self.cell(state))
    }

    /// Whether an agent can stand in a cell.
    pub fn is_open(&self, state: State) -> bool {
        self.state_of.get(state.index()).is_some_and(|&inner| inner != NONE)
    }

    fn cell(&self, state: State) -> Cell {
        Cell { row: state.index() / self.n_columns(), column: state.index() % self.n_columns() }
    }

    /// The world with one cell painted.
    ///
    /// # Errors
    /// If there is no such cell, or no start or no goal would be left. The world is then unchanged.
    pub fn painted(&self, state: State, brush: Brush) -> Result<Self> {
        let n_cells = self.state_of.len();
        if state.index() >= n_cells {
            return Err(Error::new(format!("no cell {}; expected 0 to {}", state.0, n_cells - 1)));
        }
        let (row, column) = (state.index() / self.n_columns(), state.index() % self.n_columns());
        let mut rows = self.rows.clone();
        let character = match brush {
            Brush::Toggle if rows[row][column] == '#' => '.',
            Brush::Toggle | Brush::Wall => '#',
            Brush::Free => '.',
            Brush::Start => 'S',
            Brush::Goal => 'G',
        };
        if matches!(brush, Brush::Start | Brush::Goal) {
            rows.iter_mut().flatten().filter(|c| **c == character).for_each(|c| *c = '.');
        }
        rows[row][column] = character;
        self.with_rows(rows)
    }

    /// The world with other rows. What is far from every difference is not computed again.
    fn with_rows(&self, rows: Vec<Vec<char>>) -> Result<Self> {
        // What was painted over for the last time has no line in the legend any more, as in any maze.
        let is_used = |line: &&String| {
            let character = line.trim_start().chars().next();
            rows.iter().flatten().any(|c| Some(*c) == character)
        };
        let legend: Vec<String> = self.legend.iter().filter(is_used).cloned().collect();
        let task = self.task.repainted(checked_maze(&rows, &legend)?)?;
        Ok(Self::of_task(rows, legend, task))
    }

    /// The world as another text says, for instance one from before it was painted: cells of the same grid.
    ///
    /// # Errors
    /// If the text is not a maze of the same size.
    pub fn restored(&self, text: &str) -> Result<Self> {
        let (rows, legend) = split(text);
        if rows.len() != self.rows.len() || rows[0].len() != self.rows[0].len() {
            return Err(Error::new("the maze has another size; expected the same rows and columns"));
        }
        let task = self.task.repainted(checked_maze(&rows, &legend)?)?;
        Ok(Self::of_task(rows, legend, task))
    }

    /// The true probabilities, with one state for each cell in which an agent can stand.
    ///
    /// # Errors
    /// If the model refuses them.
    pub fn true_model(&self) -> Result<Model> {
        self.task.model()
    }

    /// The cell of a state of the [true model](Self::true_model).
    pub fn cell_of(&self, state: State) -> u32 {
        self.cell_of[state.index()]
    }

    /// The mean of values of the [true model](Self::true_model) over the states in which episodes begin.
    pub fn mean_over_starts(&self, values: &[f64]) -> f64 {
        let starts = self.task.starts();
        starts.iter().map(|state| values[state.index()]).sum::<f64>() / starts.len() as f64
    }

    /// What the best policy with this much random exploration is worth from the start (discounted), computed from the true
    /// probabilities: the line that learning can reach and, on average, not cross.
    ///
    /// # Errors
    /// If planning on the true model fails.
    pub fn optimum(&self, model: &Model, settings: &Settings, policy: EpsilonGreedy) -> Result<f64> {
        let settings = Settings { optimism: Default::default(), ..*settings };
        let mut planner = PlannerKind::ReversedFullBackups.build(settings)?;
        planner.grow(model);
        backsweep::solve(&mut *planner, model, 1e-7)?;
        let epsilon = policy.epsilon();
        let chance = |pair: Pair| {
            let state = model.state_of(pair);
            epsilon / 4.0
                + if is_first_best(model, planner.values(), state, pair) { 1.0 - epsilon } else { 0.0 }
        };
        Ok(self.mean_over_starts(&evaluate_policy(model, chance, settings.discount, 1e-7)))
    }

    /// How many cells there are: each is a state, walls included.
    pub fn n_states(&self) -> usize {
        self.state_of.len()
    }
}

fn is_first_best(model: &Model, values: &Values, state: State, pair: Pair) -> bool {
    let q = values.action_value(pair);
    model.pairs(state).all(|other| {
        let rival = values.action_value(other);
        rival < q || rival == q && other >= pair
    })
}

/// The rows of a maze's text and the lines of its legend.
fn split(text: &str) -> (Vec<Vec<char>>, Vec<String>) {
    let (mut rows, mut legend) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with(';')) {
        if line.contains('=') {
            legend.push(line.to_owned());
        } else {
            rows.push(line.chars().collect());
        }
    }
    (rows, legend)
}

fn checked_maze(rows: &[Vec<char>], legend: &[String]) -> Result<Maze> {
    let n_cells: usize = rows.iter().map(Vec::len).sum();
    if n_cells > MAX_CELLS {
        return Err(Error::new(format!("the maze has {n_cells} cells; expected at most {MAX_CELLS}")));
    }
    let maze = Maze::parse(&text(rows, legend))?;
    if let Some(cell) = maze.cells().find(|&c| maze.reward(c).is_some_and(|r| r.abs() > MAX_REWARD)) {
        return Err(Error::new(format!(
            "{}: the reward of this cell is {:e}; expected -1e9 to 1e9",
            maze.place(cell),
            maze.reward(cell).unwrap_or_default()
        )));
    }
    Ok(maze)
}

fn text(rows: &[Vec<char>], legend: &[String]) -> String {
    let mut text = String::new();
    for line in rows.iter().map(|row| row.iter().collect::<String>()).chain(legend.iter().cloned()) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

impl Environment for World {
    fn n_actions(&self, _state: State) -> usize {
        4
    }

    fn start(&self, random: &mut Random) -> State {
        State(self.cell_of[self.task.start(random).index()])
    }

    /// Steps out of a cell in which an agent [can stand](Self::is_open).
    #[inline]
    fn step(&self, state: State, action: Action, random: &mut Random) -> Step {
        let step = self.task.step(State(self.state_of[state.index()]), action, random);
        match step.next {
            Next::Continue(next) => Step { next: Next::Continue(State(self.cell_of[next.index()])), ..step },
            _ => step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_beyond_what_values_can_hold_are_refused_at_the_door() {
        let world =
            |reward: &str| World::new(&Scene { maze: format!("S~G\n~ = {reward}\n"), ..Scene::default() });
        let error = world("1e308").unwrap_err().to_string();
        assert_eq!(error, "line 1, column 2: the reward of this cell is 1e308; expected -1e9 to 1e9");
        assert!(world("-1e9").is_ok());
    }

    #[test]
    fn a_byte_order_mark_is_not_a_cell() {
        let world = World::new(&Scene { maze: "\u{feff}S.G\n".to_owned(), ..Scene::default() }).unwrap();
        assert_eq!((world.n_columns(), world.text().as_str()), (3, "S.G\n"));
    }

    #[test]
    fn a_reward_that_is_painted_over_leaves_the_legend() {
        let scene = Scene { maze: "S~.\n.~G\n~ = -5\nG = 10\n".to_owned(), ..Scene::default() };
        let world = World::new(&scene).unwrap();
        let world = world.painted(State(1), Brush::Wall).unwrap();
        assert_eq!(world.text(), "S#.\n.~G\n~ = -5\nG = 10\n");
        let world = world.painted(State(4), Brush::Free).unwrap();
        assert_eq!(world.text(), "S#.\n..G\nG = 10\n");
        assert!(World::new(&Scene { maze: world.text(), ..scene }).is_ok());
    }
}
