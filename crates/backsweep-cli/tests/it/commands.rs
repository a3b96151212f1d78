//! The binary as a user runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const MAZE: &str = "S....\n.##..\n....G\n";
const EXPERIMENT: &str = r#"
name = "small"
title = "A small maze"
runs = 5
seed = 7

[learning]
episodes = 30

[[mazes]]
name = "corner"
maze = "maze.txt"
law = "four"
intended = 0.8
min_visits = 2

[[methods]]
planner = "reversed_full_backups"
cycles = [1, 3]

[[methods]]
planner = "moore_atkeson"
cycles = [1, 3]

[[methods]]
name = "value_iteration"
planner = "reversed_full_backups"
until = 1e-3
"#;

/// A new folder for a test, with a maze and an experiment in it.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("maze.txt"), MAZE).unwrap();
    fs::write(folder.join("my.toml"), EXPERIMENT).unwrap();
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backsweep"));
    command.current_dir(folder).args(arguments);
    command
}

fn backsweep(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = backsweep(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The files that must not depend on threads, shards or interruptions.
fn bytes(folder: &Path) -> [Vec<u8>; 3] {
    ["rows.csv", "summary.csv", "experiment.json"].map(|name| fs::read(folder.join(name)).unwrap())
}

#[test]
fn results_are_the_same_bytes_for_any_number_of_threads() {
    let folder = folder("threads");
    for threads in ["1", "2", "5"] {
        succeeds(&folder, &["run", "my.toml", "--threads", threads, "--out", threads]);
        assert_eq!(bytes(&folder.join("1")), bytes(&folder.join(threads)), "{threads} threads");
    }
    succeeds(&folder, &["run", "my.toml", "--seed", "8", "--out", "other-seed"]);
    assert_ne!(bytes(&folder.join("1"))[0], bytes(&folder.join("other-seed"))[0]);
}

#[test]
fn a_run_leaves_tables_figures_and_a_report() {
    let folder = folder("files");
    let printed = succeeds(&folder, &["run", "my.toml"]);
    assert!(printed.contains("small/corner/moore_atkeson/3"), "{printed}");
    let out = folder.join("out/small");
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(report.contains("A small maze") && report.contains("<svg"));
    assert!(report.contains("small-maze-corner-title") && report.contains("A step gives −1"));
    let names: Vec<String> =
        fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for ending in [".svg", ".png", "rows.csv", "timing.csv", "summary.csv"] {
        assert!(names.iter().any(|name| name.ends_with(ending)), "{ending} in {names:?}");
    }
    assert!(!names.iter().any(|name| name.ends_with(".new")), "{names:?}");
    let rows = fs::read_to_string(out.join("rows.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 5 * 5);
}

/// Runs the experiment from the start and kills it as soon as a setting is done: its time is written after its rows.
/// Returns false if the whole experiment had finished.
fn is_killed_midway(folder: &Path, rows: &Path) -> bool {
    let n_lines = |path: &Path| fs::read_to_string(path).map_or(0, |text| text.lines().count());
    let n_rows = || n_lines(rows);
    let times = rows.with_file_name("timing.csv");
    let _ = fs::remove_dir_all(folder.join("killed"));
    let mut child = command(folder, &["run", "my.toml", "--out", "killed", "--threads", "1"])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while n_lines(&times) < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(n_rows() > 1, "no setting was done");
    n_rows() < 1 + 5 * 5
}

#[test]
fn a_killed_command_resumes_where_it_stopped() {
    let folder = folder("kill");
    let long = EXPERIMENT.replace("episodes = 30", "episodes = 20000");
    fs::write(folder.join("my.toml"), long).unwrap();
    succeeds(&folder, &["run", "my.toml", "--out", "whole"]);
    let rows = folder.join("killed/rows.csv");
    // On a busy machine it may finish before it is killed: then try again.
    assert!((0..20).any(|_| is_killed_midway(&folder, &rows)), "it always finished before it was killed");
    // What a kill in the middle of a write would leave behind.
    let torn = fs::read_to_string(&rows).unwrap() + "small,corner,moore_atkeson,3,,0,-1";
    fs::write(&rows, torn).unwrap();
    let output = backsweep(&folder, &["run", "my.toml", "--out", "killed"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && stderr.contains("already done"), "{stderr}");
    assert_eq!(bytes(&folder.join("whole")), bytes(&folder.join("killed")));
}

#[test]
fn shards_merge_to_the_same_bytes() {
    let folder = folder("shards");
    succeeds(&folder, &["run", "my.toml", "--out", "whole"]);
    for shard in ["0/3", "1/3", "2/3"] {
        succeeds(&folder, &["run", "my.toml", "--shard", shard, "--out", &shard.replace('/', "-")]);
    }
    refuses(&folder, &["merge", "0-3", "2-3", "--out", "merged"], "2 settings are missing from all folders");
    assert!(!folder.join("merged").exists());
    succeeds(&folder, &["merge", "2-3", "0-3", "1-3", "--out", "merged"]);
    assert_eq!(bytes(&folder.join("whole")), bytes(&folder.join("merged")));
    assert!(folder.join("merged/report.html").exists());
    succeeds(&folder, &["run", "my.toml", "--seed", "9", "--out", "other"]);
    refuses(&folder, &["merge", "0-3", "other", "--out", "both"], "another experiment");
    let changed = fs::read_to_string(folder.join("1-3/rows.csv")).unwrap().replacen(",-", ",-1", 1);
    fs::write(folder.join("1-3/rows.csv"), changed).unwrap();
    refuses(&folder, &["merge", "whole", "1-3", "--out", "both"], "differ from those in another folder");
    assert!(!folder.join("both").exists());
}

#[test]
fn results_of_another_version_are_not_mixed_in() {
    let folder = folder("version");
    succeeds(&folder, &["run", "my.toml", "--out", "own"]);
    let path = folder.join("own/experiment.json");
    let manifest = fs::read_to_string(&path).unwrap();
    let line = format!("  \"version\": \"{}\",\n", env!("CARGO_PKG_VERSION"));
    assert!(manifest.contains(&line), "{}", &manifest[..200]);
    succeeds(&folder, &["run", "my.toml", "--out", "whole"]);
    fs::write(&path, manifest.replace(&line, "  \"version\": \"0.0.9\",\n")).unwrap();
    let before = walk(&folder);
    let expected = "own: the folder holds the results of backsweep 0.0.9; expected";
    refuses(&folder, &["run", "my.toml", "--out", "own"], expected);
    refuses(&folder, &["merge", "whole", "own", "--out", "merged"], expected);
    assert_eq!(walk(&folder), before);
    // Parts of the same version can be merged.
    succeeds(&folder, &["merge", "own", "--out", "merged"]);
}

#[test]
fn no_report_is_left_next_to_rows_it_does_not_cover() {
    let folder = folder("stale");
    let written = || ["report.html", "summary.csv"].map(|name| folder.join("out/small").join(name).exists());
    succeeds(&folder, &["run", "my.toml"]);
    assert_eq!(written(), [true, true]);
    let rows = folder.join("out/small/rows.csv");
    let all = fs::read_to_string(&rows).unwrap();
    let kept: Vec<&str> = all.lines().filter(|row| !row.contains("moore_atkeson")).collect();
    fs::write(&rows, kept.join("\n") + "\n").unwrap();
    succeeds(&folder, &["run", "my.toml", "--only", "small/moore_atkeson/1"]);
    assert_eq!(written(), [false, true], "one setting is still missing");
    succeeds(&folder, &["run", "my.toml"]);
    assert_eq!(written(), [true, true]);
    assert_eq!(fs::read_to_string(&rows).unwrap(), all);
}

#[test]
fn a_score_that_is_not_a_number_is_not_resumed_from() {
    let folder = folder("nan");
    succeeds(&folder, &["run", "my.toml", "--out", "own"]);
    let path = folder.join("own/rows.csv");
    let rows = fs::read_to_string(&path).unwrap();
    let second: Vec<&str> = rows.lines().nth(1).unwrap().split(',').collect();
    for bad in ["NaN", "inf", "-inf"] {
        fs::write(&path, rows.replacen(second[6], bad, 1)).unwrap();
        let expected = format!("rows.csv: line 2: score is '{bad}'; expected a finite number");
        refuses(&folder, &["run", "my.toml", "--out", "own"], &expected);
    }
}

#[test]
fn one_setting_can_be_run_alone_and_again() {
    let folder = folder("only");
    succeeds(&folder, &["run", "my.toml", "--out", "whole"]);
    succeeds(&folder, &["run", "my.toml", "--only", "small/moore_atkeson/3", "--out", "part"]);
    let whole = fs::read_to_string(folder.join("whole/rows.csv")).unwrap();
    let part = fs::read_to_string(folder.join("part/rows.csv")).unwrap();
    let expected: Vec<&str> =
        whole.lines().filter(|line| !line.starts_with("small") || line.contains("moore_atkeson,3")).collect();
    assert_eq!(part.lines().collect::<Vec<_>>(), expected);
    let before = bytes(&folder.join("whole"));
    succeeds(&folder, &["run", "my.toml", "--only", "moore_atkeson/3", "--out", "whole"]);
    assert_eq!(before, bytes(&folder.join("whole")));
    succeeds(&folder, &["run", "my.toml", "--out", "part"]);
    assert_eq!(before, bytes(&folder.join("part")));
}

#[test]
fn settings_are_listed() {
    let folder = folder("list");
    let all = succeeds(&folder, &["run", "--list"]);
    assert!(all.lines().any(|line| line == "fig3/fifteen/moore_atkeson/5"), "{all}");
    assert!(all.lines().any(|line| line == "fig1/circle2/td_decaying/0.02"), "{all}");
    let one = succeeds(&folder, &["run", "--list", "--only", "fig3/moore_atkeson/5"]);
    assert_eq!(one, "fig3/fifteen/moore_atkeson/5\n");
    assert_eq!(succeeds(&folder, &["run", "my.toml", "--list"]).lines().count(), 5);
    assert_eq!(all, succeeds(&folder, &["reproduce", "--list"]));
    assert!(!folder.join("out").exists());
}

#[test]
fn the_summary_is_printed_as_json() {
    let folder = folder("json");
    let printed = succeeds(&folder, &["run", "my.toml", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let settings = summary.as_array().unwrap();
    assert_eq!(settings.len(), 5);
    let last = &settings[4];
    assert_eq!(last["method"], "value_iteration");
    assert!(last["cycles"].is_null());
    let first = &settings[0];
    assert_eq!((&first["experiment"], &first["task"]), (&"small".into(), &"corner".into()));
    assert_eq!((&first["cycles"], &first["runs"]), (&1.into(), &5.into()));
    assert!(first["mean"].as_f64().unwrap() < 0.0 && first["standard_error"].as_f64().unwrap() > 0.0);
}

/// The command ends with code 2 and one line that says this.
fn refuses(folder: &Path, arguments: &[&str], expected: &str) {
    let output = backsweep(folder, arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert!(error.contains(expected), "{arguments:?}: {error}");
    assert_eq!(error.lines().count(), 1, "{arguments:?}: {error}");
    assert!(output.stdout.is_empty());
}

#[test]
fn bad_input_gets_one_line_and_nothing_is_touched() {
    let folder = folder("refuse");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(EXPERIMENT.contains(from));
        EXPERIMENT.replace(from, to)
    };
    write("planner.toml", &changed("\"moore_atkeson\"", "\"more_atkeson\""));
    write("runs.toml", &changed("runs = 5", "runs = 0"));
    write("key.toml", &changed("episodes = 30", "episode = 30"));
    write("type.toml", &changed("episodes = 30", "episodes = \"many\""));
    write("law.toml", &changed("\"four\"", "\"five\""));
    write("intended.toml", &changed("intended = 0.8", "intended = 1.8"));
    write("cycles.toml", &changed("cycles = [1, 3]", "cycles = []"));
    write("zero.toml", &changed("cycles = [1, 3]", "cycles = [0]"));
    write("name.toml", &changed("name = \"small\"", "name = \"a/b\""));
    write("twice.toml", &changed("[1, 3]\n\n[[methods]]\nname", "[1, 1]\n\n[[methods]]\nname"));
    write("huge.toml", &changed("runs = 5", "runs = 99999999999999999999"));
    let long = "n".repeat(5000);
    write("long.toml", &changed("name = \"small\"", &format!("name = \"{long}\"")));
    write("long-task.toml", &changed("name = \"corner\"", &format!("name = \"{long}\"")));
    write("long-method.toml", &changed("name = \"value_iteration\"", &format!("name = \"{long}\"")));
    write("blanks.txt", "S....\n.##.. \n....G\n");
    write("blanks.toml", &changed("maze.txt", "blanks.txt"));
    write("all-blanks.txt", "S.... \n.##.. \n....G \n");
    write("all-blanks.toml", &changed("maze.txt", "all-blanks.txt"));
    write("no-maze.toml", &changed("maze.txt", "nowhere.txt"));
    write("no-goal.txt", "S..\n...\n");
    write("no-goal.toml", &changed("maze.txt", "no-goal.txt"));
    write("walled.txt", "S.#.\n..#G\n");
    write("walled.toml", &changed("maze.txt", "walled.txt"));
    fs::create_dir(folder.join("foreign")).unwrap();
    write("foreign/thesis.tex", "years of work");
    succeeds(&folder, &["run", "my.toml", "--out", "done"]);
    let names = || {
        let mut names: Vec<_> = walk(&folder);
        names.sort();
        names
    };
    let before = names();
    for (arguments, expected) in [
        (&["run", "missing.toml"][..], "missing.toml: no such file"),
        (&["run", "fig9"], "neither a file nor a built-in experiment"),
        (&["run"], "no experiment given"),
        (
            &["run", "planner.toml"],
            "no planner is called 'more_atkeson'; expected one of: reversed_full_backups",
        ),
        (&["run", "runs.toml"], "runs.toml: runs is 0"),
        (&["run", "my.toml", "--runs", "0"], "runs is 0"),
        (&["run", "my.toml", "--runs", "many"], "invalid value 'many' for '--runs <N>'"),
        (&["run", "key.toml"], "key.toml: line 8, column 1: unknown field `episode`"),
        (&["run", "type.toml"], "line 8, column 12"),
        (&["run", "law.toml"], "law is 'five'; expected 'fifteen' or 'four'"),
        (&["run", "intended.toml"], "intended is 1.8"),
        (&["run", "cycles.toml"], "cycles is an empty list"),
        (&["run", "zero.toml"], "cycles is 0"),
        (&["run", "name.toml"], "name is 'a/b'"),
        (&["run", "huge.toml"], "runs is 99999999999999999999; expected a whole number from 0 to 4294967295"),
        (&["run", "long.toml"], "name is 'nnnnnnnnnnnnnnnnnnnn…' with 5000 characters; expected at most 80"),
        (&["run", "long-task.toml"], "mazes.name is 'nnnnnnnnnnnnnnnnnnnn…' with 5000 characters"),
        (&["run", "long-method.toml"], "with 5000 characters; expected at most 80"),
        (&["run", "blanks.toml"], "blanks.txt: line 2, column 6: the row ends in blanks; remove them"),
        (&["run", "all-blanks.toml"], "all-blanks.txt: line 1, column 6: the row ends in blanks"),
        (&["run", "twice.toml"], "small/corner/moore_atkeson/1 occurs twice"),
        (&["run", "no-maze.toml"], "nowhere.txt: no such file"),
        (&["run", "no-goal.toml"], "no-goal.txt: lines 1 to 2: the maze has no goal"),
        (&["run", "walled.toml"], "walled.txt: line 1, column 1: no goal can be reached from this start"),
        (&["run", "my.toml", "--shard", "3/3"], "shard is '3/3'; expected i/n"),
        (&["run", "my.toml", "--only", "fig3"], "no setting matches 'fig3'"),
        (&["run", "--only", "fig9/x"], "no built-in setting matches 'fig9/x'"),
        (&["run", "my.toml", "--threads", "0"], "--threads is 0"),
        (
            &["run", "my.toml", "--seed", "9", "--out", "done"],
            "the folder holds the results of another experiment",
        ),
        (&["run", "fig3", "--out", "done"], "small (5 runs), seed 7; expected fig3 (100 runs), seed 1"),
        (
            &["run", "my.toml", "--out", "foreign"],
            "the folder is not empty and contains no backsweep results",
        ),
        (&["run", "my.toml", "--out", "maze.txt"], "this is a file, not a folder"),
        (&["merge", "foreign", "--out", "new"], "contains no backsweep results"),
        (&["merge", "nowhere", "--out", "new"], "contains no backsweep results"),
        (&["merge", "--out", "new"], "required arguments were not provided"),
        (&["reproduce", "--runs", "0"], "runs is 0"),
        (&["rum"], "unrecognized subcommand 'rum'"),
    ] {
        refuses(&folder, arguments, expected);
        assert_eq!(names(), before, "{arguments:?} touched something");
    }
}

#[test]
fn errors_in_experiment_files_name_the_field_what_was_found_and_what_is_expected() {
    let folder = folder("wrong-files");
    let whole = "expected a whole number from 0 to 4294967295";
    let or_list = format!("{whole}, or a list of such numbers in brackets");
    for (text, from, to, expected) in [
        (EXPERIMENT, "[1, 3]", "-5", &format!("line 19, column 10: cycles is -5; {or_list}")[..]),
        (EXPERIMENT, "[1, 3]", "1.5", &format!("cycles is 1.5; {or_list}")),
        (EXPERIMENT, "[1, 3]", "\"five\"", &format!("cycles is \"five\"; {or_list}")),
        (EXPERIMENT, "[1, 3]", "[\n1,\n-3]", &format!("line 21, column 1: cycles is -3; {whole}")),
        (EXPERIMENT, "runs = 5", "runs = 1.5", &format!("line 4, column 8: runs is 1.5; {whole}")),
        (
            EXPERIMENT,
            "runs = 5\n",
            "",
            "runs is missing; expected a line 'runs = …' in the part of the file above all",
        ),
        (
            EXPERIMENT,
            "planner = \"moore_atkeson\"",
            "",
            "planner is missing; expected a line 'planner = …' in this table",
        ),
        (EXPERIMENT, "seed = 7", "seed = -7", "seed is -7; expected a whole number, 0 or more"),
        (EXPERIMENT, "seed = 7", "seed = 7\nseed = 8", "line 6, column 1: seed occurs twice"),
        (EXPERIMENT, "\"small\"", "5", "name is 5; expected text in quotes"),
        (EXPERIMENT, "0.8", "\"0.8\"", "intended is \"0.8\"; expected a number"),
        (
            EXPERIMENT,
            "[[mazes]]",
            "[mazes]",
            "mazes is a table; expected a list of tables, each written [[mazes]]",
        ),
        (
            EXPERIMENT,
            "until = 1e-3",
            "until = -1",
            "method value_iteration: until is -1; expected a finite number above 0",
        ),
        (
            EXPERIMENT,
            "episodes = 30",
            "episodes = 30\ndiscount = 1.0",
            "until with learning.discount 1 may never end; expected a discount below 1",
        ),
        (EXPERIMENT, "until = 1e-3", "cycles = 1\nuntil = 1", "found both of 'cycles' and 'until'"),
        (EXPERIMENT, "until = 1e-3", "", "found neither of 'cycles' and 'until'"),
        (EXPERIMENT, "until = 1e-3", "until = 1\nfreeze = 1", "freeze is 1; expected true or false"),
        (
            EXPERIMENT,
            "cycles = [1, 3]",
            "cycles = 1\ncompare_with_sweeps = true",
            "compare_with_sweeps is true without 'until'",
        ),
        (EXPERIMENT, "maze.txt", ".", ".: a folder, not a file"),
        (
            EXPERIMENT,
            "[[mazes]]",
            "[theory]\nsteps = 1\nepisodes = 1\n[[mazes]]",
            "theory are for built-in experiments",
        ),
        (
            EXPERIMENT,
            "[[mazes]]",
            "[prediction]\nsteps = 1\ndiscount = 0.9\n[[mazes]]",
            "circles, predictors, cost",
        ),
        // Anything that would fill the memory is refused before any work starts.
        (
            EXPERIMENT,
            "runs = 5",
            "runs = 4000000000",
            "which makes 20000000000 runs of 5 settings; expected at most 1000000",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(folder.join("wrong.toml"), text.replacen(from, to, 1)).unwrap();
        refuses(&folder, &["run", "wrong.toml"], expected);
        assert!(!folder.join("out").exists(), "{to}");
    }
}

#[test]
fn an_agent_that_never_seeks_the_goal_is_truncated() {
    let folder = folder("endless");
    // Every step gives a reward, so the agent never leaves the start; without slips nothing ever moves it.
    let endless = EXPERIMENT
        .replace("intended = 0.8", "intended = 1.0\nstep_reward = 1.0")
        .replace("episodes = 30", "episodes = 2\nepsilon = 0.0")
        .replace("runs = 5", "runs = 1");
    fs::write(folder.join("my.toml"), &endless).unwrap();
    let output = backsweep(&folder, &["run", "my.toml", "--only", "small/moore_atkeson/1"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && stderr.contains("2 of 2 episodes were cut at max_steps"), "{stderr}");
    let rows = fs::read_to_string(folder.join("out/small/rows.csv")).unwrap();
    assert!(rows.lines().any(|row| row.ends_with(",2,2000000,2")), "{rows}");
    fs::write(folder.join("my.toml"), endless.replace("[learning]", "[learning]\nmax_steps = 50")).unwrap();
    succeeds(&folder, &["run", "my.toml", "--out", "short"]);
    let rows = fs::read_to_string(folder.join("short/rows.csv")).unwrap();
    assert_eq!(rows.lines().filter(|row| row.ends_with(",2,100,2")).count(), 5, "{rows}");
}

/// All files below a folder with their contents.
fn walk(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.push((path.clone(), Vec::new()));
            files.extend(walk(&path));
        } else {
            files.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    files
}
