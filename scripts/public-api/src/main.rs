//! Lists the public API of the libraries, one item per line, and compares it with the lists in `scripts/public-api/lists`.

use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The libraries that promise an API. The others are published as parts of the command.
const LIBRARIES: [&str; 7] = [
    "backsweep",
    "backsweep-baselines",
    "backsweep-core",
    "backsweep-mdp",
    "backsweep-predict",
    "backsweep-solve",
    "backsweep-worlds",
];
/// The release whose JSON the dependency `public-api` reads.
const TOOLCHAIN: &str = "1.95.0";

fn main() -> ExitCode {
    let update = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [argument] if argument == "--update" => true,
        _ => {
            eprintln!("public-api: expected no argument, or --update");
            return ExitCode::from(2);
        }
    };
    match run(update) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!(
                "public-api: the lists in scripts/public-api/lists are out of date. If the change is meant, run\n    \
                 cargo run --manifest-path scripts/public-api/Cargo.toml -- --update\nand commit them; \
                 an incompatible change goes into CHANGELOG.md."
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("public-api: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every list is what the sources say; with `update`, makes it so.
fn run(update: bool) -> Result<bool, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let toolchain = toolchain()?;
    let mut same = true;
    for library in LIBRARIES {
        let file = root.join(format!("scripts/public-api/lists/{library}.txt"));
        let now = listing(&rustdoc_json(&root, toolchain, library)?)?;
        if update {
            std::fs::write(&file, now)?;
            continue;
        }
        let stored = std::fs::read_to_string(&file)
            .map_err(|error| format!("{} cannot be read ({error}); --update writes it", file.display()))?;
        same &= is_same(library, &stored, &now);
    }
    Ok(same)
}

/// Prints the lines that only one of the two has.
fn is_same(library: &str, stored: &str, now: &str) -> bool {
    let (before, after): (HashSet<_>, HashSet<_>) = (stored.lines().collect(), now.lines().collect());
    for line in stored.lines().filter(|line| !after.contains(line)) {
        println!("{library}: - {line}");
    }
    for line in now.lines().filter(|line| !before.contains(line)) {
        println!("{library}: + {line}");
    }
    stored == now
}

/// `None` if the active toolchain will do, otherwise the one to name.
fn toolchain() -> Result<Option<&'static str>, Box<dyn Error>> {
    // Set by rustup for this very program, which may run on any Rust; the question is what the sources are built with.
    let active = Command::new("rustc").arg("--version").output()?;
    let active = String::from_utf8(active.stdout)?;
    let release = TOOLCHAIN.rsplit_once('.').map_or(TOOLCHAIN, |(release, _)| release);
    if active.starts_with(&format!("rustc {release}.")) {
        return Ok(None);
    }
    let rustup = ["toolchain", "install", TOOLCHAIN, "--profile", "minimal", "--no-self-update"];
    match Command::new("rustup").args(rustup).status() {
        Ok(status) if status.success() => Ok(Some(TOOLCHAIN)),
        _ => Err(format!(
            "needs Rust {TOOLCHAIN}, the active one is {}, and `rustup {}` failed; install it, or see \
             scripts/public-api/README.md",
            active.trim(),
            rustup.join(" "),
        )
        .into()),
    }
}

/// Runs rustdoc and returns the path of its JSON.
fn rustdoc_json(root: &Path, toolchain: Option<&str>, library: &str) -> Result<PathBuf, Box<dyn Error>> {
    let target = root.join("target/public-api");
    let mut cargo = Command::new("cargo");
    if let Some(toolchain) = toolchain {
        cargo.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    cargo
        .env("RUSTDOC", root.join("scripts/public-api/rustdoc"))
        .args(["rustdoc", "--quiet", "--locked", "--lib", "--package", library, "--target-dir"])
        .arg(&target)
        .args(["--", "-Zunstable-options", "--output-format=json"])
        .current_dir(root);
    if !cargo.status()?.success() {
        return Err(format!("rustdoc failed for {library}").into());
    }
    Ok(target.join(format!("doc/{}.json", library.replace('-', "_"))))
}

/// All public items; of a derived trait only the line that says it is implemented.
fn listing(json: &Path) -> Result<String, Box<dyn Error>> {
    let items = |without_derived| -> Result<Vec<String>, Box<dyn Error>> {
        let api = public_api::Builder::from_rustdoc_json(json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(without_derived)
            .build()?;
        Ok(api.items().map(ToString::to_string).collect())
    };
    let written: HashSet<String> = items(true)?.into_iter().collect();
    let derived = |line: &str| line.starts_with("impl") && !line.contains("StructuralPartialEq");
    let lines = items(false)?.into_iter().filter(|line| written.contains(line) || derived(line));
    Ok(lines.map(|line| line + "\n").collect())
}
