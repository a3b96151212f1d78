//! Mazes as text.
//!
//! ```text
//! ; a comment
//! S..#
//! .~.G
//! ~ = -5
//! ```
//!
//! `#` is a wall, `.` a free cell (so is a space, except at the end of a row), `S` a start, `G` a goal. Any other character is a
//! free cell with its own reward for landing on it, instead of the step reward: a line `character = reward` below the maze
//! gives it. With `character = reward end`, landing there also ends the episode. `G = reward` and `S = reward` give goals and
//! starts their own rewards; a goal ends the episode anyway, a start cannot. Every character with a reward must occur in the
//! maze. A line that begins with `;` is a comment. All rows have the same length; the edges of the grid are walls.

use crate::error::TextPlace;
use crate::{Error, Result};

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Nothing enters it.
    Wall,
    /// An ordinary cell.
    Free,
    /// A free cell in which episodes begin.
    Start,
    /// A cell that ends the episode when landed on.
    Goal,
    /// A cell other than a goal that ends the episode when landed on (`x = -100 end`).
    Trap,
}

/// The place of a cell, counted from 0 at the upper left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The row, 0 on top.
    pub row: usize,
    /// The column, 0 at the left.
    pub column: usize,
}

/// A grid of cells.
///
/// ```
/// use backsweep_worlds::{Cell, CellKind, Maze};
/// let maze = Maze::parse("S.#\n.~G\n~ = -5").unwrap();
/// assert_eq!(maze.kind(Cell { row: 1, column: 2 }), CellKind::Goal);
/// assert_eq!(maze.reward(Cell { row: 1, column: 1 }), Some(-5.0));
/// assert!(Maze::parse("S..").unwrap_err().to_string().contains("no goal"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Maze {
    n_rows: usize,
    n_columns: usize,
    kinds: Vec<CellKind>,
    /// The reward of landing on each cell, if it has its own.
    rewards: Vec<Option<f64>>,
    /// The line of the text that holds each row, counted from 1, for messages.
    lines: Vec<usize>,
}

/// A line `character = reward [end]`.
struct LegendLine {
    character: char,
    reward: f64,
    ends: bool,
    line: usize,
}

impl Maze {
    /// Reads a maze.
    ///
    /// # Errors
    /// Names line and column, both counted from 1.
    pub fn parse(text: &str) -> Result<Self> {
        let mut rows: Vec<(usize, Vec<char>)> = Vec::new();
        let mut legend: Vec<LegendLine> = Vec::new();
        let mut gap = None;
        // Some editors put a byte-order mark before the first character.
        for (i, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            let number = i + 1;
            if line.starts_with(';') {
                continue;
            }
            let (place, problem) = if let Some(entry) = legend_line(line, number)? {
                let Some(earlier) = legend.iter().find(|e| e.character == entry.character) else {
                    legend.push(entry);
                    continue;
                };
                let problem = format!("'{}' already has a reward in line {}", entry.character, earlier.line);
                (TextPlace::Line(number), problem + "; keep one of the two lines")
            } else if line.is_empty() {
                gap = gap.or((!rows.is_empty()).then_some(number));
                continue;
            } else if let Some(entry) = legend.first() {
                let problem = format!("found a row of the maze below '{} = …'", entry.character);
                (TextPlace::Line(number), problem + "; put all rewards below the maze")
            } else if let Some(gap) = gap {
                let problem = "empty line inside the maze; remove it, or write free cells as dots";
                (TextPlace::Line(gap), problem.to_owned())
            } else if line.ends_with(char::is_whitespace) {
                // It would be an invisible free cell.
                let problem = "the row ends in blanks; remove them, or write free cells as dots";
                (TextPlace::Column(number, line.trim_end().chars().count() + 1), problem.to_owned())
            } else {
                rows.push((number, line.chars().collect()));
                continue;
            };
            return wrong(place, problem);
        }
        Self::from_rows(&rows, &legend)
    }

