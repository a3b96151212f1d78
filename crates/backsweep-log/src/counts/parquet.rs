//! Parquet files of counts.

use crate::counts::Counts;
use crate::counts::builder::CountsBuilder;
use crate::counts::table::{COLUMNS, UNIT, add_line, agreed_unit, finish};
use crate::decimal::Decimal;
use crate::error::{Error, Result, RowProblem};
use crate::read::cells::{RowCells, RowSink};
use crate::read::input::Input;
use crate::read::parquet::{groups, key_values};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::sync::Arc;

/// The metadata keys of counts besides the unit; other keys belong to the program that wrote the file.
const HOW: [&str; 14] = [
    "case",
    "order",
    "ties",
    "where",
    "fold",
    "state",
    "action",
    "reward",
    "round",
    "next",
    "end",
    "final",
    "truncated",
    "missing",
];

/// Reads counts.
pub(crate) fn load_counts(input: &Input, unit: Option<Decimal>) -> Result<Counts> {
    let pairs = key_values(input)?;
    let value = |key: &str| pairs.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone());
    let unit = agreed_unit(input, value(UNIT).as_deref(), unit)?;
    let mut sink = CountsSink { builder: CountsBuilder::default(), unit, problem: None };
    sink.builder.how.extend(HOW.iter().filter_map(|key| Some(((*key).to_owned(), value(key)?))));
    for group in groups(input, &COLUMNS.map(str::to_owned))? {
        group.read(0, &mut sink)?;
        if let Some((line, problem)) = sink.problem {
            return Err(Error::row(format_args!("{input}: row {}", line + 1), *problem));
        }
    }
    finish(input, sink.builder)
}

/// Adds the rows of a table of counts to a builder.
struct CountsSink {
    builder: CountsBuilder,
    unit: Decimal,
    problem: Option<(u32, Box<RowProblem>)>,
}

impl RowSink for CountsSink {
    fn row(&mut self, cells: &mut impl RowCells, block: u32, line: u32) {
        if let Err(problem) = add_line(&mut self.builder, cells, self.unit) {
            self.bad_row(block, line, problem);
        }
    }

    fn bad_row(&mut self, _block: u32, line: u32, problem: Box<RowProblem>) {
        self.problem.get_or_insert((line, problem));
    }

    fn end_block(&mut self, _block: u32, _n_sink: u32) {}
}

/// Writes counts.
pub(crate) fn save_counts(
    file: File,
    counts: &Counts,
) -> std::result::Result<(), parquet::errors::ParquetError> {
    let dictionary = |ids: Vec<Option<i32>>, names: &[String]| -> ArrayRef {
        let values = Arc::new(StringArray::from_iter_values(names));
        Arc::new(DictionaryArray::<Int32Type>::new(Int32Array::from(ids), values))
    };
    let Counts { states, actions, rows, starts, .. } = counts;
    let numbers = |numbers: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(numbers)) };
    // Starts come first, as in CSV.
    let state_ids = starts.iter().map(|start| start.state).chain(rows.iter().map(|row| row.state));
    let none = || starts.iter().map(|_| None);
    let columns: [ArrayRef; 6] = [
        dictionary(state_ids.map(|id| Some(id as i32)).collect(), states),
        dictionary(none().chain(rows.iter().map(|row| Some(row.action as i32))).collect(), actions),
        dictionary(none().chain(rows.iter().map(|row| row.next.map(|id| id as i32))).collect(), states),
        numbers(
            starts
                .iter()
                .map(|start| start.fold.into())
                .chain(rows.iter().map(|row| row.fold.into()))
                .collect(),
        ),
        numbers(starts.iter().map(|start| start.n).chain(rows.iter().map(|row| row.n)).collect()),
        numbers(starts.iter().map(|_| 0).chain(rows.iter().map(|row| row.reward_sum)).collect()),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        COLUMNS
            .into_iter()
            .zip(columns)
            .map(|(name, column)| (name, column, matches!(name, "action" | "next"))),
    )?;
    let pairs = std::iter::once((UNIT.to_owned(), counts.reward_unit())).chain(counts.how.clone());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(pairs.map(|(key, value)| KeyValue::new(key, value)).collect()))
        .build();
    let mut writer = ArrowWriter::try_new(&file, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    file.sync_all()?;
    Ok(())
}
