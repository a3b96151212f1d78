//! Reads a log into counts: the entry point of this crate.

use crate::counts::builder::{CountLine, CountsBuilder};
use crate::counts::{Case, CaseStep, Counts};
use crate::decimal::Decimal;
use crate::derived::DerivedColumns;
use crate::error::{BadRow, Error, Result};
use crate::fold::Folds;
use crate::join::MergedCounts;
use crate::moment::{self, Moment, OrderKind};
use crate::names::{END, NameTable};
use crate::quantiles::with_edges;
use crate::read::blocks::BlockReader;
use crate::read::input::Input;
use crate::read::parallel::{ReadObserver, read_blocks};
use crate::rows::counter::{BadLine, Counter, Mode};
use crate::rows::selection::Selected;
use crate::rows::{ColumnLayout, Encoder};
use crate::spec::Spec;
use crate::warnings::{name_warnings, warnings};
use crate::wording::{SpecField, Wording};

/// The content of a log.
#[derive(Clone, Debug)]
pub struct Log {
    /// The counts of all folds.
    pub counts: Counts,
    /// The cases of the kept folds, in an order that depends only on their names.
    pub cases: Vec<Case>,
    /// Rewards of steps of cases are in units of 10^-`case_decimals`.
    pub case_decimals: u8,
    /// When each of these cases began, if that is known.
    pub case_order: Option<CaseOrder>,
    /// The cohorts of these cases, if [`Spec::cohort`] names a column.
    pub cohorts: Cohorts,
    /// The settings with which the log was read. Quantiles have become edges.
    pub spec: Spec,
    /// Notes on the log.
    pub report: ReadReport,
}

/// The order in which cases began: by the order column if it has dates, or numbers in which most cases begin differently;
/// otherwise by the place in the log, where the rows of each case are together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseOrder {
    /// The place of each case; cases that began together have the same.
    pub places: Vec<u32>,
    /// The moment of each place, in units of 10⁻¹⁸ s since 1970 if `is_dated`.
    pub(crate) moments: Vec<Moment>,
    /// `true` if moments are dates.
    pub is_dated: bool,
}

/// The cohorts of cases: the values of a column in their first rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cohorts {
    /// The values, sorted.
    pub names: Vec<String>,
    /// The place of each case's value among these; empty if no column was named.
    pub of_cases: Vec<u32>,
}

/// Which cases are held out, by when they began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HoldOutTime {
    /// This share of the cases, the last to begin; above 0 and below 1.
    Last(f64),
    /// Those that began at this moment or later.
    After(Moment),
}

impl HoldOutTime {
    /// The fold of the cases that are held out.
    pub const FOLD: u8 = 15;

    /// Reads `last 20%` or a date such as `2024-05-01`.
    pub fn parse(text: &str) -> Option<Self> {
        let Some(share) = text.strip_prefix("last ") else {
            let (moment, kind) = moment::parse(text.as_bytes())?;
            return (kind != OrderKind::Number).then_some(Self::After(moment));
        };
        let percent: f64 = share.trim_end_matches('%').trim().parse().ok()?;
        (percent > 0.0 && percent < 100.0).then_some(Self::Last(percent / 100.0))
    }
}

/// Notes on a log that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Rows that were read, bad ones included.
    pub rows: u64,
    /// Rows that do not meet [`Spec::conditions`] and were left out; they are not among the others.
    pub left_out: u64,
    /// Bad rows that were skipped.
    pub bad_rows: u64,
    /// The first of them: where, and what is wrong.
    pub bad_examples: Vec<BadRow>,
    /// Cases that were skipped because they have a bad row.
    pub dropped_cases: u64,
    /// Cases that ended.
    pub ended: u64,
    /// Cases that were cut.
    pub cut: u64,
    /// Cases without a step: cut after one row.
    pub empty_cases: u64,
    /// Rows that lead to a state other than that of the next row of their case.
    pub breaks: u64,
    /// Warnings about parts of the log that are probably not meant as they were read.
    pub warnings: Vec<Wording>,
    /// `true` if rows of different cases were so mixed that all of them were held in memory.
    pub mixed: bool,
}

impl Log {
    /// Puts the cases that began last into [`HoldOutTime::FOLD`] and all others into the folds below 13. All cases must be kept.
    ///
    /// # Errors
    /// If it is unknown when cases began, or no case is left on one of the sides.
    pub fn hold_out_by_time(&mut self, time: HoldOutTime) -> Result<()> {
        let refused =
            |problem: &str| Err(Error::Spec(format!("cases cannot be held out by time: {problem}").into()));
        let Some(order) = &self.case_order else {
            return refused("when they began is unknown; name the column that orders their rows, with dates");
        };
        let held_out: Vec<bool> = match time {
            HoldOutTime::After(_) if !order.is_dated => return refused("the order has no dates"),
            HoldOutTime::After(moment) => {
                order.places.iter().map(|&place| order.moments[place as usize] >= moment).collect()
            }
            HoldOutTime::Last(share) => {
                let mut places = order.places.clone();
                places.sort_unstable();
                let first = ((1.0 - share) * places.len() as f64) as usize;
                order
                    .places
                    .iter()
                    .map(|place| places.get(first).is_some_and(|first| place >= first))
                    .collect()
            }
        };
        if !held_out.contains(&true) || !held_out.contains(&false) {
            return refused("all of them would be on one side");
        }
        for (case, held_out) in self.cases.iter_mut().zip(held_out) {
            case.fold = if held_out { HoldOutTime::FOLD } else { (u16::from(case.fold) * 13 / 16) as u8 };
        }
        let mut how = std::mem::take(&mut self.counts.how);
        how.insert("fold".to_owned(), "by time".to_owned());
        self.counts = recount(&self.counts, &self.cases, self.case_decimals)?;
        self.counts.how = how;
        Ok(())
    }

