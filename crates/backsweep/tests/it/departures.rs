//! docs/paper.md and the sources must agree on the departures from the paper, and on where each line of its algorithms is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The numbers after "Departure" or "Departures", as in "Departure 3" and "Departures 3 and 5".
fn numbers(text: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for rest in text.split("Departure").skip(1) {
        for word in rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && *word != "s")
        {
            match word.parse() {
                Ok(number) => drop(found.insert(number)),
                Err(_) if word == "and" => {}
                Err(_) => break,
            }
        }
    }
    found
}

/// All Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A section of docs/paper.md, by how its title begins.
fn section(title: &str) -> String {
    let paper = fs::read_to_string(root().join("docs/paper.md")).unwrap();
    let start = paper.split(&format!("\n## {title}")).nth(1).unwrap();
    start.split("\n## ").next().unwrap().to_owned()
}

#[test]
fn the_document_and_the_sources_list_the_same_departures() {
    let mut texts: Vec<(String, String)> = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path().join("src");
        if folder.is_dir() {
            for path in sources(&folder) {
                texts.push((
                    path.display().to_string().replace('\\', "/"),
                    fs::read_to_string(&path).unwrap(),
                ));
            }
        }
    }
    // An entry begins with its number and ends with its file.
    let section = section("Departures");
    let entries = section.split("\n\n").find(|block| block.trim_start().starts_with("1. **")).unwrap();
    let mut listed = BTreeSet::new();
    for entry in entries.trim().split("\n").fold(Vec::<String>::new(), |mut entries, line| {
        match entries.last_mut() {
            Some(last) if line.starts_with(' ') => last.push_str(line),
            _ => entries.push(line.to_owned()),
        }
        entries
    }) {
        let number: u32 = entry.split_once(". **").and_then(|(number, _)| number.parse().ok()).unwrap();
        listed.insert(number);
        let file = entry.trim_end().strip_suffix("`)").and_then(|text| text.rsplit_once("(`")).unwrap().1;
        let marked = |(path, text): &(String, String)| {
            path.ends_with(&format!("/{file}")) && numbers(text).contains(&number)
        };
        assert!(texts.iter().any(marked), "docs/paper.md: no file {file} marks Departure {number}");
    }
    assert_eq!(listed, (1..=listed.len() as u32).collect(), "the document's numbers must be consecutive");
    assert!(listed.len() >= 25, "the list of departures has lost entries");
    let marked: BTreeSet<u32> = texts.iter().flat_map(|(_, text)| numbers(text)).collect();
    assert_eq!(listed, marked, "docs/paper.md lists the left numbers, the sources mark the right ones");
    // Readers cannot follow a reference to notes that are not here.
    for (path, text) in &texts {
        assert!(!text.contains("paper notes"), "{path} refers to notes that are not in the repository");
    }
}

/// The numbers of "1, 2" and "19–22".
fn lines_named(cell: &str) -> Vec<u32> {
    let ranges = cell.split(',').filter_map(|part| {
        let (first, last) = part.split_once('–').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    ranges.flatten().collect()
}

/// The numbers after a tag in a source line, as in "// l.11, 21" and "// l.16, 17: U for V".
fn lines_tagged(line: &str) -> Vec<u32> {
    let Some((_, tag)) = line.split_once("// l.") else { return Vec::new() };
    tag.split(',')
        .map_while(|part| part.split([':', ' ']).find(|word| !word.is_empty())?.parse().ok())
        .collect()
}

#[test]
fn the_document_and_the_sources_place_the_same_lines() {
    // The tables name files of the core, the agent and prediction, and the plain form.
    let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (folder, named_from) in [
        ("backsweep-core/src", "backsweep-core/src"),
        ("backsweep/src", "backsweep/src"),
        ("backsweep-predict/src", ""),
    ] {
        let crates = root().join("crates");
        for path in sources(&crates.join(folder)) {
            let name = path.strip_prefix(crates.join(named_from)).unwrap().display().to_string();
            files.insert(name.replace('\\', "/"), path);
        }
    }
    files.insert("plain.rs".into(), root().join("crates/backsweep-core/examples/plain.rs"));

    let mut named = BTreeSet::new();
    // The other lines of each algorithm only end a loop.
    for (table, expected) in
        [("Algorithm 1", Vec::from_iter(1..=12)), ("Algorithm 2", (1..=22).chain([25, 26]).collect())]
    {
        let text = section(table);
        let mut all: Vec<u32> = Vec::new();
        for row in text.lines().filter(|line| line.starts_with('|')) {
            let mut cells = row.split('|').skip(1);
            let lines = lines_named(cells.next().unwrap());
            all.extend(&lines);
            for word in cells.flat_map(|cell| cell.split('`')).filter(|word| word.ends_with(".rs")) {
                assert!(files.contains_key(word), "docs/paper.md: there is no file {word}: {row}");
                named.extend(lines.iter().map(|&line| (word.to_owned(), line)));
            }
        }
        assert_eq!(all, expected, "the lines in the table of {table}");
    }
    let mut tagged = BTreeSet::new();
    for (name, path) in files {
        let text = fs::read_to_string(path).unwrap();
        tagged.extend(text.lines().flat_map(lines_tagged).map(|line| (name.clone(), line)));
    }
    let only_named: Vec<_> = named.difference(&tagged).collect();
    let only_tagged: Vec<_> = tagged.difference(&named).collect();
    assert!(only_named.is_empty(), "docs/paper.md places lines where no tag stands: {only_named:?}");
    assert!(only_tagged.is_empty(), "tags of lines that docs/paper.md does not place there: {only_tagged:?}");
}

/// ARCHITECTURE.md lists the files that one small backup passes through: at most six, each once, with functions that are there.
#[test]
fn a_small_backup_passes_through_six_files() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## One small backup").nth(1).unwrap().split("\n## ").next().unwrap();
    let steps: Vec<&str> =
        section.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect();
    let mut files = BTreeSet::new();
    for step in &steps {
        let mut names = step.split('`').skip(1).step_by(2);
        let file = names.next().unwrap();
        assert!(files.insert(file), "{file} is listed twice");
        let folders = ["crates/backsweep-core/src", "crates/backsweep/src"];
        let path =
            folders.map(|folder| root().join(folder).join(file)).into_iter().find(|path| path.exists());
        let source = fs::read_to_string(path.unwrap_or_else(|| panic!("there is no file {file}"))).unwrap();
        let functions: Vec<&str> = names.map(|name| name.rsplit("::").next().unwrap()).collect();
        for name in functions.iter().filter(|name| name.starts_with(|c: char| c.is_lowercase())) {
            assert!(source.contains(&format!("fn {name}")), "{file} has no function {name}");
        }
        assert!(!functions.is_empty(), "{step}: expected the functions that it passes through");
    }
    assert!((1..=6).contains(&steps.len()), "{} files", steps.len());
}
