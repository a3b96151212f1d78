//! `backsweep explore` as a user runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FILE: &str = r#"
name = "small"
title = "A small suite"
runs = 3
seed = 7

[[worlds]]
name = "double_loop"
mark = 300.0
published = { BAMCP = 388.0 }

[[worlds]]
name = "deep_sea"
sizes = [4, 5]
mark = 50.0

[[agents]]
name = "default"

[[agents]]
name = "greedy"
explore = "epsilon_greedy"
epsilon = 0.0
worlds = ["double_loop"]
"#;

fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("explore-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("my.toml"), FILE).unwrap();
    folder
}

fn backsweep(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backsweep"));
    command.arg("explore").args(arguments).current_dir(folder).output().unwrap()
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = backsweep(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refuses(folder: &Path, arguments: &[&str], expected: &[&str]) {
    let output = backsweep(folder, arguments);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(expected.iter().all(|text| line.contains(text)), "{line}");
    assert!(!folder.join("out").exists());
}

#[test]
fn a_suite_leaves_a_table_figures_and_a_report() {
    let folder = folder("report");
    let table = succeeds(&folder, &["my.toml"]);
    for text in [
        "DoubleLoop (total reward)",
        "DeepSea (share of runs solved)",
        "DeepSea, N = 5 (episodes until solved)",
    ] {
        assert!(table.contains(text), "{table}");
    }
    let line = |agent: &str| table.lines().find(|line| line.contains(agent)).unwrap();
    // Without exploration an agent never leaves the first loop it finds; the default agent finds the better one.
    assert!(line("default").ends_with("reached"), "{table}");
    assert!(line("greedy").ends_with("missed"), "{table}");
    let out = folder.join("out/small");
    let rows = fs::read_to_string(out.join("rows.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 3 * (2 + 2), "{rows}");
    assert!(rows.contains("small,deep_sea,default,,5,2,"), "{rows}");
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(
        report.contains("A small suite") && report.contains("missed") && report.contains("Greedy"),
        "{report}"
    );
    for name in ["small.svg", "small.png", "small-sizes.svg", "summary.csv", "timing.csv"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    let picture = fs::read_to_string(out.join("small.svg")).unwrap();
    assert!(["ceiling", "mark", "published"].iter().all(|text| picture.contains(text)));
}

#[test]
fn results_are_the_same_bytes_for_any_number_of_threads() {
    let folder = folder("threads");
    for (threads, out) in [("1", "one"), ("3", "three")] {
        succeeds(&folder, &["my.toml", "--threads", threads, "--out", out]);
    }
    for name in ["rows.csv", "summary.csv", "small.svg"] {
        let [one, three] = ["one", "three"].map(|out| fs::read(folder.join(out).join(name)).unwrap());
        assert_eq!(one, three, "{name}");
    }
    // Another seed gives other rows.
    succeeds(&folder, &["my.toml", "--seed", "8", "--out", "other"]);
    let [one, other] = ["one", "other"].map(|out| fs::read(folder.join(out).join("rows.csv")).unwrap());
    assert_ne!(one, other);
}

#[test]
fn worlds_and_agents_can_be_chosen() {
    let folder = folder("chosen");
    let json = succeeds(
        &folder,
        &["--world", "chain_3", "--world", "double_loop", "--agent", "default", "--runs", "2", "--json"],
    );
    let summaries: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    let tasks: Vec<&str> = summaries.iter().map(|summary| summary["task"].as_str().unwrap()).collect();
    assert_eq!(tasks, ["chain_3", "double_loop"]);
    assert!(summaries.iter().all(|summary| summary["runs"] == 2 && summary["method"] == "default"));
    assert!(folder.join("out/explore-chain_3-double_loop-default/report.html").is_file());
    let list = succeeds(&folder, &["--list"]);
    for name in ["explore/riverswim_6/default", "explore/deep_sea/default/50", "explore/shortcut_maze/best"] {
        assert!(list.lines().any(|line| line == name), "{name} is not in\n{list}");
    }
}

#[test]
fn bad_input_gets_one_line() {
    let folder = folder("bad");
    refuses(&folder, &["--world", "atlantis"], &["no world is called 'atlantis'", "six_arms", "deep_sea_N"]);
    refuses(&folder, &["--agent", "bold"], &["no agent is called 'bold'", "default"]);
    refuses(&folder, &["missing.toml"], &["missing.toml", "no such file"]);
    let changes: [(&str, &str, &[&str]); 8] = [
        ("epsilon = 0.0", "epsilon = 1.5", &["agent greedy", "epsilon", "1.5", "from 0 to 1"]),
        ("epsilon = 0.0", "beta = 1.5", &["agent greedy", "epsilon_greedy has no 'beta'"]),
        ("epsilon = 0.0", "", &["epsilon_greedy needs 'epsilon'"]),
        ("explore = \"epsilon_greedy\"", "explore = \"boldly\"", &["explore is 'boldly'", "count_bonus"]),
        (
            "epsilon = 0.0",
            "epsilon = 0.0\nhalf_life = 3.0\nwindow = 2",
            &["at most one of 'per_visit', 'half_life' and 'window'"],
        ),
        ("sizes = [4, 5]", "sizes = [1]", &["no world is called 'deep_sea_1'", "from 2 to 100"]),
        ("sizes = [4, 5]", "size = 4", &["unknown field", "size"]),
        ("[[agents]]\nname = \"default\"", "", &["world deep_sea: no agent runs in it"]),
    ];
    for (from, to, expected) in changes {
        assert!(FILE.contains(from));
        fs::write(folder.join("bad.toml"), FILE.replacen(from, to, 1)).unwrap();
        refuses(&folder, &["bad.toml"], expected);
    }
}
