//! Files that are written completely or not at all.

use super::format::{HEADER, declared_length};
use super::{Error, Result, decode, encode};
use crate::planner::Snapshot;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The suffix of temporary files.
const SUFFIX: &str = ".backsweep-tmp";

/// Writes a snapshot to a file. A crash at any point leaves the old file or the new one, never a mixture: the bytes go to a
/// temporary file in the same directory, which is synced and then renamed; then the directory is synced. The permissions of a
/// file that is replaced are kept. Temporary files that killed processes left in the directory are removed.
///
/// # Errors
/// If the system refuses, or `path` is not a regular file. The old file is then unchanged.
pub fn save(path: impl AsRef<Path>, snapshot: &Snapshot) -> Result<()> {
    // A link stays a link: what it points to is replaced.
    let path = fs::canonicalize(path.as_ref()).unwrap_or_else(|_| path.as_ref().to_owned());
    let refused = |doing: &'static str| {
        let path = path.clone();
        move |source| Error::System { doing, path, source }
    };
    let permissions = match fs::metadata(&path) {
        Ok(about) if about.is_file() => Some(about.permissions()),
        Ok(about) => return Err(refused("replace")(not_regular(&about))),
        // Usually there is no such file; creating it will reveal any other problem.
        Err(_) => None,
    };
    let bytes = encode(snapshot);
    remove_orphans(&path);
    let (temporary, file) = create_temporary(&path, permissions.is_some()).map_err(refused("write"))?;
    let written = write_synced(&file, &bytes, permissions)
        .map_err(refused("write"))
        .and_then(|()| fs::rename(&temporary, &path).map_err(refused("replace")));
    if written.is_err() {
        // The leftover is useless; failing to remove it matters less than the first error.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    sync_directory(&path)
}

/// Reads a snapshot from a file.
///
/// # Errors
/// If the system refuses, or the file is not one that [`save`] wrote. Only the header is read until it has been checked,
/// and then no more than the header says.
pub fn load(path: impl AsRef<Path>) -> Result<Snapshot> {
    let path = path.as_ref();
    let refused = |doing| move |source| Error::System { doing, path: path.to_owned(), source };
    // Checked before it is opened: opening a pipe would wait for a writer.
    let about = fs::metadata(path).map_err(refused("open"))?;
    if !about.is_file() {
        return Err(refused("read")(not_regular(&about)));
    }
    let file = File::open(path).map_err(refused("open"))?;
    let mut bytes = Vec::new();
    (&file).take(HEADER as u64).read_to_end(&mut bytes).map_err(refused("read"))?;
    let length = declared_length(&bytes, about.len()).map_err(|error| error.in_file(path))?;
    let rest = length.saturating_sub(bytes.len() as u64);
    // The length comes from the file system, so it can be trusted.
    bytes.reserve_exact(usize::try_from(rest).unwrap_or(0));
    file.take(rest).read_to_end(&mut bytes).map_err(refused("read"))?;
    decode(&bytes).map_err(|error| error.in_file(path))
}

fn not_regular(about: &fs::Metadata) -> io::Error {
    let kind = if about.is_dir() { "a directory" } else { "a device, pipe or socket" };
    io::Error::other(format!("it is {kind}; expected a regular file"))
}

/// A new file next to `path` that no other save uses. It is locked while it is in use, so that acquiring its lock proves
/// that its process has ended.
pub(crate) fn create_temporary(path: &Path, is_private: bool) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}-{}{SUFFIX}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let temporary = path.with_file_name(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if is_private {
            // Nobody may read it before it has the permissions of the file that it replaces.
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = is_private;
        match options.open(&temporary) {
            Ok(file) => {
                // Waits for a process that is just removing it as an orphan. File systems without locks refuse, both
                // here and there.
                let _ = file.lock();
                if temporary.exists() {
                    return Ok((temporary, file));
                }
            }
            // An orphan of a process with the same id that could not be removed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn write_synced(mut file: &File, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

/// Removes the temporary files that killed processes left in the directory of `path`. Failures are ignored: files that
/// cannot be removed stay.
fn remove_orphans(path: &Path) {
    for entry in fs::read_dir(directory_of(path)).into_iter().flatten().flatten() {
        if !is_temporary(&entry.file_name()) || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        // A process that is writing it holds its lock.
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns whether a name is one that [`create_temporary`] gives: `.NAME.PID-COUNT.backsweep-tmp`.
fn is_temporary(name: &OsStr) -> bool {
    let stem = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)?.strip_prefix('.'));
    let numbers = stem.and_then(|stem| stem.rsplit_once('.')?.1.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, count)| is_number(process) && is_number(count))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes the rename itself durable. Only Unix allows a directory to be opened and synced.
#[cfg(unix)]
fn sync_directory(path: &Path) -> Result<()> {
    let directory = directory_of(path);
    let refused = |source| Error::System { doing: "sync", path: directory.to_owned(), source };
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(refused)
}

#[cfg(not(unix))]
fn sync_directory(_path: &Path) -> Result<()> {
    Ok(())
}
