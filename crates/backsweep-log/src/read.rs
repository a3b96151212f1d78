//! A log to counts: the one door.

use crate::bins::{Column, Values};
use crate::counter::{Counter, Mode};
use crate::counts::{Case, Counts, Step};
use crate::csv::{Fields, Layout, Record};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::feed::{Block, Content, Feed};
use crate::input::Input;
use crate::json::Object;
use crate::link::{Overlap, Rule, Total, align};
use crate::rows::{Cells, Encoder, Plan};
use crate::spec::{EndRule, Spec};
use rustc_hash::FxHashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a log holds.
#[derive(Clone, Debug)]
pub struct Log {
    /// What was counted, in all folds.
    pub counts: Counts,
    /// The cases of the folds that were to be kept, in an order that depends on nothing but their names.
    pub cases: Vec<Case>,
    /// Rewards of steps of cases are in units of 10^-`case_decimals`.
    pub case_decimals: u8,
    /// How the log was read. Quantiles have become edges.
    pub spec: Spec,
    /// What was found on the way.
    pub report: Report,
}

/// What was found on the way through a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows that were read, bad ones included.
    pub rows: u64,
    /// Bad rows that were skipped.
    pub bad_rows: u64,
    /// The first of them: where, and what is wrong.
    pub bad_examples: Vec<String>,
    /// Cases that were left out because a row of theirs is bad.
    pub dropped_cases: u64,
    /// Cases that ended.
    pub ended: u64,
    /// Cases that were cut.
    pub cut: u64,
    /// Cases without a step: cut after one row.
    pub empty_cases: u64,
    /// Rows that lead to a state other than that of the next row of their case.
    pub breaks: u64,
    /// Whether rows of cases were so mixed that all of them were held in memory.
    pub mixed: bool,
}

/// Watches over a log being read.
pub trait Observer: Sync {
    /// Told now and then how many bytes of how many were read, and how many rows; returns false to stop.
    fn progress(&self, _done: u64, _total: u64, _rows: u64) -> bool {
        true
    }
}

impl Observer for () {}

/// Folds as bits: bit f stands for fold f.
pub type Folds = u16;

impl Log {
    /// The reward of a step of one of the kept cases.
    pub fn step_reward(&self, step: &Step) -> f64 {
        Decimal { mantissa: step.reward, decimals: self.case_decimals }.to_f64()
    }
}

/// At most this many fragments are held at once, about 100 bytes each; beyond it the log is read in passes.
const MAX_FRAGMENTS: usize = 1 << 23;

/// Reads a log: counts it, and keeps the cases of some folds as a whole.
///
/// # Complexity
/// Memory: distinct (state, action, next state, fold), plus about 100 bytes per case, and per row where the rows of cases are mixed; beyond
/// 2²³ of these, the log is read several times, each time for a part of the cases. Kept cases come on top. The result does not depend on
/// how rows are spread over files or on the number of threads, nor, if there is an order column, on the order of rows.
///
/// # Errors
/// Files that cannot be read or end too early, columns that are not there, more bad rows than [`Spec::skip_bad`] allows, rewards whose sums
/// may not fit in 64 bits.
pub fn read(spec: &Spec, inputs: &[Input], keep: Folds, observer: &dyn Observer) -> Result<Log> {
    read_within(spec, inputs, keep, observer, MAX_FRAGMENTS)
}

