//! XES (IEEE 1849), the format of public process logs, as a table in memory: one row per event.
//!
//! Columns are the keys of the attributes, those of a trace after `case:`: `case:concept:name`, `concept:name`,
//! `time:timestamp`, `org:resource`. Attributes within attributes and lists are left out.

use crate::error::{Error, Result};
use crate::names::NameTable;
use crate::read::frame::DataFrame;
use crate::read::input::Input;
use crate::read::typed::{ColumnChunk, ColumnValues, Dictionary};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use std::io::BufReader;
use std::ops::Range;
use std::sync::Arc;

/// A value that an event does not have.
const NONE: u32 = u32::MAX;

/// The events of a file.
#[derive(Debug)]
pub(crate) struct XesTable {
    columns: Vec<XesColumn>,
    /// The line on which each event begins.
    lines: Vec<u32>,
}

#[derive(Debug)]
struct XesColumn {
    name: String,
    /// Places in the dictionary.
    codes: Vec<u32>,
    texts: Arc<Dictionary>,
}

impl DataFrame for XesTable {
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    fn n_rows(&self) -> usize {
        self.lines.len()
    }

    fn part(
        &self,
        columns: &[String],
        rows: Range<usize>,
    ) -> std::result::Result<Vec<ColumnChunk>, Box<dyn std::error::Error + Send + Sync>> {
        let chunk = |name: &String| {
            let column = self.columns.iter().find(|column| column.name == *name);
            let column = column.ok_or_else(|| format!("there is no column '{name}'"))?;
            let codes = column.codes[rows.clone()].to_vec();
            let missing: Vec<bool> = codes.iter().map(|&code| code == NONE).collect();
            let missing = missing.contains(&true).then_some(missing);
            Ok(ColumnChunk { values: ColumnValues::Text(codes, Arc::clone(&column.texts)), missing })
        };
        columns.iter().map(chunk).collect()
    }

    fn line(&self, row: usize) -> Option<u64> {
        self.lines.get(row).map(|&line| line.into())
    }
}

/// Columns while events are read.
#[derive(Default)]
struct Builder {
    names: Vec<String>,
    columns: Vec<(Vec<u32>, NameTable)>,
    lines: Vec<u32>,
    /// The values of the current trace and of the current event, by column.
    trace: Vec<(usize, u32)>,
    event: Vec<(usize, u32)>,
}

impl Builder {
    /// The column of a key, and the number of a value in it.
    fn value(&mut self, key: String, value: &str) -> Option<(usize, u32)> {
        let column = self.names.iter().position(|name| *name == key).unwrap_or_else(|| {
            self.names.push(key);
            self.columns.push(Default::default());
            self.names.len() - 1
        });
        Some((column, self.columns[column].1.id(value.as_bytes())?))
    }

    fn end_event(&mut self, line: u32) {
        for &(column, code) in self.trace.iter().chain(&self.event) {
            let codes = &mut self.columns[column].0;
            codes.resize(self.lines.len(), NONE);
            codes.push(code);
        }
        self.event.clear();
        self.lines.push(line);
    }

    fn finish(self) -> XesTable {
        let n = self.lines.len();
        let column = |(name, (mut codes, texts)): (String, (Vec<u32>, NameTable))| {
            codes.resize(n, NONE);
            XesColumn { name, codes, texts: Arc::new(texts.iter().collect()) }
        };
        XesTable {
            columns: self.names.into_iter().zip(self.columns).map(column).collect(),
            lines: self.lines,
        }
    }
}

/// Returns `true` if a text begins like XML.
pub(crate) fn is_xml(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    text.trim_ascii_start().first() == Some(&b'<')
}

