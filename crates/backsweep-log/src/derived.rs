//! Columns that a log does not have and its cases tell: the value of a column in the previous row, and elapsed time.
//!
//! They need the rows of a case in their order, so the log is read once for them alone, and about 50 bytes per row are held.
//! The values found are kept by the place of each row, where the reading that counts finds it again.

use crate::decimal::Decimal;
use crate::error::{Error, Result, RowProblem};
use crate::fold::{CaseKey, case_key};
use crate::moment::{Moment, OrderKind, SECOND};
use crate::names::NameTable;
use crate::read::blocks::{BlockReader, columns};
use crate::read::cells::{RowCells, RowSink};
use crate::read::input::Input;
use crate::read::parallel::{ReadObserver, read_blocks};
use crate::rows::selection::{RowConditions, Selected};
use crate::spec::Spec;
use std::fmt;

/// The name of the previous value in the first row of a case.
pub const START: &str = "(start)";

/// Slots from here on are those of derived columns.
pub(crate) const DERIVED: usize = 1 << (usize::BITS - 1);

/// Elapsed times have this many decimals.
const DECIMALS: u8 = 6;

/// The units of time, and their lengths in seconds.
const UNITS: [(&str, i128); 5] =
    [("seconds", 1), ("minutes", 60), ("hours", 3_600), ("days", 86_400), ("weeks", 604_800)];

/// A column made from the rows of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Derivation {
    /// The value of a column in the previous row of the case.
    Previous(String),
    /// The time since the case began, in a unit.
    Since(usize),
    /// The time until the next row of the case, in a unit.
    Until(usize),
}

/// The text within `name(…)`.
fn within<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')').map(str::trim)
}

/// Returns `true` if a name is that of a previous value.
pub(crate) fn is_previous(name: &str) -> bool {
    within(name, "prev").is_some()
}

impl Derivation {
    fn parse(name: &str, elapsed: fn(usize) -> Self) -> Result<Option<Self>> {
        if let Some(column) = within(name, "prev") {
            if column.is_empty() {
                return Err(Error::syntax(name, "expected the name of a column in the parentheses"));
            }
            return Ok(Some(Self::Previous(column.to_owned())));
        }
        let Some(unit) = within(name, "elapsed") else { return Ok(None) };
        match UNITS.iter().position(|(name, _)| *name == unit) {
            Some(unit) => Ok(Some(elapsed(unit))),
            None => {
                Err(Error::syntax(name, "expected elapsed(seconds), (minutes), (hours), (days) or (weeks)"))
            }
        }
    }
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Previous(column) => write!(f, "prev({column})"),
            Self::Since(unit) | Self::Until(unit) => write!(f, "elapsed({})", UNITS[*unit].0),
        }
    }
}

/// The value of a row that has none.
const NONE: i64 = i64::MIN;

/// Derived columns with their values.
#[derive(Default)]
pub(crate) struct DerivedColumns {
    columns: Vec<DerivedColumn>,
    /// Previous values, by number.
    texts: NameTable,
}

struct DerivedColumn {
    derivation: Derivation,
    /// The number of the previous value or the elapsed time, by block and line.
    values: Vec<Vec<i64>>,
}

