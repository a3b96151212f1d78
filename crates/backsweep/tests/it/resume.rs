//! A resumed learner continues as one that was never interrupted.

use crate::common::ring;
use backsweep::PlannerKind;
use backsweep::planner::QueueKind;
use backsweep::save::{Error, Name, SavedAgent, VERSION, decode_names, encode_names};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn scratch(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

#[test]
fn resuming_is_bit_for_bit() {
    let path = scratch("resume").join("learner.backsweep");
    for (planner, queue) in ring::all_planners() {
        for steps in [0, 1, 7, 100, 1001] {
            let mut uninterrupted = ring::learner(planner, queue, 9, steps);
            uninterrupted.save(&path).unwrap();
            let mut resumed = SavedAgent::load_among(&path, &backsweep_baselines::PLANNERS).unwrap();
            assert_eq!(resumed.names, uninterrupted.names);
            let expected = ring::run(&mut uninterrupted, 500);
            assert_eq!(ring::run(&mut resumed, 500), expected, "{planner}, {queue:?}, after {steps}");
            assert!(resumed.to_bytes().unwrap() == uninterrupted.to_bytes().unwrap());
        }
    }
}

/// Written once with this version of the format and never changed: every later program of this version must read the same from
/// it, and continue.
#[test]
fn the_golden_file_is_read() {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let [path, text] = ["backsweep", "txt"].map(|ending| golden.join(format!("version-{VERSION}.{ending}")));
    if std::env::var_os("BACKSWEEP_WRITE_GOLDEN").is_some() && !path.exists() {
        let learner = ring::learner(PlannerKind::default(), QueueKind::Exact, 9, 300);
        learner.save(&path).unwrap();
        std::fs::write(&text, ring::describe(&learner)).unwrap();
    }
    let mut learner = SavedAgent::load(&path).unwrap();
    assert_eq!(ring::describe(&learner), std::fs::read_to_string(&text).unwrap());
    ring::run(&mut learner, 500);
    assert!(learner.agent.audit().relation < 1e-9);
}

#[test]
fn names_come_back() {
    let tuple = Name::Tuple(vec![Name::None, Name::Tuple(vec![]), Name::Text(String::new())]);
    let names = vec![Name::Int(i64::MIN), Name::Float(1e-310), Name::Bytes(vec![]), tuple];
    let bytes = encode_names(&names).unwrap();
    assert_eq!(decode_names("here", &bytes).unwrap(), names);
    for length in 0..bytes.len() {
        assert!(decode_names("here", &bytes[..length]).is_err());
    }
    let deep = |n| (0..n).fold(Name::None, |name, _| Name::Tuple(vec![name]));
    assert_eq!(decode_names("", &encode_names(&[deep(100)]).unwrap()).unwrap(), [deep(100)]);
    assert!(encode_names(&[deep(101)]).is_err());
    let endless = [&1u64.to_le_bytes()[..], &b"t\x01\0\0\0\0\0\0\0".repeat(1_000_000)].concat();
    assert!(decode_names("here", &endless).is_err());
}

#[test]
fn refusals_name_the_file() {
    let directory = scratch("refusals");
    let missing = directory.join("missing").join("file");
    let learner = ring::learner(PlannerKind::SMALL_BACKUPS, QueueKind::Exact, 2, 5);
    for error in [SavedAgent::load(&missing).unwrap_err(), learner.save(&missing).unwrap_err()] {
        // The file that the user named, not the temporary one.
        assert!(matches!(&error, Error::System { path, .. } if *path == missing), "{error}");
    }
    assert!(SavedAgent::load(&directory).unwrap_err().to_string().contains("refusals"));
    let path = directory.join("text");
    std::fs::write(&path, "hello").unwrap();
    assert!(SavedAgent::load(&path).unwrap_err().to_string().contains("not a Backsweep file"));
    // A save that fails leaves no temporary file behind.
    assert!(learner.save(&directory).is_err());
    let left: Vec<_> = std::fs::read_dir(directory.parent().unwrap()).unwrap().flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().ends_with("tmp")));
}

/// Not a test by itself: saves two learners in turn until it is killed.
#[test]
fn save_forever() {
    let Some(path) = std::env::var_os("BACKSWEEP_SAVE_FOREVER") else { return };
    let learners = [50, 51].map(|n| ring::learner(PlannerKind::SMALL_BACKUPS, QueueKind::Exact, n, 100));
    loop {
        learners.iter().for_each(|learner| learner.save(&path).unwrap());
    }
}

/// A process that is killed at any moment of a save leaves one of the two files.
#[test]
fn a_crash_leaves_the_old_file_or_the_new_one() {
    let path = scratch("crash").join("learner.backsweep");
    let mut seen = [0, 0];
    for round in 0..40u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "resume::save_forever"])
            .env("BACKSWEEP_SAVE_FOREVER", &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while round == 0 && !path.exists() {
            assert!(child.try_wait().unwrap().is_none(), "the process ended before it saved anything");
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_micros(20_000 + 977 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let learner = SavedAgent::load(&path).unwrap();
        seen[learner.agent.model().n_states() - 50] += 1;
    }
    assert!(seen.iter().sum::<i32>() == 40);
}
