//! `backsweep solve`, run as a user runs it.

use crate::common::{Folder, command, text};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    let close = |(f, e): (&f64, &f64)| f == e || (f - e).abs() <= 1e-6;
    assert!(found.iter().zip(expected).all(close), "found {found:?}, expected {expected:?}");
}

#[test]
fn probabilities_to_reach_a_label() {
    let folder = Folder::new("reach");
    assert_close(&folder.values("m.tra --reach goal"), &[0.45, 0.9, 0.0, 1.0]);
    assert_close(&folder.values("m.tra --reach goal --minimize"), &[0.0, 0.0, 0.0, 1.0]);
    assert_close(&folder.values("m.tra --reach trap --minimize"), &[0.0, 0.0, 1.0, 0.0]);
    assert_close(&folder.values("m.tra --reach trap"), &[1.0, 1.0, 1.0, 0.0]);
    assert_close(&folder.values("m.tra --reach goal --avoid middle"), &[0.0, 0.0, 0.0, 1.0]);
    assert_close(&folder.values("m.tra --reach goal --horizon 1"), &[0.0, 0.9, 0.0, 1.0]);
    assert_close(&folder.values("m.tra --reach goal --method sweeps"), &[0.45, 0.9, 0.0, 1.0]);
    let table = folder.solve("m.tra --reach goal --explain");
    assert!(
        table.starts_with("m.tra: 4 states, 6 choices, 8 arcs\nlargest probability of reaching 'goal'\n"),
        "{table}"
    );
    // Only the initial state is shown, with its action.
    assert!(
        table.lines().any(|line| line.starts_with("0 ") && line.contains("0.45 ") && line.ends_with("go")),
        "{table}"
    );
    assert!(!table.lines().any(|line| line.starts_with("1 ")), "{table}");
    assert!(table.contains("\nmethod: graph analysis"), "{table}");
    assert!(table.contains("peak memory"), "{table}");
}

#[test]
fn rewards_until_a_label_may_be_infinite() {
    let folder = Folder::new("total");
    let smallest = folder.values("walk.tra --reward cost --until done --minimize");
    assert_close(&smallest, &[3.0, 1.0, 0.0, f64::INFINITY]);
    let largest = folder.values("walk.tra --until done");
    assert_close(&largest, &[6.0, 1.0, 0.0, f64::INFINITY]);
    let table = folder.solve("walk.tra --reward cost --until done --minimize");
    let lost: Vec<&str> =
        table.lines().find(|line| line.starts_with("3 ")).unwrap().split_whitespace().collect();
    assert_eq!(lost[..4], ["3", "inf", "inf", "inf"]);
    assert!(table.contains("the value of 1 state is proven to be infinite"), "{table}");
    // Steps count in every model.
    let steps = folder.values("walk.tra --reward steps --until done --minimize");
    assert_close(&steps, &[2.0, 1.0, 0.0, f64::INFINITY]);
    assert_close(&folder.values("m.tra --reward steps --discount 0.5"), &[2.0; 4]);
    // Without a label, until the episode ends: here never, but the loops are free.
    assert_close(&folder.values("walk.tra --reward cost"), &[6.0, 1.0, 0.0, 0.0]);
    assert_eq!(folder.values("walk.tra --discount 1"), folder.values("walk.tra --reward cost"));
}

#[test]
fn discounted_values_and_policy_by_name() {
    let folder = Folder::new("discounted");
    // V(hall) = 0.5 + 0.45 V(hall) + 0.45 * 8.
    assert_close(&folder.values("t.csv --discount 0.9 --policy p.csv"), &[4.1 / 0.55, 8.0]);
    assert_eq!(folder.read("p.csv"), "state,action\nhall,go\nkitchen,cook\n");
    assert_close(&folder.values("t.csv --discount 0.9 --minimize --policy p.csv"), &[1.0, 8.0]);
    assert_eq!(folder.read("p.csv"), "state,action\nhall,sleep\nkitchen,cook\n");
    assert_close(&folder.values("t.csv --horizon 2 --discount 0.5"), &[0.5 + 0.5 * (4.0 + 0.25), 8.0]);
    assert_close(&folder.values("t.csv --horizon 2"), &[0.5 + 4.0 + 0.25, 8.0]);
    assert_close(&folder.values("t.csv --average"), &[0.1, 0.0]);
    for method in ["elimination", "outward", "simultaneous", "in-place", "krylov", "components"] {
        let found = folder.values(&format!("t.csv --discount 0.9 --method {method}"));
        assert_close(&found, &[4.1 / 0.55, 8.0]);
    }
}

