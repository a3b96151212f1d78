//! Tables in memory, read in chunks: columns held by another program are copied a chunk at a time, never as a whole.

use crate::error::{Error, Result};
use crate::read::cells::RowSink;
use crate::read::input::Input;
use crate::read::typed::{ColumnChunk, TypedCells};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A table that is held as columns. It can be read more than once, by several threads.
pub trait DataFrame: fmt::Debug + Send + Sync {
    /// The names of the columns.
    fn names(&self) -> Vec<String>;

    /// The number of rows.
    fn n_rows(&self) -> usize;

    /// Some rows of some columns, in the order of `columns`.
    ///
    /// # Errors
    /// A column that cannot be read, and why.
    fn part(
        &self,
        columns: &[String],
        rows: Range<usize>,
    ) -> std::result::Result<Vec<ColumnChunk>, Box<dyn std::error::Error + Send + Sync>>;

    /// The line of a row in the file that the table was read from, if there was one.
    fn line(&self, _row: usize) -> Option<u64> {
        None
    }
}

/// Some rows of a table, not yet read.
pub(crate) struct FramePart {
    input: Input,
    frame: Arc<dyn DataFrame>,
    columns: Arc<[String]>,
    pub rows: Range<usize>,
}

/// The number of rows that are read at once: few enough for the cache, enough that the cost per call does not matter.
const PART_ROWS: usize = 1 << 16;

/// The parts of a table, in order.
pub(crate) fn parts(
    input: &Input,
    frame: &Arc<dyn DataFrame>,
    columns: &[String],
) -> Result<Vec<Arc<FramePart>>> {
    let names = frame.names();
    if let Some(missing) = columns.iter().find(|column| !names.contains(column)) {
        return Err(input.missing_column(missing, &names));
    }
    if let Some(twice) = columns.iter().find(|column| names.iter().filter(|name| name == column).count() > 1)
    {
        return Err(input.two_columns(twice));
    }
    let (columns, n_rows): (Arc<[String]>, _) = (columns.into(), frame.n_rows());
    let part = |start| {
        let (frame, columns) = (Arc::clone(frame), Arc::clone(&columns));
        Arc::new(FramePart {
            input: input.clone(),
            frame,
            columns,
            rows: start..n_rows.min(start + PART_ROWS),
        })
    };
    Ok((0..n_rows).step_by(PART_ROWS).map(part).collect())
}

impl FramePart {
    /// Hands all rows to a sink; returns how many there are.
    pub fn read<S: RowSink>(&self, block: u32, sink: &mut S) -> Result<u32> {
        let Self { input, frame, columns, rows } = self;
        let chunks =
            frame.part(columns, rows.clone()).map_err(|problem| Error::file(input, problem.to_string()))?;
        if chunks.len() != columns.len() {
            let (found, expected) = (chunks.len(), columns.len());
            return Err(Error::file(input, format!("returned {found} columns; expected {expected}")));
        }
        for (name, chunk) in columns.iter().zip(&chunks) {
            chunk.check(rows.len()).map_err(|problem| Error::column(input, name, problem))?;
        }
        let mut cells = TypedCells::new(&chunks);
        for row in 0..rows.len() {
            cells.row = row;
            sink.row(&mut cells, block, row as u32);
        }
        Ok(rows.len() as u32)
    }
}