    fn from_rows(rows: &[(usize, Vec<char>)], legend: &[LegendLine]) -> Result<Self> {
        let Some((first_line, first)) = rows.first() else {
            return wrong(TextPlace::Line(1), "found no maze; expected rows of '#', '.', 'S' and 'G'");
        };
        let n_columns = first.len();
        let (mut kinds, mut rewards) = (Vec::new(), Vec::new());
        for (line, row) in rows {
            if row.len() != n_columns {
                let column = row.len().min(n_columns) + 1;
                return wrong(
                    TextPlace::Column(*line, column),
                    format!(
                        "the row has {} columns; expected {n_columns}, as in line {first_line}",
                        row.len()
                    ),
                );
            }
            for (i, &character) in row.iter().enumerate() {
                let own = legend.iter().find(|entry| entry.character == character);
                kinds.push(match (character, own) {
                    ('#', _) => CellKind::Wall,
                    ('.' | ' ', _) => CellKind::Free,
                    ('S', _) => CellKind::Start,
                    ('G', _) => CellKind::Goal,
                    (_, Some(entry)) if entry.ends => CellKind::Trap,
                    (_, Some(_)) => CellKind::Free,
                    (_, None) => {
                        return wrong(
                            TextPlace::Column(*line, i + 1),
                            format!(
                                "found '{}'; expected '#', '.', 'S', 'G', or a character whose \
                             reward is given below the maze, as in '{} = -5'",
                                character.escape_default(),
                                character.escape_default()
                            ),
                        );
                    }
                });
                rewards.push(own.map(|entry| entry.reward));
            }
        }
        if let Some(unused) =
            legend.iter().find(|entry| !rows.iter().any(|(_, row)| row.contains(&entry.character)))
        {
            return wrong(
                TextPlace::Column(unused.line, 1),
                format!(
                    "'{}' has a reward but does not occur in the maze; remove the line, or use the character in the maze",
                    unused.character
                ),
            );
        }
        let maze = Self {
            n_rows: rows.len(),
            n_columns,
            kinds,
            rewards,
            lines: rows.iter().map(|(line, _)| *line).collect(),
        };
        for (kind, name) in [(CellKind::Start, "start ('S')"), (CellKind::Goal, "goal ('G')")] {
            if !maze.kinds.contains(&kind) {
                return wrong(
                    TextPlace::Lines(*first_line, maze.lines[maze.n_rows - 1]),
                    format!("the maze has no {name}; expected at least one"),
                );
            }
        }
        Ok(maze)
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// All cells, row by row.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let n_columns = self.n_columns;
        (0..self.kinds.len()).map(move |i| Cell { row: i / n_columns, column: i % n_columns })
    }

    /// All cells of a kind, row by row.
    pub fn cells_of(&self, kind: CellKind) -> impl Iterator<Item = Cell> + '_ {
        self.cells().filter(move |&cell| self.kind(cell) == kind)
    }

    /// The kind of a cell. Everything outside the grid is wall.
    pub fn kind(&self, cell: Cell) -> CellKind {
        self.contains(cell).map_or(CellKind::Wall, |i| self.kinds[i])
    }

    /// Returns whether landing on the cell ends the episode.
    pub fn ends(&self, cell: Cell) -> bool {
        matches!(self.kind(cell), CellKind::Goal | CellKind::Trap)
    }

    /// The reward of landing on the cell, if it has its own.
    pub fn reward(&self, cell: Cell) -> Option<f64> {
        self.contains(cell).and_then(|i| self.rewards[i])
    }

    /// The cell one step away, or `None` if that is a wall or outside.
    pub fn neighbor(&self, cell: Cell, (down, right): (isize, isize)) -> Option<Cell> {
        let row = cell.row.checked_add_signed(down)?;
        let next = Cell { row, column: cell.column.checked_add_signed(right)? };
        (self.kind(next) != CellKind::Wall).then_some(next)
    }

    /// The cell's place in the text, for messages: line and column counted from 1.
    pub fn place(&self, cell: Cell) -> TextPlace {
        TextPlace::Column(self.lines.get(cell.row).copied().unwrap_or(cell.row + 1), cell.column + 1)
    }

    /// The cell's number, row by row; `None` outside the grid.
    pub(crate) fn contains(&self, cell: Cell) -> Option<usize> {
        (cell.row < self.n_rows && cell.column < self.n_columns)
            .then_some(cell.row * self.n_columns + cell.column)
    }
}

/// The error that says what is wrong in a place of the text.
fn wrong<T>(place: TextPlace, problem: impl Into<String>) -> Result<T> {
    Err(Error::text(place, problem))
}

/// Reads `character = reward [end]`; `None` if the line is not of that form at all.
fn legend_line(line: &str, number: usize) -> Result<Option<LegendLine>> {
    let Some((left, right)) = line.split_once('=') else { return Ok(None) };
    let at = |column: usize, problem: String| wrong(TextPlace::Column(number, column), problem);
    let mut characters = left.trim().chars();
    let (Some(character), None) = (characters.next(), characters.next()) else {
        return at(1, format!("found '{}' before '='; expected one character, as in '~ = -5'", left.trim()));
    };
    if matches!(character, '#' | '.' | ';') {
        return at(1, format!("'{character}' cannot have a reward of its own; choose another character"));
    }
    let mut words = right.split_whitespace();
    let found = words.next().unwrap_or("");
    let reward = found.parse::<f64>().ok().filter(|reward| reward.is_finite());
    let (Some(reward), end, None) = (reward, words.next(), words.next()) else {
        let column = line.chars().take_while(|&c| c != '=').count() + 2;
        let found = right.trim();
        return at(
            column,
            format!("found '{found}'; expected a finite reward, optionally followed by 'end'"),
        );
    };
    if let Some(word) = end {
        let column = line.trim_end().chars().count() - word.chars().count() + 1;
        if word != "end" {
            return at(column, format!("found '{word}' after the reward; expected 'end' or nothing"));
        }
        if character == 'S' {
            let problem = "a start ('S') cannot end the episode; remove 'end', or choose another character";
            return at(column, problem.to_owned());
        }
    }
    Ok(Some(LegendLine { character, reward, ends: end.is_some(), line: number }))
}
