//! Saving and loading do to the file system what they document and nothing else.

use crate::common::ring;
use backsweep::PlannerKind;
use backsweep::planner::QueueKind;
use backsweep::save::{Error, SavedAgent};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn scratch(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn learner() -> SavedAgent {
    ring::learner(PlannerKind::SMALL_BACKUPS, QueueKind::Exact, 3, 20)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Not a test by itself: saves a large learner until it is killed.
#[test]
fn save_until_killed() {
    let Some(path) = std::env::var_os("BACKSWEEP_SAVE_UNTIL_KILLED") else { return };
    let learner = ring::learner(PlannerKind::SMALL_BACKUPS, QueueKind::Exact, 20_000, 100);
    loop {
        learner.save(&path).unwrap();
    }
}

#[test]
fn leftovers_of_killed_processes_are_removed_by_the_next_save() {
    let directory = scratch("orphans");
    let path = directory.join("large.backsweep");
    let mut most = 0;
    for round in 0..200u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "files::save_until_killed"])
            .env("BACKSWEEP_SAVE_UNTIL_KILLED", &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while !path.exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_micros(30_000 + 977 * (round % 17)));
        child.kill().unwrap();
        child.wait().unwrap();
        most = most.max(names(&directory).len());
        if most > 1 && round > 5 {
            break;
        }
    }
    assert!(most > 1, "no process was killed in the middle of a save");
    // Under another name: orphans of any file in the directory are removed.
    learner().save(directory.join("other")).unwrap();
    assert_eq!(names(&directory), ["large.backsweep", "other"]);
    SavedAgent::load(&path).unwrap();
}

#[test]
fn only_our_own_orphans_are_removed() {
    let directory = scratch("others");
    let kept = [
        ".mine.12-3.tmp",
        ".mine.a-3.backsweep-tmp",
        ".mine.backsweep-tmp",
        "mine.12-3.backsweep-tmp",
        ".mine.12-3.backsweep-tmp.txt",
    ];
    let gone = [".mine.12-3.backsweep-tmp", ".a.b.999-0.backsweep-tmp"];
    for name in kept.iter().chain(&gone) {
        fs::write(directory.join(name), "x").unwrap();
    }
    // One that is being written: its lock is held.
    let busy = File::create(directory.join(".mine.5-5.backsweep-tmp")).unwrap();
    busy.lock().unwrap();
    learner().save(directory.join("mine")).unwrap();
    let mut expected: Vec<String> = kept.iter().map(|name| (*name).to_owned()).collect();
    expected.extend([".mine.5-5.backsweep-tmp".to_owned(), "mine".to_owned()]);
    expected.sort();
    assert_eq!(names(&directory), expected);
}

#[test]
fn concurrent_saves_do_not_disturb_each_other() {
    let directory = scratch("at-once");
    std::thread::scope(|scope| {
        for i in 0..4 {
            let path = directory.join(format!("{}", i % 2));
            scope.spawn(move || (0..50).for_each(|_| learner().save(&path).unwrap()));
        }
    });
    assert_eq!(names(&directory), ["0", "1"]);
}

#[cfg(unix)]
#[test]
fn permissions_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let path = scratch("mode").join("file");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    learner().save(&path).unwrap();
    for wanted in [0o600, 0o640, 0o444] {
        fs::set_permissions(&path, fs::Permissions::from_mode(wanted)).unwrap();
        learner().save(&path).unwrap();
        assert_eq!(mode(), wanted);
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused() {
    use std::os::unix::fs::FileTypeExt;
    let pipe = scratch("pipe").join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&pipe, Path::new("/dev/null"), Path::new("/dev/zero")] {
        for error in [learner().save(path).unwrap_err(), SavedAgent::load(path).unwrap_err()] {
            assert!(matches!(error, Error::System { .. }), "{error}");
            assert!(error.to_string().contains("expected a regular file"), "{error}");
        }
    }
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

/// A sparse file of a terabyte: reading it would take minutes and run out of memory first.
#[test]
fn no_more_is_read_than_the_header_allows() {
    let path = scratch("foreign").join("large");
    let whole = learner().to_bytes().unwrap();
    let claims_its_length = |length: u64| {
        let mut bytes = whole.clone();
        bytes[24..32].copy_from_slice(&length.to_le_bytes());
        bytes
    };
    let length = 1u64 << 40;
    for start in [b"foreign data".to_vec(), whole.clone(), claims_its_length(7)] {
        fs::write(&path, start).unwrap();
        if File::options().write(true).open(&path).unwrap().set_len(length).is_err() {
            eprintln!("this file system has no files of a terabyte");
            return;
        }
        let error = SavedAgent::load(&path).unwrap_err().to_string();
        assert!(error.contains("not a Backsweep file") || error.contains("found 1099511627776"), "{error}");
    }
}

#[test]
fn a_link_stays_a_link() {
    let directory = scratch("link");
    #[cfg(unix)]
    {
        let link = directory.join("link");
        learner().save(directory.join("file")).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        ring::learner(PlannerKind::SMALL_BACKUPS, QueueKind::Exact, 5, 20).save(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(SavedAgent::load(directory.join("file")).unwrap().agent.model().n_states(), 5);
    }
}
