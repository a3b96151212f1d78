//! Worlds of the exploration suite, by their own rules: slippery lakes, the diagonals of DeepSea, mazes that change by
//! themselves.

use super::rules::{Rules, Truth};
use super::split;
use crate::table::known_model;
use crate::{Error, Grid, Maze, Phase, Result, World};
use backsweep::episode::{Environment, Step};
use backsweep::planner::Outcome;
use backsweep::{Action, Next, Random, State};
use std::sync::Arc;

/// The sizes of families that are in the menu; others can be named.
const SIZES: [&str; 4] = ["10", "20", "30", "50"];

/// A world of the suite, perhaps with walls painted into it or opened.
#[derive(Clone, Debug)]
pub struct SuiteRules {
    world: Arc<World>,
    phase: usize,
    /// For each painted cell, whether it is now a wall or no longer one. Empty if nothing was painted.
    changed: Vec<Option<bool>>,
}

/// The world of this name; its random choices are those of the seed.
///
/// # Errors
/// If there is none, or it cannot be drawn as a grid with one state per cell.
pub fn drawable_world(name: &str, seed: u64) -> Result<World> {
    let world = crate::world(name, &mut Random::from_seed(seed))?;
    if is_drawable(&world) {
        return Ok(world);
    }
    let drawable: Vec<String> = drawable_worlds().into_iter().map(|world| world.name).collect();
    Err(Error::Painting(format!(
        "the world '{name}' cannot be drawn: expected a grid with one state per cell, such as {}",
        drawable.join(", ")
    )))
}

/// Returns whether the states of a world are the cells of a grid, row by row, with no more actions than a frame has room for.
fn is_drawable(world: &World) -> bool {
    world.phases.iter().all(|phase| {
        let is_cell = |grid: &Grid, i: usize| grid.cells[i] == Some((i / grid.n_columns, i % grid.n_columns));
        let n = phase.table.n_states();
        phase.grid.as_ref().is_some_and(|grid| {
            grid.cells.len() == n && n == grid.n_rows * grid.n_columns && (0..n).all(|i| is_cell(grid, i))
        }) && (0..n).all(|i| phase.table.n_actions(State(i as u32)) <= super::MAX_ACTIONS)
    })
}

/// The worlds of the suite that can be drawn, of families with a size only some.
pub fn drawable_worlds() -> Vec<World> {
    let is_offered = |name: &str| match name.strip_prefix("deep_sea") {
        Some(rest) => rest.rsplit_once('_').is_some_and(|(_, size)| SIZES.contains(&size)),
        None => true,
    };
    let names = crate::names().into_iter().filter(|name| is_offered(name));
    let worlds = names.filter_map(|name| crate::world(&name, &mut Random::from_seed(0)).ok());
    worlds.filter(is_drawable).collect()
}

impl SuiteRules {
    /// A world in its initial state.
    pub fn new(world: World) -> Self {
        Self { world: Arc::new(world), phase: 0, changed: Vec::new() }
    }

    fn phase(&self) -> &Phase {
        &self.world.phases[self.phase]
    }

    fn grid(&self) -> &Grid {
        // Checked by `drawable_world`.
        self.phase().grid.as_ref().unwrap_or_else(|| unreachable!("a world without a grid is not drawn"))
    }

    /// The picture of the world as text.
    pub fn text(&self) -> String {
        let (mut rows, legend) = split(&self.grid().text);
        for (cell, changed) in self.changed.iter().enumerate() {
            if let Some(is_wall) = changed {
                rows[cell / self.grid().n_columns][cell % self.grid().n_columns] =
                    if *is_wall { '#' } else { '.' };
            }
        }
        super::text(&rows, &legend)
    }

    /// The world as other rows show it.
    ///
    /// # Errors
    /// If they differ in anything but walls.
    pub fn with_rows(&self, rows: &[Vec<char>]) -> Result<Self> {
        let (own, _) = split(&self.grid().text);
        let (name, n_rows, n_columns) = (&self.world.name, own.len(), own[0].len());
        if rows.len() != n_rows || rows.iter().any(|row| row.len() != n_columns) {
            return Err(Error::Painting(format!(
                "the painted world has {} rows of {} cells; expected {n_rows} rows of {n_columns}, as in {name}",
                rows.len(),
                rows.first().map_or(0, Vec::len),
            )));
        }
        let mut changed = vec![None; n_rows * n_columns];
        for (i, change) in changed.iter_mut().enumerate() {
            let (was, is) = (own[i / n_columns][i % n_columns], rows[i / n_columns][i % n_columns]);
            *change = match (was, is) {
                (was, is) if was == is => None,
                ('.', '#') => Some(true),
                ('#', '.') => Some(false),
                _ => {
                    return Err(Error::Painting(format!(
                        "the rules of {name} fix what this cell is; expected a wall on a free cell, or a wall removed"
                    )));
                }
            };
        }
        if changed.iter().all(Option::is_none) {
            changed.clear();
        }
        Ok(Self { changed, ..self.clone() })
    }

