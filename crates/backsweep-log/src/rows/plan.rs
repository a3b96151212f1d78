//! What each column is needed for, and what a value in it means.

use super::cells::Cells;
use crate::bins::{Bins, Column, labels};
use crate::decimal::{Decimal, NotDecimal};
use crate::error::shown;
use crate::names::Names;
use crate::spec::{EndRule, Spec};

/// A code whose name was not looked up yet.
const UNKNOWN: u32 = u32::MAX;

/// The columns that are needed, each once, and their roles. A *slot* is a position in `columns`.
#[derive(Debug)]
pub(crate) struct Plan {
    pub columns: Vec<String>,
    pub(super) case: Option<usize>,
    pub(super) order: Option<usize>,
    pub(super) state: Vec<Cut>,
    pub(super) action: Vec<Cut>,
    pub(super) next: Vec<Cut>,
    pub(super) reward: Option<usize>,
    pub(super) reward_unit: Option<Decimal>,
    round_rewards: bool,
    pub(super) ended: Option<(usize, Option<String>)>,
    pub(super) truncated: Option<usize>,
    pub(super) outcome: Option<(usize, Vec<String>)>,
    missing: Option<String>,
}

/// A column that is part of a name.
#[derive(Debug)]
pub(super) struct Cut {
    slot: usize,
    /// Edges, each with whether the edge itself belongs below.
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

impl Plan {
    /// The name that some columns make up, as a number.
    #[inline(always)]
    pub(super) fn id(
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

    /// The same if the file has no code for it, or a new one.
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

    /// The value of a column as part of a name: as it is, or the bin it falls into.
    fn part(&self, cells: &mut impl Cells, cut: &Cut, name: &mut Vec<u8>) -> Result<(), String> {
        name.clear();
        name.extend_from_slice(cells.text(cut.slot));
        if name.is_empty() {
            let Some(missing) = &self.missing else {
                let column = &self.columns[cut.slot];
                return Err(format!(
                    "column '{column}' is empty; expected a value (--missing NAME gives a name to empty values)"
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

    /// The reward in a column.
    #[inline]
    pub(super) fn reward(&self, cells: &mut impl Cells, slot: usize) -> Result<Decimal, String> {
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

    /// Whether a column says yes.
    #[inline]
    pub(super) fn flag(&self, cells: &mut impl Cells, slot: usize) -> Result<bool, String> {
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

    /// What is wrong with a value, in one line.
    #[cold]
    pub(super) fn wrong(&self, cells: &mut impl Cells, slot: usize, expected: &str) -> String {
        let found = cells.text(slot);
        let found = if found.is_empty() { "empty".to_owned() } else { shown(found) };
        format!("column '{}' is {found}; expected {expected}", self.columns[slot])
    }

    #[cold]
    fn not_text(&self, cells: &mut impl Cells, slot: usize) -> String {
        self.wrong(cells, slot, "text in UTF-8")
    }
}
