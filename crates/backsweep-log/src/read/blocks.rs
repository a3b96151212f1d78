//! The files of a log, or its tables, as blocks of whole records, in order. Threads take turns: one reads, the others count.

use crate::error::{Error, Result, shown};
use crate::read::csv::{self, FieldLayout, UNUSED};
use crate::read::frame::{self, FramePart};
use crate::read::input::Input;
use crate::read::json;
use crate::wording::{SpecField, Wording};
use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks are about this large, so that a block and its results stay in the cache.
const BLOCK_BYTES: usize = 1 << 18;
/// No record is larger than this.
const MAX_RECORD_BYTES: usize = 1 << 26;

/// The content of a block.
#[derive(Clone)]
pub(crate) enum BlockContent {
    /// Records, in the buffer.
    Csv(Arc<FieldLayout>),
    /// Lines with an object each, in the buffer.
    Json,
    /// Some rows of a table in memory, not yet read.
    Part(Arc<FramePart>),
    /// A group of rows of a file, not yet read.
    #[cfg(feature = "parquet")]
    Group(Arc<crate::read::parquet::RowGroup>),
}

pub(crate) struct RowBlock {
    pub number: u32,
    pub content: BlockContent,
}

/// The place of a block.
#[derive(Clone, Copy)]
struct BlockPlace {
    file: usize,
    /// Lines of the file before the first block.
    header: u32,
    /// `true` if places are numbers of lines rather than of rows.
    is_text: bool,
}

pub(crate) struct BlockReader<'a> {
    inputs: &'a [Input],
    columns: &'a [String],
    accepts_unterminated: bool,
    next_file: usize,
    open: Option<OpenText>,
    /// The unread parts of an input that is not text, each with its share of the size.
    pieces: VecDeque<(BlockContent, u64)>,
    places: Vec<BlockPlace>,
    pub n_read: Arc<AtomicU64>,
}

struct OpenText {
    source: Box<dyn Read + Send>,
    /// Bytes that were read and not yet handed out.
    rest: Vec<u8>,
    at_end: bool,
    content: BlockContent,
    header_lines: u32,
}

impl<'a> BlockReader<'a> {
    pub fn new(inputs: &'a [Input], columns: &'a [String], accepts_unterminated: bool) -> Self {
        Self {
            inputs,
            columns,
            accepts_unterminated,
            next_file: 0,
            open: None,
            pieces: VecDeque::new(),
            places: Vec::new(),
            n_read: Arc::default(),
        }
    }

