//! The world of a scene: a grid that can be drawn and painted, and the [rules](Rules) of what happens in it. States are cells,
//! so they keep their numbers while walls are built and removed.

mod breaking;
mod rules;
pub mod suite;

pub use rules::{COMPASS, Rules, Truth};

use crate::error::{Error, Result};
use crate::scene::{MAX_CELLS, MAX_TEXT, Scene};
use backsweep::{
    Action, Environment, EpsilonGreedy, Model, Pair, PlannerKind, Random, Settings, State, Step, Values,
};
use backsweep_worlds::{Cell, Kind, Maze, evaluate_policy};
use rules::MazeRules;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use suite::SuiteRules;

/// The most actions of a state: a frame has this many places for each cell.
pub const MAX_ACTIONS: usize = 4;
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

/// A grid with its rules.
#[derive(Clone, Debug)]
pub struct World {
    /// The rows of the grid, then its legend: the text from which it was read, without comments.
    rows: Vec<Vec<char>>,
    legend: Vec<String>,
    maze: Maze,
    rules: Arc<dyn Rules>,
    /// The bit of the direction of each action, for each cell; 0 for an action that points nowhere.
    pointers: Arc<[Vec<u8>]>,
}

impl World {
    /// The world of a scene.
    ///
    /// # Errors
    /// If the maze is not valid or too large, the law is out of range, or no world has the scene's name.
    pub fn new(scene: &Scene) -> Result<Self> {
        // Refused by its length before it is parsed; a cell takes up to 4 bytes, and the legend some more.
        if scene.maze.len() > MAX_TEXT {
            return Err(Error::new(format!(
                "the maze's text has {} bytes; expected at most {MAX_TEXT}, for {MAX_CELLS} cells",
                scene.maze.len()
            )));
        }
        let given = scene.maze.strip_prefix('\u{feff}').unwrap_or(&scene.maze);
        if let Some(name) = &scene.world {
            let mut rules = SuiteRules::new(suite::named(name, scene.seed)?);
            // The scene's maze is the world as painted; without one, the world is in its initial state.
            if !given.trim().is_empty() {
                rules = rules.with_rows(&split(given).0)?;
            }
            let text = rules.text();
            return Self::of(&text, |_| Ok(Arc::new(rules)));
        }
        let law = scene.outcome_law()?;
        Self::of(given, |maze| Ok(Arc::new(MazeRules::new(maze, law)?)))
    }

    fn of(text: &str, rules: impl FnOnce(Maze) -> Result<Arc<dyn Rules>>) -> Result<Self> {
        let (rows, legend) = split(text);
        let maze = checked_maze(&rows, &legend)?;
        let rules = rules(maze.clone())?;
        let bit = |direction| COMPASS.iter().position(|d| d == direction).map_or(0, |k| 1 << k);
        let pointers = (0..maze.n_rows() * maze.n_columns())
            .map(|cell| rules.directions(cell).iter().map(bit).collect());
        Ok(Self { rows, legend, maze, pointers: pointers.collect(), rules })
    }

    /// The world as text.
    pub fn text(&self) -> String {
        text(&self.rows, &self.legend)
    }

    /// The bit of the direction of each action, for each cell; 0 for an action that points nowhere. Bits are those of
    /// [`COMPASS`].
    pub fn pointers(&self) -> Arc<[Vec<u8>]> {
        self.pointers.clone()
    }

    /// What the page must know about the world besides its text: where actions point, its unpainted text, and whether
    /// it has episodes.
    pub fn layout_json(&self) -> Value {
        let rows = match &self.pointers[..] {
            [first, rest @ ..] if rest.iter().all(|row| row == first) => std::slice::from_ref(first),
            rows => rows,
        };
        json!({ "pointers": rows, "texts": self.rules.texts(), "episodes": self.rules.has_episodes() })
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

    /// How many columns the maze has.
    pub fn n_columns(&self) -> usize {
        self.maze.n_columns()
    }

    /// How many rows the maze has.
    pub fn n_rows(&self) -> usize {
        self.maze.n_rows()
    }

    /// What a cell is.
    pub fn kind(&self, state: State) -> Kind {
        self.maze.kind(self.cell(state))
    }

    /// Whether an agent can stand in a cell.
    pub fn is_open(&self, state: State) -> bool {
        self.rules.is_open(state.index())
    }

    fn cell(&self, state: State) -> Cell {
        Cell { row: state.index() / self.n_columns(), column: state.index() % self.n_columns() }
    }

    /// The world with one cell painted.
    ///
    /// # Errors
    /// If there is no such cell, or no start or no goal would be left. The world is then unchanged.
    pub fn painted(&self, state: State, brush: Brush) -> Result<Self> {
        let n_cells = self.n_states();
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

    /// The world with other rows. Anything far from every difference is not recomputed.
    fn with_rows(&self, rows: Vec<Vec<char>>) -> Result<Self> {
        // A character that no longer occurs loses its line in the legend, as in any maze.
        let is_used = |line: &&String| {
            let character = line.trim_start().chars().next();
            rows.iter().flatten().any(|c| Some(*c) == character)
        };
        let legend: Vec<String> = self.legend.iter().filter(is_used).cloned().collect();
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
            return Err(Error::new("the maze has a different size; expected the same rows and columns"));
        }
        self.repainted(rows, legend)
    }

    /// The settings of planners in this world: a hardly tried pair is treated as worth the most possible here.
    pub fn optimistic(&self, settings: Settings) -> Settings {
        let mut settings = settings;
        settings.optimism.value = self.rules.optimistic_value(settings.discount);
        settings
    }

    /// The discounted value of the best policy from the start, computed from the true probabilities: first with this much
    /// random exploration, the line that learning can reach but, on average, not cross; then without.
    ///
    /// # Errors
    /// If planning on the true model fails.
    pub fn optimum(&self, truth: &Truth, settings: &Settings, policy: EpsilonGreedy) -> Result<(f64, f64)> {
        let settings = Settings { optimism: Default::default(), ..*settings };
        let mut planner = PlannerKind::ReversedFullBackups.build(settings)?;
        let model = &truth.model;
        planner.grow(model);
        backsweep::solve(&mut *planner, model, 1e-7)?;
        let epsilon = policy.epsilon();
        let chance = |pair: Pair| {
            let state = model.state_of(pair);
            epsilon / model.pairs(state).count() as f64
                + if is_first_best(model, planner.values(), state, pair) { 1.0 - epsilon } else { 0.0 }
        };
        let exploring = truth.mean_over_starts(&evaluate_policy(model, chance, settings.discount, 1e-7));
        let values: Vec<f64> = model.states().map(|state| planner.values().value(state)).collect();
        Ok((exploring, truth.mean_over_starts(&values)))
    }

    /// How many cells there are: each is a state, walls included.
    pub fn n_states(&self) -> usize {
        self.rows.len() * self.n_columns()
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

/// The cell beside another in a direction, if it is in the grid.
fn beside((n_rows, n_columns): (usize, usize), cell: usize, (down, right): (isize, isize)) -> Option<usize> {
    let row = (cell / n_columns).checked_add_signed(down).filter(|&row| row < n_rows)?;
    let column = (cell % n_columns).checked_add_signed(right).filter(|&column| column < n_columns)?;
    Some(row * n_columns + column)
}

impl Environment for World {
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
