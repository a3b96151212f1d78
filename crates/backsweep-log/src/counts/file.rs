//! Files of counts, as docs/counts.md defines them: a table that any engine can make.

use crate::counts::Counts;
use crate::counts::builder::CountsBuilder;
use crate::counts::table::{COLUMNS, UNIT, add_line, agreed_unit, finish};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::read::csv::{self, FieldLayout, RecordEnd, RecordFields, UNUSED};
use crate::read::input::Input;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// The first line of a CSV file of counts that this crate wrote.
const TITLE: &str = "# backsweep counts 1";

impl Counts {
    /// Reads counts. Lines with the same key add up, so the output of several engines or shards can be in one file. `unit` is the
    /// reward that a sum of 1 stands for, if the file does not say so.
    ///
    /// # Errors
    /// If the file is not a table of counts, or neither it nor `unit` gives the unit of rewards.
    pub fn load(input: &Input, unit: Option<Decimal>) -> Result<Self> {
        if input.is_parquet()? {
            #[cfg(feature = "parquet")]
            return crate::counts::parquet::load_counts(input, unit);
            #[cfg(not(feature = "parquet"))]
            return Err(Error::file(input, crate::error::NO_PARQUET));
        }
        let mut text = Vec::new();
        input.open(&Arc::default())?.read_to_end(&mut text).map_err(|error| input.unreadable(&error))?;
        load_csv(input, &text, unit)
    }

    /// Writes counts, as Parquet if the name ends in `.parquet` and as CSV otherwise. The file is written completely or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let failed = |error: std::io::Error| Error::Io {
            place: path.display().to_string(),
            writing: true,
            kind: error.kind(),
            message: error.to_string(),
        };
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".unfinished");
        let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
        #[cfg(not(feature = "parquet"))]
        if is_parquet {
            return Err(Error::file(path.display(), crate::error::NO_PARQUET));
        }
        let written = File::create(&unfinished).map_err(failed).and_then(|file| {
            #[cfg(feature = "parquet")]
            if is_parquet {
                return crate::counts::parquet::save_counts(file, self)
                    .map_err(|error| failed(std::io::Error::other(error)));
            }
            self.write_csv(&mut BufWriter::new(&file)).and_then(|()| file.sync_all()).map_err(failed)
        });
        let written = written.and_then(|()| std::fs::rename(&unfinished, path).map_err(failed));
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
    pub fn write_csv(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "{TITLE}\n# {UNIT}: {}", self.reward_unit())?;
        for (key, value) in &self.how {
            writeln!(out, "# {key}: {}", value.replace(['\n', '\r'], " "))?;
        }
        writeln!(out, "{}", COLUMNS.join(","))?;
        let quoted = |names: &[String]| names.iter().map(|name| quote(name)).collect::<Vec<_>>();
        let (states, actions) = (quoted(&self.states), quoted(&self.actions));
        let mut line = Vec::new();
        let mut write = |names: [&str; 3], numbers: [i64; 3]| {
            line.clear();
            for name in names {
                line.extend_from_slice(name.as_bytes());
                line.push(b',');
            }
            for number in numbers {
                line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
                line.push(b',');
            }
            if let Some(last) = line.last_mut() {
                *last = b'\n';
            }
            out.write_all(&line)
        };
        for start in &self.starts {
            write([&states[start.state as usize], "", ""], [start.fold.into(), start.n, 0])?;
        }
        for row in &self.rows {
            let (state, action) = (&states[row.state as usize], &actions[row.action as usize]);
            let next = row.next.map_or("", |next| states[next as usize].as_str());
            write([state, action, next], [row.fold.into(), row.n, row.reward_sum])?;
        }
        out.flush()
    }
}

fn quote(name: &str) -> String {
    let is_plain = !name.contains([',', '"', '\n', '\r']) && !name.starts_with('#');
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn load_csv(input: &Input, text: &[u8], unit: Option<Decimal>) -> Result<Counts> {
    let mut builder = CountsBuilder::default();
    let mut stated = None;
    let (mut at, mut line) = (0, 1);
    while text[at..].starts_with(b"#") {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        let comment = String::from_utf8_lossy(&text[at..end]);
        if let Some((key, value)) = comment.trim_start_matches('#').trim().split_once(": ") {
            match key {
                UNIT => stated = Some(value.to_owned()),
                _ => drop(builder.how.insert(key.to_owned(), value.to_owned())),
            }
        }
        (at, line) = ((end + 1).min(text.len()), line + 1);
    }
    let text = &text[at..];
    let unit = agreed_unit(input, stated.as_deref(), unit)?;
    let Some((names, mut at)) = csv::header(text, b',') else {
        return Err(Error::file(input, format!("it has no line with the columns {}", COLUMNS.join(","))));
    };
    let names: Vec<String> = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let mut layout = FieldLayout { delimiter: b',', slots: vec![UNUSED; names.len()] };
    for (slot, column) in COLUMNS.iter().enumerate() {
        let found = names.iter().position(|name| name == column);
        layout.slots[found.ok_or_else(|| input.missing_column(column, &names))?] = slot as u16;
    }
    let mut fields = RecordFields::new(COLUMNS.len());
    while at < text.len() {
        line += 1;
        let next = match fields.split(text, at, &layout) {
            RecordEnd::Whole { next, n_fields } if n_fields == names.len() => next,
            RecordEnd::Whole { next, .. } if text[at..next].trim_ascii().is_empty() => {
                at = next;
                continue;
            }
            _ => {
                let n = names.len();
                let problem = format!("the row is incomplete; expected {n} columns and a line break");
                return Err(Error::file(format_args!("{input}:{line}"), problem));
            }
        };
        let mut cells = fields.cells(text);
        add_line(&mut builder, &mut cells, unit)
            .map_err(|problem| Error::row(format_args!("{input}:{line}"), *problem))?;
        line += memchr::memchr_iter(b'\n', &text[at..next]).count() - 1;
        at = next;
    }
    finish(input, builder)
}
