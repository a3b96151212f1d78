//! Parquet: reads logs by row group, and counts. Text stays in dictionaries, so that a name is looked up once per group,
//! not per row.

use crate::counts::Counts;
use crate::counts_file::{self, COLUMNS, UNIT};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::feed::missing_column;
use crate::input::Input;
use crate::parquet_cells::{Known, series};
use crate::rows::Cells;
use crate::sheet::Sheet;
use crate::typed::{Series, TypedCells};
use crate::work::Sink;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::sync::Arc;

/// A group of rows of a file.
pub(crate) struct Group {
    input: Input,
    metadata: ArrowReaderMetadata,
    index: usize,
    /// The columns that are read, by slot.
    columns: Arc<Vec<usize>>,
}

/// How many rows are decoded at once.
const BATCH: usize = 1 << 14;

fn failed(input: &Input, error: impl std::fmt::Display) -> Error {
    Error::at(
        input,
        format_args!(
            "the Parquet file cannot be read ({error}); it may have been truncated, so none of it is used"
        ),
    )
}

/// The metadata at the end of a file; text is read as dictionaries.
fn metadata(input: &Input) -> Result<ArrowReaderMetadata> {
    let load = |input: &Input| match input {
        Input::File(path) => {
            let file = File::open(path).map_err(|error| input.unreadable(&error))?;
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::default())
                .map_err(|error| failed(input, error))
        }
        Input::Bytes(_, bytes) => {
            let bytes = Bytes::from_owner(Arc::clone(bytes));
            ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::default())
                .map_err(|error| failed(input, error))
        }
        Input::Frame(..) => Err(failed(input, "it is a table in memory")),
    };
    let plain = load(input)?;
    let fields = plain.schema().fields().iter().map(|field| {
        let is_text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let is_other_dictionary = matches!(field.data_type(), DataType::Dictionary(_, of) if matches!(**of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View));
        if is_text || is_other_dictionary {
            let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            Arc::new(field.as_ref().clone().with_data_type(dictionary))
        } else {
            Arc::clone(field)
        }
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = ArrowReaderOptions::new().with_schema(schema);
    ArrowReaderMetadata::try_new(Arc::clone(plain.metadata()), options).map_err(|error| failed(input, error))
}

fn names(metadata: &ArrowReaderMetadata) -> Vec<String> {
    metadata.schema().fields().iter().map(|field| field.name().clone()).collect()
}

/// The names of a file's columns.
pub(crate) fn columns(input: &Input) -> Result<Vec<String>> {
    metadata(input).map(|metadata| names(&metadata))
}

/// The groups of a file, in order.
pub(crate) fn groups(input: &Input, columns: &[String]) -> Result<Vec<Arc<Group>>> {
    let metadata = metadata(input)?;
    let names = names(&metadata);
    let found = columns.iter().map(|column| {
        names.iter().position(|name| name == column).ok_or_else(|| missing_column(input, column, &names))
    });
    let columns = Arc::new(found.collect::<Result<Vec<usize>>>()?);
    let group = |index| {
        Arc::new(Group {
            input: input.clone(),
            metadata: metadata.clone(),
            index,
            columns: Arc::clone(&columns),
        })
    };
    Ok((0..metadata.metadata().num_row_groups()).map(group).collect())
}

impl Group {
    /// How many bytes the group takes in its file.
    pub fn bytes(&self) -> u64 {
        u64::try_from(self.metadata.metadata().row_group(self.index).compressed_size()).unwrap_or(0)
    }

    /// Hands all rows to a sink; returns how many there are.
    pub fn read<S: Sink>(&self, block: u32, sink: &mut S) -> Result<u32> {
        let file_rows = self.metadata.metadata().row_group(self.index).num_rows();
        let n_rows =
            u32::try_from(file_rows).map_err(|_| failed(&self.input, "a group has more than 2³² rows"))?;
        let metadata = self.metadata.clone();
        let mask = ProjectionMask::roots(metadata.parquet_schema(), self.columns.iter().copied());
        macro_rules! batches {
            ($reader:expr) => {
                ParquetRecordBatchReaderBuilder::new_with_metadata($reader, metadata)
                    .with_row_groups(vec![self.index])
                    .with_projection(mask)
                    .with_batch_size(BATCH)
                    .build()
                    .map_err(|error| failed(&self.input, error))?
            };
        }
        let batches = match &self.input {
            Input::File(path) => batches!(File::open(path).map_err(|error| self.input.unreadable(&error))?),
            Input::Bytes(_, bytes) => batches!(Bytes::from_owner(Arc::clone(bytes))),
            Input::Frame(..) => return Err(failed(&self.input, "it is a table in memory")),
        };
        // The reader gives the columns in the order of the file.
        let mut sorted: Vec<usize> = self.columns.to_vec();
        sorted.sort_unstable();
        let mut line = 0;
        let mut dictionaries: Vec<Known> = vec![None; self.columns.len()];
        for batch in batches {
            let batch = batch.map_err(|error| failed(&self.input, error))?;
            let column = |(slot, known): (usize, &mut Known)| {
                let place = sorted.binary_search(&self.columns[slot]).unwrap_or(0);
                let before = known.as_ref().map(|(array, _)| Arc::as_ptr(array));
                let series = series(batch.column(place), known).map_err(|problem| {
                    let name = &names(&self.metadata)[self.columns[slot]];
                    Error::at(&self.input, format_args!("column '{name}' {problem}"))
                })?;
                Ok((series, before == known.as_ref().map(|(array, _)| Arc::as_ptr(array))))
            };
            let columns = dictionaries.iter_mut().enumerate().map(column).collect::<Result<Vec<_>>>()?;
            if columns.iter().any(|(_, has_same_codes)| !has_same_codes) {
                sink.forget_codes();
            }
            let columns: Vec<Series> = columns.into_iter().map(|(series, _)| series).collect();
            let mut cells = TypedCells::new(&columns);
            for row in 0..batch.num_rows() {
                cells.row = row;
                sink.row(&mut cells, block, line);
                line += 1;
            }
        }
        if line != n_rows {
            return Err(failed(&self.input, format_args!("a group has {line} rows; expected {n_rows}")));
        }
        Ok(n_rows)
    }
}

/// The metadata keys of counts besides the unit; other keys belong to the program that wrote the file.
const HOW: [&str; 11] =
    ["case", "order", "state", "action", "reward", "round", "next", "end", "final", "truncated", "missing"];

/// Reads counts.
pub(crate) fn load_counts(input: &Input, unit: Option<Decimal>) -> Result<Counts> {
    let stored = metadata(input)?;
    let pairs = stored.metadata().file_metadata().key_value_metadata().map_or(&[][..], Vec::as_slice);
    let value = |key: &str| pairs.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone());
    let unit = counts_file::agreed_unit(input, value(UNIT).as_deref(), unit)?;
    let mut lines = Lines { sheet: Sheet::default(), unit, problem: None };
    lines.sheet.how.extend(HOW.iter().filter_map(|key| Some(((*key).to_owned(), value(key)?))));
    for group in groups(input, &COLUMNS.map(str::to_owned))? {
        group.read(0, &mut lines)?;
        if let Some((line, problem)) = lines.problem {
            return Err(Error::at(format_args!("{input}: row {}", line + 1), problem));
        }
    }
    counts_file::finish(input, lines.sheet)
}

/// Reads the lines of a table of counts.
struct Lines {
    sheet: Sheet,
    unit: Decimal,
    problem: Option<(u32, String)>,
}

impl Sink for Lines {
    fn row(&mut self, cells: &mut impl Cells, block: u32, line: u32) {
        if let Err(problem) = counts_file::add_line(&mut self.sheet, cells, self.unit) {
            self.bad_row(block, line, problem);
        }
    }

    fn bad_row(&mut self, _block: u32, line: u32, problem: String) {
        self.problem.get_or_insert((line, problem));
    }

    fn end_block(&mut self, _block: u32, _n_lines: u32) {}
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
