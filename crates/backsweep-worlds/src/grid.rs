//! The layout of a world: the cell of each state, and where its actions point.

use backsweep::{Action, State};

/// Up, right, down, left, or north, east, south, west, as (down, right). Adding 1 to the index is a quarter turn clockwise.
pub const COMPASS: [(isize, isize); 4] = [(-1, 0), (0, 1), (1, 0), (0, -1)];

/// A world's states laid out in rows and columns. Several states may share a cell: for instance, a taxi with and
/// without its passenger.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The number of rows.
    pub n_rows: usize,
    /// The number of columns.
    pub n_columns: usize,
    /// The grid in the alphabet of the laboratory's maze files, which read it as it is: `#` wall, `.` free, `S` start, `G` goal,
    /// and other characters with their rewards below.
    pub text: String,
    /// The row and column of each state; `None` for a state that is drawn nowhere.
    pub cells: Vec<Option<(usize, usize)>>,
    /// Where each action points, as (down, right), `(0, 0)` if nowhere: one row for all states, or one row per state.
    pub directions: Vec<Vec<(isize, isize)>>,
}

impl Grid {
    /// The cell of a state.
    pub fn cell(&self, state: State) -> Option<(usize, usize)> {
        self.cells.get(state.index()).copied().flatten()
    }

    /// The states of a cell, in ascending order.
    pub fn states(&self, row: usize, column: usize) -> impl Iterator<Item = State> + '_ {
        let here = move |&(_, cell): &(usize, &Option<(usize, usize)>)| *cell == Some((row, column));
        self.cells.iter().enumerate().filter(here).map(|(state, _)| State(state as u32))
    }

    /// Where an action of a state points; `None` if nowhere.
    pub fn direction(&self, state: State, action: Action) -> Option<(isize, isize)> {
        let row = self.directions.get(state.index()).or(self.directions.first())?;
        row.get(action.index()).copied().filter(|&direction| direction != (0, 0))
    }

    /// A grid whose states are its cells, row by row.
    pub(crate) fn of_cells(text: &str, directions: &[(isize, isize)]) -> Self {
        let rows: Vec<&str> = text.lines().take_while(|line| !line.contains('=')).collect();
        let (n_rows, n_columns) = (rows.len(), rows.first().map_or(0, |row| row.len()));
        let cells = (0..n_rows * n_columns).map(|i| Some((i / n_columns, i % n_columns))).collect();
        Self { n_rows, n_columns, text: text.to_owned(), cells, directions: vec![directions.to_vec()] }
    }
}

/// Where a step in a direction leads in a grid of this size without inner walls: the cell's number, row by row.
pub(crate) fn stepped(
    (n_rows, n_columns): (usize, usize),
    cell: usize,
    (down, right): (isize, isize),
) -> usize {
    let row = (cell / n_columns).saturating_add_signed(down).min(n_rows - 1);
    let column = (cell % n_columns).saturating_add_signed(right).min(n_columns - 1);
    row * n_columns + column
}
