//! Files that are there as a whole or not at all.

use crate::{Error, Result, decode, encode};
use backsweep::Snapshot;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Writes a snapshot to a file. A crash at any point leaves the old file or the new one, never a mixture: the bytes go to a
/// temporary file in the same directory, which is synced and then renamed; then the directory is synced.
///
/// # Errors
/// If the system refuses. The old file is then as it was.
pub fn save(path: impl AsRef<Path>, snapshot: &Snapshot) -> Result<()> {
    // A link stays a link: what it points to is replaced.
    let path = fs::canonicalize(path.as_ref()).unwrap_or_else(|_| path.as_ref().to_owned());
    let bytes = encode(snapshot);
    let temporary = temporary_beside(&path);
    let written = write_synced(&temporary, &bytes).and_then(|()| {
        let refused = |source| Error::System { doing: "rename a file to", path: path.clone(), source };
        fs::rename(&temporary, &path).map_err(refused)
    });
    if written.is_err() {
        // Whatever is left of it is of no use; that it cannot be removed is no news beside the first error.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    sync_directory(&path)
}

/// Reads a snapshot from a file.
///
/// # Errors
/// If the system refuses, or the file is not one that [`save`] wrote.
pub fn load(path: impl AsRef<Path>) -> Result<Snapshot> {
    let path = path.as_ref();
    let refused = |doing| move |source| Error::System { doing, path: path.to_owned(), source };
    let mut file = File::open(path).map_err(refused("open"))?;
    let about = file.metadata().map_err(refused("read"))?;
    if !about.is_file() {
        let source = std::io::Error::other("it is not a regular file");
        return Err(Error::System { doing: "read", path: path.to_owned(), source });
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(refused("read"))?;
    decode(&bytes).map_err(|error| error.in_file(path))
}

/// A name that no other save uses at this moment, in this process or another.
pub(crate) fn temporary_beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let refused = |source| Error::System { doing: "write", path: path.to_owned(), source };
    // A leftover of a process that crashed and had the same id may be there: it is overwritten.
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).open(path).map_err(refused)?;
    file.write_all(bytes).map_err(refused)?;
    file.sync_all().map_err(refused)
}

/// Makes the rename itself last. Only Unix lets a directory be opened and synced.
#[cfg(unix)]
fn sync_directory(path: &Path) -> Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let refused = |source| Error::System { doing: "sync", path: directory.to_owned(), source };
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(refused)
}

#[cfg(not(unix))]
fn sync_directory(_path: &Path) -> Result<()> {
    Ok(())
}
