//! Translates parser errors of experiment files into the terms of those who write them.

use crate::Error;

/// The error in one line: its place, the field, what was found, what is expected.
pub fn one_line(text: &str, error: &toml::de::Error) -> Error {
    let message = error.message().replace('\n', "; ");
    let Some(span) = error.span() else { return Error::new(message) };
    let (before, after) = text.split_at(span.start.min(text.len()));
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    Error::new(in_plain_words(&message, before, after)).at(format!("line {line}, column {column}"))
}

fn in_plain_words(message: &str, before: &str, after: &str) -> String {
    if message == "duplicate key" {
        return format!("{} occurs twice; keep one of the two", word(after));
    }
    if let Some(field) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let place = if before.is_empty() { "the part of the file above all tables" } else { "this table" };
        return format!("{field} is missing; expected a line '{field} = …' in {place}");
    }
    let wrong = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
    let Some((found, wanted)) = wrong.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return message.to_owned();
    };
    let (field, is_header) = field(before, after);
    format!("{field} is {}; expected {}", shown(found), expected(wanted, field, is_header))
}

/// The field whose value begins between the two parts of the text, and whether it is a table under its header.
fn field<'a>(before: &'a str, after: &'a str) -> (&'a str, bool) {
    let line = before.rsplit('\n').next().unwrap_or_default();
    if line.trim().is_empty() && after.starts_with('[') {
        return (word(after.trim_start_matches('[')), true);
    }
    // A list may span several lines, so the key may be some lines above.
    let keys = before.rsplit('\n').filter_map(|line| line.split_once('=')).map(|(key, _)| key.trim());
    (keys.into_iter().find(|key| word(key) == *key).unwrap_or("this"), false)
}

/// The key at the start of the text.
fn word(text: &str) -> &str {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '"');
    &text[..text.find(|c| !fits(c)).unwrap_or(text.len())]
}

/// The text found in the file.
fn shown(found: &str) -> &str {
    match found {
        "map" => "a table",
        "sequence" => "a list",
        _ => match found.split_once('`') {
            // Such as "integer `7` as i128": the type does not concern the author of the file.
            Some((_, number)) => number.split('`').next().unwrap_or(number),
            None => found.strip_prefix("string ").unwrap_or(found),
        },
    }
}

fn expected(wanted: &str, field: &str, is_header: bool) -> String {
    match wanted {
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => "a whole number, 0 or more".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "text in quotes".to_owned(),
        "a sequence" if is_header => format!("a list of tables, each written [[{field}]]"),
        "a sequence" => "a list in brackets".to_owned(),
        _ if wanted.starts_with("struct ") => format!("a table, written [{field}]"),
        _ => wanted.to_owned(),
    }
}