/// The events of an XES file.
///
/// # Errors
/// If the file is XML of another kind, is not well formed, or ends too early.
pub(crate) fn table(input: &Input) -> Result<XesTable> {
    let mut reader = quick_xml::Reader::from_reader(BufReader::new(input.open(&Arc::default())?));
    reader.config_mut().expand_empty_elements = true;
    let (mut builder, mut buffer) = (Builder::default(), Vec::new());
    // The names of the open elements.
    let mut path: Vec<String> = Vec::new();
    let (mut n_traces, mut line, mut event_line) = (0_u64, 1, 1);
    loop {
        line += memchr::memchr_iter(b'\n', &buffer).count() as u32;
        buffer.clear();
        let event = reader.read_event_into(&mut buffer);
        let wrong = |problem: String| Error::file(format_args!("{input}:{line}"), problem);
        match event {
            Ok(Event::Start(element)) => {
                let name = element.local_name().as_ref().to_owned();
                if path.is_empty() && name != "log" {
                    return Err(wrong(format!(
                        "is XML, but its first element is <{name}>; expected XES, which has <log>"
                    )));
                }
                let parents: Vec<&str> = path.iter().map(String::as_str).collect();
                match parents[..] {
                    ["log"] if name == "trace" => {
                        n_traces += 1;
                        builder.trace.clear();
                        // A trace without a name is called by its number.
                        let number = builder.value("case:concept:name".to_owned(), &format!("#{n_traces}"));
                        builder.trace.extend(number);
                    }
                    ["log", "trace"] if name == "event" => event_line = line,
                    ["log", "trace"] if is_attribute(&name) => {
                        let (key, value) = attribute(&element).map_err(wrong)?;
                        if let Some((column, code)) = builder.value(format!("case:{key}"), &value) {
                            builder.trace.retain(|known| known.0 != column);
                            builder.trace.push((column, code));
                        }
                    }
                    ["log", "trace", "event"] if is_attribute(&name) => {
                        let (key, value) = attribute(&element).map_err(wrong)?;
                        if let Some((column, code)) = builder.value(key, &value) {
                            builder.event.retain(|known| known.0 != column);
                            builder.event.push((column, code));
                        }
                    }
                    _ => {}
                }
                path.push(name);
            }
            Ok(Event::End(_)) => {
                let closed = path.pop();
                if closed.as_deref() == Some("event") && path.len() == 2 && path[1] == "trace" {
                    builder.end_event(event_line);
                }
            }
            Ok(Event::Decl(declaration)) => {
                if let Some(Ok(encoding)) = declaration.encoding()
                    && !encoding.eq_ignore_ascii_case("utf-8")
                    && !encoding.eq_ignore_ascii_case("us-ascii")
                {
                    return Err(wrong(format!("the file is in {encoding}; save it as UTF-8")));
                }
            }
            Ok(Event::Eof) if path.is_empty() => return Ok(builder.finish()),
            Ok(Event::Eof) => {
                let open = path.last().map_or("", String::as_str);
                return Err(wrong(format!(
                    "the file ends within <{open}>; it was truncated, so none of it is used"
                )));
            }
            Ok(_) => {}
            Err(quick_xml::Error::Io(error)) => return Err(input.unreadable(&error)),
            Err(error) => return Err(wrong(format!("is not well-formed XML ({error})"))),
        }
    }
}

/// Returns `true` if an element is an attribute with a plain value.
fn is_attribute(name: &str) -> bool {
    matches!(name, "string" | "date" | "int" | "float" | "boolean" | "id")
}

/// The key and the value of an attribute.
fn attribute(element: &BytesStart<'_>) -> std::result::Result<(String, String), String> {
    let text = |name: &str| {
        let found = element.try_get_attribute(name).map_err(|error| error.to_string())?;
        let found = found.ok_or_else(|| {
            let name_of = element.name();
            let element = name_of.as_ref();
            format!("<{element}> has no {name}; expected <{element} key=\"…\" value=\"…\"/>")
        })?;
        let text = quick_xml::escape::unescape_with(&found.value, resolve_xml_entity);
        let text = text.map_err(|error| error.to_string())?;
        Ok::<_, String>(text.into_owned())
    };
    Ok((text("key")?, text("value")?))
}
