//! The values of one row, as readers of files hand them out, and their consumers.

use crate::decimal::{Decimal, NotDecimal};
use crate::error::RowProblem;
use crate::moment::{self, Moment, OrderKind};

/// The values of one row, by slot.
pub(crate) trait RowCells {
    /// The value as text; empty if there is none.
    fn text(&mut self, slot: usize) -> &[u8];

    /// The value as a decimal number.
    fn decimal(&mut self, slot: usize) -> Result<Decimal, NotDecimal> {
        Decimal::parse(self.text(slot))
    }

    /// The value in units of 10^-`decimals`, if known without parsing a decimal number.
    #[inline]
    fn units(&mut self, _slot: usize, _decimals: u8) -> Option<i64> {
        None
    }

    /// The value as a flag, if it is 1 or 0.
    #[inline]
    fn flag(&mut self, slot: usize) -> Option<bool> {
        match self.text(slot) {
            b"0" => Some(false),
            b"1" => Some(true),
            _ => None,
        }
    }

    /// The value as a number that can be binned.
    fn number(&mut self, slot: usize) -> Option<f64> {
        parsed_number(self.text(slot))
    }

    /// The value as a place in the order of a case.
    fn moment(&mut self, slot: usize) -> Option<(Moment, OrderKind)> {
        moment::parse(self.text(slot))
    }

    /// A small number that stands for the text of this slot within the block, if the file has one.
    fn code(&self, _slot: usize) -> Option<u32> {
        None
    }

    /// Returns `true` if the value is known to equal that of the previous row.
    fn repeats(&self, _slot: usize) -> bool {
        false
    }
}

/// A text as a finite number.
pub(crate) fn parsed_number(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// Consumes the rows of a log.
pub(crate) trait RowSink: Send {
    /// A row.
    fn row(&mut self, cells: &mut impl RowCells, block: u32, line: u32);
    /// A row that could not be split into columns.
    fn bad_row(&mut self, block: u32, line: u32, problem: Box<RowProblem>);
    /// The block is done: codes get new meanings, and the next rows need not follow the previous ones.
    fn end_block(&mut self, block: u32, n_lines: u32);
    /// From here on codes of [`RowCells`] have other meanings.
    fn forget_codes(&mut self) {}
}
