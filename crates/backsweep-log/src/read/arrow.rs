//! Turns the Arrow arrays of a Parquet file into typed columns.

use crate::decimal::Decimal;
use crate::moment::{DAY, SECOND};
use crate::read::typed::{ColumnChunk, ColumnValues, Dictionary};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use std::sync::Arc;

/// The last dictionary of a column: a group of rows has one for all of its batches.
pub(crate) type LastDictionary = Option<(ArrayRef, Arc<Dictionary>)>;

/// A column, or why it cannot be used. A new dictionary replaces the previous one.
pub(crate) fn chunk(array: &ArrayRef, known: &mut LastDictionary) -> Result<ColumnChunk, String> {
    let missing = (array.null_count() > 0).then(|| (0..array.len()).map(|row| array.is_null(row)).collect());
    Ok(ColumnChunk { values: values(array, known)?, missing })
}

fn values(array: &ArrayRef, known: &mut LastDictionary) -> Result<ColumnValues, String> {
    macro_rules! integers {
        ($type:ty) => {
            ColumnValues::Integers(
                array.as_primitive::<$type>().values().iter().map(|&x| i64::from(x)).collect(),
            )
        };
    }
    macro_rules! times {
        ($type:ty, $scale:expr, $zone:expr) => {
            ColumnValues::Times {
                units: array.as_primitive::<$type>().values().iter().map(|&x| i64::from(x)).collect(),
                scale: $scale,
                has_zone: $zone.is_some(),
            }
        };
    }
    Ok(match array.data_type() {
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_dictionary::<Int32Type>();
            if dictionary.values().data_type() != &DataType::Utf8 {
                return Err(format!(
                    "has values of the type {}; expected text or numbers",
                    dictionary.values().data_type()
                ));
            }
            let texts = dictionary.values();
            let is_same = |(array, _): &&(ArrayRef, Arc<Dictionary>)| Arc::ptr_eq(array, texts);
            let copy = match known.as_ref().filter(is_same) {
                Some((_, copy)) => Arc::clone(copy),
                None => {
                    let strings = texts.as_string::<i32>();
                    let copy: Dictionary = (0..strings.len()).map(|i| strings.value(i)).collect();
                    let copy = Arc::new(copy);
                    *known = Some((Arc::clone(texts), Arc::clone(&copy)));
                    copy
                }
            };
            // A missing value may have any key.
            ColumnValues::Text(dictionary.keys().values().iter().map(|&key| key as u32).collect(), copy)
        }
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => ColumnValues::Integers(array.as_primitive::<Int64Type>().values().to_vec()),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => {
            let signed = array.as_primitive::<UInt64Type>().values().iter().map(|&x| i64::try_from(x));
            ColumnValues::Integers(
                signed
                    .collect::<Result<_, _>>()
                    .map_err(|_| "has numbers of 2⁶³ and more; expected smaller ones".to_owned())?,
            )
        }
        DataType::Float32 => ColumnValues::ShortFloats(array.as_primitive::<Float32Type>().values().to_vec()),
        DataType::Float64 => ColumnValues::Floats(array.as_primitive::<Float64Type>().values().to_vec()),
        DataType::Boolean => ColumnValues::Flags(array.as_boolean().values().iter().collect()),
        DataType::Decimal128(_, scale) if (0..=18).contains(scale) => {
            let number = |&x: &i128| {
                let mantissa = i64::try_from(x).ok()?;
                Decimal::parse(Decimal { mantissa, decimals: *scale as u8 }.to_string().as_bytes()).ok()
            };
            ColumnValues::Decimals(
                array.as_primitive::<Decimal128Type>().values().iter().map(number).collect(),
            )
        }
        DataType::Date32 => times!(Date32Type, DAY, None::<()>),
        DataType::Timestamp(unit, zone) => match unit {
            TimeUnit::Second => times!(TimestampSecondType, SECOND, zone),
            TimeUnit::Millisecond => times!(TimestampMillisecondType, SECOND / 1_000, zone),
            TimeUnit::Microsecond => times!(TimestampMicrosecondType, SECOND / 1_000_000, zone),
            TimeUnit::Nanosecond => times!(TimestampNanosecondType, SECOND / 1_000_000_000, zone),
        },
        DataType::Null => ColumnValues::Nothing(array.len()),
        other => {
            return Err(format!("is of the type {other}; expected text, numbers, flags, dates or times"));
        }
    })
}
