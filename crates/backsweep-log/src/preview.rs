//! The beginning of a log, as it is read: to see whether its columns were understood.

use crate::derived::DerivedColumns;
use crate::error::{Result, RowProblem, printable};
use crate::join::MergedCounts;
use crate::quantiles::with_edges;
use crate::read::blocks::BlockReader;
use crate::read::cells::{RowCells, RowSink};
use crate::read::input::Input;
use crate::read::parallel::read_blocks;
use crate::rows::counter::{Counter, EncodedRow, Mode, Stop};
use crate::rows::selection::Selected;
use crate::rows::{ColumnLayout, Encoder};
use crate::spec::{EndRule, Spec};
use crate::warnings::{name_warnings, warnings};
use crate::wording::Wording;
use std::collections::BTreeMap;

/// The beginning of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Which columns mean what.
    pub how: BTreeMap<String, String>,
    /// The first steps, as the files have them.
    pub steps: Vec<String>,
    /// The bad rows among them.
    pub problems: Vec<RowProblem>,
    /// Warnings about the beginning of the log.
    pub warnings: Vec<Wording>,
    /// The number of rows that the warnings are about.
    pub n_rows: u64,
}

/// Reads the first rows of a log; reads all of them only to find quantiles.
///
/// # Errors
/// As for [`read`](crate::read), bad rows aside.
pub fn preview(spec: &Spec, inputs: &[Input], n_rows: usize) -> Result<Preview> {
    spec.check()?;
    let derived = DerivedColumns::new(spec, inputs, &())?;
    let spec = Spec { threads: 1, unterminated: true, ..with_edges(spec, inputs, &derived, &())? };
    let layout = ColumnLayout::new(&spec, &derived);
    let (has_next, has_cases) = (!spec.next.is_empty(), spec.case.is_some());
    // Every row by itself, so that the rows of a case may be in any order.
    let ties_by_file = spec.ties_by_file;
    let mode = Mode { has_next, has_cases, ties_by_file, single_rows: true, passes: 1, ..Mode::default() };
    let peek = || Peek {
        encoder: Encoder::new(&layout, Counter::new(mode, 0)),
        rows: Vec::new(),
        cases: Vec::new(),
        problems: Vec::new(),
        n_rows,
    };
    let new = || Selected::new(&layout.selection, &derived, peek());
    let blocks = BlockReader::new(inputs, &layout.columns, true);
    let is_full = |selected: &Selected<'_, Peek<'_>>| selected.sink.rows.len() >= n_rows;
    let (peeks, ..) = read_blocks(blocks, inputs, 1, &new, &is_full, &())?;
    let mut merged = MergedCounts::new(0);
    let mut steps = Vec::new();
    let mut problems = Vec::new();
    for Selected { sink: mut peek, .. } in peeks {
        peek.rows.sort_by_key(|(case, row)| (*case, row.order));
        steps.extend((0..peek.rows.len().min(n_rows)).map(|i| peek.step(i, &spec)));
        problems.append(&mut peek.problems);
        merged.take(vec![peek.encoder], &spec, mode)?;
    }
    let (found, n_rows) = (warnings(&spec, &merged), merged.report.rows);
    let names = merged.finish()?.map_or(Vec::new(), |(counts, ..)| name_warnings(&counts).collect());
    let warnings = found.into_iter().chain(names).collect();
    Ok(Preview { how: spec.describe(), steps, problems, warnings, n_rows })
}

/// Counts the first block, and collects its first rows.
struct Peek<'a> {
    encoder: Encoder<'a>,
    /// Rows, each with the index of its case in `cases`.
    rows: Vec<(usize, EncodedRow)>,
    cases: Vec<String>,
    problems: Vec<RowProblem>,
    n_rows: usize,
}

impl RowSink for Peek<'_> {
    fn row(&mut self, cells: &mut impl RowCells, block: u32, line: u32) {
        self.encoder.row(cells, block, line);
        if self.rows.len() > self.n_rows {
            return;
        }
        match self.encoder.encode(cells, block, line) {
            Ok(row) => {
                let case = self.encoder.case_of(cells);
                let known = self.cases.iter().position(|known| *known == case);
                let number = known.unwrap_or_else(|| {
                    self.cases.push(case);
                    self.cases.len() - 1
                });
                self.rows.push((number, row));
            }
            Err(problem) => self.note(*problem),
        }
    }

    fn bad_row(&mut self, block: u32, line: u32, problem: Box<RowProblem>) {
        self.note((*problem).clone());
        self.encoder.bad_row(block, line, problem);
    }

    fn end_block(&mut self, block: u32, n_lines: u32) {
        self.encoder.end_block(block, n_lines);
    }
}

impl Peek<'_> {
    fn note(&mut self, problem: RowProblem) {
        if self.problems.len() < self.n_rows {
            self.problems.push(problem);
        }
    }

    fn step(&self, i: usize, spec: &Spec) -> String {
        let counter = &self.encoder.counter;
        let name = |id: u32| String::from_utf8_lossy(counter.states.name(id)).into_owned();
        let (case, row) = &self.rows[i];
        let following = self.rows.get(i + 1).filter(|(other, _)| other == case).map(|(_, row)| row.state);
        let leads_to = match (row.stop, following) {
            (Stop::Ended, _) => "the end".to_owned(),
            _ if !spec.next.is_empty() => name(row.next),
            (_, Some(next)) => name(next),
            (Stop::Cut, None) => "a cut".to_owned(),
            (Stop::None, None) if i + 1 == self.rows.len() => "what follows".to_owned(),
            (Stop::None, None) => match spec.end {
                EndRule::LastRow => "the end".to_owned(),
                _ => "a cut".to_owned(),
            },
        };
        let action = String::from_utf8_lossy(counter.actions.name(row.action));
        let reward = crate::decimal::Decimal { mantissa: row.reward, decimals: counter.decimals }.to_f64();
        let case = self.cases.get(*case).map_or("", String::as_str);
        let state = name(row.state);
        let finals = spec.final_rewards.as_ref().filter(|_| leads_to == "the end" && row.outcome > 0);
        let at_end = finals.map_or(String::new(), |finals| {
            format!(", and {} at the end", finals.rewards[usize::from(row.outcome) - 1].1.to_f64())
        });
        printable(format!(
            "case {case}: in '{state}', '{action}' leads to '{leads_to}' with reward {reward}{at_end}"
        ))
    }
}
