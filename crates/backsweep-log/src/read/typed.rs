//! Columns of typed values, and their rows as [`RowCells`]: numbers are used as numbers, without going through text.

use crate::decimal::{Decimal, NotDecimal};
use crate::moment::{self, Moment, OrderKind};
use crate::read::cells::{RowCells, parsed_number};
use std::io::Write;
use std::sync::Arc;

/// Some rows of a column.
#[derive(Clone, Debug)]
pub struct ColumnChunk {
    /// The values; missing ones may be anything.
    pub values: ColumnValues,
    /// `true` for each value that is missing; `None` if none is.
    pub missing: Option<Vec<bool>>,
}

/// The values of a column, by type.
#[derive(Clone, Debug)]
pub enum ColumnValues {
    /// Text, as places in a dictionary.
    Text(Vec<u32>, Arc<Dictionary>),
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Other numbers.
    Floats(Vec<f64>),
    /// Numbers of 32 bits, each meaning its shortest decimal text: 0.1, not 0.10000000149.
    ShortFloats(Vec<f32>),
    /// Exact numbers; `None` where one has more than 18 digits.
    Decimals(Vec<Option<Decimal>>),
    /// True or false.
    Flags(Vec<bool>),
    /// Times since 1970 in UTC.
    Times {
        /// In fractions of a second.
        units: Vec<i64>,
        /// The length of such a fraction in units of 10⁻¹⁸ s. Days are shown without a time.
        scale: i128,
        /// `true` if the column says that its times are UTC or of another zone.
        has_zone: bool,
    },
    /// This many missing values.
    Nothing(usize),
}

/// Distinct texts, concatenated.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl<T: AsRef<[u8]>> FromIterator<T> for Dictionary {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut dictionary = Self::default();
        texts.into_iter().for_each(|text| dictionary.push(text.as_ref()));
        dictionary
    }
}

impl Dictionary {
    /// Texts concatenated in `bytes`, given by where each of them ends; `None` if one ends before it begins or past the last
    /// byte.
    pub fn new(bytes: Vec<u8>, ends: Vec<usize>) -> Option<Self> {
        let is_within = ends.is_sorted() && ends.last().is_none_or(|&end| end <= bytes.len());
        is_within.then_some(Self { bytes, ends })
    }

    pub(crate) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn text(&self, code: u32) -> &[u8] {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.bytes[start..self.ends[code]]
    }
}

impl ColumnChunk {
    /// The problem with a column that should have this many rows, if there is one.
    pub(crate) fn check(&self, n_rows: usize) -> Result<(), String> {
        let n = match &self.values {
            ColumnValues::Text(codes, _) => codes.len(),
            ColumnValues::Integers(numbers) | ColumnValues::Times { units: numbers, .. } => numbers.len(),
            ColumnValues::Floats(numbers) => numbers.len(),
            ColumnValues::ShortFloats(numbers) => numbers.len(),
            ColumnValues::Decimals(numbers) => numbers.len(),
            ColumnValues::Flags(flags) => flags.len(),
            ColumnValues::Nothing(n) => *n,
        };
        let n = self.missing.as_ref().map_or(n, |missing| if missing.len() == n { n } else { missing.len() });
        if n != n_rows {
            return Err(format!("has {n} rows; expected {n_rows}"));
        }
        if let ColumnValues::Text(codes, dictionary) = &self.values
            && let Some(row) =
                (0..n).find(|&row| !self.is_missing(row) && codes[row] as usize >= dictionary.ends.len())
        {
            let (code, n) = (codes[row], dictionary.ends.len());
            return Err(format!("has code {code} in row {row} of a chunk; its dictionary has {n} texts"));
        }
        Ok(())
    }

    #[inline]
    fn is_missing(&self, row: usize) -> bool {
        self.missing.as_ref().is_some_and(|missing| missing[row])
    }
}

/// A row of some columns.
pub(crate) struct TypedCells<'a> {
    columns: &'a [ColumnChunk],
    pub row: usize,
    text: Vec<u8>,
}

impl<'a> TypedCells<'a> {
    /// Before the first row.
    pub fn new(columns: &'a [ColumnChunk]) -> Self {
        Self { columns, row: 0, text: Vec::new() }
    }
}

const DIGITS: &[u8; 10] = b"0123456789";

