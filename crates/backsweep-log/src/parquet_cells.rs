//! The values of a batch of columns, row by row, without turning numbers into text where numbers are wanted.

use crate::decimal::{Decimal, NotDecimal};
use crate::moment::{self, Kind, Moment};
use crate::rows::Cells;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use std::io::Write;

/// Some columns and a row among them.
pub(crate) struct BatchCells {
    columns: Vec<Column>,
    pub row: usize,
    text: Vec<u8>,
}

struct Column {
    array: ArrayRef,
    values: Values,
    /// False if no value is missing.
    has_nulls: bool,
}

enum Values {
    Text {
        keys: Vec<i32>,
        values: ArrayRef,
    },
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Decimals(Vec<Option<Decimal>>),
    Flags(Vec<bool>),
    /// Times in parts of a second; how many units of 10⁻¹⁸ s such a part has.
    Times(Vec<i64>, i128),
    Nothing,
}

impl BatchCells {
    /// The cells of some columns, or the slot that cannot be used and why.
    pub fn new(arrays: &[ArrayRef]) -> Result<Self, (usize, String)> {
        let column = |(slot, array): (usize, &ArrayRef)| {
            let values = values(array).map_err(|problem| (slot, problem))?;
            Ok(Column { array: array.clone(), values, has_nulls: array.null_count() > 0 })
        };
        let columns = arrays.iter().enumerate().map(column).collect::<Result<_, _>>()?;
        Ok(Self { columns, row: 0, text: Vec::new() })
    }

    /// The dictionaries of the columns with text.
    pub fn dictionaries(&self) -> Vec<ArrayRef> {
        let of = |column: &Column| match &column.values {
            Values::Text { values, .. } => Some(values.clone()),
            _ => None,
        };
        self.columns.iter().filter_map(of).collect()
    }
}

fn values(array: &ArrayRef) -> Result<Values, String> {
    macro_rules! integers {
        ($type:ty) => {
            Values::Integers(array.as_primitive::<$type>().values().iter().map(|&x| i64::from(x)).collect())
        };
    }
    macro_rules! times {
        ($type:ty, $scale:expr) => {
            Values::Times(
                array.as_primitive::<$type>().values().iter().map(|&x| i64::from(x)).collect(),
                $scale,
            )
        };
    }
    const SECOND: i128 = 1_000_000_000_000_000_000;
    Ok(match array.data_type() {
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_dictionary::<Int32Type>();
            if dictionary.values().data_type() != &DataType::Utf8 {
                return Err(format!(
                    "has values of the type {:?}; expected text or numbers",
                    dictionary.values().data_type()
                ));
            }
            Values::Text { keys: dictionary.keys().values().to_vec(), values: dictionary.values().clone() }
        }
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => Values::Integers(array.as_primitive::<Int64Type>().values().to_vec()),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => {
            let signed = array.as_primitive::<UInt64Type>().values().iter().map(|&x| i64::try_from(x));
            Values::Integers(
                signed
                    .collect::<Result<_, _>>()
                    .map_err(|_| "has numbers of 2⁶³ and more; expected smaller ones".to_owned())?,
            )
        }
        // The shortest text of a number of 32 bits is what was meant: 0.1, not 0.10000000149.
        DataType::Float32 => {
            let printed = array
                .as_primitive::<Float32Type>()
                .values()
                .iter()
                .map(|x| x.to_string().parse().unwrap_or(f64::NAN));
            Values::Floats(printed.collect())
        }
        DataType::Float64 => Values::Floats(array.as_primitive::<Float64Type>().values().to_vec()),
        DataType::Boolean => Values::Flags(array.as_boolean().values().iter().collect()),
        DataType::Decimal128(_, scale) if (0..=18).contains(scale) => {
            let number = |&x: &i128| {
                let mantissa = i64::try_from(x).ok()?;
                Decimal::parse(Decimal { mantissa, decimals: *scale as u8 }.to_string().as_bytes()).ok()
            };
            Values::Decimals(array.as_primitive::<Decimal128Type>().values().iter().map(number).collect())
        }
        DataType::Date32 => times!(Date32Type, 86_400 * SECOND),
        DataType::Timestamp(TimeUnit::Second, _) => times!(TimestampSecondType, SECOND),
        DataType::Timestamp(TimeUnit::Millisecond, _) => times!(TimestampMillisecondType, SECOND / 1_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => times!(TimestampMicrosecondType, SECOND / 1_000_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            times!(TimestampNanosecondType, SECOND / 1_000_000_000)
        }
        DataType::Null => Values::Nothing,
        other => {
            return Err(format!("is of the type {other:?}; expected text, numbers, flags, dates or times"));
        }
    })
}

