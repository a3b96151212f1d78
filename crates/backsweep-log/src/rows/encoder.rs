//! Turns values of columns into rows of numbers.

use crate::error::{RowProblem, UTF8};
use crate::names::END;
use crate::read::cells::{RowCells, RowSink};
use crate::rows::counter::{Counter, EncodedRow, Stop};
use crate::rows::layout::ColumnLayout;

/// Turns rows into numbers and hands them to the counter of this thread.
pub(crate) struct Encoder<'a> {
    layout: &'a ColumnLayout<'a>,
    pub counter: Counter,
    /// The name of the current case.
    case: Vec<u8>,
    has_case: bool,
    name: Vec<u8>,
    /// The ids of the codes of this block, for state, action and next state.
    memos: [Vec<u32>; 3],
    /// The number of orders of each [`OrderKind`].
    pub orders: [u64; 3],
}

impl<'a> Encoder<'a> {
    pub fn new(layout: &'a ColumnLayout<'a>, counter: Counter) -> Self {
        Self {
            layout,
            counter,
            case: Vec::new(),
            has_case: false,
            name: Vec::new(),
            memos: [const { Vec::new() }; 3],
            orders: [0; 3],
        }
    }

    /// The name of a row's case.
    pub fn case_of(&self, cells: &mut impl RowCells) -> String {
        self.layout.case.map_or(String::new(), |slot| String::from_utf8_lossy(cells.text(slot)).into_owned())
    }

    #[inline]
    pub fn encode(
        &mut self,
        cells: &mut impl RowCells,
        block: u32,
        line: u32,
    ) -> Result<EncodedRow, Box<RowProblem>> {
        let layout = self.layout;
        let order = match layout.order {
            Some(slot) => {
                let Some((moment, kind)) = cells.moment(slot) else {
                    return Err(layout.wrong(
                        cells,
                        slot,
                        "a number of up to 18 digits, or a date such as 2024-05-01 13:45:00",
                    ));
                };
                self.orders[kind as usize] += 1;
                moment
            }
            None => i128::from(block) << 32 | i128::from(line),
        };
        let reward = match layout.reward {
            Some(slot) => match cells.units(slot, self.counter.decimals) {
                Some(units) if layout.reward_unit.is_none() => units,
                _ => self.counter.reward(layout.reward(cells, slot)?),
            },
            None => 0,
        };
        let reward = if layout.is_cost { -reward } else { reward };
        let ended = match &layout.ended {
            Some((slot, Some(value))) => cells.text(*slot) == value.as_bytes(),
            Some((slot, None)) => layout.flag(cells, *slot)?,
            None => false,
        };
        let cut = match layout.truncated {
            Some(slot) => layout.flag(cells, slot)?,
            None => false,
        };
        // A step that both ended and was cut has ended: nothing follows it.
        let stop = match (ended, cut) {
            (true, _) => Stop::Ended,
            (false, true) => Stop::Cut,
            (false, false) => Stop::None,
        };
        let Self { counter, name, memos, .. } = self;
        let [of_state, of_action, of_next] = memos;
        let state = layout.id(cells, &layout.state, &mut counter.states, name, of_state)?;
        let action = layout.id(cells, &layout.action, &mut counter.actions, name, of_action)?;
        let next = if layout.next.is_empty() || ended {
            END
        } else {
            layout.id(cells, &layout.next, &mut counter.states, name, of_next)?
        };
        let outcome = match &layout.outcome {
            Some((slot, values)) => {
                let found = cells.text(*slot);
                values.iter().position(|value| value.as_bytes() == found).map_or(0, |i| i as u16 + 1)
            }
            None => 0,
        };
        let propensity = match layout.propensity {
            Some(slot) => match cells.number(slot).filter(|p| *p > 0.0 && *p <= 1.0) {
                Some(p) => ((p * 1e9).round() as u32).max(1),
                None => return Err(layout.wrong(cells, slot, "a probability above 0 and at most 1")),
            },
            None => 0,
        };
        let cohort = match layout.cohort {
            Some(slot) => match counter.cohorts.id(cells.text(slot)) {
                Some(id) => id,
                None => return Err(layout.wrong(cells, slot, UTF8)),
            },
            None => 0,
        };
        Ok(EncodedRow { order, reward, state, action, next, outcome, propensity, cohort, stop })
    }
}

impl RowSink for Encoder<'_> {
    #[inline]
    fn row(&mut self, cells: &mut impl RowCells, block: u32, line: u32) {
        if let Some(slot) = self.layout.case {
            let is_same = self.has_case && (cells.repeats(slot) || cells.text(slot) == self.case);
            if !is_same {
                let name = cells.text(slot);
                if name.is_empty() {
                    let column = &self.layout.columns[slot];
                    let problem =
                        format!("column '{column}' (the case) is empty; expected the name of a case");
                    return self.bad_row(block, line, RowProblem::whole(problem));
                }
                self.case.clear();
                self.case.extend_from_slice(name);
                self.has_case = true;
                let group = self.layout.fold_by.map_or(&self.case[..], |slot| cells.text(slot));
                self.counter.case(&self.case, group);
            }
            if self.counter.is_other() {
                return;
            }
        }
        match self.encode(cells, block, line) {
            Ok(row) => self.counter.push(row, block, line),
            Err(problem) => self.counter.push_bad(block, line, *problem, true),
        }
    }

    fn bad_row(&mut self, block: u32, line: u32, problem: Box<RowProblem>) {
        self.counter.push_bad(block, line, *problem, false);
    }

    fn end_block(&mut self, block: u32, n_lines: u32) {
        self.has_case = false;
        self.forget_codes();
        self.counter.end_block(block, n_lines);
    }

    fn forget_codes(&mut self) {
        self.memos.iter_mut().for_each(Vec::clear);
    }
}
