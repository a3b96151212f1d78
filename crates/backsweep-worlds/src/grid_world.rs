//! A world that can be drawn, painted and broken while an agent learns in it, and the [rules](Rules) of what happens there.
//! States are cells, so they keep their numbers while walls are built and removed.

mod breaking;
mod rules;
mod suite;

pub use rules::{EIGHT_DIRECTIONS, Rules, Truth};
pub use suite::{drawable_world, drawable_worlds};

use crate::table::solver;
use crate::{Cell, CellKind, Error, Law, Maze, Result, sweep_policy};
use backsweep::episode::{Environment, Step};
use backsweep::explore::EpsilonGreedy;
use backsweep::planner::{Model, Pair, Planner, ReversedFullBackups, Values, plan};
use backsweep::{Action, Budget, Random, Settings, State};
use rules::MazeRules;
use serde::Deserialize;
use std::sync::Arc;
use suite::SuiteRules;

/// The most cells of a grid: a picture of more would not fit on a screen.
pub const MAX_CELLS: usize = 10_000;
/// The most bytes of a grid's text: four for each cell, and as much again for line ends, comments and rewards.
pub const MAX_TEXT: usize = 8 * MAX_CELLS;
/// The most actions of a state.
pub const MAX_ACTIONS: usize = 4;
/// Rewards lie between this and its negative: with a discount of 0.9999, values are then exact to a thousandth.
const MAX_REWARD: f64 = 1e9;

/// The kind of a painted cell.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
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
    /// A free cell with its own reward for landing on it.
    Reward(f64),
}

/// A grid with its rules.
#[derive(Clone, Debug)]
pub struct GridWorld {
    /// The rows of the grid, then its legend: the text from which it was read, without comments.
    rows: Vec<Vec<char>>,
    legend: Vec<String>,
    maze: Maze,
    rules: Arc<dyn Rules>,
    /// The bit of the direction of each action, for each cell; 0 for an action that points nowhere.
    pointers: Arc<[Vec<u8>]>,
}

impl GridWorld {
    /// The world of a maze.
    ///
    /// # Errors
    /// If the maze is not valid or too large, or the law is out of range.
    pub fn of_maze(text: &str, law: Law) -> Result<Self> {
        Self::of(checked_text(text)?, |maze| Ok(Arc::new(MazeRules::new(maze, law)?)))
    }

    /// A world of the exploration suite by its name; its random choices are those of the seed. `painted` is its text as
    /// painted; with an empty one, the world is in its initial state.
    ///
    /// # Errors
    /// If no world has this name, it cannot be drawn, or the text differs from it in anything but walls.
    pub fn of_suite(name: &str, seed: u64, painted: &str) -> Result<Self> {
        let painted = checked_text(painted)?;
        let mut rules = SuiteRules::new(drawable_world(name, seed)?);
        if !painted.trim().is_empty() {
            rules = rules.with_rows(&split(painted).0)?;
        }
        let text = rules.text();
        Self::of(&text, |_| Ok(Arc::new(rules)))
    }

    fn of(text: &str, rules: impl FnOnce(Maze) -> Result<Arc<dyn Rules>>) -> Result<Self> {
        let (rows, legend) = split(text);
        let maze = checked_maze(&rows, &legend)?;
        let rules = rules(maze.clone())?;
        let bit = |direction| EIGHT_DIRECTIONS.iter().position(|d| d == direction).map_or(0, |k| 1 << k);
        let pointers = (0..maze.n_rows() * maze.n_columns())
            .map(|cell| rules.directions(cell).iter().map(bit).collect());
        Ok(Self { rows, legend, maze, pointers: pointers.collect(), rules })
    }

    /// The world as text.
    pub fn text(&self) -> String {
        text(&self.rows, &self.legend)
    }

    /// The bit of the direction of each action, for each cell; 0 for an action that points nowhere. Bits are those of
    /// [`EIGHT_DIRECTIONS`].
    pub fn pointers(&self) -> Arc<[Vec<u8>]> {
        self.pointers.clone()
    }

    /// The rules.
    pub fn rules(&self) -> &dyn Rules {
        &*self.rules
    }

    /// The world that is in force from this step on, if that is another one.
    ///
    /// # Errors
    /// If its text cannot be read, which cannot happen: it is the suite's own.
    pub fn at(&self, step: u64) -> Result<Option<Self>> {
        self.rules.at(step).map(|(rules, text)| Self::of(&text, |_| Ok(rules))).transpose()
    }