const DIGITS: &[u8; 10] = b"0123456789";

impl Column {
    #[inline]
    fn is_null(&self, row: usize) -> bool {
        self.has_nulls && self.array.is_null(row)
    }
}

impl Cells for BatchCells {
    fn text(&mut self, slot: usize) -> &[u8] {
        let Self { columns, row, text } = self;
        let (column, row) = (&columns[slot], *row);
        if column.is_null(row) {
            return b"";
        }
        text.clear();
        // Writing into memory does not fail.
        match &column.values {
            Values::Text { keys, values } => {
                return values.as_string::<i32>().value(keys[row] as usize).as_bytes();
            }
            Values::Flags(flags) => return if flags[row] { b"true" } else { b"false" },
            Values::Nothing => return b"",
            Values::Integers(numbers) => match numbers[row] {
                digit @ 0..=9 => return &DIGITS[digit as usize..=digit as usize],
                number => drop(write!(text, "{number}")),
            },
            // As text, 1.0 stays 1.0.
            Values::Floats(numbers) => drop(write!(text, "{:?}", numbers[row])),
            Values::Decimals(numbers) => match numbers[row] {
                Some(number) => drop(write!(text, "{number}")),
                None => text.extend_from_slice(b"a number of more than 18 digits"),
            },
            Values::Times(times, _) => drop(write!(text, "{}", times[row])),
        }
        text
    }

    #[inline]
    fn decimal(&mut self, slot: usize) -> Result<Decimal, NotDecimal> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_null(row) => Err(NotDecimal::Number),
            Values::Integers(numbers) => Ok(Decimal { mantissa: numbers[row], decimals: 0 }),
            Values::Floats(numbers) => {
                let number = numbers[row];
                Decimal::shortest(number).ok_or(if number.is_finite() {
                    NotDecimal::Digits
                } else {
                    NotDecimal::Number
                })
            }
            Values::Decimals(numbers) => numbers[row].ok_or(NotDecimal::Digits),
            _ => Decimal::parse(self.text(slot)),
        }
    }

    #[inline]
    fn units(&mut self, slot: usize, decimals: u8) -> Option<i64> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_null(row) => None,
            Values::Floats(numbers) => Decimal::units_of(numbers[row], decimals),
            Values::Integers(numbers) => Decimal { mantissa: numbers[row], decimals: 0 }.in_units(decimals),
            _ => None,
        }
    }

    #[inline]
    fn flag(&mut self, slot: usize) -> Option<bool> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_null(row) => None,
            Values::Flags(flags) => Some(flags[row]),
            Values::Integers(numbers) => match numbers[row] {
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
            _ if column.is_null(row) => None,
            Values::Integers(numbers) => Some(numbers[row] as f64),
            Values::Floats(numbers) => Some(numbers[row]).filter(|number| number.is_finite()),
            _ => std::str::from_utf8(self.text(slot).trim_ascii())
                .ok()?
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite()),
        }
    }

    #[inline]
    fn moment(&mut self, slot: usize) -> Option<(Moment, Kind)> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_null(row) => None,
            Values::Times(times, scale) => Some((i128::from(times[row]) * scale, Kind::Date)),
            Values::Integers(_) | Values::Floats(_) | Values::Decimals(_) => {
                self.decimal(slot).ok().map(|number| (moment::of_decimal(number), Kind::Number))
            }
            _ => moment::parse(self.text(slot)),
        }
    }

    #[inline]
    fn code(&self, slot: usize) -> Option<u32> {
        let (column, row) = (&self.columns[slot], self.row);
        match &column.values {
            _ if column.is_null(row) => None,
            Values::Text { keys, .. } => Some(keys[row] as u32),
            // Small numbers are their own codes.
            Values::Integers(numbers) => u16::try_from(numbers[row]).ok().map(u32::from),
            _ => None,
        }
    }

    #[inline]
    fn repeats(&self, slot: usize) -> bool {
        let (column, row) = (&self.columns[slot], self.row);
        row > 0
            && !column.has_nulls
            && match &column.values {
                Values::Text { keys, .. } => keys[row] == keys[row - 1],
                Values::Integers(numbers) => numbers[row] == numbers[row - 1],
                _ => false,
            }
    }
}
