//! The table of counts that docs/counts.md defines, line by line, whatever the format of its file.

use crate::counts::Counts;
use crate::counts::builder::{CountLine, CountsBuilder};
use crate::decimal::Decimal;
use crate::error::{Error, Result, RowProblem, UTF8, shown};
use crate::names::END;
use crate::read::cells::RowCells;
use crate::read::input::Input;
use crate::wording::{SpecField, Wording};

/// The columns of a table of counts.
pub const COLUMNS: [&str; 6] = ["state", "action", "next", "fold", "n", "reward_sum"];

/// The metadata key of the reward that a sum of 1 stands for.
pub(super) const UNIT: &str = "reward_unit";

/// The unit that the file states, or the one that was given.
pub(super) fn agreed_unit(input: &Input, stated: Option<&str>, given: Option<Decimal>) -> Result<Decimal> {
    let parsed = stated.map(|text| {
        let unit = Decimal::parse(text.as_bytes()).ok().filter(|unit| unit.mantissa > 0);
        let expected = "expected a number above 0 such as 0.01";
        let text = shown(text.as_bytes());
        unit.ok_or_else(|| Error::file(input, format!("{UNIT} is {text}; {expected}")))
    });
    let problem = match (parsed.transpose()?, given) {
        (Some(stated), Some(given)) if stated != given => Wording::from(format!("{UNIT} is {stated}, and "))
            .and(SpecField::RewardUnit)
            .and(format!(" says {given}; omit "))
            .and(SpecField::RewardUnit),
        (Some(unit), _) | (None, Some(unit)) => return Ok(unit),
        (None, None) => Wording::from(
            "it does not say what a reward_sum of 1 is worth; add a first line such as '# reward_unit: 0.01'",
        )
        .offer(", or pass ", SpecField::RewardUnit, ""),
    };
    Err(Error::file(input, problem))
}

/// Adds one line of a table, with rewards in multiples of `unit`.
pub(super) fn add_line(
    builder: &mut CountsBuilder,
    cells: &mut impl RowCells,
    unit: Decimal,
) -> std::result::Result<(), Box<RowProblem>> {
    let scale = builder.in_decimals(unit.decimals) * i128::from(unit.mantissa);
    let wrong =
        |slot: usize, found: &[u8], expected: &'static str| RowProblem::value(COLUMNS[slot], found, expected);
    let state = match cells.text(0) {
        b"" => return Err(wrong(0, b"", "the name of a state")),
        state => builder.states.id(state).ok_or_else(|| wrong(0, state, UTF8))?,
    };
    let action = match cells.text(1) {
        b"" => END,
        action => builder.actions.id(action).ok_or_else(|| wrong(1, action, UTF8))?,
    };
    let next = match cells.text(2) {
        b"" => END,
        next => builder.states.id(next).ok_or_else(|| wrong(2, next, UTF8))?,
    };
    let fold = match cells.text(3) {
        [digit @ b'0'..=b'9'] => digit - b'0',
        [b'1', digit @ b'0'..=b'5'] => 10 + digit - b'0',
        [digit @ b'a'..=b'f'] => 10 + digit - b'a',
        other => return Err(wrong(3, other, "0 to 15 (or a hexadecimal digit)")),
    };
    let has_sum = !cells.text(5).is_empty();
    let mut whole = |slot: usize| {
        let number = Decimal::parse(cells.text(slot)).ok().filter(|number| number.decimals == 0);
        number.map(|number| number.mantissa).ok_or_else(|| wrong(slot, cells.text(slot), "a whole number"))
    };
    let n = whole(4)?;
    if n < 0 {
        return Err(wrong(4, n.to_string().as_bytes(), "a count"));
    }
    let is_start = action == END;
    if is_start && next != END {
        return Err(RowProblem::whole("a row without an action is a start, and has no next state"));
    }
    let reward_sum = if is_start && !has_sum { 0 } else { whole(5)? };
    builder.push(CountLine { state, action, next, fold, n, sum: i128::from(reward_sum) * scale });
    Ok(())
}

pub(super) fn finish(input: &Input, builder: CountsBuilder) -> Result<Counts> {
    let (counts, ..) = builder.finish().map_err(|error| Error::file(input, error.to_string()))?;
    if counts.rows.is_empty() {
        return Err(Error::file(input, "it has no counts"));
    }
    Ok(counts)
}
