//! Lines of a text file, split into words that know their place.

use super::number;
use crate::{Error, Result};
use std::io::BufRead;
use std::path::Path;

/// A longer line cannot belong to a model: a file without line breaks must not fill the memory.
const MAX_LINE: u64 = 1 << 24;

/// The lines of a file.
pub struct TextLines<'a> {
    path: &'a Path,
    input: Box<dyn BufRead + 'a>,
    bytes: Vec<u8>,
    number: usize,
}

impl<'a> TextLines<'a> {
    pub fn new(path: &'a Path, input: impl BufRead + 'a) -> Self {
        Self { path, input: Box::new(input), bytes: Vec::new(), number: 0 }
    }

    /// The next line, without its end; `None` at the end of the file.
    pub fn read(&mut self) -> Result<Option<TextLine<'_>>> {
        if self.fill()? { self.line().map(Some) } else { Ok(None) }
    }

    /// The next line that is neither empty nor a comment, which begins with `#`.
    pub fn read_data(&mut self) -> Result<Option<TextLine<'_>>> {
        while self.fill()? {
            match self.bytes.trim_ascii_end().first() {
                None | Some(b'#') => {}
                Some(_) => return self.line().map(Some),
            }
        }
        Ok(None)
    }

    /// Reads the bytes of a line; returns whether there was one.
    fn fill(&mut self) -> Result<bool> {
        self.bytes.clear();
        self.number += 1;
        let place = || format!("{}:{}", self.path.display(), self.number);
        let mut limited = std::io::Read::take(&mut self.input, MAX_LINE);
        let n = limited
            .read_until(b'\n', &mut self.bytes)
            .map_err(|error| Error::new(place(), error.to_string()))?;
        if n as u64 == MAX_LINE {
            return Err(Error::new(place(), format!("the line is longer than {MAX_LINE} bytes")));
        }
        Ok(n > 0)
    }

    fn line(&self) -> Result<TextLine<'_>> {
        let text = std::str::from_utf8(&self.bytes).map_err(|error| {
            let place = format!("{}:{}:{}", self.path.display(), self.number, error.valid_up_to() + 1);
            Error::new(place, "the text is not UTF-8")
        })?;
        Ok(TextLine { path: self.path, number: self.number, text: text.trim_end() })
    }

    /// The first byte of the next line.
    pub fn peek(&mut self) -> Result<Option<u8>> {
        let next = self.input.fill_buf().map(|bytes| bytes.first().copied());
        next.map_err(|error| {
            Error::new(format!("{}:{}", self.path.display(), self.number), error.to_string())
        })
    }

    /// An error at the end of the file.
    pub fn ended(&self, expected: &str) -> Error {
        let place = format!("{}:{}", self.path.display(), self.number);
        Error::new(place, format!("the file ends; expected {expected}"))
    }
}

/// One line.
#[derive(Clone, Copy)]
pub struct TextLine<'a> {
    path: &'a Path,
    pub number: usize,
    pub text: &'a str,
}

impl<'a> TextLine<'a> {
    /// An error at a part of this line.
    pub fn error(&self, part: &str, problem: impl Into<String>) -> Error {
        let column =
            (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len()) + 1;
        Error::new(format!("{}:{}:{column}", self.path.display(), self.number), problem)
    }

    /// An error that says what was found and what was expected.
    pub fn unexpected(&self, part: &str, expected: &str) -> Error {
        let found = match part.char_indices().nth(40) {
            _ if part.is_empty() => "nothing".to_owned(),
            Some((end, _)) => format!("'{}…'", &part[..end]),
            None => format!("'{part}'"),
        };
        self.error(part, format!("found {found}; expected {expected}"))
    }

    /// The words of the line.
    pub fn words(&self) -> Words<'a> {
        Words { line: *self, rest: self.text }
    }
}

/// Iterates over the words of a line.
#[derive(Clone)]
pub struct Words<'a> {
    line: TextLine<'a>,
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// The next word; empty at the end of the line.
    pub fn word(&mut self) -> &'a str {
        let text = self.rest.trim_start();
        let end = text.find([' ', '\t']).unwrap_or(text.len());
        self.rest = &text[end..];
        &text[..end]
    }

    /// The rest of the line.
    pub fn rest(&self) -> &'a str {
        self.rest.trim()
    }

    /// The next word as a count or an index.
    pub fn whole(&mut self, what: &str) -> Result<u64> {
        let word = self.word();
        whole(word).ok_or_else(|| self.line.unexpected(word, what))
    }

    /// The next word as an index below a limit.
    pub fn index(&mut self, what: &str, n: usize) -> Result<u32> {
        let word = self.word();
        match whole(word) {
            Some(index) if (index as usize) < n => Ok(index as u32),
            _ if n == 0 => Err(self.line.unexpected(word, &format!("no {what}: the model has none"))),
            _ => Err(self.line.unexpected(word, &format!("{what} from 0 to {}", n - 1))),
        }
    }

    /// The next word as a number.
    pub fn number(&mut self, what: &str) -> Result<f64> {
        let word = self.word();
        number::parse(word).ok_or_else(|| self.line.unexpected(word, what))
    }

    /// Nothing may follow.
    pub fn end(&mut self) -> Result<()> {
        let rest = self.rest();
        if rest.is_empty() { Ok(()) } else { Err(self.line.unexpected(rest, "the end of the line")) }
    }
}

/// A whole number without a sign.
pub fn whole(word: &str) -> Option<u64> {
    if word.starts_with('+') { None } else { word.parse().ok() }
}

/// A count from a file, if it is possible: ids have 32 bits.
pub fn count(value: u64) -> Option<usize> {
    (value < u64::from(u32::MAX)).then_some(value as usize)
}
