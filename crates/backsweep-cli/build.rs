//! Tells the program which commit it is built from, if it is built in a repository: reports name it.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).output().ok().filter(|done| done.status.success())?;
        Some(String::from_utf8(done.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
    };
    // A package from a registry may lie inside a repository of something else.
    if git(&["ls-files", "build.rs"]).is_none() {
        return;
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    if let Some(commit) = git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]) {
        println!("cargo:rustc-env=BACKSWEEP_COMMIT={commit}");
    }
}