/// As [`read`], with a limit on the fragments that are held at once.
pub(crate) fn read_within(
    spec: &Spec,
    inputs: &[Input],
    keep: Folds,
    observer: &dyn Observer,
    max_fragments: usize,
) -> Result<Log> {
    spec.check()?;
    let spec = closed(spec, inputs, observer)?;
    let plan = Plan::new(&spec);
    let outcomes = spec.outcome.as_ref().map_or(&[][..], |outcome| &outcome.rewards);
    let decimals = outcomes.iter().map(|(_, reward)| reward.decimals).max().unwrap_or(0);
    let (has_next, has_cases) = (!spec.next.is_empty(), spec.case.is_some());
    let mut mode = Mode { has_next, has_cases, single_rows: false, keep, passes: 1, pass: 0 };
    let n_threads = n_threads(&spec);
    'attempts: loop {
        let mut total = Total::new(decimals);
        let mut feed = Feed::new(inputs, &plan.columns, spec.unterminated);
        for pass in 0..mode.passes {
            mode.pass = pass;
            feed = Feed::new(inputs, &plan.columns, spec.unterminated);
            let new = || Encoder::new(&plan, Counter::new(mode, decimals));
            let limit = max_fragments / n_threads;
            let full = |encoder: &Encoder<'_>| encoder.counter.fragments.len() > limit && mode.passes < 256;
            let (encoders, is_full);
            (encoders, feed, is_full) = work(feed, inputs, n_threads, &new, &full, observer)?;
            if is_full {
                mode.passes *= 4;
                continue 'attempts;
            }
            if encoders.iter().any(|e| e.kinds[0]) && encoders.iter().any(|e| e.kinds[1]) {
                let column = spec.order.as_deref().unwrap_or_default();
                return Err(Error::new(format!(
                    "column '{column}' (the order) has both numbers and dates; expected one kind"
                )));
            }
            let mut counters: Vec<Counter> = encoders.into_iter().map(|encoder| encoder.counter).collect();
            align(&mut counters, &mut total);
            let rule = rule(&spec, mode, &mut total);
            if let Err(Overlap) = total.add(counters, &rule) {
                mode.single_rows = true;
                continue 'attempts;
            }
        }
        return finish(spec, &feed, total, mode);
    }
}

fn rule<'a>(spec: &'a Spec, mode: Mode, total: &mut Total) -> Rule<'a> {
    let outcomes = spec.outcome.as_ref().map(|outcome| {
        let rewards = outcome.rewards.iter().map(|(value, reward)| {
            let worth = reward.in_units(total.decimals).unwrap_or_else(|| {
                total.largest = u64::MAX;
                0
            });
            (value.clone(), worth)
        });
        (outcome.column.as_str(), rewards.collect())
    });
    Rule { mode, last_row_ends: spec.end == EndRule::LastRow, outcomes, skips: spec.skip_bad > 0.0 }
}

fn finish(spec: Spec, feed: &Feed<'_>, total: Total, mode: Mode) -> Result<Log> {
    let place = |bad: &crate::counter::Bad| {
        format!("{}: {}", feed.place(bad.block, bad.line, &total.lengths), bad.problem)
    };
    let bad_examples: Vec<String> = total.bad.iter().map(place).collect();
    let (rows, bad_rows, largest) = (total.rows, total.n_bad, total.largest);
    if rows == 0 {
        return Err(Error::new("the log has no rows; expected at least one below the names of the columns"));
    }
    if bad_rows as f64 > spec.skip_bad * rows as f64 {
        let share = 100.0 * bad_rows as f64 / rows as f64;
        let first = bad_examples.first().map_or("", String::as_str);
        let percent = (share.ceil() as u64).max(1);
        let is_are = if bad_rows == 1 { "is" } else { "are" };
        return Err(Error::new(format!(
            "{first}. {bad_rows} of {rows} rows {is_are} bad ({share:.2} %); mend the log, or pass --skip-bad {percent}% to leave bad rows and their cases out"
        )));
    }
    let report = Report {
        rows,
        bad_rows,
        bad_examples,
        dropped_cases: total.dropped,
        ended: total.ended,
        cut: total.cut,
        empty_cases: total.empty,
        breaks: total.breaks,
        mixed: mode.single_rows,
    };
    let case_decimals = total.decimals;
    let Some((mut counts, cases)) = total.finish()? else {
        let largest = Decimal { mantissa: largest.min(i64::MAX as u64) as i64, decimals: 0 };
        return Err(Error::new(format!(
            "rewards have {case_decimals} decimals and are up to {largest} units of the last one; {rows} of them may not fit in 64 bits; \
             --reward-unit 0.01 --round-rewards rounds to cents"
        )));
    };
    counts.how = spec.describe();
    Ok(Log { counts, cases, case_decimals, spec, report })
}