    /// The columns that are needed, by slot.
    pub fn columns(&self) -> &'a [String] {
        self.columns
    }

    /// The next block; its text is put into the buffer. `None` at the end of the last file.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<RowBlock>> {
        loop {
            if let Some((content, size)) = self.pieces.pop_front() {
                self.n_read.fetch_add(size, Ordering::Relaxed);
                let place = BlockPlace { file: self.next_file - 1, header: 0, is_text: false };
                return Ok(Some(self.block(content, place)?));
            }
            if let Some(mut text) = self.open.take() {
                let file = self.next_file - 1;
                if self.fill(&mut text, buffer)? {
                    let content = text.content.clone();
                    let header = std::mem::take(&mut text.header_lines);
                    self.open = Some(text);
                    return Ok(Some(self.block(content, BlockPlace { file, header, is_text: true })?));
                }
                continue;
            }
            let Some(input) = self.inputs.get(self.next_file) else { return Ok(None) };
            self.next_file += 1;
            if let Input::Frame(_, frame) = input {
                let parts = frame::parts(input, frame, self.columns)?.into_iter();
                self.pieces.extend(parts.map(|part| {
                    let n = part.rows.len() as u64;
                    (BlockContent::Part(part), n)
                }));
            } else if input.is_parquet()? {
                #[cfg(feature = "parquet")]
                {
                    let groups = crate::read::parquet::groups(input, self.columns)?.into_iter();
                    self.pieces.extend(groups.map(|group| {
                        let n = group.bytes();
                        (BlockContent::Group(group), n)
                    }));
                }
                #[cfg(not(feature = "parquet"))]
                return Err(Error::file(input, crate::error::NO_PARQUET));
            } else {
                self.open = Some(OpenText::open(input, self.columns, &self.n_read)?);
            }
        }
    }

    fn block(&mut self, content: BlockContent, place: BlockPlace) -> Result<RowBlock> {
        let number = u32::try_from(self.places.len());
        let number =
            number.map_err(|_| Error::file(&self.inputs[place.file], "the log has more than 2³² blocks"))?;
        self.places.push(place);
        Ok(RowBlock { number, content })
    }

    /// Puts the next whole records of a file into the buffer; false at its end.
    fn fill(&self, text: &mut OpenText, buffer: &mut Vec<u8>) -> Result<bool> {
        let input = &self.inputs[self.next_file - 1];
        buffer.clear();
        buffer.append(&mut text.rest);
        let mut target = BLOCK_BYTES;
        loop {
            text.read_up_to(target, buffer, input)?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let end = match &text.content {
                BlockContent::Csv(layout) => csv::last_record_end(buffer, layout.delimiter),
                _ => memchr::memrchr(b'\n', buffer).map_or(0, |i| i + 1),
            };
            if text.at_end && end < buffer.len() {
                if let BlockContent::Csv(_) = text.content {
                    self.check_last_line(&buffer[end..], input)?;
                }
                buffer.push(b'\n');
                return Ok(true);
            }
            if end > 0 {
                text.rest.extend_from_slice(&buffer[end..]);
                buffer.truncate(end);
                return Ok(true);
            }
            if target >= MAX_RECORD_BYTES {
                let start = shown(&buffer[..buffer.len().min(60)]);
                let problem = "does not end within 64 MB; it may contain an unclosed quote";
                return Err(Error::file(input, format!("the record that begins with {start} {problem}")));
            }
            target *= 4;
        }
    }

    /// The rest of a CSV file after its last line break, if not empty.
    fn check_last_line(&self, line: &[u8], input: &Input) -> Result<()> {
        if line.first() == Some(&b'"') && memchr::memchr_iter(b'"', line).count() % 2 == 1
            || line.contains(&b'\n')
        {
            let problem = "it was truncated, or a quote is not closed";
            let start = shown(line);
            let place = format!("the file ends within quotes, in the record that begins with {start}");
            return Err(Error::file(input, format!("{place}; {problem}")));
        }
        if self.accepts_unterminated {
            return Ok(());
        }
        let line = shown(line);
        let problem = format!(
            "the last line, {line}, does not end with a line break: the file may have been truncated"
        );
        let problem = Wording::from(problem);
        Err(Error::file(input, problem.offer(". If it is complete, pass ", SpecField::Unterminated, "")))
    }

    /// The place of a row: its file, and its line or row from 1. `lengths` has the number of lines of every block read.
    pub fn place(&self, block: u32, line: u32, lengths: &std::collections::BTreeMap<u32, u32>) -> String {
        let BlockPlace { file, is_text, .. } = self.places[block as usize];
        let first = self.places.partition_point(|place| place.file < file);
        let before: u64 = lengths.range(first as u32..block).map(|(_, &n)| u64::from(n)).sum();
        let number = before + u64::from(self.places[first].header) + u64::from(line) + 1;
        let input = &self.inputs[file];
        if let Input::Frame(_, frame) = input
            && let Some(line) = frame.line(number as usize - 1)
        {
            return format!("{input}:{line}");
        }
        if is_text { format!("{input}:{number}") } else { format!("{input}: row {number}") }
    }
}

impl OpenText {
    fn open(input: &Input, columns: &[String], n_read: &Arc<AtomicU64>) -> Result<Self> {
        let (mut text, header) = Self::with_header(input, n_read)?;
        let TextHeader { names, length, delimiter } = header;
        if let Some(delimiter) = delimiter {
            text.content = BlockContent::Csv(Arc::new(layout(&names, columns, delimiter, input)?));
            text.header_lines = memchr::memchr_iter(b'\n', &text.rest[..length]).count() as u32;
            text.rest.drain(..length);
        }
        Ok(text)
    }

    /// Opens a file and inspects its beginning.
    fn with_header(input: &Input, n_read: &Arc<AtomicU64>) -> Result<(Self, TextHeader)> {
        let source = input.open(n_read)?;
        let mut text =
            Self { source, rest: Vec::new(), at_end: false, content: BlockContent::Json, header_lines: 0 };
        let mut rest = Vec::new();
        text.read_up_to(BLOCK_BYTES, &mut rest, input)?;
        if rest.starts_with(b"\xef\xbb\xbf") {
            rest.drain(..3);
        }
        check_text(&rest, input)?;
        let header = TextHeader::find(&rest, input)?;
        text.rest = rest;
        Ok((text, header))
    }

    /// Reads until the buffer holds this many bytes, or the file is at its end.
    fn read_up_to(&mut self, target: usize, buffer: &mut Vec<u8>, input: &Input) -> Result<()> {
        let wanted = target.saturating_sub(buffer.len());
        if wanted > 0 && !self.at_end {
            let n = (&mut self.source).take(wanted as u64).read_to_end(buffer);
            self.at_end = n.map_err(|error| input.unreadable(&error))? < wanted;
        }
        Ok(())
    }
}

