//! Values of columns to rows in numbers.

use crate::bins::{Bins, Column, labels};
use crate::counter::{Counter, END, Row, Stop};
use crate::decimal::{Decimal, NotDecimal};
use crate::error::shown;
use crate::moment::{self, Kind, Moment};
use crate::names::Names;
use crate::spec::{EndRule, Spec};

/// Which columns are needed, each once, and what they are needed for. A *slot* is a position in `columns`.
#[derive(Debug)]
pub(crate) struct Plan {
    pub columns: Vec<String>,
    case: Option<usize>,
    order: Option<usize>,
    state: Vec<Cut>,
    action: Vec<Cut>,
    next: Vec<Cut>,
    reward: Option<usize>,
    reward_unit: Option<Decimal>,
    round_rewards: bool,
    ended: Option<(usize, Option<String>)>,
    truncated: Option<usize>,
    outcome: Option<(usize, Vec<String>)>,
    missing: Option<String>,
}

/// A column that is part of a name.
#[derive(Debug)]
struct Cut {
    slot: usize,
    /// Edges with whether the edge itself belongs below.
    edges: Vec<(f64, bool)>,
    labels: Vec<String>,
}

impl Plan {
    pub fn new(spec: &Spec) -> Self {
        let mut columns: Vec<String> = Vec::new();
        let mut slot = |name: &String| {
            columns.iter().position(|known| known == name).unwrap_or_else(|| {
                columns.push(name.clone());
                columns.len() - 1
            })
        };
        let case = spec.case.as_ref().map(&mut slot);
        let order = spec.order.as_ref().map(&mut slot);
        let mut cut = |column: &Column, name: &String| {
            let edges = match &column.bins {
                Bins::Edges(edges) => edges.as_slice(),
                _ => &[],
            };
            let labels = labels(edges);
            Cut {
                slot: slot(name),
                edges: edges.iter().map(|edge| (edge.at.to_f64(), edge.above)).collect(),
                labels,
            }
        };
        let state = spec.state.iter().map(|column| cut(column, &column.name)).collect();
        let action = spec.action.iter().map(|column| cut(column, &column.name)).collect();
        let next = spec.state.iter().zip(&spec.next).map(|(column, name)| cut(column, name)).collect();
        let reward = spec.reward.as_ref().map(&mut slot);
        let ended = match &spec.end {
            EndRule::Column(column, value) => Some((slot(column), value.clone())),
            _ => None,
        };
        let truncated = spec.truncated.as_ref().map(&mut slot);
        let outcome = spec.outcome.as_ref().map(|outcome| {
            (slot(&outcome.column), outcome.rewards.iter().map(|(value, _)| value.clone()).collect())
        });
        let Spec { reward_unit, round_rewards, .. } = *spec;
        let missing = spec.missing.clone();
        Self {
            columns,
            case,
            order,
            state,
            action,
            next,
            reward,
            reward_unit,
            round_rewards,
            ended,
            truncated,
            outcome,
            missing,
        }
    }
}

/// The values of one row, by slot.
pub(crate) trait Cells {
    /// The value as text; empty if there is none.
    fn text(&mut self, slot: usize) -> &[u8];

    /// The value as a decimal number.
    fn decimal(&mut self, slot: usize) -> Result<Decimal, NotDecimal> {
        Decimal::parse(self.text(slot))
    }

    /// The value in units of 10^-`decimals`, if that is known without reading it as a decimal number.
    #[inline]
    fn units(&mut self, _slot: usize, _decimals: u8) -> Option<i64> {
        None
    }

    /// Whether the value is 1, if it is 1 or 0.
    #[inline]
    fn flag(&mut self, slot: usize) -> Option<bool> {
        match self.text(slot) {
            b"0" => Some(false),
            b"1" => Some(true),
            _ => None,
        }
    }

    /// The value as a number that can be binned.
    fn number(&mut self, slot: usize) -> Option<f64> {
        let number: f64 = std::str::from_utf8(self.text(slot).trim_ascii()).ok()?.parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// The value as a place in the order of a case.
    fn moment(&mut self, slot: usize) -> Option<(Moment, Kind)> {
        moment::parse(self.text(slot))
    }

    /// A small number that stands for the text of this slot within the block, if the file has one.
    fn code(&self, _slot: usize) -> Option<u32> {
        None
    }

    /// Whether the value is known to be that of the row before.
    fn repeats(&self, _slot: usize) -> bool {
        false
    }
}

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

const UNKNOWN: u32 = u32::MAX;

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

