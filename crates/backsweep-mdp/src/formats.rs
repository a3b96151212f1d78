//! Finds the format of a file, and opens and writes files.

mod drn;
mod number;
mod prism;
mod table;
mod text;
mod umb;

pub use umb::{BlockRows, DiskMdp, DiskWriter};

use crate::{Error, Mdp, Result};
use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A format of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Unified Markov Binary, `.umb`: Storm, PRISM, Modest.
    Umb,
    /// Storm's direct encoding, `.drn`.
    Drn,
    /// PRISM's explicit files, `.tra` with `.lab`, `.srew`, `.trew`, `.sta` next to it.
    Prism,
    /// A table of transitions, `.csv`.
    Table,
    /// A saved learner of ours, `.backsweep`. It is no file of a model: whoever has the crate of agents reads it, and takes the
    /// model that it has learned.
    Learner,
}

impl Format {
    /// All formats, by the extension of their files.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("umb", Self::Umb),
        ("drn", Self::Drn),
        ("tra", Self::Prism),
        ("csv", Self::Table),
        ("backsweep", Self::Learner),
    ];

    /// The format with this name, which is its extension.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|&(_, format)| format)
    }

    /// The format of a file's extension; `.gz` after it does not count.
    ///
    /// # Errors
    /// If no format has this extension.
    pub fn of(path: &Path) -> Result<Self> {
        let path = &uncompressed(path);
        path.extension().and_then(OsStr::to_str).and_then(Self::named).ok_or_else(|| {
            let known: Vec<String> = Self::NAMES.iter().map(|(name, _)| format!(".{name}")).collect();
            let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
            let shown = path.display();
            let export = match extension.as_str() {
                "prism" | "nm" | "pm" | "sm" => Some(format!(
                    "storm --prism {shown} --buildfull --exportbuild model.drn, or prism {shown} -exportmodel model.all"
                )),
                "jani" => Some(format!("storm --jani {shown} --buildfull --exportbuild model.drn")),
                _ => None,
            };
            if let Some(export) = export {
                let problem = format!(
                    "found a description of a model; expected its states: export them first ({export}, with -const for constants) \
                     and give the exported file"
                );
                return Error::new(shown, problem);
            }
            let found = path
                .extension()
                .map_or("no extension".to_owned(), |e| format!("extension '{}'", e.display()));
            Error::new(
                path.display(),
                format!("found {found}; expected one of {}, or give the format", known.join(" ")),
            )
        })
    }
}

/// The path of a file without `.gz`.
fn uncompressed(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
        path.with_extension("")
    } else {
        path.to_owned()
    }
}

/// The compression of UMB files. All of these can be read, as can bzip2 and xz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// By gzip, as Storm and `umbi` do.
    #[default]
    Gzip,
    /// Not at all: larger, and several times as fast to read and write.
    None,
}

/// A model that was read, and what was left out of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadMdp {
    /// The model, which has passed [`Mdp::check`].
    pub mdp: Mdp,
    /// Contents of the file that the model cannot hold, one line each.
    pub warnings: Vec<String>,
}

/// Reads a model. Without a format, the extension decides. `progress` receives the fraction of the file that has been read.
///
/// Text may be compressed with gzip. The path `-` stands for standard input, which is a CSV table if no format is given.
///
/// # Errors
/// If the system refuses, or the file is malformed: the message says where, what was found and what was expected.
pub fn read(path: impl AsRef<Path>, format: Option<Format>, progress: &dyn Fn(f64)) -> Result<ReadMdp> {
    let path = path.as_ref();
    let standard_input = path == Path::new("-");
    let default = || if standard_input { Ok(Format::Table) } else { Format::of(path) };
    let format = format.map_or_else(default, Ok)?;
    let (file, length): (Box<dyn Read>, u64) = if standard_input {
        (Box::new(io::stdin()), 0)
    } else {
        let (file, length) = open(path)?;
        (Box::new(file), length)
    };
    let mut input = BufReader::with_capacity(1 << 18, Counted { file, length, n: 0, reported: 0, progress });
    let magic = input.fill_buf().map_err(|error| Error::system(path.display(), "read", &error))?;
    let input: Box<dyn BufRead> = if format != Format::Umb && magic.starts_with(&[0x1f, 0x8b]) {
        Box::new(BufReader::with_capacity(1 << 18, flate2::bufread::MultiGzDecoder::new(input)))
    } else {
        Box::new(input)
    };
    let read = match format {
        Format::Umb => umb::read(path, input, length)?,
        Format::Drn => drn::read(path, input)?,
        Format::Prism => prism::read(path, input)?,
        Format::Table => table::read(path, input)?,
        Format::Learner => {
            let problem = "this is a saved learner, not a model; expected .umb, .drn, .tra or .csv";
            return Err(Error::new(path.display(), problem));
        }
    };
    read.mdp.check().map_err(|error| error.within(path.display()))?;
    progress(1.0);
    Ok(read)
}

