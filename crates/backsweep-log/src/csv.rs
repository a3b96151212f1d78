//! Records of CSV and TSV files (RFC 4180), cut into fields in place.

use crate::rows::Cells;

/// Where the fields of a file stand.
#[derive(Debug)]
pub(crate) struct Layout {
    pub delimiter: u8,
    /// Per column the slot it fills, or `UNUSED`.
    pub slots: Vec<u16>,
}

pub(crate) const UNUSED: u16 = u16::MAX;

/// The fields of the record that was split last.
#[derive(Default)]
pub(crate) struct Fields {
    spans: Vec<Span>,
    /// Quoted fields with quotes in them, which were written as two.
    unescaped: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
    is_unescaped: bool,
}

/// How a record ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// At a line break: where the next record begins, and how many fields there were.
    Whole { next: usize, n_fields: usize },
    /// At the end of the text, without a line break.
    Unterminated { n_fields: usize },
    /// At the end of the text, within quotes.
    OpenQuote,
    /// After a closing quote came something other than a delimiter; where the next line begins.
    StrayQuote { next: usize },
}

impl Fields {
    pub fn new(n_slots: usize) -> Self {
        Self { spans: vec![Span::default(); n_slots], unescaped: Vec::new() }
    }

    /// Splits the record that begins at `at`.
    #[inline]
    pub fn split(&mut self, text: &[u8], at: usize, layout: &Layout) -> Record {
        let (mut i, mut column) = (at, 0);
        self.unescaped.clear();
        loop {
            let span;
            if text.get(i) == Some(&b'"') {
                match self.quoted(text, i + 1) {
                    Some((found, end)) => (span, i) = (found, end),
                    None => return Record::OpenQuote,
                }
                let at_end = match text.get(i..) {
                    Some([b'\r', b'\n', ..]) => {
                        i += 1;
                        true
                    }
                    Some([byte, ..]) => *byte == b'\n' || *byte == layout.delimiter,
                    _ => true,
                };
                if !at_end {
                    let next = memchr::memchr(b'\n', &text[i..]).map_or(text.len(), |n| i + n + 1);
                    return Record::StrayQuote { next };
                }
            } else {
                let start = i;
                while let Some(&byte) = text.get(i)
                    && byte != b'\n'
                    && byte != layout.delimiter
                {
                    i += 1;
                }
                let is_last = text.get(i).is_none_or(|&byte| byte == b'\n');
                let end = if is_last && i > start && text[i - 1] == b'\r' { i - 1 } else { i };
                span = Span { start: start as u32, end: end as u32, is_unescaped: false };
            }
            if let Some(&slot) = layout.slots.get(column)
                && slot != UNUSED
            {
                self.spans[usize::from(slot)] = span;
            }
            column += 1;
            match text.get(i) {
                None => return Record::Unterminated { n_fields: column },
                Some(b'\n') => return Record::Whole { next: i + 1, n_fields: column },
                Some(_) => i += 1,
            }
        }
    }

    /// The quoted field whose text begins at `start`, and where the text goes on after it.
    fn quoted(&mut self, text: &[u8], start: usize) -> Option<(Span, usize)> {
        let unescaped_start = self.unescaped.len();
        let (mut from, mut is_unescaped) = (start, false);
        loop {
            let quote = from + memchr::memchr(b'"', text.get(from..)?)?;
            if text.get(quote + 1) == Some(&b'"') {
                self.unescaped.extend_from_slice(&text[from..=quote]);
                (from, is_unescaped) = (quote + 2, true);
                continue;
            }
            let span = if is_unescaped {
                self.unescaped.extend_from_slice(&text[from..quote]);
                Span { start: unescaped_start as u32, end: self.unescaped.len() as u32, is_unescaped }
            } else {
                Span { start: start as u32, end: quote as u32, is_unescaped }
            };
            return Some((span, quote + 1));
        }
    }

    /// The fields of the record that was split last, by slot.
    pub fn cells<'a>(&'a self, text: &'a [u8]) -> FieldCells<'a> {
        FieldCells { fields: self, text }
    }
}

pub(crate) struct FieldCells<'a> {
    fields: &'a Fields,
    text: &'a [u8],
}

impl Cells for FieldCells<'_> {
    #[inline]
    fn text(&mut self, slot: usize) -> &[u8] {
        let Span { start, end, is_unescaped } = self.fields.spans[slot];
        let bytes = if is_unescaped { &self.fields.unescaped } else { self.text };
        &bytes[start as usize..end as usize]
    }
}

/// All fields of the first record, as text, and where the next record begins. `None` if the record does not end.
pub(crate) fn header(text: &[u8], delimiter: u8) -> Option<(Vec<Vec<u8>>, usize)> {
    let n_most = text.iter().filter(|&&byte| byte == delimiter).count() + 1;
    let n_most = n_most.min(usize::from(UNUSED) - 1);
    let mut fields = Fields::new(n_most);
    let layout = Layout { delimiter, slots: (0..n_most as u16).collect() };
    match fields.split(text, 0, &layout) {
        Record::Whole { next, n_fields } => {
            let mut cells = fields.cells(text);
            Some(((0..n_fields.min(n_most)).map(|slot| cells.text(slot).to_vec()).collect(), next))
        }
        _ => None,
    }
}

/// Where the last whole record of a text ends.
pub(crate) fn last_record_end(text: &[u8], delimiter: u8) -> usize {
    if memchr::memchr(b'"', text).is_none() {
        return memchr::memrchr(b'\n', text).map_or(0, |i| i + 1);
    }
    let (mut fields, layout) = (Fields::new(0), Layout { delimiter, slots: Vec::new() });
    let mut at = 0;
    while at < text.len() {
        match fields.split(text, at, &layout) {
            Record::Whole { next, .. } | Record::StrayQuote { next } if next <= text.len() => at = next,
            _ => break,
        }
    }
    at
}
