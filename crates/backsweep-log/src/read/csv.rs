//! Records of CSV and TSV files (RFC 4180), split into fields in place.

use crate::read::cells::RowCells;

/// The layout of a file's fields.
#[derive(Debug)]
pub(crate) struct FieldLayout {
    pub delimiter: u8,
    /// Per column the slot it fills, or `UNUSED`.
    pub slots: Vec<u16>,
}

pub(crate) const UNUSED: u16 = u16::MAX;

/// The fields of the record that was split last.
#[derive(Default)]
pub(crate) struct RecordFields {
    spans: Vec<FieldSpan>,
    /// Quoted fields that contain quotes, with doubled quotes undone.
    unescaped: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct FieldSpan {
    start: u32,
    end: u32,
    is_unescaped: bool,
}

/// The end of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordEnd {
    /// At a line break: where the next record begins, and how many fields there were.
    Whole { next: usize, n_fields: usize },
    /// At the end of the text, without a line break.
    Unterminated { n_fields: usize },
    /// At the end of the text, within quotes.
    OpenQuote,
    /// After a closing quote came something other than a delimiter; where the next line begins.
    StrayQuote { next: usize },
}

impl RecordFields {
    pub fn new(n_slots: usize) -> Self {
        Self { spans: vec![FieldSpan::default(); n_slots], unescaped: Vec::new() }
    }

    /// Splits the record that begins at `at`.
    #[inline]
    pub fn split(&mut self, text: &[u8], at: usize, layout: &FieldLayout) -> RecordEnd {
        let (mut i, mut column) = (at, 0);
        self.unescaped.clear();
        loop {
            let span;
            if text.get(i) == Some(&b'"') {
                match self.quoted(text, i + 1) {
                    Some((found, end)) => (span, i) = (found, end),
                    None => return RecordEnd::OpenQuote,
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
                    return RecordEnd::StrayQuote { next };
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
                span = FieldSpan { start: start as u32, end: end as u32, is_unescaped: false };
            }
            if let Some(&slot) = layout.slots.get(column)
                && slot != UNUSED
            {
                self.spans[usize::from(slot)] = span;
            }
            column += 1;
            match text.get(i) {
                None => return RecordEnd::Unterminated { n_fields: column },
                Some(b'\n') => return RecordEnd::Whole { next: i + 1, n_fields: column },
                Some(_) => i += 1,
            }
        }
    }

    /// Splits a record without quotes at the next marks, if it has as many columns as the layout; returns where the next record
    /// begins.
    #[inline]
    pub fn split_plain(&mut self, marks: &mut Marks<'_>, at: usize, layout: &FieldLayout) -> Option<usize> {
        let text = marks.text;
        let (mut start, last) = (at, layout.slots.len().checked_sub(1)?);
        for (column, &slot) in layout.slots.iter().enumerate() {
            let mark = marks.next()?;
            let is_last = column == last;
            if (text[mark] == b'\n') != is_last {
                return None;
            }
            let end = if is_last && mark > start && text[mark - 1] == b'\r' { mark - 1 } else { mark };
            if slot != UNUSED {
                self.spans[usize::from(slot)] =
                    FieldSpan { start: start as u32, end: end as u32, is_unescaped: false };
            }
            start = mark + 1;
        }
        Some(start)
    }

    /// The quoted field whose text begins at `start`, and where the text continues after it.
    fn quoted(&mut self, text: &[u8], start: usize) -> Option<(FieldSpan, usize)> {
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
                FieldSpan { start: unescaped_start as u32, end: self.unescaped.len() as u32, is_unescaped }
            } else {
                FieldSpan { start: start as u32, end: quote as u32, is_unescaped }
            };
            return Some((span, quote + 1));
        }
    }

    /// The fields of the record that was split last, by slot.
    pub fn cells<'a>(&'a self, text: &'a [u8]) -> RecordCells<'a> {
        RecordCells { fields: self, text }
    }
}

/// The places of delimiters and line breaks in a text, found eight bytes at a time.
pub(crate) struct Marks<'a> {
    text: &'a [u8],
    delimiter: u64,
    /// Where the current eight bytes begin.
    base: usize,
    /// Which of them are marks not yet returned, one bit per byte.
    mask: u64,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;

