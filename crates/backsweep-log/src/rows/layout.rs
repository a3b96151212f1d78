//! The roles of columns, and the meaning of their values.

use crate::bins::{BinnedColumn, Bins, labels};
use crate::decimal::{Decimal, NotDecimal};
use crate::derived::{DERIVED, DerivedColumns, START, SlotNames, is_previous, plain_reward};
use crate::error::{RowProblem, UTF8};
use crate::names::NameTable;
use crate::read::cells::RowCells;
use crate::rows::selection::RowConditions;
use crate::spec::{EndRule, Spec};
use crate::wording::{SpecField, Wording};

/// A code whose name was not looked up yet.
const UNKNOWN: u32 = u32::MAX;

/// The columns that are needed, each once, and their roles. A *slot* is a position in `columns`.
pub(crate) struct ColumnLayout<'a> {
    pub columns: Vec<String>,
    pub derived: &'a DerivedColumns,
    pub selection: RowConditions,
    pub(super) case: Option<usize>,
    pub(super) order: Option<usize>,
    pub(super) state: Vec<NamePart>,
    pub(super) action: Vec<NamePart>,
    pub(super) next: Vec<NamePart>,
    pub(super) reward: Option<usize>,
    pub(super) is_cost: bool,
    pub(super) reward_unit: Option<Decimal>,
    round_rewards: bool,
    pub(super) ended: Option<(usize, Option<String>)>,
    pub(super) truncated: Option<usize>,
    pub(super) outcome: Option<(usize, Vec<String>)>,
    pub(super) propensity: Option<usize>,
    pub(super) fold_by: Option<usize>,
    pub(super) cohort: Option<usize>,
    missing: Option<String>,
}

/// A column that is part of a name.
#[derive(Debug)]
pub(super) struct NamePart {
    slot: usize,
    /// Edges, each with whether the edge itself belongs below.
    edges: Vec<(f64, bool)>,
    labels: Vec<String>,
    /// `true` if the first row of a case has [`START`] here, which is no number.
    is_previous: bool,
}

impl<'a> ColumnLayout<'a> {
    pub fn new(spec: &Spec, derived: &'a DerivedColumns) -> Self {
        let mut columns = SlotNames::default();
        let mut slot = |name: &String| columns.slot(name);
        let case = spec.case.as_ref().map(&mut slot);
        let order = spec.order.as_ref().map(&mut slot);
        let mut part = |column: &BinnedColumn, name: &String| {
            let edges = match &column.bins {
                Bins::Edges(edges) => edges.as_slice(),
                _ => &[],
            };
            let labels = labels(edges);
            NamePart {
                slot: derived.slot(name).unwrap_or_else(|| slot(name)),
                is_previous: is_previous(name),
                edges: edges.iter().map(|edge| (edge.at.to_f64(), edge.above)).collect(),
                labels,
            }
        };
        Self {
            state: spec.state.iter().map(|column| part(column, &column.name)).collect(),
            action: spec.action.iter().map(|column| part(column, &column.name)).collect(),
            next: spec.state.iter().zip(&spec.next).map(|(column, name)| part(column, name)).collect(),
            reward: spec.reward.as_ref().map(|reward| {
                let (column, _) = plain_reward(reward);
                derived.reward_slot(column).unwrap_or_else(|| slot(&column.to_owned()))
            }),
            is_cost: spec.reward.as_ref().is_some_and(|reward| plain_reward(reward).1),
            ended: match &spec.end {
                EndRule::Column(column, value) => Some((slot(column), value.clone())),
                _ => None,
            },
            truncated: spec.truncated.as_ref().map(&mut slot),
            outcome: spec.final_rewards.as_ref().map(|outcome| {
                let values = outcome.rewards.iter().map(|(value, _)| value.clone());
                (slot(&outcome.column), values.collect())
            }),
            propensity: spec.propensity.as_ref().map(&mut slot),
            fold_by: spec.fold_by.as_ref().map(&mut slot),
            cohort: spec.cohort.as_ref().map(&mut slot),
            selection: RowConditions::new(spec, &mut |column| slot(&column.to_owned())),
            derived,
            case,
            order,
            reward_unit: spec.reward_unit,
            round_rewards: spec.round_rewards,
            missing: spec.missing.clone(),
            columns: columns.0,
        }
    }

    /// The name that some columns make up, as a number.
    #[inline(always)]
    pub(super) fn id(
        &self,
        cells: &mut impl RowCells,
        parts: &[NamePart],
        names: &mut NameTable,
        name: &mut Vec<u8>,
        memo: &mut Vec<u32>,
    ) -> Result<u32, Box<RowProblem>> {
        if let [part] = parts
            && let Some(code) = cells.code(part.slot)
            && let Some(&id) = memo.get(code as usize)
            && id != UNKNOWN
        {
            return Ok(id);
        }
        self.looked_up(cells, parts, names, name, memo)
    }