    /// Takes in a row, good or bad.
    #[inline]
    pub fn row(&mut self, cells: &mut impl Cells, block: u32, line: u32) {
        if let Some(slot) = self.plan.case {
            let is_same = self.has_case && (cells.repeats(slot) || cells.text(slot) == self.case);
            if !is_same {
                let name = cells.text(slot);
                if name.is_empty() {
                    let problem = format!(
                        "column '{}' (the case) is empty; expected its name",
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

    /// A row that could not be cut into columns.
    pub fn bad_row(&mut self, block: u32, line: u32, problem: String) {
        self.counter.push_bad(block, line, problem, false);
    }

    /// The block is done: codes have new meanings, and the rows before the next ones may be elsewhere.
    pub fn end_block(&mut self, block: u32, n_lines: u32) {
        self.has_case = false;
        self.forget_codes();
        self.counter.end_block(block, n_lines);
    }

    /// From here on codes have other meanings.
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
        // A step that ended and was cut at once has ended: nothing follows it.
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

impl Plan {
    /// The name that some columns make up, as a number.
    #[inline(always)]
    fn id(
        &self,
        cells: &mut impl Cells,
        cuts: &[Cut],
        names: &mut Names,
        name: &mut Vec<u8>,
        memo: &mut Vec<u32>,
    ) -> Result<u32, String> {
        if let [cut] = cuts
            && let Some(code) = cells.code(cut.slot)
            && let Some(&id) = memo.get(code as usize)
            && id != UNKNOWN
        {
            return Ok(id);
        }
        self.looked_up(cells, cuts, names, name, memo)
    }

    /// The same where the file has no code for it, or one that is new.
    fn looked_up(
        &self,
        cells: &mut impl Cells,
        cuts: &[Cut],
        names: &mut Names,
        name: &mut Vec<u8>,
        memo: &mut Vec<u32>,
    ) -> Result<u32, String> {
        let [cut] = cuts else { return self.joined(cells, cuts, names, name) };
        let code = cells.code(cut.slot);
        let text = if cut.edges.is_empty() && !cells.text(cut.slot).is_empty() {
            cells.text(cut.slot)
        } else {
            self.part(cells, cut, name)?;
            name
        };
        let id = match names.id(text) {
            Some(id) => id,
            None => return Err(self.not_text(cells, cut.slot)),
        };
        if let Some(code) = code {
            if memo.len() <= code as usize {
                memo.resize(code as usize + 1, UNKNOWN);
            }
            memo[code as usize] = id;
        }
        Ok(id)
    }

    fn joined(
        &self,
        cells: &mut impl Cells,
        cuts: &[Cut],
        names: &mut Names,
        name: &mut Vec<u8>,
    ) -> Result<u32, String> {
        let mut whole = Vec::new();
        for (i, cut) in cuts.iter().enumerate() {
            self.part(cells, cut, name)?;
            if name.contains(&b'|') {
                let wrong =
                    self.wrong(cells, cut.slot, "a value without '|', which joins the columns of a state");
                return Err(wrong);
            }
            whole.extend((i > 0).then_some(b'|'));
            whole.extend_from_slice(name);
        }
        names.id(&whole).ok_or_else(|| self.not_text(cells, cuts[0].slot))
    }

    /// The value of a column as part of a name: as it stands, or the bin it falls in.
    fn part(&self, cells: &mut impl Cells, cut: &Cut, name: &mut Vec<u8>) -> Result<(), String> {
        name.clear();
        name.extend_from_slice(cells.text(cut.slot));
        if name.is_empty() {
            let Some(missing) = &self.missing else {
                let column = &self.columns[cut.slot];
                return Err(format!(
                    "column '{column}' is empty; expected a value (--missing names what stands for none)"
                ));
            };
            name.extend_from_slice(missing.as_bytes());
        } else if !cut.edges.is_empty() {
            let Some(number) = cells.number(cut.slot) else {
                return Err(self.wrong(cells, cut.slot, "a number, since the column is cut into bins"));
            };
            let bin = cut
                .edges
                .iter()
                .filter(|(at, above)| if *above { number > *at } else { number >= *at })
                .count();
            name.clear();
            name.extend_from_slice(cut.labels[bin].as_bytes());
        }
        Ok(())
    }

    #[inline]
    fn reward(&self, cells: &mut impl Cells, slot: usize) -> Result<Decimal, String> {
        if let (true, Some(unit)) = (self.round_rewards, self.reward_unit)
            && let Some(rounded) = cells.number(slot).and_then(|reward| unit.nearest_multiple(reward))
        {
            return Ok(rounded);
        }
        match cells.decimal(slot) {
            Ok(reward) => match self.reward_unit {
                Some(unit) if !reward.is_multiple_of(unit) => Err(self.wrong(
                    cells,
                    slot,
                    &format!("a multiple of the reward unit {unit} (--round-rewards rounds to it)"),
                )),
                _ => Ok(reward),
            },
            Err(NotDecimal::Number) => Err(self.wrong(cells, slot, "a number, since it is the reward")),
            Err(NotDecimal::Digits) => Err(self.wrong(
                cells,
                slot,
                "a reward of up to 18 digits (--reward-unit 0.01 --round-rewards rounds to cents)",
            )),
        }
    }

    #[inline]
    fn flag(&self, cells: &mut impl Cells, slot: usize) -> Result<bool, String> {
        match cells.flag(slot) {
            Some(flag) => Ok(flag),
            None => self.flag_in_words(cells, slot),
        }
    }

    #[cold]
    fn flag_in_words(&self, cells: &mut impl Cells, slot: usize) -> Result<bool, String> {
        match cells.text(slot).to_ascii_lowercase().as_slice() {
            b"0" | b"" | b"false" | b"f" | b"no" | b"n" | b"0.0" => Ok(false),
            b"1" | b"true" | b"t" | b"yes" | b"y" | b"1.0" => Ok(true),
            _ => Err(self.wrong(
                cells,
                slot,
                "1 or 0, true or false, yes or no (--ended-by column=value names another value)",
            )),
        }
    }

    #[cold]
    fn wrong(&self, cells: &mut impl Cells, slot: usize, expected: &str) -> String {
        let found = cells.text(slot);
        let found = if found.is_empty() { "empty".to_owned() } else { shown(found) };
        format!("column '{}' is {found}; expected {expected}", self.columns[slot])
    }

    #[cold]
    fn not_text(&self, cells: &mut impl Cells, slot: usize) -> String {
        self.wrong(cells, slot, "text in UTF-8")
    }
}