    fn is_wall(&self, cell: usize) -> bool {
        let n_columns = self.grid().n_columns;
        let own =
            || self.grid().text.as_bytes()[cell / n_columns * (n_columns + 1) + cell % n_columns] == b'#';
        self.changed.get(cell).copied().flatten().unwrap_or_else(own)
    }

    /// Where a step leads in the painted world, given where it would lead in the original one: new walls are not entered,
    /// and removed walls no longer stop the agent.
    fn landed(&self, from: State, action: Action, next: State) -> State {
        match self.changed.get(next.index()) {
            None => next,
            Some(Some(true)) => from,
            Some(_) if next == from => {
                let (n_rows, n_columns) = (self.grid().n_rows, self.grid().n_columns);
                let ahead = self
                    .grid()
                    .direction(from, action)
                    .and_then(|direction| super::beside((n_rows, n_columns), from.index(), direction));
                match ahead {
                    Some(cell) if self.changed[cell] == Some(false) => State(cell as u32),
                    _ => from,
                }
            }
            Some(_) => next,
        }
    }

    fn next(&self, from: State, action: Action, next: Next) -> Next {
        match next {
            Next::Continue(to) => Next::Continue(self.landed(from, action, to)),
            other => other,
        }
    }
}

impl Rules for SuiteRules {
    fn is_open(&self, cell: usize) -> bool {
        self.phase().table.n_actions(State(cell as u32)) > 0 && !self.is_wall(cell)
    }

    fn directions(&self, cell: usize) -> &[(isize, isize)] {
        let grid = self.grid();
        let row = grid.directions.get(cell).or(grid.directions.first());
        row.map_or(&[], |row| &row[..self.n_actions(State(cell as u32)).min(row.len())])
    }

    fn reward_range(&self) -> (f64, f64) {
        self.world.reward_range
    }

    fn optimistic_value(&self, discount: f64) -> f64 {
        self.world.reward_range.1.max(0.0) / (1.0 - discount)
    }

    fn truth(&self) -> Result<Truth> {
        let table = &self.phase().table;
        let n_states = table.n_states() as u32;
        let model = known_model((0..n_states).map(|s| table.n_actions(State(s))), |state, action| {
            let outcomes = table.outcomes(state, action).iter();
            outcomes.map(|o| Outcome { next: self.next(state, action, o.next), ..*o }).collect()
        })?;
        Ok(Truth { model, cells: (0..n_states).collect(), starts: table.starts().to_vec() })
    }

    fn episode_limit(&self) -> Option<u64> {
        self.world.episode_limit
    }

    fn has_episodes(&self) -> bool {
        let table = &self.phase().table;
        let ends = |state: State| {
            let actions = (0..table.n_actions(state) as u32).map(Action);
            actions.flat_map(|a| table.outcomes(state, a)).any(|outcome| outcome.next == Next::Terminated)
        };
        self.world.episode_limit.is_some() || (0..table.n_states() as u32).any(|s| ends(State(s)))
    }

    fn texts(&self) -> Vec<String> {
        self.world.phases.iter().filter_map(|phase| Some(phase.grid.as_ref()?.text.clone())).collect()
    }

    fn painted(&self, _maze: Maze, rows: &[Vec<char>]) -> Result<Arc<dyn Rules>> {
        Ok(Arc::new(self.with_rows(rows)?))
    }

    fn at(&self, step: u64) -> Option<(Arc<dyn Rules>, String)> {
        let phase = self.world.phases.iter().rposition(|phase| phase.from <= step)?;
        if phase == self.phase {
            return None;
        }
        let rules = Self { phase, ..self.clone() };
        let text = rules.text();
        Some((Arc::new(rules), text))
    }
}

impl Environment for SuiteRules {
    fn n_actions(&self, state: State) -> usize {
        self.phase().table.n_actions(state)
    }

    fn start(&self, random: &mut Random) -> State {
        self.phase().table.start(random)
    }

    fn step(&self, state: State, action: Action, random: &mut Random) -> Step {
        let step = self.phase().table.step(state, action, random);
        Step { next: self.next(state, action, step.next), ..step }
    }
}