/// The high bit of every byte that is 0.
#[inline]
fn zeros(word: u64) -> u64 {
    !(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS)
}

impl<'a> Marks<'a> {
    pub fn new(text: &'a [u8], delimiter: u8, at: usize) -> Self {
        let mut marks = Self { text, delimiter: u64::from(delimiter) * ONES, base: at, mask: 0 };
        marks.mask = marks.load();
        marks
    }

    #[inline]
    fn load(&self) -> u64 {
        let word = match self.text.get(self.base..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => {
                // The last few bytes, padded with bytes that are not marks.
                let mut bytes = [0; 8];
                let rest = self.text.get(self.base..).unwrap_or_default();
                bytes[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(bytes)
            }
        };
        zeros(word ^ self.delimiter) | zeros(word ^ (u64::from(b'\n') * ONES))
    }
}

impl Iterator for Marks<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.mask == 0 {
            self.base += 8;
            if self.base >= self.text.len() {
                return None;
            }
            self.mask = self.load();
        }
        let mark = self.base + self.mask.trailing_zeros() as usize / 8;
        self.mask &= self.mask - 1;
        Some(mark)
    }
}

pub(crate) struct RecordCells<'a> {
    fields: &'a RecordFields,
    text: &'a [u8],
}

impl RowCells for RecordCells<'_> {
    #[inline]
    fn text(&mut self, slot: usize) -> &[u8] {
        let FieldSpan { start, end, is_unescaped } = self.fields.spans[slot];
        let bytes = if is_unescaped { &self.fields.unescaped } else { self.text };
        &bytes[start as usize..end as usize]
    }
}

/// All fields of the first record, as text, and where the next record begins. `None` if the record does not end.
pub(crate) fn header(text: &[u8], delimiter: u8) -> Option<(Vec<Vec<u8>>, usize)> {
    let n_most = text.iter().filter(|&&byte| byte == delimiter).count() + 1;
    let n_most = n_most.min(usize::from(UNUSED) - 1);
    let mut fields = RecordFields::new(n_most);
    let layout = FieldLayout { delimiter, slots: (0..n_most as u16).collect() };
    match fields.split(text, 0, &layout) {
        RecordEnd::Whole { next, n_fields } => {
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
    let (mut fields, layout) = (RecordFields::new(0), FieldLayout { delimiter, slots: Vec::new() });
    let mut at = 0;
    while at < text.len() {
        match fields.split(text, at, &layout) {
            RecordEnd::Whole { next, .. } | RecordEnd::StrayQuote { next } if next <= text.len() => at = next,
            _ => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{FieldLayout, Marks, RecordEnd, RecordFields};

    #[test]
    fn marks_are_all_delimiters_and_line_breaks() {
        let text: Vec<u8> =
            (0..2_000_u32).map(|i| b"a,\n\xac\x8a;,\0-,,\n\n\r"[(i * i / 7 % 14) as usize]).collect();
        for at in 0..20 {
            for end in text.len() - 20..text.len() {
                let expected: Vec<usize> = (at..end).filter(|&i| matches!(text[i], b',' | b'\n')).collect();
                assert_eq!(Marks::new(&text[..end], b',', at).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn plain_records_are_split_as_any_others() {
        let text = b"a,bc,\r\n,,\nx,y\n1,2,3,4\nlast,one,here\n";
        let layout = FieldLayout { delimiter: b',', slots: vec![1, super::UNUSED, 0] };
        let (mut plain, mut fields) = (RecordFields::new(2), RecordFields::new(2));
        let mut at = 0;
        while at < text.len() {
            let RecordEnd::Whole { next, n_fields } = fields.split(text, at, &layout) else { panic!("{at}") };
            let found = plain.split_plain(&mut Marks::new(text, b',', at), at, &layout);
            assert_eq!(found, (n_fields == 3).then_some(next));
            if found.is_some() {
                use crate::read::cells::RowCells;
                for slot in 0..2 {
                    assert_eq!(plain.cells(text).text(slot), fields.cells(text).text(slot));
                }
            }
            at = next;
        }
    }
}
