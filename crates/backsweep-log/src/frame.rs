//! Tables in memory, read in chunks: columns held by another program are copied a chunk at a time, never as a whole.

use crate::error::{Error, Result};
use crate::feed::missing_column;
use crate::input::Input;
use crate::typed::{Series, TypedCells};
use crate::work::Sink;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A table that is held as columns. It can be read more than once, by several threads.
pub trait Frame: fmt::Debug + Send + Sync {
    /// The names of the columns.
    fn names(&self) -> Vec<String>;

    /// How many rows there are.
    fn n_rows(&self) -> usize;

    /// Some rows of some columns, in the order of `columns`.
    ///
    /// # Errors
    /// A column that cannot be read, and why.
    fn part(&self, columns: &[String], rows: Range<usize>) -> std::result::Result<Vec<Series>, String>;
}

/// Some rows of a table, not yet read.
pub(crate) struct Part {
    input: Input,
    frame: Arc<dyn Frame>,
    columns: Arc<[String]>,
    pub rows: Range<usize>,
}

/// How many rows are read at once: few enough for the cache, enough that the cost per call does not matter.
const PART: usize = 1 << 16;

/// The parts of a table, in order.
pub(crate) fn parts(input: &Input, frame: &Arc<dyn Frame>, columns: &[String]) -> Result<Vec<Arc<Part>>> {
    let names = frame.names();
    if let Some(missing) = columns.iter().find(|column| !names.contains(column)) {
        return Err(missing_column(input, missing, &names));
    }
    if let Some(twice) = columns.iter().find(|column| names.iter().filter(|name| name == column).count() > 1)
    {
        return Err(Error::at(
            input,
            format_args!("there are two columns '{twice}'; expected each name once"),
        ));
    }
    let (columns, n_rows): (Arc<[String]>, _) = (columns.into(), frame.n_rows());
    let part = |start| {
        let (frame, columns) = (Arc::clone(frame), Arc::clone(&columns));
        Arc::new(Part { input: input.clone(), frame, columns, rows: start..n_rows.min(start + PART) })
    };
    Ok((0..n_rows).step_by(PART).map(part).collect())
}

impl Part {
    /// Hands all rows to a sink; returns how many there are.
    pub fn read<S: Sink>(&self, block: u32, sink: &mut S) -> Result<u32> {
        let Self { input, frame, columns, rows } = self;
        let series = frame.part(columns, rows.clone()).map_err(|problem| Error::at(input, problem))?;
        if series.len() != columns.len() {
            let (found, expected) = (series.len(), columns.len());
            return Err(Error::at(input, format_args!("returned {found} columns; expected {expected}")));
        }
        for (name, series) in columns.iter().zip(&series) {
            series
                .check(rows.len())
                .map_err(|problem| Error::at(input, format_args!("column '{name}' {problem}")))?;
        }
        let mut cells = TypedCells::new(&series);
        for row in 0..rows.len() {
            cells.row = row;
            sink.row(&mut cells, block, row as u32);
        }
        Ok(rows.len() as u32)
    }
}