    /// The number of columns of the maze.
    pub fn n_columns(&self) -> usize {
        self.maze.n_columns()
    }

    /// The number of rows of the maze.
    pub fn n_rows(&self) -> usize {
        self.maze.n_rows()
    }

    /// The kind of a cell.
    pub fn kind(&self, state: State) -> CellKind {
        self.maze.kind(self.cell(state))
    }

    /// Returns whether an agent can stand in a cell.
    pub fn is_open(&self, state: State) -> bool {
        self.rules.is_open(state.index())
    }

    fn cell(&self, state: State) -> Cell {
        Cell { row: state.index() / self.n_columns(), column: state.index() % self.n_columns() }
    }

    /// The world with one cell painted.
    ///
    /// # Errors
    /// If there is no such cell, no start or no goal would be left, a reward is out of range, or too many rewards differ. The
    /// world is then unchanged.
    pub fn painted(&self, state: State, brush: Brush) -> Result<Self> {
        let n_cells = self.n_states();
        if state.index() >= n_cells {
            return Err(Error::Painting(format!("no cell {}; expected 0 to {}", state.0, n_cells - 1)));
        }
        let (row, column) = (state.index() / self.n_columns(), state.index() % self.n_columns());
        let (mut rows, mut legend) = (self.rows.clone(), self.legend.clone());
        let character = match brush {
            Brush::Toggle if rows[row][column] == '#' => '.',
            Brush::Toggle | Brush::Wall => '#',
            Brush::Free => '.',
            Brush::Start => 'S',
            Brush::Goal => 'G',
            Brush::Reward(reward) => self.sign_of_reward(reward, &mut legend)?,
        };
        if matches!(brush, Brush::Start | Brush::Goal) {
            rows.iter_mut().flatten().filter(|c| **c == character).for_each(|c| *c = '.');
        }
        rows[row][column] = character;
        self.with_rows(rows, &legend)
    }

    /// The character of cells with this reward. A new one gets a line in the legend.
    fn sign_of_reward(&self, reward: f64, legend: &mut Vec<String>) -> Result<char> {
        let has_reward = |line: &&String| {
            let number = line.split_once('=').map(|(_, number)| number.trim());
            let is_special = line.starts_with(['S', 'G']);
            !is_special && number.and_then(|number| number.parse().ok()) == Some(reward)
        };
        if let Some(sign) = legend.iter().find(has_reward).and_then(|line| line.trim_start().chars().next()) {
            return Ok(sign);
        }
        let is_free = |sign: &char| {
            !self.rows.iter().flatten().any(|used| used == sign)
                && !legend.iter().any(|line| line.trim_start().starts_with(*sign))
        };
        let sign = ('a'..='z').find(is_free);
        let sign =
            sign.ok_or_else(|| Error::Painting("26 different rewards; expected at most that many".into()))?;
        legend.push(format!("{sign} = {reward}"));
        Ok(sign)
    }

    /// The world with other rows. Anything far from every difference is not recomputed.
    fn with_rows(&self, rows: Vec<Vec<char>>, legend: &[String]) -> Result<Self> {
        // A character that no longer occurs loses its line in the legend, as in any maze.
        let is_used = |line: &&String| {
            let character = line.trim_start().chars().next();
            rows.iter().flatten().any(|c| Some(*c) == character)
        };
        let legend: Vec<String> = legend.iter().filter(is_used).cloned().collect();
        self.repainted(rows, legend)
    }

    fn repainted(&self, rows: Vec<Vec<char>>, legend: Vec<String>) -> Result<Self> {
        let maze = checked_maze(&rows, &legend)?;
        let rules = self.rules.painted(maze.clone(), &rows)?;
        Ok(Self { rows, legend, maze, rules, pointers: self.pointers.clone() })
    }

    /// The world described by another text of the same grid, for instance one from before it was painted.
    ///
    /// # Errors
    /// If the text is not a maze of the same size.
    pub fn restored(&self, text: &str) -> Result<Self> {
        let (rows, legend) = split(text);
        if rows.len() != self.rows.len() || rows[0].len() != self.rows[0].len() {
            return Err(Error::OtherSize);
        }
        self.repainted(rows, legend)
    }

    /// The settings of planners in this world: a hardly tried pair is treated as worth the most possible here.
    pub fn optimistic(&self, settings: Settings) -> Settings {
        let mut settings = settings;
        settings.optimism.value = self.rules.optimistic_value(settings.discount);
        settings
    }

    /// The number of cells: each is a state, walls included.
    pub fn n_states(&self) -> usize {
        self.rows.len() * self.n_columns()
    }
}

