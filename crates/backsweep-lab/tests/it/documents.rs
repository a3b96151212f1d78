//! The documents match the code.

use std::path::Path;

#[test]
fn the_planner_on_small_backups_is_the_one_that_is_tested() {
    let page = include_str!("../../../../docs/your-planner.md");
    let tested = include_str!("../../../backsweep/tests/it/own_planner.rs");
    let section = page.split("## On small backups").nth(1).unwrap();
    let code = section.split("```rust,ignore\n").nth(1).unwrap().split("```").next().unwrap();
    let functions: Vec<_> = code.split("\n\n").map(str::trim_end).collect();
    assert_eq!(functions.len(), 6);
    for function in functions {
        assert!(tested.contains(function), "not in crates/backsweep/tests/it/own_planner.rs:\n{function}");
    }
}

#[test]
fn experiment_files_in_the_documents_can_be_run() {
    use backsweep_lab::experiment::{Changes, Experiment};
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let mut n_files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            Experiment::read(&path, &Changes::default()).unwrap();
            n_files += 1;
        }
    }
    assert!(n_files > 0);
}

/// The names of the files of a folder that end like this.
fn files(folder: &Path, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(ending)).collect()
}

/// The comment that opens a file of tests, in the language of its ending, without its marks.
fn opening_comment(file: &str, text: &str) -> Option<String> {
    let mark = if file.ends_with(".rs") { "//!" } else { "//" };
    let comment = match text.strip_prefix("\"\"\"") {
        Some(rest) if file.ends_with(".py") => rest.split_once("\"\"\"")?.0.to_owned(),
        _ => text.lines().map_while(|line| line.strip_prefix(mark)).collect(),
    };
    Some(comment.trim().to_owned()).filter(|comment| !comment.is_empty())
}

#[test]
fn every_test_file_says_what_it_guards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = std::fs::read_dir(root.join("crates")).unwrap();
    let mut folders: Vec<_> =
        crates.map(|entry| entry.unwrap().path().join("tests/it")).map(|folder| (folder, ".rs")).collect();
    folders.push((root.join("python/tests"), ".py"));
    folders.push((root.join("tests/browser"), ".test.mjs"));
    let mut n_files = 0;
    for (folder, ending) in folders {
        for file in files(&folder, ending).into_iter().filter(|file| file != "conftest.py") {
            let text = std::fs::read_to_string(folder.join(&file)).unwrap();
            let comment = opening_comment(&file, &text).unwrap_or_default();
            assert!(
                comment.split_whitespace().count() > 1 && comment.ends_with('.'),
                "{}: expected a comment at the top that says what the file guards, found {comment:?}",
                folder.join(&file).display()
            );
            n_files += 1;
        }
    }
    assert!(n_files > 90, "{n_files} files of tests: the folders have moved");
}

/// The seeds of the full runs whose findings are kept.
const SEEDS: [u32; 2] = [1, 2];

/// The findings of a full run, as `backsweep reproduce` wrote them: lists, claims and findings.
fn findings(seed: u32) -> Vec<[String; 3]> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/results/verdict-seed-{seed}.csv"));
    let text = std::fs::read_to_string(path).unwrap();
    let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap();
    text.lines().skip(1).map(fields).collect()
}

/// The totals of a list, in the words of the report.
fn counts(findings: &[[String; 3]], list: &str) -> String {
    let of = |finding: &str| findings.iter().filter(|f| f[0] == list && f[2] == finding).count();
    format!("{} hold, {} do not hold, {} undecided", of("holds"), of("does not hold"), of("undecided"))
}

#[test]
fn totals_in_the_documents_are_those_of_the_results() {
    use backsweep_lab::result::Results;
    use backsweep_lab::verdict::{ClaimList, judge};
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let (paper, readme) = (read("docs/paper.md"), read("README.md"));
    let runs = SEEDS.map(findings);
    let claims = judge(&Results::default());
    for found in &runs {
        let found = found.iter().map(|[list, claim, _]| (list.as_str(), claim.as_str()));
        let titles: Vec<_> = claims.iter().map(|v| (v.list.title().to_lowercase(), v.id)).collect();
        assert!(
            found.eq(titles.iter().map(|(list, id)| (list.as_str(), *id))),
            "the claims have changed: run `backsweep reproduce` with these seeds and copy verdict.csv to docs/results"
        );
    }
    let mut known = Vec::new();
    for list in ClaimList::ALL {
        let counts = runs.each_ref().map(|found| counts(found, &list.title().to_lowercase()));
        let row = format!("| {} | {} |", list.title(), counts.join(" | "));
        assert!(paper.contains(&row), "docs/paper.md needs the row {row}");
        if list == ClaimList::Paper {
            let sentence = format!("{}: {}", list.title().to_lowercase(), counts[0]);
            assert!(readme.contains(&sentence), "README.md needs: {sentence}");
        }
        known.extend(counts);
    }
    for found in &runs {
        for [_, claim, _] in found.iter().filter(|found| found[2] == "does not hold") {
            assert!(
                paper.contains(&format!("`{claim}`")),
                "docs/paper.md does not say why {claim} does not hold"
            );
        }
    }
    // No other total anywhere.
    let mut pages = vec![("README.md".to_owned(), readme)];
    pages.extend(
        files(&root.join("docs"), ".md")
            .into_iter()
            .map(|file| (file.clone(), read(&format!("docs/{file}")))),
    );
    for (file, page) in pages {
        for place in page.match_indices(" do not hold, ").map(|(place, _)| place) {
            let around = &page[page[..place].rfind([':', '|', '\n']).map_or(0, |start| start + 1)..];
            let is_known = known.iter().any(|counts| around.trim_start().starts_with(counts.as_str()));
            assert!(
                is_known,
                "{file} quotes a total that is not that of the results: {}",
                around.chars().take(60).collect::<String>()
            );
        }
    }
}