impl RowCells for TypedCells<'_> {
    fn text(&mut self, slot: usize) -> &[u8] {
        let Self { columns, row, text } = self;
        let (column, row) = (&columns[slot], *row);
        if column.is_missing(row) {
            return b"";
        }
        text.clear();
        // Writing into memory does not fail.
        match &column.values {
            ColumnValues::Text(codes, dictionary) => return dictionary.text(codes[row]),
            ColumnValues::Flags(flags) => return if flags[row] { b"true" } else { b"false" },
            ColumnValues::Nothing(_) => return b"",
            ColumnValues::Integers(numbers) => match numbers[row] {
                digit @ 0..=9 => return &DIGITS[digit as usize..=digit as usize],
                number => drop(write!(text, "{number}")),
            },
            // As text, 1.0 stays 1.0.
            ColumnValues::Floats(numbers) => drop(write!(text, "{:?}", numbers[row])),
            ColumnValues::ShortFloats(numbers) => drop(write!(text, "{:?}", numbers[row])),
            ColumnValues::Decimals(numbers) => match numbers[row] {
                Some(number) => drop(write!(text, "{number}")),
                None => text.extend_from_slice(b"a number of more than 18 digits"),
            },
            ColumnValues::Times { units, scale, .. } => {
                moment::write_date(i128::from(units[row]) * scale, *scale < moment::DAY, text);
            }
        }
        text
    }

    #[inline]
    fn decimal(&mut self, slot: usize) -> Result<Decimal, NotDecimal> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_missing(row) => Err(NotDecimal::Number),
            ColumnValues::Integers(numbers) => Ok(Decimal { mantissa: numbers[row], decimals: 0 }),
            ColumnValues::Floats(numbers) => {
                let number = numbers[row];
                Decimal::shortest(number).ok_or(if number.is_finite() {
                    NotDecimal::Digits
                } else {
                    NotDecimal::Number
                })
            }
            ColumnValues::Decimals(numbers) => numbers[row].ok_or(NotDecimal::Digits),
            _ => Decimal::parse(self.text(slot)),
        }
    }

    #[inline]
    fn units(&mut self, slot: usize, decimals: u8) -> Option<i64> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_missing(row) => None,
            ColumnValues::Floats(numbers) => Decimal::units_of(numbers[row], decimals),
            ColumnValues::Integers(numbers) => {
                Decimal { mantissa: numbers[row], decimals: 0 }.in_units(decimals)
            }
            _ => None,
        }
    }

    #[inline]
    fn flag(&mut self, slot: usize) -> Option<bool> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_missing(row) => None,
            ColumnValues::Flags(flags) => Some(flags[row]),
            ColumnValues::Integers(numbers) => match numbers[row] {
                0 => Some(false),
                1 => Some(true),
                _ => None,
            },
            _ => None,
        }
    }

    fn number(&mut self, slot: usize) -> Option<f64> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_missing(row) => None,
            ColumnValues::Integers(numbers) => Some(numbers[row] as f64),
            ColumnValues::Floats(numbers) => Some(numbers[row]).filter(|number| number.is_finite()),
            _ => parsed_number(self.text(slot)),
        }
    }

    #[inline]
    fn moment(&mut self, slot: usize) -> Option<(Moment, OrderKind)> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_missing(row) => None,
            ColumnValues::Times { units, scale, has_zone } => {
                let kind = if *has_zone { OrderKind::Zoned } else { OrderKind::Date };
                Some((i128::from(units[row]) * scale, kind))
            }
            ColumnValues::Integers(_) | ColumnValues::Floats(_) | ColumnValues::Decimals(_) => {
                self.decimal(slot).ok().map(|number| (moment::of_decimal(number), OrderKind::Number))
            }
            _ => moment::parse(self.text(slot)),
        }
    }

    #[inline]
    fn code(&self, slot: usize) -> Option<u32> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_missing(row) => None,
            ColumnValues::Text(codes, _) => Some(codes[row]),
            // Small numbers are their own codes.
            ColumnValues::Integers(numbers) => u16::try_from(numbers[row]).ok().map(u32::from),
            _ => None,
        }
    }

    #[inline]
    fn repeats(&self, slot: usize) -> bool {
        let (column, row) = (&self.columns[slot], self.row);
        row > 0
            && column.missing.is_none()
            && match &column.values {
                ColumnValues::Text(codes, _) => codes[row] == codes[row - 1],
                ColumnValues::Integers(numbers) => numbers[row] == numbers[row - 1],
                _ => false,
            }
    }
}