#[test]
fn every_format_gives_the_same_values() {
    let folder = Folder::new("formats");
    let expected = folder.values("walk.tra --until done --minimize");
    for name in ["walk.umb", "walk.drn"] {
        assert!(folder.run(&format!("convert walk.tra {name}")).status.success());
        assert_close(&folder.values(&format!("{name} --until done --minimize")), &expected);
    }
    std::fs::rename(folder.0.join("walk.umb"), folder.0.join("walk.model")).unwrap();
    assert_close(&folder.values("walk.model --format umb --until done --minimize"), &expected);
    assert!(folder.error("walk.model --until done").contains("found extension 'model'"));
}

#[test]
fn a_saved_learner_is_a_model() {
    let folder = Folder::new("learner");
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("../backsweep/tests/golden/version-3.backsweep");
    std::fs::copy(saved, folder.0.join("agent.backsweep")).unwrap();
    let table = folder.solve("agent.backsweep --discount 0.95 --json --out r.json");
    assert!(table.contains("\nproven: ") && table.contains("\nZustand ü1 "), "{table}");
    // Names may contain anything, but no control characters reach a terminal.
    assert!(!table.chars().any(|c| c.is_control() && c != '\n'), "{table:?}");
    let done = folder.run("verify agent.backsweep r.json");
    assert!(done.status.success(), "{}", text(&done.stderr));
}

#[test]
fn json_passes_verify_and_a_changed_one_does_not() {
    let folder = Folder::new("json");
    for line in [
        "m.tra --reach goal",
        "m.tra --reach trap --avoid middle --minimize",
        "walk.tra --reward cost --until done --minimize",
        "walk.tra --reward steps --until done --minimize",
        "t.csv --discount 0.9",
        "t.csv --discount 0.9 --minimize --tolerance 1e-9",
        "m.tra --reach goal --horizon 2",
        "t.csv --horizon 3",
        "t.csv --average",
        "t.csv --discount 1 --minimize",
    ] {
        let model = line.split(' ').next().unwrap();
        // Either standard output is nothing but JSON, or the JSON goes to a file and the table is printed.
        folder.write("r.json", &folder.solve(&format!("{line} --json")));
        let done = folder.run(&format!("verify {model} r.json"));
        assert!(done.status.success(), "{line}: {}", text(&done.stderr));
        assert!(folder.solve(&format!("{line} --json --out r.json")).contains("\nproven: "));
        let done = folder.run(&format!("verify {model} r.json"));
        assert!(done.status.success(), "{line}: {}", text(&done.stderr));
        let json = folder.read("r.json");
        let (before, after) = json.split_once("\"upper\":[").unwrap();
        folder.write("r.json", &format!("{before}\"upper\":[1e6,{}", after.split_once(',').unwrap().1));
        assert_eq!(folder.run(&format!("verify {model} r.json")).status.code(), Some(2), "{line}");
    }
}

/// Rewards that are not numbers are refused with their place; the largest allowed are solved and printed as numbers.
#[test]
fn extreme_rewards_are_refused_or_printed() {
    let folder = Folder::new("extreme");
    let model = |reward: &str| {
        let head = "state,action,next_state,probability,reward,terminated";
        folder.write("e.csv", &format!("{head}\na,go,b,1,{reward},\nb,go,,1,-1e150,true\n"));
    };
    for (reward, expected) in [
        ("nan", "e.csv:2:10: found nan; expected a reward"),
        ("inf", "e.csv:2:10: found inf; expected a reward"),
        ("-inf", "e.csv:2:10: found -inf; expected a reward"),
        ("1e200", "is 1e200; expected a number between -1e150 and 1e150"),
    ] {
        model(reward);
        let message = folder.error("e.csv --discount 0.5");
        assert!(message.contains(expected), "{reward}: {message}");
    }
    model("1e150");
    let json = folder.solve("e.csv --discount 0.5 --tolerance 1e140 --json");
    assert!(!json.contains("inf") && !json.contains("NaN") && !json.contains("[null"), "{json}");
    let table = folder.solve("e.csv --discount 0.5 --tolerance 1e140");
    assert!(table.contains(" 5.000000000e149 ") && table.contains(" -1.000000000e150 "), "{table}");
}

