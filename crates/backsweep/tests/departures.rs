//! docs/PAPER.md and the sources must list the same departures from the paper.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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

fn in_sources(folder: &Path, found: &mut BTreeSet<u32>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            in_sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.extend(numbers(&fs::read_to_string(path).unwrap()));
        }
    }
}

#[test]
fn the_document_and_the_sources_list_the_same_departures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paper = fs::read_to_string(root.join("docs/PAPER.md")).unwrap();
    let section = paper.split("## Departures").nth(1).unwrap().split("\n## ").next().unwrap();
    let listed: BTreeSet<u32> = section
        .lines()
        .filter_map(|line| line.split_once(". **").and_then(|(number, _)| number.parse().ok()))
        .collect();
    assert_eq!(listed, (1..=listed.len() as u32).collect(), "the document's numbers must be consecutive");

    let mut marked = BTreeSet::new();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let sources = entry.unwrap().path().join("src");
        if sources.is_dir() {
            in_sources(&sources, &mut marked);
        }
    }
    assert_eq!(listed, marked, "docs/PAPER.md lists the left numbers, the sources mark the right ones");
}
