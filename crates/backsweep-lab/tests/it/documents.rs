//! The documents match the code.

use std::path::Path;

#[test]
fn the_worked_example_is_the_one_that_is_compiled() {
    let page = include_str!("../../../../docs/your-planner.md");
    let example = include_str!("../../examples/your_planner/first_in_first_out.rs");
    assert!(
        page.contains(example),
        "copy examples/your_planner/first_in_first_out.rs into docs/your-planner.md"
    );
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

#[test]
fn every_test_file_has_its_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/testing.md")).unwrap();
    let mut expected: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        for folder in [format!("crates/{name}/tests"), format!("crates/{name}/tests/it")] {
            // The core's own table leaves the folder out.
            let prefix = if name == "backsweep" { String::new() } else { folder.clone() + "/" };
            let folder = root.join(folder);
            // What several files share holds no test, nor does the list of a binary's modules.
            let is_test =
                |file: &String| std::fs::read_to_string(folder.join(file)).unwrap().contains("#[test]");
            let tests = files(&folder, ".rs").into_iter().filter(is_test);
            expected.extend(tests.map(|file| format!("{prefix}{file}")));
        }
    }
    for (folder, ending) in [("python/tests", ".py"), ("tests/browser", ".test.mjs")] {
        expected.extend(files(&root.join(folder), ending).iter().map(|file| format!("{folder}/{file}")));
    }
    expected.retain(|file| !file.ends_with("conftest.py"));
    assert!(expected.len() > 30, "{expected:?}");
    for file in &expected {
        assert!(page.contains(&format!("\n| `{file}` | ")), "docs/testing.md has no row for {file}");
    }
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    for (file, _) in rows {
        assert!(expected.iter().any(|known| known == file), "docs/testing.md: there is no file {file}");
    }
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
    use backsweep_lab::verdict::{List, judge};
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
    for list in List::ALL {
        let counts = runs.each_ref().map(|found| counts(found, &list.title().to_lowercase()));
        let row = format!("| {} | {} |", list.title(), counts.join(" | "));
        assert!(paper.contains(&row), "docs/paper.md needs the row {row}");
        if list == List::Paper {
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