fn n_threads(spec: &Spec) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    if spec.threads == 0 { cores() } else { spec.threads }
}

/// Takes in the rows of a log.
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

/// Reads all blocks with some threads, each with a sink of its own. The last part says whether a sink was full, so that the rest was not read.
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
            sinks.push(other.join().map_err(|_| Error::new("a thread that read the log has failed"))?);
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
    while at < text.len() {
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
                    "a closing quote is followed by text; expected a quote within quotes to be doubled"
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
        at = next;
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

/// How often each number occurs, per column.
struct Collector(Vec<FxHashMap<u64, u64>>);

impl Sink for Collector {
    fn row(&mut self, cells: &mut impl Cells, _block: u32, _line: u32) {
        for (slot, counts) in self.0.iter_mut().enumerate() {
            if let Some(number) = cells.number(slot) {
                *counts.entry(number.to_bits()).or_default() += 1;
            }
        }
    }

    fn bad_row(&mut self, _block: u32, _line: u32, _problem: String) {}

    fn end_block(&mut self, _block: u32, _n_lines: u32) {}
}

/// The same settings with edges in place of quantiles, which takes a reading of the log.
pub(crate) fn closed(spec: &Spec, inputs: &[Input], observer: &dyn Observer) -> Result<Spec> {
    let mut spec = spec.clone();
    let open = |column: &&mut Column| column.is_open();
    let mut names: Vec<String> = Vec::new();
    for column in spec.state.iter_mut().chain(&mut spec.action).filter(open) {
        if !names.contains(&column.name) {
            names.push(column.name.clone());
        }
    }
    if names.is_empty() {
        return Ok(spec);
    }
    let feed = Feed::new(inputs, &names, spec.unterminated);
    let new = || Collector(vec![FxHashMap::default(); names.len()]);
    let (collectors, ..) = work(feed, inputs, n_threads(&spec), &new, &|_| false, observer)?;
    let mut values = vec![Values::default(); names.len()];
    for Collector(columns) in collectors {
        for (values, counts) in values.iter_mut().zip(columns) {
            values.add(counts);
        }
    }
    for column in spec.state.iter_mut().chain(&mut spec.action).filter(open) {
        if let Some(i) = names.iter().position(|name| *name == column.name) {
            column.close(&values[i])?;
        }
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::read_within;
    use crate::{Column, Input, Spec};

    #[test]
    fn passes_over_parts_of_the_cases_add_up() {
        let mut text = "case,t,state,action,reward\n,9,lost,go,1\n".to_owned();
        for i in 0..40_000_u32 {
            let (case, t) = (i.wrapping_mul(2_654_435_761) % 3_000, i);
            text += &format!("c{case},{t},s{},a{},0.{}\n", i * 7 % 13, i % 3, i % 10);
        }
        text += "c5,99999,s1,a1,oops\n";
        let column = |name: &str| vec![Column::plain(name)];
        let spec = Spec {
            case: Some("case".into()),
            order: Some("t".into()),
            state: column("state"),
            action: column("action"),
            reward: Some("reward".into()),
            skip_bad: 0.01,
            ..Spec::default()
        };
        let input = [Input::Bytes("log".into(), text.into_bytes().into())];
        let at_once = read_within(&spec, &input, 7, &(), usize::MAX).unwrap();
        assert_eq!((at_once.report.bad_rows, at_once.report.dropped_cases), (2, 1));
        for limit in [20_000, 3_000, 500] {
            let in_passes = read_within(&spec, &input, 7, &(), limit).unwrap();
            assert_eq!(in_passes.counts, at_once.counts);
            assert_eq!(in_passes.cases, at_once.cases);
            assert_eq!(in_passes.report, at_once.report);
        }
    }
}
