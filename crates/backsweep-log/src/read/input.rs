//! Where a log comes from: files, patterns, standard input; compressed or not.

use crate::error::{Error, Result};
use crate::read::frame::DataFrame;
use crate::read::xes;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One source of rows. It can be read more than once.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Bytes in memory, such as all of standard input, and their name for messages.
    Bytes(String, Arc<[u8]>),
    /// A table in memory, such as a data frame, and its name for messages.
    Frame(String, Arc<dyn DataFrame>),
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Bytes(name, _) | Self::Frame(name, _) => f.write_str(name),
        }
    }
}

impl Input {
    /// The files that names and patterns (`log/*.csv.gz`) stand for, those of a pattern sorted; `-` is standard input, which is
    /// read at once and held in memory. So are XES files, as tables of their events.
    ///
    /// # Errors
    /// A file that does not exist or is a folder, a pattern without files, a file that is named twice; XML that is not XES.
    pub fn expand(patterns: &[String]) -> Result<Vec<Self>> {
        let mut inputs = Vec::new();
        for pattern in patterns {
            if pattern == "-" {
                let mut bytes = Vec::new();
                let failed = |error| Error::io("standard input", &error);
                io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
                inputs.push(Self::Bytes("standard input".to_owned(), bytes.into()));
            } else if Path::new(pattern).exists() {
                inputs.push(Self::File(pattern.into()));
            } else {
                inputs.extend(matches(pattern)?);
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        for input in &inputs {
            let Self::File(path) = input else { continue };
            if path.is_dir() {
                return Err(Error::file(
                    path.display(),
                    format!("is a folder; expected a file or a pattern such as '{}/*.csv'", path.display()),
                ));
            }
            let same = path.canonicalize().unwrap_or_else(|_| path.clone());
            if !seen.insert(same) {
                return Err(Error::file(path.display(), "is named twice; its rows would be counted twice"));
            }
        }
        if inputs.is_empty() {
            return Err(Error::Spec(
                "no log was named; expected files, patterns, or - for standard input".into(),
            ));
        }
        inputs.into_iter().map(Self::with_events).collect()
    }

    /// The table of events if the source is XML, otherwise the source.
    fn with_events(self) -> Result<Self> {
        let mut head = Vec::new();
        // What cannot be read is reported when it is read as a log.
        let found = self.open(&Arc::default()).map(|source| source.take(256).read_to_end(&mut head));
        if matches!(found, Ok(Ok(_))) && xes::is_xml(&head) {
            let table = xes::table(&self)?;
            return Ok(Self::Frame(self.to_string(), Arc::new(table)));
        }
        Ok(self)
    }

    /// The names of some inputs, in one line.
    pub fn list(inputs: &[Self]) -> String {
        let names: Vec<String> = inputs.iter().take(10).map(Self::to_string).collect();
        let more = if inputs.len() > 10 { format!(" and {} more", inputs.len() - 10) } else { String::new() };
        names.join(", ") + &more
    }

    /// The number of bytes, or of rows of a table.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::File(path) => path.metadata().map_or(0, |data| data.len()),
            Self::Bytes(_, bytes) => bytes.len() as u64,
            Self::Frame(_, frame) => frame.n_rows() as u64,
        }
    }

    /// The first bytes, as they are stored.
    pub(crate) fn head(&self, n: usize) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        match self {
            Self::File(path) => File::open(path).and_then(|file| file.take(n as u64).read_to_end(&mut head)),
            Self::Bytes(_, bytes) => bytes.as_ref().take(n as u64).read_to_end(&mut head),
            Self::Frame(..) => Ok(0),
        }
        .map_err(|error| self.unreadable(&error))?;
        Ok(head)
    }

    /// The text, uncompressed. Bytes taken from the source are added to `n_read`.
    pub(crate) fn open(&self, n_read: &Arc<AtomicU64>) -> Result<Box<dyn Read + Send>> {
        let source: Box<dyn Read + Send> = match self {
            Self::File(path) => Box::new(File::open(path).map_err(|error| self.unreadable(&error))?),
            Self::Bytes(_, bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            Self::Frame(..) => Box::new(io::empty()),
        };
        let counted = CountingReader { source, n_read: Arc::clone(n_read) };
        let head = self.head(4)?;
        Ok(match head[..] {
            [0x1f, 0x8b, ..] => {
                Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 17, counted)))
            }
            [0x28, 0xb5, 0x2f, 0xfd] => {
                Box::new(crate::read::zstd::Zstd::new(BufReader::with_capacity(1 << 17, counted)))
            }
            _ => Box::new(counted),
        })
    }

    pub(crate) fn unreadable(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::file(
                self,
                "the compressed data ends too early: the file was truncated, so none of it is used",
            ),
            _ => Error::io(self, error),
        }
    }

    /// Returns `true` if the source is a Parquet file.
    pub(crate) fn is_parquet(&self) -> Result<bool> {
        Ok(self.head(4)? == b"PAR1")
    }

    /// The error for a column that does not exist.
    pub(crate) fn missing_column(&self, column: &str, known: &[String]) -> Error {
        Error::NoColumn { place: self.to_string(), column: column.to_owned(), known: known.to_vec() }
    }

    /// The error for two columns with one name.
    pub(crate) fn two_columns(&self, column: &str) -> Error {
        Error::file(self, format!("there are two columns '{column}'; expected each name once"))
    }
}

/// The files that match a pattern, sorted.
fn matches(pattern: &str) -> Result<Vec<Input>> {
    let is_pattern = pattern.contains(['*', '?', '[']);
    if !is_pattern {
        return Err(Error::file(pattern, "there is no such file"));
    }
    let paths = glob::glob(pattern)
        .map_err(|error| Error::file(pattern, format!("is not a valid pattern ({error})")))?;
    let mut found = Vec::new();
    for path in paths {
        let path = path.map_err(|error| Error::io(error.path().display(), error.error()))?;
        if !path.is_dir() {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(Error::file(pattern, "no file matches this pattern"));
    }
    found.sort();
    Ok(found.into_iter().map(Input::File).collect())
}

/// Counts what is read.
struct CountingReader {
    source: Box<dyn Read + Send>,
    n_read: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        self.n_read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
