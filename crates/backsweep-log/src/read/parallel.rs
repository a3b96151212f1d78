//! The blocks of a log, read by several threads at once: they take turns to fetch a block, and hand its rows to their sinks.

use crate::error::{Error, Result, RowProblem};
use crate::read::blocks::{BlockContent, BlockReader, RowBlock};
use crate::read::cells::RowSink;
use crate::read::csv::{FieldLayout, Marks, RecordEnd, RecordFields};
use crate::read::input::Input;
use crate::read::json::JsonObject;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Observes a log being read.
pub trait ReadObserver: Sync {
    /// Called now and then with the bytes read, the bytes in all, and the rows read; returns false to stop.
    fn progress(&self, _done: u64, _total: u64, _rows: u64) -> bool {
        true
    }
}

impl ReadObserver for () {}

/// Reads all blocks with several threads, each with its own sink. The last part says whether a sink was full, so that the rest
/// was not read.
pub(crate) fn read_blocks<'a, S: RowSink>(
    blocks: BlockReader<'a>,
    inputs: &[Input],
    n_threads: usize,
    new: &(impl Fn() -> S + Sync),
    is_full: &(impl Fn(&S) -> bool + Sync),
    observer: &dyn ReadObserver,
) -> Result<(Vec<S>, BlockReader<'a>, bool)> {
    let total: u64 = inputs.iter().map(Input::size).sum();
    let (n_read, rows) = (blocks.n_read.clone(), AtomicU64::new(0));
    let columns = blocks.columns();
    // The reader, until something ends the work: an error, or a sink that is full.
    let blocks = Mutex::new((blocks, Ok(false)));
    let worker = || -> S {
        let (mut sink, mut buffer, mut fields) = (new(), Vec::new(), RecordFields::new(columns.len()));
        let mut object = JsonObject::new(columns);
        loop {
            let block = {
                let mut guard = blocks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let (blocks, ended) = &mut *guard;
                if !matches!(ended, Ok(false)) {
                    break;
                }
                match blocks.next(&mut buffer) {
                    Ok(Some(block)) => block,
                    Ok(None) => break,
                    Err(error) => {
                        *ended = Err(error);
                        break;
                    }
                }
            };
            let n = match read_block(&block, &buffer, &mut fields, &mut object, &mut sink) {
                Ok(n) => n,
                Err(error) => {
                    blocks.lock().unwrap_or_else(std::sync::PoisonError::into_inner).1 = Err(error);
                    break;
                }
            };
            let n_rows = rows.fetch_add(u64::from(n), Ordering::Relaxed) + u64::from(n);
            let goes_on = observer.progress(n_read.load(Ordering::Relaxed).min(total), total, n_rows);
            if !goes_on || is_full(&sink) {
                let ended = if goes_on { Ok(true) } else { Err(Error::Interrupted) };
                blocks.lock().unwrap_or_else(std::sync::PoisonError::into_inner).1 = ended;
                break;
            }
        }
        sink
    };
    let sinks = std::thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(worker)).collect();
        let mut sinks = vec![worker()];
        for other in others {
            sinks.push(other.join().map_err(|_| Error::Thread)?);
        }
        Ok(sinks)
    })?;
    let (blocks, ended) = blocks.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok((sinks, blocks, ended?))
}

fn read_block<S: RowSink>(
    block: &RowBlock,
    text: &[u8],
    fields: &mut RecordFields,
    object: &mut JsonObject<'_>,
    sink: &mut S,
) -> Result<u32> {
    let n = match &block.content {
        BlockContent::Csv(layout) => read_csv(block.number, text, layout, fields, sink),
        BlockContent::Json => read_json(block.number, text, object, sink),
        BlockContent::Part(part) => part.read(block.number, sink)?,
        #[cfg(feature = "parquet")]
        BlockContent::Group(group) => group.read(block.number, sink)?,
    };
    sink.end_block(block.number, n);
    Ok(n)
}

fn read_csv<S: RowSink>(
    block: u32,
    text: &[u8],
    layout: &FieldLayout,
    fields: &mut RecordFields,
    sink: &mut S,
) -> u32 {
    let n_columns = layout.slots.len();
    // Only quotes can hide line breaks within a record.
    let has_quotes = memchr::memchr(b'"', text).is_some();
    let (mut at, mut line) = (0, 0);
    let marks = |at| (!has_quotes && n_columns > 1).then(|| Marks::new(text, layout.delimiter, at));
    let mut plain = marks(0);
    while at < text.len() {
        if let Some(next) = plain.as_mut().and_then(|marks| fields.split_plain(marks, at, layout)) {
            sink.row(&mut fields.cells(text), block, line);
            (at, line) = (next, line + 1);
            continue;
        }
        let next = match fields.split(text, at, layout) {
            RecordEnd::Whole { next, n_fields } => {
                if n_fields == n_columns && (n_columns > 1 || !is_blank(&text[at..next])) {
                    sink.row(&mut fields.cells(text), block, line);
                } else if !is_blank(&text[at..next]) {
                    let columns = if n_fields == 1 { "column" } else { "columns" };
                    let problem = format!("the row has {n_fields} {columns}; expected {n_columns}");
                    sink.bad_row(block, line, RowProblem::whole(problem));
                }
                next
            }
            RecordEnd::StrayQuote { next } => {
                sink.bad_row(block, line, RowProblem::whole(STRAY_QUOTE));
                next
            }
            // A block ends with a whole record.
            RecordEnd::Unterminated { .. } | RecordEnd::OpenQuote => {
                sink.bad_row(block, line, RowProblem::whole("a quote is not closed"));
                text.len()
            }
        };
        line += if has_quotes { memchr::memchr_iter(b'\n', &text[at..next]).count() as u32 } else { 1 };
        (at, plain) = (next, marks(next));
    }
    line
}

const STRAY_QUOTE: &str =
    "a closing quote is followed by text; expected quotes within a quoted field to be doubled";

fn is_blank(record: &[u8]) -> bool {
    matches!(record, b"\n" | b"\r\n")
}

fn read_json<S: RowSink>(block: u32, text: &[u8], object: &mut JsonObject<'_>, sink: &mut S) -> u32 {
    let mut line = 0;
    for record in text.split_inclusive(|&byte| byte == b'\n') {
        if !record.trim_ascii().is_empty() {
            match object.read(record) {
                Ok(()) => sink.row(object, block, line),
                Err(problem) => {
                    let problem = format!("{problem}; expected one JSON object per line");
                    sink.bad_row(block, line, RowProblem::whole(problem));
                }
            }
        }
        line += 1;
    }
    line
}
