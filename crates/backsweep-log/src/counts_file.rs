//! Files of counts, as docs/COUNTS.md defines them: a table that any engine can make.

use crate::counter::END;
use crate::counts::{Counts, FOLDS};
use crate::csv::{self, Fields, Layout, Record, UNUSED};
use crate::decimal::Decimal;
use crate::error::{Error, Result, shown};
use crate::feed::missing_column;
use crate::input::Input;
use crate::rows::Cells;
use crate::sheet::{Line, Sheet};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// The columns of a table of counts.
pub const COLUMNS: [&str; 6] = ["state", "action", "next", "fold", "n", "reward_sum"];

/// The first line of a CSV file of counts that this crate wrote.
const TITLE: &str = "# backsweep counts 1";

/// The metadata key of the reward that a sum of 1 stands for.
pub(crate) const UNIT: &str = "reward_unit";

/// Reads counts. Lines with the same key add up, so the output of several engines or shards can be in one file. `unit` is the
/// reward that a sum of 1 stands for, if the file does not say so.
///
/// # Errors
/// If the file is not a table of counts, or neither it nor `unit` gives the unit of rewards.
pub fn load(input: &Input, unit: Option<Decimal>) -> Result<Counts> {
    if input.head(4)? == b"PAR1" {
        #[cfg(feature = "parquet")]
        return crate::parquet::load_counts(input, unit);
        #[cfg(not(feature = "parquet"))]
        return Err(crate::feed::no_parquet(input));
    }
    let mut text = Vec::new();
    input.open(&Arc::default())?.read_to_end(&mut text).map_err(|error| input.unreadable(&error))?;
    load_csv(input, &text, unit)
}

/// Writes counts, as Parquet if the name ends in `.parquet` and as CSV otherwise. The file is written completely or not at all.
///
/// # Errors
/// If the file cannot be written.
pub fn save(path: &Path, counts: &Counts) -> Result<()> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::at(path.display(), format_args!("cannot write the file ({error})"))
    };
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
    #[cfg(not(feature = "parquet"))]
    if is_parquet {
        return Err(crate::feed::no_parquet(&Input::File(path.to_owned())));
    }
    let written = File::create(&unfinished).map_err(|error| failed(&error)).and_then(|file| {
        #[cfg(feature = "parquet")]
        if is_parquet {
            return crate::parquet::save_counts(file, counts).map_err(|error| failed(&error));
        }
        write_csv(&mut BufWriter::new(&file), counts)
            .and_then(|()| file.sync_all())
            .map_err(|error| failed(&error))
    });
    let written = written.and_then(|()| std::fs::rename(&unfinished, path).map_err(|error| failed(&error)));
    if written.is_err() {
        // The leftover of a failed attempt is useless; failing to remove it matters less than the first error.
        let _ = std::fs::remove_file(&unfinished);
    }
    written
}

/// Writes counts as CSV.
///
/// # Errors
/// Those of the writer.
pub fn write_csv(out: &mut impl Write, counts: &Counts) -> std::io::Result<()> {
    writeln!(out, "{TITLE}\n# {UNIT}: {}", counts.reward_unit())?;
    for (key, value) in &counts.how {
        writeln!(out, "# {key}: {}", value.replace(['\n', '\r'], " "))?;
    }
    writeln!(out, "{}", COLUMNS.join(","))?;
    let quoted = |names: &[String]| names.iter().map(|name| quote(name)).collect::<Vec<_>>();
    let (states, actions) = (quoted(&counts.states), quoted(&counts.actions));
    let mut line = Vec::new();
    let mut write = |names: [&str; 3], numbers: [i64; 3]| {
        line.clear();
        for name in names {
            line.extend_from_slice(name.as_bytes());
            line.push(b',');
        }
        for number in numbers {
            push_number(&mut line, number);
            line.push(b',');
        }
        if let Some(last) = line.last_mut() {
            *last = b'\n';
        }
        out.write_all(&line)
    };
    for start in &counts.starts {
        write([&states[start.state as usize], "", ""], [start.fold.into(), start.n, 0])?;
    }
    for row in &counts.rows {
        let (state, action) = (&states[row.state as usize], &actions[row.action as usize]);
        let next = row.next.map_or("", |next| states[next as usize].as_str());
        write([state, action, next], [row.fold.into(), row.n, row.reward_sum])?;
    }
    out.flush()
}

/// Writes a whole number, several times as fast as the standard formatting: there are many counts.
fn push_number(line: &mut Vec<u8>, number: i64) {
    if number < 0 {
        line.push(b'-');
    }
    let (mut digits, mut rest) = ([0; 20], number.unsigned_abs());
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[first..]);
}

