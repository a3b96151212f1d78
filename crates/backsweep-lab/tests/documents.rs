//! The documents say what the code is.

#[test]
fn the_worked_example_is_the_one_that_is_compiled() {
    let page = include_str!("../../../docs/YOUR_PLANNER.md");
    let example = include_str!("../examples/your_planner/first_in_first_out.rs");
    assert!(
        page.contains(example),
        "copy examples/your_planner/first_in_first_out.rs into docs/YOUR_PLANNER.md"
    );
}

#[test]
fn experiment_files_in_the_documents_can_be_run() {
    use backsweep_lab::experiment::{Changes, Experiment};
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
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