/// The search for the discounted value of the best policy from the start, by the true probabilities, with and without some
/// random exploration. It works in pieces, so that whoever waits can do other things in between.
pub struct OptimumSearch {
    planner: ReversedFullBackups,
    policy: EpsilonGreedy,
    /// The values of the best policy with random exploration, once the planner is done.
    exploring: Option<Vec<f64>>,
}

impl OptimumSearch {
    const TOLERANCE: f64 = 1e-7;
    /// Update cycles in a piece of work.
    const PIECE: u64 = 2048;

    /// Begins a search.
    ///
    /// # Errors
    /// If the discount is out of range.
    pub fn new(truth: &Truth, discount: f64, policy: EpsilonGreedy) -> Result<Self> {
        let planner = solver(&truth.model, discount, Self::TOLERANCE)?;
        Ok(Self { planner, policy, exploring: None })
    }

    /// Does a piece of work in the world for which the search was begun. Returns what was found, if it was: first the value with
    /// random exploration, the line that learning can reach but, on average, not cross; then the value without.
    pub fn work(&mut self, truth: &Truth) -> Option<(f64, f64)> {
        let model = &truth.model;
        let best = |planner: &ReversedFullBackups| {
            let values = planner.values();
            model.states().map(|state| values.value(state)).collect::<Vec<_>>()
        };
        let Some(exploring) = &mut self.exploring else {
            let done = plan(&mut self.planner, model, Budget::Cycles(Self::PIECE));
            self.exploring = (done.cycles < Self::PIECE).then(|| best(&self.planner));
            return None;
        };
        let (values, epsilon) = (self.planner.values(), self.policy.epsilon());
        let chance = |pair: Pair| {
            let state = model.state_of(pair);
            let is_chosen = is_first_best(model, values, state, pair);
            epsilon / model.n_actions(state) as f64 + if is_chosen { 1.0 - epsilon } else { 0.0 }
        };
        let (lowest, highest) = sweep_policy(model, chance, values.discount(), exploring);
        let is_found = highest.max(-lowest) <= Self::TOLERANCE;
        is_found.then(|| (truth.mean_over_starts(exploring), truth.mean_over_starts(&best(&self.planner))))
    }

    /// Works until the optimum is found. Returns it as [`work`](Self::work) does.
    pub fn finish(mut self, truth: &Truth) -> (f64, f64) {
        loop {
            if let Some(found) = self.work(truth) {
                return found;
            }
        }
    }
}

fn is_first_best(model: &Model, values: &Values, state: State, pair: Pair) -> bool {
    let q = values.action_value(pair);
    model.pairs(state).all(|other| {
        let rival = values.action_value(other);
        rival < q || rival == q && other >= pair
    })
}

/// The text without its byte-order mark, refused by its length before it is parsed: a cell takes up to 4 bytes, and the
/// legend some more.
fn checked_text(text: &str) -> Result<&str> {
    if text.len() > MAX_TEXT {
        return Err(Error::Painting(format!(
            "the maze's text has {} bytes; expected at most {MAX_TEXT}, for {MAX_CELLS} cells",
            text.len()
        )));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
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
        return Err(Error::Painting(format!("the maze has {n_cells} cells; expected at most {MAX_CELLS}")));
    }
    let maze = Maze::parse(&text(rows, legend))?;
    if let Some(cell) = maze.cells().find(|&c| maze.reward(c).is_some_and(|r| r.abs() > MAX_REWARD)) {
        let reward = maze.reward(cell).unwrap_or_default();
        let problem = format!("the reward of this cell is {reward:e}; expected -1e9 to 1e9");
        return Err(Error::text(maze.place(cell), problem));
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

/// The cell beside another in a direction, if it is in the grid.
fn beside((n_rows, n_columns): (usize, usize), cell: usize, (down, right): (isize, isize)) -> Option<usize> {
    let row = (cell / n_columns).checked_add_signed(down).filter(|&row| row < n_rows)?;
    let column = (cell % n_columns).checked_add_signed(right).filter(|&column| column < n_columns)?;
    Some(row * n_columns + column)
}

impl Environment for GridWorld {
    fn n_actions(&self, state: State) -> usize {
        self.rules.n_actions(state)
    }

    fn start(&self, random: &mut Random) -> State {
        self.rules.start(random)
    }

    /// Steps out of a cell in which an agent [can stand](Self::is_open).
    #[inline]
    fn step(&self, state: State, action: Action, random: &mut Random) -> Step {
        self.rules.step(state, action, random)
    }
}
