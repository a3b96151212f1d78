//! The documents match the code.

use std::path::Path;

#[test]
fn the_worked_example_is_the_one_that_is_compiled() {
    let page = include_str!("../../../../docs/YOUR_PLANNER.md");
    let example = include_str!("../../examples/your_planner/first_in_first_out.rs");
    assert!(
        page.contains(example),
        "copy examples/your_planner/first_in_first_out.rs into docs/YOUR_PLANNER.md"
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
    let page = std::fs::read_to_string(root.join("docs/TESTING.md")).unwrap();
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
        assert!(page.contains(&format!("\n| `{file}` | ")), "docs/TESTING.md has no row for {file}");
    }
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    for (file, _) in rows {
        assert!(expected.iter().any(|known| known == file), "docs/TESTING.md: there is no file {file}");
    }
}