impl DerivedColumns {
    /// Returns `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The slot of a column of a state or an action, if it is derived.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.find(&Derivation::parse(name, Derivation::Since).ok()??)
    }

    /// The slot of a column of rewards, if it is derived.
    pub fn reward_slot(&self, name: &str) -> Option<usize> {
        self.find(&Derivation::parse(name, Derivation::Until).ok()??)
    }

    fn find(&self, derivation: &Derivation) -> Option<usize> {
        self.columns.iter().position(|column| column.derivation == *derivation).map(|place| DERIVED + place)
    }

    /// The name of a derived column.
    pub fn name(&self, slot: usize) -> String {
        self.columns
            .get(slot.wrapping_sub(DERIVED))
            .map_or_else(String::new, |column| column.derivation.to_string())
    }

    /// The columns that settings need, computed from the log; a column that the log has is not derived.
    ///
    /// # Errors
    /// Those of reading; an unknown unit, elapsed time without dates, or rows without cases.
    pub fn new(spec: &Spec, inputs: &[Input], observer: &dyn ReadObserver) -> Result<Self> {
        let mut wanted: Vec<Derivation> = Vec::new();
        let parts = spec.state.iter().chain(&spec.action).map(|column| (column.name.as_str(), false));
        let mut known = None;
        for (name, is_reward) in parts.chain(spec.reward.iter().map(|reward| (plain_reward(reward).0, true)))
        {
            let elapsed = if is_reward { Derivation::Until } else { Derivation::Since };
            let parsed = Derivation::parse(name, elapsed);
            if matches!(parsed, Ok(None)) {
                continue;
            }
            if known.is_none() {
                known = Some(inputs.first().map_or(Ok(Vec::new()), columns)?);
            }
            if known.iter().flatten().any(|column| column == name) {
                continue;
            }
            wanted.extend(parsed?.filter(|derivation| !wanted.contains(derivation)));
        }
        if wanted.is_empty() {
            return Ok(Self::default());
        }
        let Some(case) = &spec.case else {
            let problem = format!("{} needs a column that identifies the case", wanted[0]);
            return Err(Error::Spec(problem.into()));
        };
        let timed = wanted.iter().find(|derivation| !matches!(derivation, Derivation::Previous(_)));
        if let (Some(timed), None) = (timed, &spec.order) {
            return Err(Error::Spec(
                format!("{timed} needs a column with dates that orders the rows of a case").into(),
            ));
        }
        let mut slots = SlotNames::default();
        let case = slots.slot(case);
        let order = spec.order.as_ref().map(|order| slots.slot(order));
        let sources: Vec<usize> = wanted
            .iter()
            .filter_map(|derivation| match derivation {
                Derivation::Previous(column) => Some(slots.slot(column)),
                _ => None,
            })
            .collect();
        let selection = RowConditions::new(spec, &mut |column| slots.slot(column));
        let none = Self::default();
        let blocks = BlockReader::new(inputs, &slots.0, spec.unterminated);
        let gatherer = || Gatherer {
            case,
            order,
            sources: &sources,
            name: Vec::new(),
            key: CaseKey::default(),
            rows: Vec::new(),
            texts: NameTable::default(),
            codes: Vec::new(),
            n_numbers: 0,
        };
        let new = || Selected::new(&selection, &none, gatherer());
        let (gathered, ..) = read_blocks(blocks, inputs, spec.n_threads(), &new, &|_| false, observer)?;
        let gathered: Vec<Gatherer<'_>> = gathered.into_iter().map(|selected| selected.sink).collect();
        if let (Some(timed), Some(order)) = (timed, &spec.order)
            && gathered.iter().any(|gatherer| gatherer.n_numbers > 0)
        {
            return Err(Error::column("", order, format!("(the order) has numbers; {timed} needs dates")));
        }
        Ok(Self::fill(wanted, gathered, sources.len()))
    }

    fn fill(wanted: Vec<Derivation>, gathered: Vec<Gatherer<'_>>, n_sources: usize) -> Self {
        let mut texts = NameTable::default();
        let start = i64::from(texts.id(START.as_bytes()).unwrap_or(0));
        let (mut rows, mut codes) = (Vec::new(), Vec::new());
        for gatherer in gathered {
            let ids = texts.ids(gatherer.texts.iter());
            let first = codes.len();
            codes.extend(gatherer.codes.iter().map(|&code| ids[code as usize]));
            rows.extend(gatherer.rows.into_iter().map(|row| EventRow { codes: row.codes + first, ..row }));
        }
        rows.sort_unstable_by_key(|row: &EventRow| (row.case, row.order, row.block, row.line));
        let mut lengths: Vec<usize> = Vec::new();
        for row in &rows {
            let block = row.block as usize;
            if lengths.len() <= block {
                lengths.resize(block + 1, 0);
            }
            lengths[block] = lengths[block].max(row.line as usize + 1);
        }
        let mut source = 0..n_sources;
        let column = |derivation: Derivation| {
            let mut values: Vec<Vec<i64>> = lengths.iter().map(|&n| vec![NONE; n]).collect();
            let source = if matches!(derivation, Derivation::Previous(_)) { source.next() } else { None };
            for case in rows.chunk_by(|a, b| a.case == b.case) {
                for (i, row) in case.iter().enumerate() {
                    let value = match derivation {
                        Derivation::Previous(_) => {
                            let before =
                                i.checked_sub(1).map(|before| case[before].codes + source.unwrap_or(0));
                            before.map_or(start, |place| i64::from(codes[place]))
                        }
                        Derivation::Since(unit) => elapsed(case[0].order, row.order, unit),
                        Derivation::Until(unit) => {
                            case.get(i + 1).map_or(0, |next| elapsed(row.order, next.order, unit))
                        }
                    };
                    values[row.block as usize][row.line as usize] = value;
                }
            }
            DerivedColumn { derivation, values }
        };
        let columns = wanted.into_iter().map(column).collect();
        Self { columns, texts }
    }
}

/// The time between two moments in 10⁻⁶ of a unit, rounded.
fn elapsed(from: Moment, to: Moment, unit: usize) -> i64 {
    let length = UNITS[unit].1 * (SECOND / 1_000_000);
    ((to - from + length / 2).div_euclid(length)) as i64
}

/// The column of a reward, and whether its values are costs.
pub(crate) fn plain_reward(text: &str) -> (&str, bool) {
    match text.strip_prefix('-') {
        Some(column) => (column.trim_start(), true),
        None => (text, false),
    }
}

