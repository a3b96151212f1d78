//! The blocks of a log, read by several threads at once.

use crate::csv::{Fields, Layout, Marks, Record};
use crate::error::{Error, Result};
use crate::feed::{Block, Content, Feed};
use crate::input::Input;
use crate::json::Object;
use crate::read::Observer;
use crate::rows::{Cells, Encoder};
use crate::spec::Spec;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Consumes the rows of a log.
pub(crate) trait Sink: Send {
    fn row(&mut self, cells: &mut impl Cells, block: u32, line: u32);
    fn bad_row(&mut self, block: u32, line: u32, problem: String);
    fn end_block(&mut self, block: u32, n_lines: u32);
    /// From here on codes of [`Cells`] have other meanings.
    #[cfg(feature = "parquet")]
    fn forget_codes(&mut self) {}
}

impl Sink for Encoder<'_> {
    #[inline]
    fn row(&mut self, cells: &mut impl Cells, block: u32, line: u32) {
        Encoder::row(self, cells, block, line);
    }

    fn bad_row(&mut self, block: u32, line: u32, problem: String) {
        Encoder::bad_row(self, block, line, problem);
    }

    fn end_block(&mut self, block: u32, n_lines: u32) {
        Encoder::end_block(self, block, n_lines);
    }

    #[cfg(feature = "parquet")]
    fn forget_codes(&mut self) {
        Encoder::forget_codes(self);
    }
}

/// Reads all blocks with several threads, each with its own sink. The last part says whether a sink was full, so that the rest
/// was not read.
pub(crate) fn work<'a, S: Sink>(
    feed: Feed<'a>,
    inputs: &[Input],
    n_threads: usize,
    new: &(impl Fn() -> S + Sync),
    is_full: &(impl Fn(&S) -> bool + Sync),
    observer: &dyn Observer,
) -> Result<(Vec<S>, Feed<'a>, bool)> {
    let total: u64 = inputs.iter().map(Input::size).sum();
    let (n_read, rows) = (feed.n_read.clone(), AtomicU64::new(0));
    let columns = feed.columns();
    // The feed, until something ends the work: an error, or a sink that is full.
    let feed = Mutex::new((feed, Ok(false)));
    let worker = || -> S {
        let (mut sink, mut buffer, mut fields) = (new(), Vec::new(), Fields::new(columns.len()));
        let mut object = Object::new(columns);
        loop {
            let block = {
                let mut guard = feed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let (feed, ended) = &mut *guard;
                if !matches!(ended, Ok(false)) {
                    break;
                }
                match feed.next(&mut buffer) {
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
                    feed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).1 = Err(error);
                    break;
                }
            };
            let n_rows = rows.fetch_add(u64::from(n), Ordering::Relaxed) + u64::from(n);
            let goes_on = observer.progress(n_read.load(Ordering::Relaxed).min(total), total, n_rows);
            if !goes_on || is_full(&sink) {
                let ended = if goes_on {
                    Ok(true)
                } else {
                    Err(Error::new("stopped before all rows were read; nothing was written"))
                };
                feed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).1 = ended;
                break;
            }
        }
        sink
    };
    let sinks = std::thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(worker)).collect();
        let mut sinks = vec![worker()];
        for other in others {
            sinks.push(other.join().map_err(|_| Error::new("a thread that was reading the log failed"))?);
        }
        Ok(sinks)
    })?;
    let (feed, ended) = feed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok((sinks, feed, ended?))
}

fn read_block<S: Sink>(
    block: &Block,
    text: &[u8],
    fields: &mut Fields,
    object: &mut Object<'_>,
    sink: &mut S,
) -> Result<u32> {
    let n = match &block.content {
        Content::Csv(layout) => read_csv(block.number, text, layout, fields, sink),
        Content::Json => read_json(block.number, text, object, sink),
        Content::Part(part) => part.read(block.number, sink)?,
        #[cfg(feature = "parquet")]
        Content::Group(group) => group.read(block.number, sink)?,
    };
    sink.end_block(block.number, n);
    Ok(n)
}

fn read_csv<S: Sink>(block: u32, text: &[u8], layout: &Layout, fields: &mut Fields, sink: &mut S) -> u32 {
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
            Record::Whole { next, n_fields } => {
                if n_fields == n_columns && (n_columns > 1 || !is_blank(&text[at..next])) {
                    sink.row(&mut fields.cells(text), block, line);
                } else if !is_blank(&text[at..next]) {
                    let columns = if n_fields == 1 { "column" } else { "columns" };
                    sink.bad_row(
                        block,
                        line,
                        format!("the row has {n_fields} {columns}; expected {n_columns}"),
                    );
                }
                next
            }
            Record::StrayQuote { next } => {
                sink.bad_row(
                    block,
                    line,
                    "a closing quote is followed by text; expected quotes within a quoted field to be doubled"
                        .to_owned(),
                );
                next
            }
            // A block ends with a whole record.
            Record::Unterminated { .. } | Record::OpenQuote => {
                sink.bad_row(block, line, "a quote is not closed".to_owned());
                text.len()
            }
        };
        line += if has_quotes { memchr::memchr_iter(b'\n', &text[at..next]).count() as u32 } else { 1 };
        (at, plain) = (next, marks(next));
    }
    line
}

fn is_blank(record: &[u8]) -> bool {
    matches!(record, b"\n" | b"\r\n")
}

fn read_json<S: Sink>(block: u32, text: &[u8], object: &mut Object<'_>, sink: &mut S) -> u32 {
    let mut line = 0;
    for record in text.split_inclusive(|&byte| byte == b'\n') {
        if !record.trim_ascii().is_empty() {
            match object.read(record) {
                Ok(()) => sink.row(object, block, line),
                Err(problem) => sink.bad_row(block, line, problem),
            }
        }
        line += 1;
    }
    line
}

/// How many threads read.
pub(crate) fn n_threads(spec: &Spec) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    if spec.threads == 0 { cores() } else { spec.threads }
}

/// Applies a function to many items with several threads; results are in the order of the items.
pub(crate) fn on_threads<T: Send, R: Send>(
    things: Vec<T>,
    n_threads: usize,
    act: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let n = things.len().div_ceil(n_threads.max(1));
    let mut things = things.into_iter();
    let act = &act;
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        loop {
            let part: Vec<T> = things.by_ref().take(n).collect();
            if part.is_empty() {
                break;
            }
            threads.push(scope.spawn(move || part.into_iter().map(act).collect::<Vec<R>>()));
        }
        let results = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|problem| std::panic::resume_unwind(problem)));
        results.collect()
    })
}
