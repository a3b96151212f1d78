//! The bytes of a model's file, the first of which chooses the format: read or refused, never a panic. What was read passes
//! the check, and is the same after it was written as UMB and read again.
#![no_main]

use backsweep_mdp::{Compression, Format, read, write};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;

/// A folder in memory where there is one; files are written at the rate of thousands per second.
fn path(extension: &str) -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    folder.join(format!("backsweep-fuzz-{}.{extension}", std::process::id()))
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, data)) = data.split_first() else { return };
    let (extension, format) = Format::NAMES[usize::from(choice) % 5];
    let file = path(extension);
    std::fs::write(&file, data).expect("a temporary file can be written");
    let found = read(&file, Some(format), &|_| ());
    std::fs::remove_file(&file).expect("it can be removed");
    let found = match found {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
        Ok(found) => found.mdp,
    };
    found.check().expect("what was read passes the check");
    let copy = path("copy.umb");
    let warnings = write(&copy, &found, Some(Format::Umb), Compression::None).expect("it can be written");
    let again = read(&copy, Some(Format::Umb), &|_| ()).expect("what was written can be read");
    std::fs::remove_file(&copy).expect("it can be removed");
    if warnings.is_empty() {
        let again = &again.mdp;
        assert_eq!((again.choice_starts(), again.arc_starts()), (found.choice_starts(), found.arc_starts()));
        assert_eq!((again.targets(), again.probabilities()), (found.targets(), found.probabilities()));
    }
});
