//! Parquet files, read by row group. Text stays in dictionaries, so that a name is looked up once per group,
//! not per row.

use crate::error::{Error, Result};
use crate::read::arrow::{LastDictionary, chunk};
use crate::read::cells::RowSink;
use crate::read::input::Input;
use crate::read::typed::{ColumnChunk, TypedCells};
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::KeyValue;
use std::fs::File;
use std::sync::Arc;

/// A group of rows of a file.
pub(crate) struct RowGroup {
    input: Input,
    metadata: ArrowReaderMetadata,
    index: usize,
    /// The columns that are read, by slot.
    columns: Arc<Vec<usize>>,
}

/// The number of rows that are decoded at once.
const BATCH_ROWS: usize = 1 << 14;

fn failed(input: &Input, error: impl std::fmt::Display) -> Error {
    let text = error.to_string();
    let problem = match text.split_once("Disabled feature at compile time: ") {
        Some((_, codec)) => {
            let codec = if codec == "flate2" { "gzip" } else { codec };
            format!(
                "the Parquet file is compressed with {codec}; expected zstd, snappy or no compression within it"
            )
        }
        None => format!(
            "the Parquet file cannot be read ({text}); it may have been truncated, so none of it is used"
        ),
    };
    Error::file(input, problem)
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

/// The metadata that programs have added to a file.
pub(crate) fn key_values(input: &Input) -> Result<Vec<KeyValue>> {
    let stored = metadata(input)?;
    Ok(stored.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default())
}

/// The groups of a file, in order.
pub(crate) fn groups(input: &Input, columns: &[String]) -> Result<Vec<Arc<RowGroup>>> {
    let metadata = metadata(input)?;
    let names = names(&metadata);
    let found = columns.iter().map(|column| {
        names.iter().position(|name| name == column).ok_or_else(|| input.missing_column(column, &names))
    });
    let columns = Arc::new(found.collect::<Result<Vec<usize>>>()?);
    let group = |index| {
        Arc::new(RowGroup {
            input: input.clone(),
            metadata: metadata.clone(),
            index,
            columns: Arc::clone(&columns),
        })
    };
    Ok((0..metadata.metadata().num_row_groups()).map(group).collect())
}

impl RowGroup {
    /// The number of bytes of the group in its file.
    pub fn bytes(&self) -> u64 {
        u64::try_from(self.metadata.metadata().row_group(self.index).compressed_size()).unwrap_or(0)
    }

    /// Hands all rows to a sink; returns how many there are.
    pub fn read<S: RowSink>(&self, block: u32, sink: &mut S) -> Result<u32> {
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
                    .with_batch_size(BATCH_ROWS)
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
        let mut dictionaries: Vec<LastDictionary> = vec![None; self.columns.len()];
        for batch in batches {
            let batch = batch.map_err(|error| failed(&self.input, error))?;
            let column = |(slot, known): (usize, &mut LastDictionary)| {
                let place = sorted.binary_search(&self.columns[slot]).unwrap_or(0);
                let before = known.as_ref().map(|(array, _)| Arc::as_ptr(array));
                let chunk = chunk(batch.column(place), known).map_err(|problem| {
                    let name = &names(&self.metadata)[self.columns[slot]];
                    Error::column(&self.input, name, problem)
                })?;
                Ok((chunk, before == known.as_ref().map(|(array, _)| Arc::as_ptr(array))))
            };
            let columns = dictionaries.iter_mut().enumerate().map(column).collect::<Result<Vec<_>>>()?;
            if columns.iter().any(|(_, has_same_codes)| !has_same_codes) {
                sink.forget_codes();
            }
            let columns: Vec<ColumnChunk> = columns.into_iter().map(|(chunk, _)| chunk).collect();
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