/// The beginning of a text.
struct TextHeader {
    names: Vec<String>,
    /// The length in bytes of the line with the names.
    length: usize,
    /// The delimiter between columns; `None` for lines of JSON.
    delimiter: Option<u8>,
}

impl TextHeader {
    fn find(text: &[u8], input: &Input) -> Result<Self> {
        let first = text.iter().position(|byte| !byte.is_ascii_whitespace());
        let Some(first) = first else {
            return Err(Error::file(
                input,
                "the file is empty; expected a line with the names of the columns",
            ));
        };
        if text[first] == b'{' {
            let line = text[first..].split(|&byte| byte == b'\n').next().unwrap_or_default();
            let names = json::keys(line).ok_or_else(|| {
                Error::file(
                    input,
                    "the first line is not a complete JSON object; expected one object per line",
                )
            })?;
            return Ok(Self { names, length: 0, delimiter: None });
        }
        if text[first] == b'[' {
            let problem =
                "the file is a JSON array; expected one object per line (jq -c '.[]' makes such lines)";
            return Err(Error::file(input, problem));
        }
        // Excel's own line in front of the header, which names the delimiter.
        let (said, skipped) = match text {
            [b's', b'e', b'p', b'=', delimiter, b'\r', b'\n', ..] => (Some(*delimiter), 7),
            [b's', b'e', b'p', b'=', delimiter, b'\n', ..] => (Some(*delimiter), 6),
            _ => (None, 0),
        };
        let line = text[skipped..].split(|&byte| byte == b'\n').next().unwrap_or_default();
        if line.trim_ascii_end().contains(&b'\r') && !line.contains(&b'"') {
            let problem =
                "lines end with a carriage return only, as on old Macs; save the file with LF or CRLF";
            return Err(Error::file(input, problem));
        }
        let count = |delimiter: u8| line.iter().filter(|&&byte| byte == delimiter).count();
        let most = [b'|', b'\t', b';', b','].into_iter().max_by_key(|&delimiter| count(delimiter));
        let delimiter = said.or(most).unwrap_or(b',');
        let Some((names, length)) = csv::header(&text[skipped..], delimiter) else {
            let problem = "the line with the names of the columns has no line break; the file was truncated";
            return Err(Error::file(input, problem));
        };
        let names: std::result::Result<Vec<String>, _> = names.into_iter().map(String::from_utf8).collect();
        let problem = "the names of the columns are not UTF-8; save the file as UTF-8";
        let names = names.map_err(|_| Error::file(input, problem))?;
        Ok(Self { names, length: skipped + length, delimiter: Some(delimiter) })
    }
}

/// Which column fills which slot.
fn layout(names: &[String], columns: &[String], delimiter: u8, input: &Input) -> Result<FieldLayout> {
    let mut slots = vec![UNUSED; names.len()];
    for (slot, column) in columns.iter().enumerate() {
        let mut found = (0..names.len()).filter(|&i| names[i] == *column);
        let at = found.next().ok_or_else(|| input.missing_column(column, names))?;
        if found.next().is_some() {
            return Err(input.two_columns(column));
        }
        slots[at] = slot as u16;
    }
    Ok(FieldLayout { delimiter, slots })
}

fn check_text(text: &[u8], input: &Input) -> Result<()> {
    let problem = match text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "the file is UTF-16; save it as UTF-8",
        _ if crate::read::xes::is_xml(text) => "the file is XML; pass it by its name, as XES ends in </log>",
        [b'P', b'K', 3, 4, ..] => "the file is a zip archive or a spreadsheet; export it as CSV",
        _ if text.contains(&0) => {
            "the file is not text; expected CSV, TSV, lines of JSON (each may be compressed with gzip or zstd) or Parquet"
        }
        _ => return Ok(()),
    };
    Err(Error::file(input, problem))
}

/// The names of a log's columns.
///
/// # Errors
/// If the file cannot be read.
pub fn columns(input: &Input) -> Result<Vec<String>> {
    if let Input::Frame(_, frame) = input {
        return Ok(frame.names());
    }
    if input.is_parquet()? {
        #[cfg(feature = "parquet")]
        return crate::read::parquet::columns(input);
        #[cfg(not(feature = "parquet"))]
        return Err(Error::file(input, crate::error::NO_PARQUET));
    }
    Ok(OpenText::with_header(input, &Arc::default())?.1.names)
}