    /// The reward of a step of one of the kept cases.
    pub fn step_reward(&self, step: &CaseStep) -> f64 {
        Decimal { mantissa: step.reward, decimals: self.case_decimals }.to_f64()
    }
}

impl ReadReport {
    /// A summary of what was read, as keys and values for people; `warnings` are those of the report in the words of a front end.
    pub fn describe(&self, inputs: &[Input], warnings: Vec<String>) -> Vec<(String, String)> {
        let bad = format!("{} rows, with {} cases", self.bad_rows, self.dropped_cases);
        let lines = [
            ("files", Input::list(inputs)),
            ("rows", self.rows.to_string()),
            ("cases that ended, were cut", format!("{}, {}", self.ended, self.cut)),
        ];
        let left_out =
            (self.left_out > 0).then(|| ("rows left out by a condition", self.left_out.to_string()));
        let bad = (self.bad_rows > 0).then_some(("skipped as bad", bad));
        let warnings = warnings.into_iter().map(|warning| ("warning", warning));
        lines
            .into_iter()
            .chain(left_out)
            .chain(bad)
            .chain(warnings)
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

/// At most this many fragments are held at once, about 100 bytes each; beyond it the log is read in passes.
const MAX_FRAGMENTS: usize = 1 << 23;

/// The counts of some cases, with the names of others.
fn recount(known: &Counts, cases: &[Case], decimals: u8) -> Result<Counts> {
    let mut builder = CountsBuilder::new(NameTable::default(), NameTable::default(), decimals, 0);
    builder.states.ids(known.states.iter().map(String::as_bytes));
    builder.actions.ids(known.actions.iter().map(String::as_bytes));
    for case in cases {
        let fold = case.fold;
        let start = case.steps.first().map(|step| step.state).or_else(|| case.cut_state());
        builder.lines(start.map(|state| CountLine { state, action: END, next: END, fold, n: 1, sum: 0 }));
        builder.lines(case.steps.iter().enumerate().map(|(t, step)| {
            let next = case.next_state(t).unwrap_or(END);
            CountLine { state: step.state, action: step.action, next, fold, n: 1, sum: step.reward.into() }
        }));
    }
    Ok(builder.finish()?.0)
}

/// For [`read_all_if_small`].
const MAX_KEPT_ROWS: u64 = 1 << 19;

/// Reads a log: counts it, and keeps the cases of some folds as a whole.
///
/// # Complexity
/// Memory: distinct (state, action, next state, fold), plus about 100 bytes per case, or per row where the rows of cases are
/// mixed; beyond 2²³ of these, the log is read several times, each time for a part of the cases. Kept cases are extra. The
/// result does not depend on how rows are spread over files or on the number of threads, nor, if there is an order column, on
/// the order of rows.
///
/// # Errors
/// Files that cannot be read or end too early, missing columns, more bad rows than [`Spec::skip_bad`] allows, rewards whose
/// sums may not fit in 64 bits; with [`Spec::strict`], any warning.
pub fn read(spec: &Spec, inputs: &[Input], keep: Folds, observer: &dyn ReadObserver) -> Result<Log> {
    read_within(spec, inputs, [keep, keep], observer, MAX_FRAGMENTS)
}

/// As [`read`], but keeps the cases of all folds in a log of at most 524,288 rows.
///
/// # Errors
/// Those of [`read`].
pub fn read_all_if_small(
    spec: &Spec,
    inputs: &[Input],
    keep: Folds,
    observer: &dyn ReadObserver,
) -> Result<Log> {
    read_within(spec, inputs, [keep, Folds::MAX], observer, MAX_FRAGMENTS)
}

/// As [`read`], with the folds to keep of any log and of a small one, and a limit on the fragments that are held at once.
pub(crate) fn read_within(
    spec: &Spec,
    inputs: &[Input],
    [keep, keep_if_small]: [Folds; 2],
    observer: &dyn ReadObserver,
    max_fragments: usize,
) -> Result<Log> {
    spec.check()?;
    let derived = DerivedColumns::new(spec, inputs, observer)?;
    let spec = with_edges(spec, inputs, &derived, observer)?;
    let layout = ColumnLayout::new(&spec, &derived);
    let outcomes = spec.final_rewards.as_ref().map_or(&[][..], |outcome| &outcome.rewards);
    let decimals = outcomes.iter().map(|(_, reward)| reward.decimals).max().unwrap_or(0);
    let (has_next, has_cases) = (!spec.next.is_empty(), spec.case.is_some());
    let ties_by_file = spec.ties_by_file;
    let mut mode =
        Mode { has_next, has_cases, ties_by_file, keep: keep_if_small, passes: 1, ..Mode::default() };
    let n_threads = spec.n_threads();
    'attempts: loop {
        let mut merged = MergedCounts::new(decimals);
        let mut blocks = BlockReader::new(inputs, &layout.columns, spec.unterminated);
        for pass in 0..mode.passes {
            mode.pass = pass;
            blocks = BlockReader::new(inputs, &layout.columns, spec.unterminated);
            let encoder = || Encoder::new(&layout, Counter::new(mode, decimals));
            let new = || Selected::new(&layout.selection, &derived, encoder());
            let limit = max_fragments / n_threads;
            let full = |selected: &Selected<'_, Encoder<'_>>| {
                let Counter { fragments, rows, .. } = &selected.sink.counter;
                mode.keep != keep && *rows > MAX_KEPT_ROWS || fragments.len() > limit && mode.passes < 256
            };
            let (selected, is_full);
            (selected, blocks, is_full) = read_blocks(blocks, inputs, n_threads, &new, &full, observer)?;
            if pass == 0 {
                merged.report.left_out = selected.iter().map(|selected| selected.n_left_out).sum();
            }
            let encoders: Vec<Encoder<'_>> = selected.into_iter().map(|selected| selected.sink).collect();
            let n_rows: u64 = encoders.iter().map(|encoder| encoder.counter.rows).sum();
            if mode.keep != keep && merged.report.rows + n_rows > MAX_KEPT_ROWS {
                mode.keep = keep;
                continue 'attempts;
            }
            if is_full {
                mode.passes *= 4;
                continue 'attempts;
            }
            if !merged.take(encoders, &spec, mode)? {
                mode.single_rows = true;
                continue 'attempts;
            }
        }
        return finish(spec, &blocks, merged, mode);
    }
}

fn finish(spec: Spec, blocks: &BlockReader<'_>, merged: MergedCounts, mode: Mode) -> Result<Log> {
    let placed = |bad: &BadLine| BadRow {
        place: blocks.place(bad.block, bad.line, &merged.lengths),
        problem: bad.problem.clone(),
    };
    let bad_examples: Vec<BadRow> = merged.bad.iter().map(placed).collect();
    let mut report = ReadReport { mixed: mode.single_rows, ..merged.report.clone() };
    let ReadReport { rows, bad_rows, left_out, .. } = report;
    if rows == 0 {
        let none = Wording::from("no row of the log meets ").and(SpecField::Conditions);
        return Err(if left_out > 0 { Error::Spec(none) } else { Error::NoRows });
    }
    if bad_rows as f64 > spec.skip_bad * rows as f64 {
        let first = bad_examples.into_iter().next();
        return Err(Error::BadRows { first, n_bad: bad_rows, n_rows: rows });
    }
    (report.bad_examples, report.warnings) = (bad_examples, warnings(&spec, &merged));
    let (case_decimals, largest) = (merged.decimals, merged.largest);
    let Some((mut counts, cases, case_order, cohorts)) = merged.finish()? else {
        let largest = largest.min(i64::MAX as u64);
        let problem = Wording::from(format!(
            "rewards have {case_decimals} decimals and are up to {largest} units of the last one; {rows} of them may not fit in 64 \
             bits"
        ));
        return Err(Error::Overflow(problem.offer("; ", SpecField::RoundToCents, " rounds to cents")));
    };
    counts.how = spec.describe();
    report.warnings.extend(name_warnings(&counts));
    if spec.strict && !report.warnings.is_empty() {
        return Err(Error::Doubtful(report.warnings));
    }
    Ok(Log { counts, cases, case_decimals, case_order, cohorts, spec, report })
}

#[cfg(test)]
mod tests {
    use super::read_within;
    use crate::{BinnedColumn, Input, Spec};

    #[test]
    fn passes_over_parts_of_the_cases_add_up() {
        let mut text = "case,t,state,action,reward\n,9,lost,go,1\n".to_owned();
        for i in 0..40_000_u32 {
            let (case, t) = (i.wrapping_mul(2_654_435_761) % 3_000, i);
            text += &format!("c{case},{t},s{},a{},0.{}\n", i * 7 % 13, i % 3, i % 10);
        }
        text += "c5,99999,s1,a1,oops\n";
        let column = |name: &str| vec![BinnedColumn::plain(name)];
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
        let at_once = read_within(&spec, &input, [7, 7], &(), usize::MAX).unwrap();
        assert_eq!((at_once.report.bad_rows, at_once.report.dropped_cases), (2, 1));
        for limit in [20_000, 3_000, 500] {
            let in_passes = read_within(&spec, &input, [7, 7], &(), limit).unwrap();
            assert_eq!(in_passes.counts, at_once.counts);
            assert_eq!(in_passes.cases, at_once.cases);
            assert_eq!(in_passes.report, at_once.report);
        }
    }
}
