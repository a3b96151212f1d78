//! `backsweep count`, `counts` and `learn`, run as a user runs them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn backsweep(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backsweep")).current_dir(folder).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("backsweep-cli-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

const LOG: &str = "stay,t,ward,sofa,dose,outcome\n\
    a,1,er,3,0,\na,2,icu,7,1.5,survived\n\
    b,1,er,12,0,\nb,2,icu,9,0,\nb,3,icu,4,2.5,died\n";

const HOW: [&str; 10] = [
    "--case",
    "stay",
    "--order",
    "t",
    "--state",
    "ward,sofa:5|10",
    "--action",
    "dose:0q1",
    "--final",
    "outcome=survived:1,died:0",
];

fn count(folder: &Path, log: &str, out: &str) -> Output {
    backsweep(folder, &[&["count", log], &HOW[..], &["--out", out]].concat())
}

#[test]
fn a_log_is_counted_merged_and_subtracted() {
    let folder = folder("count");
    let rows: Vec<&str> = LOG.split_inclusive('\n').collect();
    std::fs::write(folder.join("log.csv"), LOG).unwrap();
    std::fs::write(folder.join("a.csv"), [rows[0], rows[1], rows[2]].concat()).unwrap();
    std::fs::write(folder.join("b.csv"), [rows[0], rows[5], rows[3], rows[4]].concat()).unwrap();
    let done = count(&folder, "log.csv", "all.csv");
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(
        text(&done.stdout),
        "all.csv: 5 rows, 2 ended and 0 cut cases; 5 steps, 4 states, 2 actions, 5 counts, reward unit 1"
    );
    let all = std::fs::read_to_string(folder.join("all.csv")).unwrap();
    let expected = "# backsweep counts 1\n# reward_unit: 1\n# action: dose:>0\n# case: stay\n# end: last row\n\
        # final: outcome=survived:1,died:0\n# order: t\n# state: ward,sofa:5|10\n\
        state,action,next,fold,n,reward_sum\n\
        er|<5,,,0,1,0\ner|>=10,,,9,1,0\n\
        er|<5,<=0,icu|5..10,0,1,0\ner|>=10,<=0,icu|5..10,9,1,0\nicu|5..10,<=0,icu|<5,9,1,0\nicu|5..10,>0,,0,1,1\nicu|<5,>0,,9,1,0\n";
    assert_eq!(all, expected);
    for (log, out) in [("a.csv", "count-a.csv"), ("b.csv", "count-b.csv")] {
        let done = backsweep(&folder, &["count", log, "--bins-from", "all.csv", "--out", out]);
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    let done = backsweep(&folder, &["counts", "merge", "count-?.csv", "--out", "merged.csv"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(std::fs::read_to_string(folder.join("merged.csv")).unwrap(), all);
    let done = backsweep(&folder, &["counts", "subtract", "all.csv", "count-a.csv", "--out", "rest.csv"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("rest.csv"), read("count-b.csv"));
    let done = backsweep(&folder, &["counts", "subtract", "count-b.csv", "count-a.csv", "--out", "no.csv"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(
        text(&done.stderr).contains("the subtracted counts are not part of these"),
        "{}",
        text(&done.stderr)
    );
    assert!(!folder.join("no.csv").exists());
    let done = backsweep(&folder, &["counts", "show", "all.csv", "--rows", "1"]);
    let shown = text(&done.stdout);
    assert!(shown.contains("er|<5 · <=0 → icu|5..10: 1 in fold 0, mean reward 0\n… and 4 more"), "{shown}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn standard_input_and_guesses() {
    let folder = folder("stdin");
    let mut child = Command::new(env!("CARGO_BIN_EXE_backsweep"))
        .current_dir(&folder)
        .args(["count", "-", "--out", "c.csv", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = "episode,step,state,action,reward,next_state,terminated,truncated\n0,0,x,go,-1.0,y,0,0\n0,1,y,go,2.50,z,0,1\n";
    child.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    for guess in [
        "case = column 'episode'",
        "order = column 'step'",
        "next state = column 'next_state'",
        "end of a case = column 'terminated'",
    ] {
        assert!(text(&done.stderr).contains(guess), "{guess}: {}", text(&done.stderr));
    }
    let summary: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (summary["steps"].as_i64(), summary["cut"].as_i64(), summary["ended"].as_i64()),
        (Some(2), Some(1), Some(0))
    );
    assert_eq!(summary["reward_unit"], "0.1");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_dry_run_shows_steps_and_writes_nothing() {
    let folder = folder("dry");
    std::fs::write(folder.join("log.csv"), LOG).unwrap();
    let done = backsweep(&folder, &[&["count", "log.csv", "--dry-run"], &HOW[..]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    let shown = text(&done.stdout);
    assert!(shown.contains("state: ward,sofa:5|10"), "{shown}");
    assert!(shown.contains("case a: in 'er|<5', '<=0' leads to 'icu|5..10' with reward 0"), "{shown}");
    assert!(
        shown.contains("case a: in 'icu|5..10', '>0' leads to 'the end' with reward 0, and 1 at the end\n"),
        "{shown}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_refused_log_writes_nothing() {
    let folder = folder("refused");
    std::fs::write(folder.join("log.csv"), LOG.replace("icu,7,1.5", "icu,seven,1.5")).unwrap();
    std::fs::write(folder.join("kept.csv"), "as it was").unwrap();
    let done = count(&folder, "log.csv", "kept.csv");
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(
        text(&done.stderr),
        "backsweep: log.csv:3: column 'sofa' is 'seven'; expected a number, since the column is cut into bins. 1 of 5 rows is bad (20.00 %); fix the log, or pass --skip-bad 20% to skip bad rows and their cases"
    );
    assert_eq!(std::fs::read_to_string(folder.join("kept.csv")).unwrap(), "as it was");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    let done = backsweep(
        &folder,
        &[&["count", "log.csv", "--skip-bad", "20%", "--out", "some.csv"], &HOW[..]].concat(),
    );
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("note: 1 cases were skipped"), "{}", text(&done.stderr));
    let done = count(&folder, "nowhere/*.csv", "kept.csv");
    assert_eq!(text(&done.stderr), "backsweep: nowhere/*.csv: no file matches this pattern");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_probably_not_meant_is_told_or_refused() {
    let folder = folder("doubtful");
    std::fs::write(folder.join("log.csv"), LOG.replace("a,2,icu", "a,2,icu ")).unwrap();
    let warning = "2 states differ only in spaces or in how a number is written, such as 'icu |5..10' and 'icu|5..10'; each is \
                   counted separately";
    let done = count(&folder, "log.csv", "all.csv");
    assert!(done.status.success());
    assert_eq!(text(&done.stderr), format!("backsweep: warning: {warning}"));
    let strict = [&["count", "log.csv", "--strict", "--out", "strict.csv"], &HOW[..]].concat();
    let done = backsweep(&folder, &strict);
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(text(&done.stderr), format!("backsweep: {warning}; correct the log, or omit --strict"));
    assert!(!folder.join("strict.csv").exists());
    std::fs::remove_dir_all(folder).unwrap();
}

/// A log in which `treat` is better than `wait` in the ward, and both are the same in the hall.
fn ward_log(n_cases: u32) -> String {
    let mut log = "case,t,state,action,outcome\n".to_owned();
    for case in 0..n_cases {
        let draw = case.wrapping_mul(2_654_435_761) >> 16;
        let (first, second) =
            (["left", "right"][(draw & 1) as usize], ["wait", "treat"][(draw >> 1 & 1) as usize]);
        let survives = draw % 100 < if second == "treat" { 85 } else { 45 };
        log += &format!("p{case},1,hall,{first},\n");
        log += &format!("p{case},2,ward,{second},{}\n", if survives { "survived" } else { "died" });
    }
    log
}

const LEARN: [&str; 7] =
    ["--discount", "1", "--final", "outcome=survived:1,died:0", "--hold-out", "25%", "--json"];

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_policy_is_learned_from_logs_and_from_counts() {
    let folder = folder("learn");
    let log = ward_log(4_000);
    let (first, second) = log.split_at(log.match_indices('\n').nth(4_000).unwrap().0 + 1);
    std::fs::write(folder.join("log-1.csv"), first).unwrap();
    std::fs::write(folder.join("log-2.csv"), format!("case,t,state,action,outcome\n{second}")).unwrap();
    let done = backsweep(
        &folder,
        &[&["learn", "log-?.csv", "--out", "out", "--agent", "ward.backsweep"], &LEARN[..]].concat(),
    );
    assert!(done.status.success(), "{}", text(&done.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(summary["finding"], "supported by held-out cases");
    assert_eq!(
        summary["cases"]["training"].as_i64().unwrap() + summary["cases"]["held_out"].as_i64().unwrap(),
        4_000
    );
    assert_eq!(summary["settings"]["held_out_folds"], 4);
    let value = &summary["policy"]["weighted_importance_sampling"]["policy"];
    assert!(value["low"].as_f64().unwrap() < 0.85 && value["high"].as_f64().unwrap() > 0.85, "{value}");
    let policy = read(folder.join("out/policy.csv"));
    let lines: Vec<&str> = policy.lines().collect();
    assert_eq!(lines[0], "state,action,value,count,logged_action,supported,probability");
    assert!(lines[2].starts_with("ward,treat,0.8") && lines[2].ends_with(",true,1"), "{policy}");
    let report = read(folder.join("out/report.html"));
    assert!(report.contains("supported by held-out cases") && report.contains("log-1.csv, log-2.csv"));

    // The policy is fitted to counts of the training folds, and those are the same in a file of counts.
    let done = backsweep(&folder, &["count", "log-?.csv", "--final", LEARN[3], "--out", "all.counts.csv"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let done = backsweep(
        &folder,
        &["learn", "--counts", "all.counts.csv", "--discount", "1", "--hold-out", "25%", "--out", "counted"],
    );
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("\nFinding: not tested on whole cases.\n"), "{}", text(&done.stdout));
    assert!(
        text(&done.stdout).ends_with("wrote counted/policy.csv\nwrote counted/probabilities.csv\nwrote counted/changes.csv\nwrote counted/policy.json\nwrote counted/report.html"),
        "{}",
        text(&done.stdout)
    );
    assert_eq!(read(folder.join("counted/policy.csv")), policy);

    // Nothing is replaced without --overwrite; replaced files have the same bytes.
    let again = ["learn", "log-?.csv", "--out", "out"];
    let done = backsweep(&folder, &[&again, &LEARN[..]].concat());
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(
        text(&done.stderr),
        "backsweep: out: already holds policy.csv; choose another folder, or add --overwrite to replace it"
    );
    let done = backsweep(&folder, &[&again[..], &["--overwrite"], &LEARN].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!((read(folder.join("out/policy.csv")), read(folder.join("out/report.html"))), (policy, report));

    // Other commands can read the agent.
    let done = backsweep(&folder, &["solve", "ward.backsweep", "--discount", "0.9"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    std::fs::remove_dir_all(folder).unwrap();
}

/// The decisions of a policy are the log from which the next one is learned.
#[test]
fn a_policy_decides_for_rows_and_logs_its_answers() {
    let folder = folder("decide");
    std::fs::write(folder.join("log.csv"), ward_log(2_000)).unwrap();
    let done = backsweep(&folder, &[&["learn", "log.csv", "--out", "out"], &LEARN[..]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    let done = backsweep(&folder, &["decide", "out", "--state", "state=ward"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout), r#"{"action":"treat","propensity":1.0,"state":"ward"}"#);
    let done = backsweep(&folder, &["decide", "out/policy.json", "--state", "street"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("does not decide in state 'street'"), "{}", text(&done.stderr));
    let mut child = Command::new(env!("CARGO_BIN_EXE_backsweep"))
        .current_dir(&folder)
        .args(["decide", "out", "--log", "answers.jsonl", "--seed", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let rows: String = (0..40)
        .map(|i| format!("{{\"case\":{i},\"t\":0,\"state\":\"ward\",\"outcome\":\"survived\"}}\n"))
        .collect();
    child.stdin.take().unwrap().write_all(rows.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    assert_eq!(read(folder.join("answers.jsonl")), String::from_utf8(done.stdout).unwrap());
    let again = ["learn", "answers.jsonl", "--propensity", "propensity", "--min-count", "5"];
    let done = backsweep(&folder, &[&again, &LEARN[..]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    // Held out by time and by group.
    for by in [&["--hold-out", "last 20%"][..], &["--hold-out-by", "case"]] {
        let done = backsweep(&folder, &[&["learn", "log.csv"], &LEARN[..4], by].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    let done = backsweep(&folder, &["learn", "log.csv", "--hold-out-after", "2024-01-01"]);
    assert!(text(&done.stderr).contains("the order has no dates"), "{}", text(&done.stderr));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_log_that_is_refused_leaves_no_policy() {
    let folder = folder("learn-refused");
    let log = ward_log(200);
    std::fs::write(folder.join("log.csv"), &log).unwrap();
    std::fs::write(folder.join("bad.csv"), log.replace("p7,2,ward", "p7,soon,ward")).unwrap();
    std::fs::write(folder.join("cut.csv"), log.trim_end()).unwrap();
    std::fs::write(
        folder.join("loop.csv"),
        "case,state,action,reward\n".to_owned() + &"a,on,go,1\n".repeat(200),
    )
    .unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["bad.csv"], "bad.csv:17: column 't' is 'soon'; expected a number of up to 18 digits, or a date"),
        (&["cut.csv"], "cut.csv: the last line, 'p199,2,ward,"),
        (&["log.csv", "--action", "dose"], "log.csv: there is no column 'dose'; it has "),
        (&["log.csv", "--discount", "1.5"], "discount is 1.5; expected a number above 0 and at most 1"),
        (&["log.csv", "--pessimism", "nan"], "pessimism is NaN"),
        (&["loop.csv", "--discount", "1", "--cut"], "never ends"),
        (&["--counts", "log.csv"], "it does not say what a reward_sum of 1 is worth"),
    ];
    for (arguments, expected) in cases {
        let done =
            backsweep(&folder, &[&["learn"], arguments, &["--out", "out", "--agent", "agent"][..]].concat());
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
        assert!(done.stdout.is_empty(), "{arguments:?}: {}", text(&done.stdout));
    }
    let done = backsweep(&folder, &["learn", "log.csv", "--dry-run", "--out", "out", "--agent", "agent"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let first = "case p0: in 'hall', 'left' leads to 'ward' with reward 0";
    assert!(text(&done.stdout).contains(first), "{}", text(&done.stdout));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 4);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A log of events as such logs are: ties, times, attributes of cases.
fn event_log(n_cases: u32) -> String {
    let mut log = "case,time,activity,channel\n".to_owned();
    for case in 0..n_cases {
        let draw = case.wrapping_mul(2_654_435_761) >> 16;
        let (check, channel) =
            (["check", "skip"][(draw & 1) as usize], ["web", "desk"][(draw >> 1 & 1) as usize]);
        let (day, hours) = (1 + case % 28, if check == "check" { 6 + draw % 7 } else { 1 + draw % 5 });
        log += &format!("k{case},2024-03-{day:02}T08:00:00Z,register,{channel}\n");
        log += &format!("k{case},2024-03-{day:02}T08:00:00Z,{check},{channel}\n");
        log += &format!("k{case},2024-03-{day:02}T{:02}:00:00Z,decide,{channel}\n", 8 + hours);
    }
    log
}

#[test]
fn an_event_log_is_read_as_it_is() {
    let folder = folder("events");
    std::fs::write(folder.join("log.csv"), event_log(2_000)).unwrap();
    let done = backsweep(&folder, &["learn", "log.csv", "--reward", "-elapsed(hours)", "--out", "out"]);
    assert_eq!(done.status.code(), Some(2));
    let stderr = text(&done.stderr);
    assert!(stderr.contains("(guessed; --file-order keeps file order)"), "{stderr}");
    assert!(stderr.contains("log.csv:3: two rows of this case have the same order"), "{stderr}");
    assert!(stderr.contains("or take them in file order with --ties file)"), "{stderr}");
    let events = ["learn", "log.csv", "--reward", "-elapsed(hours)", "--ties", "file", "--discount", "1"];
    let more = ["--by", "channel", "--unit", "hours", "--out", "out"];
    let done = backsweep(&folder, &[&events[..], &more[..]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    let stdout = text(&done.stdout);
    assert!(stdout.contains("The policy would gain") && stdout.contains(" hours per case"), "{stdout}");
    assert!(stdout.contains("gain in web: ") && stdout.contains("gain in desk: "), "{stdout}");
    assert!(read(folder.join("out/policy.csv")).contains("\nregister,skip,"));
    let state = ["decide", "out", "--state", "prev(activity)=register"];
    assert!(text(&backsweep(&folder, &state).stdout).contains(r#""action":"skip""#));
    let done = backsweep(&folder, &[&events[..], &["--where", "channel = web", "--json"]].concat());
    let summary: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let n = |side: &str| summary["cases"][side].as_u64().unwrap();
    assert_eq!(n("training") + n("held_out"), event_log(2_000).matches("register,web").count() as u64);
    assert!(text(&done.stderr).contains("rows do not meet the conditions and were left out"));
    let wrong: [(&[&str], &str); 4] = [
        (&["--where", "channel"], "no comparison (=, !=, <, <=, >, >=) was found"),
        (&["--where", "channel = fax"], "no row of the log meets --where"),
        (&["--where", "colour = red"], "log.csv: there is no column 'colour'"),
        (&["--order", "time", "--file-order"], "cannot be used with"),
    ];
    for (arguments, expected) in wrong {
        let done = backsweep(&folder, &[&events[..], arguments].concat());
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(text(&done.stderr).contains(expected), "{arguments:?}: {}", text(&done.stderr));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_rows_of_a_query_are_a_log() {
    let folder = folder("sql");
    std::fs::write(folder.join("log.csv"), event_log(50)).unwrap();
    std::fs::write(folder.join("text.db"), "no database").unwrap();
    std::fs::write(folder.join("empty.duckdb"), b"........DUCK").unwrap();
    let ask = |db: &str, query: &str| {
        let how = ["--ties", "file", "--action", "activity", "--out", "counts.csv"];
        let _ = std::fs::remove_file(folder.join("counts.csv"));
        backsweep(&folder, &[&["count", "--sql", query, "--db", db], &how[..]].concat())
    };
    let refused = |db: &str, expected: &str| {
        let done = ask(db, "SELECT * FROM log");
        assert_eq!(done.status.code(), Some(2));
        assert!(text(&done.stderr).contains(expected), "{}", text(&done.stderr));
    };
    refused("nowhere.duckdb", "--db nowhere.duckdb: cannot read the file");
    refused("text.db", "expected a file of DuckDB or SQLite, or postgres://…");
    let done = backsweep(&folder, &["count", "--sql", "SELECT 1", "--out", "counts.csv"]);
    assert!(text(&done.stderr).contains("--db"), "{}", text(&done.stderr));
    // No program is found on an empty path.
    let done = Command::new(env!("CARGO_BIN_EXE_backsweep"))
        .current_dir(&folder)
        .env("PATH", "")
        .args(["count", "--sql", "SELECT 1", "--db", "empty.duckdb", "--out", "counts.csv"])
        .output()
        .unwrap();
    assert!(text(&done.stderr).contains("install the duckdb command"), "{}", text(&done.stderr));
    // Where sqlite3 is installed, its rows are those of the file.
    let import = ["log.db", ".mode csv", ".import log.csv log"];
    let Ok(made) = Command::new("sqlite3").current_dir(&folder).args(import).output() else { return };
    assert!(made.status.success(), "{}", text(&made.stderr));
    let done = ask("log.db", "SELECT * FROM log ORDER BY rowid;");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let of_query = read(folder.join("counts.csv"));
    let how = ["count", "log.csv", "--ties", "file", "--action", "activity", "--out", "counts.csv"];
    assert!(backsweep(&folder, &how).status.success());
    assert_eq!(of_query, read(folder.join("counts.csv")));
    assert!(text(&ask("log.db", "SELECT * FROM nowhere").stderr).contains("--sql: sqlite3 says: "));
    std::fs::remove_dir_all(folder).unwrap();
}