#[test]
fn errors_are_one_line_that_helps() {
    let folder = Folder::new("errors");
    assert_eq!(
        folder.error("m.tra --reach gaol"),
        "backsweep: m.tra: no states are labeled 'gaol'; expected one of: goal, trap, middle, init"
    );
    let several = [
        ("m.tra", "no objective given; expected --discount G"),
        ("none.umb --reach goal", "none.umb: cannot open the file"),
        ("walk.tra --reward time --until done", "no rewards are called 'time'; expected one of: cost"),
        ("t.csv --reward time", "the model's only rewards have no name, so omit the name"),
        ("m.tra --discount 0.9", "m.tra: the model has no rewards"),
        ("t.csv --discount 1.5", "expected a number from 0 to 1"),
        ("t.csv --discount NaN", "expected a number from 0 to 1"),
        ("t.csv --discount -1", "expected a number from 0 to 1"),
        ("t.csv --discount 0.9 --tolerance 0", "expected a finite number above 0"),
        ("t.csv --discount 0.9 --tolerance inf", "expected a finite number above 0"),
        ("t.csv --discount 0.9 --time-limit soon", "expected a time such as 10s"),
        ("t.csv --discount 0.9 --time-limit 1e300h", "expected a time such as 10s"),
        ("t.csv --discount 0.9 --threads 0", "--threads"),
        ("t.csv --discount 0.9 --method magic", "unknown method \"magic\"; expected one of backward"),
        ("m.tra --reach goal --method krylov", "that one needs a discount"),
        ("m.tra --reach goal --method backwards", "expected elimination or sweeps"),
        ("m.tra --reach goal --discount 0.9", "cannot be used with"),
        ("m.tra --avoid goal", "--reach"),
        ("t.csv --discount 0.9 --out r.json", "--json"),
        ("t.csv --discount 0.9 --values no/such/folder.csv", "no/such/folder.csv: cannot write the file"),
        ("t.csv --discount 0.9 --changes c.csv", "c.csv: cannot read the file"),
        ("t.csv --discount 0.9 --watch --method krylov", "--watch"),
    ];
    for (line, expected) in several {
        let message = folder.error(line);
        assert!(message.starts_with("backsweep: ") && message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn a_time_limit_ends_with_proven_intervals() {
    let folder = Folder::new("limit");
    let slow = folder.slow();
    let table = folder.solve(&format!("{slow} --time-limit 300ms --values one.csv --threads 1"));
    assert!(
        table.contains("\nnot converged: the time limit was reached; every interval is proven"),
        "{table}"
    );
    // In the long run every state of a torus is as frequent as any other: 1 / 90,000 of the time, over 1e8 steps.
    let mean = 1e8 / 90_000.0;
    let csv = folder.read("one.csv");
    for line in csv.lines().skip(1).step_by(1000) {
        let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        assert!(numbers[2] <= mean + 20.0 && numbers[3] >= mean - 20.0, "{line}");
    }
    let done = folder.run(&format!("solve {slow} --time-limit 300ms --json"));
    assert!(done.status.success());
    assert!(text(&done.stderr).starts_with("backsweep: not converged: the time limit was reached"));
    assert!(text(&done.stdout).contains("\"converged\":false"));
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_ends_with_proven_intervals() {
    let folder = Folder::new("interrupt");
    let line = format!("solve {} --time-limit 100s", folder.slow());
    let began = Instant::now();
    // Reading the model takes a moment; Ctrl-C during it ends the command with a note.
    let mut pause = Duration::ZERO;
    let done = loop {
        let child = command(&folder.0, &line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Bit 1 of the mask of caught signals is SIGINT: the command listens.
        let listens = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
            u64::from_str_radix(mask, 16).unwrap() & 2 != 0
        };
        while !listens() {
            assert!(began.elapsed() < Duration::from_secs(60), "the command never installed its handler");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(pause);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let done = child.wait_with_output().unwrap();
        if done.status.code() != Some(130) {
            break done;
        }
        assert_eq!(text(&done.stderr), "backsweep: stopped by Ctrl-C while torus.tra was being read");
        assert_eq!(text(&done.stdout), "");
        pause = (2 * pause).max(Duration::from_millis(200));
    };
    assert!(pause > Duration::ZERO, "the first Ctrl-C came while the model was being read");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let table = text(&done.stdout);
    assert!(table.contains("\nnot converged: stopped by Ctrl-C; every interval is proven"), "{table}");
    assert!(began.elapsed() < Duration::from_secs(90));
}

/// Measures small cases only: the test checks that there are figures, not what they are.
#[test]
fn bench_solve_prints_a_table_and_json() {
    let folder = Folder::new("bench");
    let done = folder.run("bench --solve --cases maze50,corridor10k --runs 1");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let table = text(&done.stdout);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[2][..3], ["case", "states", "arcs"], "{table}");
    assert_eq!(rows[3][0], "maze50", "{table}");
    assert_eq!(rows[4][..2], ["corridor10k", "10000"], "{table}");
    assert!(
        rows[3][3].parse::<f64>().unwrap() > 0.0 && rows[3][4].parse::<f64>().unwrap() <= 1e-4,
        "{table}"
    );

    let done = folder.run("bench --solve --model t.csv --discount 0.9 --runs 2 --json");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let found: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let row = &found["rows"][0];
    assert_eq!((row["case"].as_str(), row["states"].as_u64()), (Some("t"), Some(2)), "{found}");
    assert!(
        row["cpu_seconds"].as_f64().unwrap() > 0.0 && found["streaming_gb_per_s"].as_f64().unwrap() > 0.0
    );
    for (line, expected) in [
        ("bench --solve --cases maze51", "found 'maze51'; expected some of layered1m"),
        ("bench --solve --side 5", "--side"),
        ("bench --cases maze50", "--solve"),
        ("bench --solve --model t.csv", "--discount"),
        ("bench --solve --model t.csv --discount 2", "the discount is 2; expected"),
    ] {
        let done = folder.run(line);
        assert_eq!(done.status.code(), Some(2), "{line}");
        assert!(text(&done.stderr).contains(expected), "{line}: {}", text(&done.stderr));
    }
}

#[test]
fn tables_have_labels_and_any_state_is_a_goal() {
    let folder = Folder::new("labels");
    folder.write(
        "l.csv",
        "state,action,next_state,probability,label\nhall,go,kitchen,0.5,init\nhall,go,attic,0.5,\nkitchen,go,exit,1,warm|light\n\
         attic,wait,attic,1,\nexit,,,,light\n",
    );
    assert_eq!(folder.values("l.csv --reach light")[0], 0.5);
    assert_eq!(folder.values("l.csv --reach exit")[0], 0.5);
    assert_eq!(folder.values("l.csv --reach attic --avoid warm")[0], 0.5);
    let message = folder.error("l.csv --reach lihgt");
    assert!(
        message.contains("no states are labeled 'lihgt'; expected one of: warm, light, init"),
        "{message}"
    );
    // Written and read again, they are the same.
    assert!(folder.run("convert l.csv again.csv").status.success());
    assert_eq!(folder.values("again.csv --reach light")[0], 0.5);
    assert!(folder.read("again.csv").ends_with("exit,,,,,,light\n"), "{}", folder.read("again.csv"));
}

#[test]
fn models_may_come_from_standard_input() {
    let folder = Folder::new("streams");
    let table = std::fs::File::open(folder.0.join("t.csv")).unwrap();
    let done = command(&folder.0, "solve - --discount 0.9 --values v.csv").stdin(table).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(folder.read("v.csv").starts_with("state,value,lower,upper\nhall,"), "{}", folder.read("v.csv"));
}

#[test]
fn questions_that_were_probably_not_meant_are_pointed_out() {
    let folder = Folder::new("caution");
    folder.write(
        "costs.csv",
        "state,action,next_state,probability,reward\na,go,goal,1,-1\na,wait,a,1,-1\ngoal,stay,goal,1,0\n",
    );
    let done = folder.run("solve costs.csv --until goal --reward steps");
    assert_eq!(text(&done.stderr), "");
    let done = folder.run("solve costs.csv --until goal");
    assert!(text(&done.stdout).contains("inf"));
    let note = text(&done.stderr);
    assert!(
        note.starts_with(
            "backsweep: note: a run that misses 'goal' forever counts as +inf, so 1 value is infinite"
        ),
        "{note}"
    );
    assert!(note.contains("--reward steps --until LABEL --minimize"), "{note}");
}

#[test]
fn messages_keep_terminals_safe_and_help() {
    let folder = Folder::new("messages");
    folder.write("evil.csv", "state,action,next_state,probability\na\u{1b}[31m,go,b,0.5\n");
    let message = folder.error("evil.csv --discount 0.9");
    assert!(message.contains("a\\u{1b}[31m") && !message.contains('\u{1b}'), "{message:?}");
    let message = folder.error("t.csv --discont 0.9");
    assert!(
        message.contains("'--discont'") && message.contains("similar argument exists: '--discount'"),
        "{message}"
    );
    let done = folder.run("solve t.csv --discount 0.9999 --tolerance 1e-15");
    let shown = text(&done.stdout);
    assert!(shown.contains("not converged: rounding keeps intervals from getting narrower than"), "{shown}");
}

#[test]
fn small_and_large_values_have_relative_tolerances() {
    let folder = Folder::new("relative");
    let header = "state,action,next_state,probability,reward,terminated\n";
    let costs = "a,go,a,0.99999,1e3,0\na,go,,0.00001,1e3,1\nb,go,a,1,1,0\n";
    folder.write("costs.csv", &format!("{header}{costs}"));
    let chances = "a,go,goal,0.000000003,0,0\na,go,b,0.1,0,0\na,go,trap,0.899999997,0,0\nb,go,goal,2e-8,0,0\nb,go,trap,0.99999998,0,0\n";
    folder.write("chances.csv", &format!("{header}{chances}"));
    let verified = |line: &str| {
        let shown = folder.solve(&format!("{line} --json --out r.json --values v.csv"));
        assert!(shown.contains("\nproven: every value is within"), "{line}: {shown}");
        let done = folder.run(&format!("verify {} r.json", line.split(' ').next().unwrap()));
        assert!(done.status.success(), "{line}: {}", text(&done.stderr));
        let bounds = folder.read("v.csv").lines().nth(1).unwrap().to_owned();
        let numbers: Vec<f64> = bounds.split(',').skip(1).map(|number| number.parse().unwrap()).collect();
        (numbers[0], (numbers[2] - numbers[1]) / numbers[0])
    };
    let (value, width) = verified("costs.csv --discount 1");
    assert!((value - 1e8).abs() < 1e2 && width <= 2e-9, "{value} {width}");
    let (_, width) = verified("costs.csv --discount 1 --relative 1e-6");
    assert!(width <= 2e-6, "{width}");
    let (value, width) = verified("chances.csv --reach goal --relative 1e-6");
    assert!((value / 5e-9 - 1.0).abs() < 1e-6 && width <= 2e-6, "{value} {width}");
    let (_, width) = verified("chances.csv --discount 0.9 --relative 1e-6 --reward steps");
    assert!(width <= 2e-6, "{width}");
    let shown = folder.solve("costs.csv --discount 1 --tolerance 1e-6");
    assert!(shown.contains("not converged: rounding keeps intervals"), "{shown}");
}

#[test]
fn a_policy_that_solve_wrote_is_judged() {
    let folder = Folder::new("evaluate");
    folder.solve("t.csv --discount 0.9 --policy p.csv");
    let shown = folder.solve("t.csv --discount 0.9 --evaluate p.csv --values v.csv");
    assert!(
        shown.contains("\nproven: no state loses more than ") && !shown.contains("where it loses"),
        "{shown}"
    );
    // Sleeping is worth 1, going 0.5 + 0.45 * 8 more.
    folder.write("lazy.csv", "state,action,probability\nhall,sleep,0.5\nhall,go,0.5\nkitchen,cook,\n");
    let shown = folder.solve("t.csv --discount 0.9 --evaluate lazy.csv --values v.csv");
    let half = (0.5 * 0.1 + 0.5 * (0.5 + 0.45 * 8.0)) / (1.0 - 0.45 - 0.225);
    assert_values(&folder, &[half, 8.0]);
    assert!(shown.contains("where it loses (estimated: visits times loss per visit):"), "{shown}");
    let json = text(&folder.run("solve t.csv --discount 0.9 --evaluate lazy.csv --json").stdout);
    assert!(json.contains("\"losses\":[{") && json.contains("\"states\":[\"hall\",\"kitchen\"]"), "{json}");
    for (policy, expected) in [
        (
            "state,action\nhall,go\n",
            "p.csv: found no action for state 'kitchen'; expected a row for every state",
        ),
        (
            "state,action\nhall,swim\nkitchen,cook\n",
            "p.csv:2: state 'hall' has no action 'swim'; expected one of: go, sleep",
        ),
        ("state,action\nattic,go\n", "p.csv:2: state 'attic' is not in the model"),
        ("state,action\nhall,go\nhall,sleep\nkitchen,cook\n", "p.csv:3: state 'hall' has two actions"),
        (
            "state,action,probability\nhall,go,0.5\nkitchen,cook,1\n",
            "state hall: the probabilities of its actions sum to 0.5",
        ),
        ("state,act\nhall,go\n", "p.csv:1: found columns 'state,act'; expected state,action"),
    ] {
        folder.write("p.csv", policy);
        let message = folder.error("t.csv --discount 0.9 --evaluate p.csv");
        assert!(message.contains(expected), "{message}");
    }
}

fn assert_values(folder: &Folder, expected: &[f64]) {
    let csv = folder.read("v.csv");
    let value = |line: &str| line.split(',').nth(1).unwrap().parse::<f64>().unwrap();
    let found: Vec<f64> = csv.lines().skip(1).map(value).collect();
    assert_close(&found, expected);
}

#[test]
fn one_state_is_answered_and_policies_are_taken_along() {
    let folder = Folder::new("at");
    let shown = folder.solve("t.csv --discount 0.9 --at kitchen --explain --policy p.h");
    assert!(shown.contains("kitchen      8  ") && !shown.contains("hall"), "{shown}");
    assert!(shown.contains("1 of 2 states can be reached"), "{shown}");
    let header = folder.read("p.h");
    assert!(
        header.contains("#define BACKSWEEP_N_STATES 2")
            && header.contains("    \"cook\"")
            && header.contains("    -1, 0\n"),
        "{header}"
    );
    let message = folder.error("t.csv --discount 0.9 --at attic");
    assert!(message.contains("state 'attic' is not in the model"), "{message}");
    folder.write("m.prism", "mdp");
    let message = folder.error("m.prism --reach goal");
    assert!(message.contains("storm --prism m.prism --buildfull --exportbuild model.drn"), "{message}");
}

/// A model that stays on disk: the same values and the same actions, and refusals that say what to do.
#[test]
fn a_model_on_disk() {
    let folder = Folder::new("stream");
    let discounted = "--discount 0.9 --minimize --values v.csv --policy p.csv";
    folder.solve(&format!("t.csv {discounted}"));
    let (values, policy) = (folder.read("v.csv"), folder.read("p.csv"));
    assert!(folder.run("convert t.csv t.umb --uncompressed").status.success());
    let table = folder.solve(&format!("t.umb {discounted} --stream --explain"));
    assert!(table.starts_with("t.umb: ") && table.contains(", on disk\n"), "{table}");
    assert!(table.contains("\nproven: every value is within 1e-6 of the truth"), "{table}");
    assert!(table.contains("passes of") && table.contains("streamed: "), "{table}");
    let numbers = |text: &str| -> Vec<f64> {
        text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect()
    };
    let streamed = folder.read("v.csv");
    // The file has one state more, the end, and no names.
    assert_close(&numbers(&streamed)[..2], &numbers(&values));
    let actions = |text: &str| -> Vec<String> {
        text.lines().skip(1).take(2).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(actions(&folder.read("p.csv")), actions(&policy));
    assert!(folder.run("convert t.csv packed.umb").status.success());
    for (arguments, words) in [
        ("packed.umb --discount 0.9 --stream", "--uncompressed"),
        ("t.csv --discount 0.9 --stream", "convert"),
        ("t.umb --discount 1 --stream", "below 1"),
        ("t.umb --discount 0.9 --stream --reward gold", "gold"),
        ("t.umb --reach goal --stream", "--discount"),
    ] {
        let refused = folder.run(&format!("solve {arguments}"));
        let message = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(words), "{arguments}: {message}");
    }
}

/// Runs everywhere: where a card is, it answers.
#[test]
fn a_device_proposes_and_the_processor_proves() {
    let folder = Folder::new("device");
    let expected = folder.values("m.tra --reward steps --discount 0.5");
    // Small models stay on the processor.
    assert_close(&folder.values("m.tra --reward steps --discount 0.5 --device auto"), &expected);
    let explained = folder.solve("m.tra --reward steps --discount 0.5 --device auto --explain");
    assert!(explained.contains("\n  cpu: the model is small\n"), "{explained}");
    // Other questions are the processor's.
    assert_close(&folder.values("m.tra --reach goal --device auto"), &[0.45, 0.9, 0.0, 1.0]);
    let refused = folder.error("m.tra --reach goal --device cuda");
    assert_eq!(refused, "backsweep: --device cuda needs --discount below 1; use --device auto or cpu");
    let refused = folder.error("m.tra --discount 0.5 --device tpu");
    assert!(refused.contains("expected cpu, cuda or auto"), "{refused}");
}