/// Writes a model, and returns notes on what the format cannot hold. Without a format, the extension decides. The file is
/// written completely or not at all.
///
/// # Errors
/// If the model does not pass [`Mdp::check`], or the system refuses.
pub fn write(
    path: impl AsRef<Path>,
    mdp: &Mdp,
    format: Option<Format>,
    compression: Compression,
) -> Result<Vec<String>> {
    let path = path.as_ref();
    let format = format.map_or_else(|| Format::of(path), Ok)?;
    mdp.check().map_err(|error| error.within("the model to write"))?;
    match format {
        Format::Umb => umb::write(path, mdp, compression),
        Format::Drn => drn::write(path, mdp),
        Format::Prism => prism::write(path, mdp),
        Format::Table => table::write(path, mdp),
        Format::Learner => Err(Error::new(
            path.display(),
            "a learner's file cannot be written from a model; expected .umb, .drn, .tra or .csv",
        )),
    }
}

/// Opens a regular file, and returns its length.
pub fn open(path: &Path) -> Result<(File, u64)> {
    let refused = |error: io::Error| Error::system(path.display(), "open", &error);
    let file = File::open(path).map_err(refused)?;
    let about = file.metadata().map_err(refused)?;
    if !about.is_file() {
        return Err(Error::new(path.display(), "this is not a regular file; expected a file with a model"));
    }
    Ok((file, about.len()))
}

/// Writes a file through a temporary one next to it.
pub fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let refused = |error: io::Error| Error::system(path.display(), "write", &error);
    let (temporary, file) = create_temporary(path).map_err(refused)?;
    let mut output = BufWriter::with_capacity(1 << 18, file);
    let written = fill(&mut output).and_then(|()| {
        output.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&temporary, path)
    });
    written.map_err(|error| {
        // The leftover is useless; failing to remove it matters less than the first error.
        let _ = fs::remove_file(&temporary);
        refused(error)
    })
}

/// A new file next to `path`. Its name is one that saved learners use too, so whoever saves one removes what a killed process
/// left; the lock says that it is in use.
pub fn create_temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{}-{count}.backsweep-tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => {
                // File systems without locks refuse, both here and there.
                let _ = file.lock();
                if temporary.exists() {
                    return Ok((temporary, file));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// A file that reports how much of it has been read.
struct Counted<'a> {
    file: Box<dyn Read>,
    length: u64,
    n: u64,
    reported: u64,
    progress: &'a dyn Fn(f64),
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.n += n as u64;
        if self.n >= self.reported + (1 << 20) {
            self.reported = self.n;
            (self.progress)((self.n as f64 / self.length.max(1) as f64).min(1.0));
        }
        Ok(n)
    }
}

/// Counts what is left out, and reports it once.
#[derive(Default)]
pub struct Dropped {
    zero_arcs: Cell<u64>,
}

impl Dropped {
    pub fn zero_arc(&self) {
        self.zero_arcs.set(self.zero_arcs.get() + 1);
    }

    pub fn say(&self, warnings: &mut Vec<String>) {
        if self.zero_arcs.get() > 0 {
            warnings.push(format!("{} transitions of probability 0 were left out", self.zero_arcs.get()));
        }
    }
}
