//! Which rows of a log are read, and their derived columns: in front of whatever consumes rows.

use crate::condition::Condition;
use crate::derived::{DerivedCells, DerivedColumns};
use crate::error::RowProblem;
use crate::read::cells::{RowCells, RowSink};
use crate::spec::Spec;

/// The conditions that rows must meet, each with the slot of its column.
pub(crate) struct RowConditions(Vec<(usize, Condition)>);

impl RowConditions {
    pub fn new(spec: &Spec, slot: &mut dyn FnMut(&str) -> usize) -> Self {
        Self(spec.conditions.iter().map(|condition| (slot(&condition.column), condition.clone())).collect())
    }
}

/// Hands the rows that meet all conditions to a sink, with their derived columns.
pub(crate) struct Selected<'a, S> {
    conditions: &'a RowConditions,
    derived: &'a DerivedColumns,
    pub sink: S,
    /// The number of rows that were left out.
    pub n_left_out: u64,
}

impl<'a, S: RowSink> Selected<'a, S> {
    pub fn new(conditions: &'a RowConditions, derived: &'a DerivedColumns, sink: S) -> Self {
        Self { conditions, derived, sink, n_left_out: 0 }
    }
}

impl<S: RowSink> RowSink for Selected<'_, S> {
    #[inline]
    fn row(&mut self, cells: &mut impl RowCells, block: u32, line: u32) {
        for (slot, condition) in &self.conditions.0 {
            match condition.accepts(cells, *slot) {
                Ok(true) => {}
                Ok(false) => {
                    self.n_left_out += 1;
                    return;
                }
                Err(problem) => return self.sink.bad_row(block, line, problem),
            }
        }
        if self.derived.is_empty() {
            self.sink.row(cells, block, line);
        } else {
            self.sink.row(&mut DerivedCells::new(cells, self.derived, block, line), block, line);
        }
    }

    fn bad_row(&mut self, block: u32, line: u32, problem: Box<RowProblem>) {
        self.sink.bad_row(block, line, problem);
    }

    fn end_block(&mut self, block: u32, n_lines: u32) {
        self.sink.end_block(block, n_lines);
    }

    fn forget_codes(&mut self) {
        self.sink.forget_codes();
    }
}