/// The columns of a log that are needed, each once.
#[derive(Default)]
pub(crate) struct SlotNames(pub Vec<String>);

impl SlotNames {
    /// The slot of a column.
    pub fn slot(&mut self, name: &str) -> usize {
        self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }
}

/// A row as derived columns see it.
struct EventRow {
    case: CaseKey,
    order: Moment,
    block: u32,
    line: u32,
    /// Where the values of the sources begin.
    codes: usize,
}

/// Gathers the rows that one thread reads. Those without a case or an order are left out: the reading that counts reports them.
struct Gatherer<'a> {
    case: usize,
    order: Option<usize>,
    sources: &'a [usize],
    /// The name of the current case, and its key.
    name: Vec<u8>,
    key: CaseKey,
    rows: Vec<EventRow>,
    texts: NameTable,
    codes: Vec<u32>,
    /// The number of orders that were numbers.
    n_numbers: u64,
}

impl RowSink for Gatherer<'_> {
    fn row(&mut self, cells: &mut impl RowCells, block: u32, line: u32) {
        let order = match self.order {
            None => i128::from(block) << 32 | i128::from(line),
            Some(slot) => {
                let Some((moment, kind)) = cells.moment(slot) else { return };
                self.n_numbers += u64::from(kind == OrderKind::Number);
                moment
            }
        };
        let name = cells.text(self.case);
        if name.is_empty() {
            return;
        }
        if name != self.name {
            self.name = name.to_vec();
            self.key = case_key(name);
        }
        let codes = self.codes.len();
        for &slot in self.sources {
            // A value that is no text is an empty one: as a column of its own it would be refused.
            let id = self.texts.id(cells.text(slot)).or_else(|| self.texts.id(b""));
            self.codes.push(id.unwrap_or(0));
        }
        self.rows.push(EventRow { case: self.key, order, block, line, codes });
    }

    fn bad_row(&mut self, _block: u32, _line: u32, _problem: Box<RowProblem>) {}

    fn end_block(&mut self, _block: u32, _n_lines: u32) {}
}

/// The values of a row along with its derived ones.
pub(crate) struct DerivedCells<'a, C> {
    cells: &'a mut C,
    columns: &'a DerivedColumns,
    block: u32,
    line: u32,
    text: Vec<u8>,
}

impl<'a, C: RowCells> DerivedCells<'a, C> {
    pub fn new(cells: &'a mut C, columns: &'a DerivedColumns, block: u32, line: u32) -> Self {
        Self { cells, columns, block, line, text: Vec::new() }
    }

    /// The derived column of a slot, and this row's value in it.
    fn value(&self, slot: usize) -> Option<(&'a Derivation, i64)> {
        let column = self.columns.columns.get(slot.checked_sub(DERIVED)?)?;
        let value = column.values.get(self.block as usize).and_then(|block| block.get(self.line as usize));
        Some((&column.derivation, value.copied().unwrap_or(NONE)))
    }
}

impl<C: RowCells> RowCells for DerivedCells<'_, C> {
    fn text(&mut self, slot: usize) -> &[u8] {
        match self.value(slot) {
            None => self.cells.text(slot),
            Some((_, NONE)) => b"",
            Some((Derivation::Previous(_), code)) => self.columns.texts.name(code as u32),
            Some((_, value)) => {
                self.text = Decimal::of(value, DECIMALS).to_string().into_bytes();
                &self.text
            }
        }
    }

    fn decimal(&mut self, slot: usize) -> std::result::Result<Decimal, crate::decimal::NotDecimal> {
        match self.value(slot) {
            None => self.cells.decimal(slot),
            Some((Derivation::Since(_) | Derivation::Until(_), value)) if value != NONE => {
                Ok(Decimal::of(value, DECIMALS))
            }
            Some(_) => Decimal::parse(self.text(slot)),
        }
    }

    fn units(&mut self, slot: usize, decimals: u8) -> Option<i64> {
        if slot < DERIVED { self.cells.units(slot, decimals) } else { None }
    }

    fn flag(&mut self, slot: usize) -> Option<bool> {
        if slot < DERIVED { self.cells.flag(slot) } else { None }
    }

    fn number(&mut self, slot: usize) -> Option<f64> {
        if slot < DERIVED {
            return self.cells.number(slot);
        }
        self.decimal(slot).ok().map(Decimal::to_f64)
    }

    fn moment(&mut self, slot: usize) -> Option<(Moment, OrderKind)> {
        self.cells.moment(slot)
    }

    fn code(&self, slot: usize) -> Option<u32> {
        match self.value(slot) {
            None => self.cells.code(slot),
            Some((Derivation::Previous(_), code)) => u32::try_from(code).ok(),
            Some(_) => None,
        }
    }

    fn repeats(&self, slot: usize) -> bool {
        slot < DERIVED && self.cells.repeats(slot)
    }
}