    /// The same if the file has no code for it, or a new one.
    fn looked_up(
        &self,
        cells: &mut impl RowCells,
        parts: &[NamePart],
        names: &mut NameTable,
        name: &mut Vec<u8>,
        memo: &mut Vec<u32>,
    ) -> Result<u32, Box<RowProblem>> {
        let [part] = parts else { return self.joined(cells, parts, names, name) };
        let code = cells.code(part.slot);
        let text = if part.edges.is_empty() && !cells.text(part.slot).is_empty() {
            cells.text(part.slot)
        } else {
            self.spell(cells, part, name)?;
            name
        };
        let id = match names.id(text) {
            Some(id) => id,
            None => return Err(self.wrong(cells, part.slot, UTF8)),
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
        cells: &mut impl RowCells,
        parts: &[NamePart],
        names: &mut NameTable,
        name: &mut Vec<u8>,
    ) -> Result<u32, Box<RowProblem>> {
        let mut whole = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            self.spell(cells, part, name)?;
            if name.contains(&b'|') {
                return Err(self.wrong(
                    cells,
                    part.slot,
                    "a value without '|', which joins the columns of a state",
                ));
            }
            whole.extend((i > 0).then_some(b'|'));
            whole.extend_from_slice(name);
        }
        names.id(&whole).ok_or_else(|| self.wrong(cells, parts[0].slot, UTF8))
    }

    /// The value of a column as part of a name: as it is, or the bin it falls into.
    fn spell(
        &self,
        cells: &mut impl RowCells,
        part: &NamePart,
        name: &mut Vec<u8>,
    ) -> Result<(), Box<RowProblem>> {
        name.clear();
        name.extend_from_slice(cells.text(part.slot));
        if name.is_empty() {
            let Some(missing) = &self.missing else {
                let expected = Wording::from("a value");
                let expected = expected.offer(" (", SpecField::Missing, " gives a name to empty values)");
                return Err(self.wrong(cells, part.slot, expected));
            };
            name.extend_from_slice(missing.as_bytes());
        } else if !(part.edges.is_empty() || part.is_previous && name == START.as_bytes()) {
            let Some(number) = cells.number(part.slot) else {
                return Err(self.wrong(cells, part.slot, "a number, since the column is cut into bins"));
            };
            let bin = part
                .edges
                .iter()
                .filter(|(at, above)| if *above { number > *at } else { number >= *at })
                .count();
            name.clear();
            name.extend_from_slice(part.labels[bin].as_bytes());
        }
        Ok(())
    }

    /// The reward in a column.
    #[inline]
    pub(super) fn reward(&self, cells: &mut impl RowCells, slot: usize) -> Result<Decimal, Box<RowProblem>> {
        if let (true, Some(unit)) = (self.round_rewards, self.reward_unit)
            && let Some(rounded) = cells.number(slot).and_then(|reward| unit.nearest_multiple(reward))
        {
            return Ok(rounded);
        }
        match cells.decimal(slot) {
            Ok(reward) => match self.reward_unit {
                Some(unit) if !reward.is_multiple_of(unit) => {
                    let expected = Wording::from(format!("a multiple of the reward unit {unit}"));
                    let expected = expected.offer(" (", SpecField::RoundRewards, " rounds to it)");
                    Err(self.wrong(cells, slot, expected))
                }
                _ => Ok(reward),
            },
            Err(NotDecimal::Number) => Err(self.wrong(cells, slot, "a number, since it is the reward")),
            Err(NotDecimal::Digits) => {
                let expected = Wording::from("a reward of up to 18 digits");
                let expected = expected.offer(" (", SpecField::RoundToCents, " rounds to cents)");
                Err(self.wrong(cells, slot, expected))
            }
        }
    }

    /// Returns `true` if a column says yes.
    #[inline]
    pub(super) fn flag(&self, cells: &mut impl RowCells, slot: usize) -> Result<bool, Box<RowProblem>> {
        match cells.flag(slot) {
            Some(flag) => Ok(flag),
            None => self.flag_in_words(cells, slot),
        }
    }

    #[cold]
    fn flag_in_words(&self, cells: &mut impl RowCells, slot: usize) -> Result<bool, Box<RowProblem>> {
        match cells.text(slot).to_ascii_lowercase().as_slice() {
            b"0" | b"" | b"false" | b"f" | b"no" | b"n" | b"0.0" => Ok(false),
            b"1" | b"true" | b"t" | b"yes" | b"y" | b"1.0" => Ok(true),
            _ => {
                let expected = Wording::from("1 or 0, true or false, yes or no");
                let expected = expected.offer(" (", SpecField::EndValue, " names another value)");
                Err(self.wrong(cells, slot, expected))
            }
        }
    }

    /// The problem with a value.
    #[cold]
    pub(super) fn wrong(
        &self,
        cells: &mut impl RowCells,
        slot: usize,
        expected: impl Into<Wording>,
    ) -> Box<RowProblem> {
        let derived = (slot >= DERIVED).then(|| self.derived.name(slot));
        let column = derived.as_deref().unwrap_or_else(|| &self.columns[slot]);
        RowProblem::value(column, cells.text(slot), expected)
    }
}
