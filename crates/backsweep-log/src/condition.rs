//! Conditions on the columns of a row: `channel = Internet`, `amount >= 500`, `time:timestamp < 2017-01-01`.

use crate::decimal::Decimal;
use crate::error::{Error, Result, RowProblem};
use crate::moment::{self, OrderKind};
use crate::read::cells::RowCells;
use std::fmt;

/// A condition that rows must meet to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// The comparison.
    pub comparison: Comparison,
    /// The value that the column is compared with.
    pub value: String,
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same text, or the same number.
    Equal,
    /// Neither.
    NotEqual,
    /// Both are numbers, or both are dates, and the first is smaller.
    Less,
    /// The first is smaller or equal.
    AtMost,
    /// The first is larger.
    Greater,
    /// The first is larger or equal.
    AtLeast,
}

impl Comparison {
    /// The signs, longer ones before those that they begin with.
    const SIGNS: [(&'static str, Self); 7] = [
        ("!=", Self::NotEqual),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("==", Self::Equal),
        ("=", Self::Equal),
        ("<", Self::Less),
        (">", Self::Greater),
    ];
}

impl Condition {
    /// Reads `channel = Internet`, with or without spaces; the value may be in single quotes.
    ///
    /// # Errors
    /// If there is no comparison or no column, or a value that has an order is neither a number nor a date.
    pub fn parse(text: &str) -> Result<Self> {
        let problem =
            |what: &str| Error::syntax(text, format!("{what}; expected the form 'channel = Internet'"));
        let found = text.char_indices().find_map(|(at, _)| {
            let sign = Comparison::SIGNS.iter().find(|(sign, _)| text[at..].starts_with(sign))?;
            Some((at, sign))
        });
        let Some((at, (sign, comparison))) = found else {
            return Err(problem("no comparison (=, !=, <, <=, >, >=) was found"));
        };
        let (column, value) = (text[..at].trim(), text[at + sign.len()..].trim());
        if column.is_empty() {
            return Err(problem("the column has no name"));
        }
        let quoted = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
        let value = quoted.unwrap_or(value).to_owned();
        let has_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if has_order && moment::parse(value.as_bytes()).is_none() {
            return Err(problem(
                "the value is neither a number nor a date, so that nothing is larger or smaller",
            ));
        }
        Ok(Self { column: column.to_owned(), comparison: *comparison, value })
    }

    /// Returns `true` if a row meets the condition; `slot` is that of its column. An empty value meets only `!=` and `= ''`.
    pub(crate) fn accepts(
        &self,
        cells: &mut impl RowCells,
        slot: usize,
    ) -> std::result::Result<bool, Box<RowProblem>> {
        let (found, value) = (cells.text(slot), self.value.as_bytes());
        let is_equal = |found: &[u8]| {
            found == value
                || matches!((Decimal::parse(found), Decimal::parse(value)), (Ok(a), Ok(b)) if a == b)
        };
        match self.comparison {
            Comparison::Equal => return Ok(is_equal(found)),
            Comparison::NotEqual => return Ok(!is_equal(found)),
            _ if found.is_empty() => return Ok(false),
            _ => {}
        }
        let kind = |kind: OrderKind| kind == OrderKind::Number;
        let Some((given, of_given)) = moment::parse(value) else { return Ok(false) };
        match cells.moment(slot) {
            Some((found, of_found)) if kind(of_found) == kind(of_given) => Ok(match self.comparison {
                Comparison::Less => found < given,
                Comparison::AtMost => found <= given,
                Comparison::Greater => found > given,
                _ => found >= given,
            }),
            _ => {
                let expected = if kind(of_given) { "a number" } else { "a date" };
                let expected = format!("{expected}, since it is compared with {}", self.value);
                Err(RowProblem::value(&self.column, cells.text(slot), expected))
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = Comparison::SIGNS.iter().find(|(sign, of)| *of == self.comparison && *sign != "==");
        write!(f, "{} {} {}", self.column, sign.map_or("=", |(sign, _)| sign), self.value)
    }
}
