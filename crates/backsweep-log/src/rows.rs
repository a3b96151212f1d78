//! Turns values of columns into rows of numbers.

mod cells;
mod plan;

pub(crate) use cells::Cells;
pub(crate) use plan::Plan;

use crate::counter::{Counter, END, Row, Stop};

/// Turns rows into numbers and hands them to the counter of this thread.
pub(crate) struct Encoder<'a> {
    plan: &'a Plan,
    pub counter: Counter,
    /// The name of the current case.
    case: Vec<u8>,
    has_case: bool,
    name: Vec<u8>,
    /// The ids of the codes of this block, for state, action and next state.
    memos: [Vec<u32>; 3],
    /// Whether orders were numbers, and dates.
    pub kinds: [bool; 2],
}

impl<'a> Encoder<'a> {
    pub fn new(plan: &'a Plan, counter: Counter) -> Self {
        Self {
            plan,
            counter,
            case: Vec::new(),
            has_case: false,
            name: Vec::new(),
            memos: [const { Vec::new() }; 3],
            kinds: [false; 2],
        }
    }

    /// Reads a row, good or bad.
    #[inline]
    pub fn row(&mut self, cells: &mut impl Cells, block: u32, line: u32) {
        if let Some(slot) = self.plan.case {
            let is_same = self.has_case && (cells.repeats(slot) || cells.text(slot) == self.case);
            if !is_same {
                let name = cells.text(slot);
                if name.is_empty() {
                    let problem = format!(
                        "column '{}' (the case) is empty; expected the name of a case",
                        self.plan.columns[slot]
                    );
                    return self.counter.push_bad(block, line, problem, false);
                }
                self.case.clear();
                self.case.extend_from_slice(name);
                self.has_case = true;
                self.counter.case(&self.case);
            }
            if self.counter.is_other() {
                return;
            }
        }
        match self.encode(cells, block, line) {
            Ok(row) => self.counter.push(row, block, line),
            Err(problem) => self.counter.push_bad(block, line, problem, true),
        }
    }

    /// The name of a row's case.
    pub fn case_of(&self, cells: &mut impl Cells) -> String {
        self.plan.case.map_or(String::new(), |slot| String::from_utf8_lossy(cells.text(slot)).into_owned())
    }

    /// A row that could not be split into columns.
    pub fn bad_row(&mut self, block: u32, line: u32, problem: String) {
        self.counter.push_bad(block, line, problem, false);
    }

    /// The block is done: codes get new meanings, and the next rows need not follow the previous ones.
    pub fn end_block(&mut self, block: u32, n_lines: u32) {
        self.has_case = false;
        self.forget_codes();
        self.counter.end_block(block, n_lines);
    }

    /// From here on, codes have other meanings.
    pub fn forget_codes(&mut self) {
        self.memos.iter_mut().for_each(Vec::clear);
    }

    #[inline]
    pub fn encode(&mut self, cells: &mut impl Cells, block: u32, line: u32) -> Result<Row, String> {
        let plan = self.plan;
        let order = match plan.order {
            Some(slot) => {
                let Some((moment, kind)) = cells.moment(slot) else {
                    return Err(plan.wrong(
                        cells,
                        slot,
                        "a number of up to 18 digits, or a date such as 2024-05-01 13:45:00",
                    ));
                };
                self.kinds[kind as usize] = true;
                moment
            }
            None => i128::from(block) << 32 | i128::from(line),
        };
        let reward = match plan.reward {
            Some(slot) => match cells.units(slot, self.counter.decimals) {
                Some(units) if plan.reward_unit.is_none() => units,
                _ => self.counter.reward(plan.reward(cells, slot)?),
            },
            None => 0,
        };
        let ended = match &plan.ended {
            Some((slot, Some(value))) => cells.text(*slot) == value.as_bytes(),
            Some((slot, None)) => plan.flag(cells, *slot)?,
            None => false,
        };
        let cut = match plan.truncated {
            Some(slot) => plan.flag(cells, slot)?,
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
        let state = plan.id(cells, &plan.state, &mut counter.states, name, of_state)?;
        let action = plan.id(cells, &plan.action, &mut counter.actions, name, of_action)?;
        let next = if plan.next.is_empty() || ended {
            END
        } else {
            plan.id(cells, &plan.next, &mut counter.states, name, of_next)?
        };
        let outcome = match &plan.outcome {
            Some((slot, values)) => {
                let found = cells.text(*slot);
                values.iter().position(|value| value.as_bytes() == found).map_or(0, |i| i as u16 + 1)
            }
            None => 0,
        };
        Ok(Row { order, reward, state, action, next, outcome, stop })
    }
}