fn quote(name: &str) -> String {
    let is_plain = !name.contains([',', '"', '\n', '\r']) && !name.starts_with('#');
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn load_csv(input: &Input, text: &[u8], unit: Option<Decimal>) -> Result<Counts> {
    let mut sheet = Sheet::default();
    let mut stated = None;
    let (mut at, mut line) = (0, 1);
    while text[at..].starts_with(b"#") {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        let comment = String::from_utf8_lossy(&text[at..end]);
        if let Some((key, value)) = comment.trim_start_matches('#').trim().split_once(": ") {
            match key {
                UNIT => stated = Some(value.to_owned()),
                _ => drop(sheet.how.insert(key.to_owned(), value.to_owned())),
            }
        }
        (at, line) = ((end + 1).min(text.len()), line + 1);
    }
    let text = &text[at..];
    let unit = agreed_unit(input, stated.as_deref(), unit)?;
    let Some((names, mut at)) = csv::header(text, b',') else {
        return Err(Error::at(input, format_args!("it has no line with the columns {}", COLUMNS.join(","))));
    };
    let names: Vec<String> = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let mut layout = Layout { delimiter: b',', slots: vec![UNUSED; names.len()] };
    for (slot, column) in COLUMNS.iter().enumerate() {
        let found = names.iter().position(|name| name == column);
        layout.slots[found.ok_or_else(|| missing_column(input, column, &names))?] = slot as u16;
    }
    let mut fields = Fields::new(COLUMNS.len());
    while at < text.len() {
        line += 1;
        let next = match fields.split(text, at, &layout) {
            Record::Whole { next, n_fields } if n_fields == names.len() => next,
            Record::Whole { next, .. } if text[at..next].trim_ascii().is_empty() => {
                at = next;
                continue;
            }
            _ => {
                let place = format!("{input}:{line}");
                return Err(Error::at(
                    place,
                    format_args!("the row is incomplete; expected {} columns and a line break", names.len()),
                ));
            }
        };
        let mut cells = fields.cells(text);
        let problem = |problem: String| Error::at(format_args!("{input}:{line}"), problem);
        add_line(&mut sheet, &mut cells, unit).map_err(problem)?;
        line += memchr::memchr_iter(b'\n', &text[at..next]).count() - 1;
        at = next;
    }
    finish(input, sheet)
}

/// The unit that the file states, or the one that was given.
pub(crate) fn agreed_unit(input: &Input, stated: Option<&str>, given: Option<Decimal>) -> Result<Decimal> {
    let parsed = stated.map(|text| {
        let unit = Decimal::parse(text.as_bytes()).ok().filter(|unit| unit.mantissa > 0);
        unit.ok_or_else(|| {
            Error::at(
                input,
                format_args!("{UNIT} is {}; expected a number above 0 such as 0.01", shown(text.as_bytes())),
            )
        })
    });
    match (parsed.transpose()?, given) {
        (Some(stated), Some(given)) if stated != given => Err(Error::at(
            input,
            format_args!("{UNIT} is {stated}, and --reward-unit says {given}; omit --reward-unit"),
        )),
        (Some(unit), _) | (None, Some(unit)) => Ok(unit),
        (None, None) => Err(Error::at(
            input,
            format_args!(
                "it does not say what a reward_sum of 1 is worth; add a first line such as '# {UNIT}: 0.01', or pass --reward-unit"
            ),
        )),
    }
}

/// Adds one line of a table, with rewards in multiples of `unit`.
pub(crate) fn add_line(
    sheet: &mut Sheet,
    cells: &mut impl Cells,
    unit: Decimal,
) -> std::result::Result<(), String> {
    let scale = sheet.in_decimals(unit.decimals) * i128::from(unit.mantissa);
    let not_text = |column: &str| format!("column '{column}' is not UTF-8");
    let state = cells.text(0);
    if state.is_empty() {
        return Err("column 'state' is empty; expected the name of a state".to_owned());
    }
    let state = sheet.states.id(state).ok_or_else(|| not_text("state"))?;
    let action = match cells.text(1) {
        b"" => END,
        action => sheet.actions.id(action).ok_or_else(|| not_text("action"))?,
    };
    let next = match cells.text(2) {
        b"" => END,
        next => sheet.states.id(next).ok_or_else(|| not_text("next"))?,
    };
    let fold = match cells.text(3) {
        [digit @ b'0'..=b'9'] => digit - b'0',
        [b'1', digit @ b'0'..=b'5'] => 10 + digit - b'0',
        [digit @ b'a'..=b'f'] => 10 + digit - b'a',
        other => {
            return Err(format!(
                "column 'fold' is {}; expected 0 to {} (or a hexadecimal digit)",
                shown(other),
                FOLDS - 1
            ));
        }
    };
    let has_sum = !cells.text(5).is_empty();
    let mut whole = |slot: usize| {
        let number = Decimal::parse(cells.text(slot)).ok().filter(|number| number.decimals == 0);
        number.map(|number| number.mantissa).ok_or_else(|| {
            format!("column '{}' is {}; expected a whole number", COLUMNS[slot], shown(cells.text(slot)))
        })
    };
    let n = whole(4)?;
    if n < 0 {
        return Err(format!("column 'n' is {n}; expected a count"));
    }
    let is_start = action == END;
    if is_start && next != END {
        return Err("a row without an action is a start, and has no next state".to_owned());
    }
    let reward_sum = if is_start && !has_sum { 0 } else { whole(5)? };
    sheet.push(Line { state, action, next, fold, n, sum: i128::from(reward_sum) * scale });
    Ok(())
}

pub(crate) fn finish(input: &Input, sheet: Sheet) -> Result<Counts> {
    let (counts, ..) = sheet.finish().map_err(|error| Error::at(input, error))?;
    if counts.rows.is_empty() {
        return Err(Error::at(input, "it has no counts"));
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::push_number;

    #[test]
    fn whole_numbers_are_written_as_the_library_writes_them() {
        for number in [0, 7, -7, 10, -120, 999, i64::MAX, i64::MIN] {
            let mut line = Vec::new();
            push_number(&mut line, number);
            assert_eq!(line, number.to_string().into_bytes());
        }
    }
}
