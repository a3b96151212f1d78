//! `backsweep solve` with `--changes` and `--watch`, run as a user runs it.

use crate::common::{Folder, command, text};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

#[test]
fn changes_are_repaired_and_reported() {
    let folder = Folder::new("changes");
    folder.write(
        "c.csv",
        "state,action,next_state,probability,reward,terminated\nkitchen,cook,,1,-8,true\nhall,party,hall,1,0.2,false\n",
    );
    let table =
        folder.solve("t.csv --discount 0.9 --changes c.csv --tolerance 1e-10 --values v.csv --policy p.csv");
    let (before, after) = table.split_once("\nc.csv: ").unwrap();
    assert!(before.contains("7.454545454545453"), "{before}");
    // In a model of two states a solve costs less than small backups round its cycle.
    assert!(after.starts_with("2 changes, solved again in "), "{after}");
    let hall: Vec<&str> =
        after.lines().find(|line| line.starts_with("hall")).unwrap().split_whitespace().collect();
    assert_eq!(hall, ["hall", "7.454545455", "2", "go", "party"]);
    assert!(after.contains("; the policy changes in 1 state; proven within "), "{after}");
    assert_eq!(folder.read("p.csv"), "state,action\nhall,party\nkitchen,cook\n");
    assert_values(&folder, &[2.0, -8.0], 2.1e-10);
}

#[test]
fn a_change_that_reaches_few_states_is_repaired() {
    let folder = Folder::new("few");
    let line = |s: usize| format!("{s},go,{},1,{}\n", (s + 1) % 400, u8::from(s == 399));
    let rows: String = (0..400).map(line).collect();
    folder.write("ring.csv", &format!("state,action,next_state,probability,reward\n{rows}"));
    folder.write("c.csv", "state,action,reward\n200,go,1\n");
    let table = folder.solve("ring.csv --discount 0.9 --changes c.csv");
    assert!(table.contains("c.csv: 1 change, repaired in "), "{table}");
}

fn assert_values(folder: &Folder, expected: &[f64], width: f64) {
    let csv = folder.read("v.csv");
    assert_eq!(csv.lines().count(), expected.len() + 1, "{csv}");
    for (line, &expected) in csv.lines().skip(1).zip(expected) {
        let n: Vec<f64> = line.split(',').skip(1).map(|number| number.parse().unwrap()).collect();
        assert!(n[1] <= expected && expected <= n[2], "{line}: {expected}");
        assert!(n[1] == n[2] || n[2] - n[1] <= width, "{line}");
    }
}

/// Actions removed, with a new reward, or added again under the same name; for all objectives.
#[test]
fn actions_are_removed_and_added_for_every_objective() {
    let folder = Folder::new("remove");
    folder.write("c.csv", "action,state,remove\ngo,hall,true\n");
    folder.solve("t.csv --discount 0.9 --changes c.csv --values v.csv");
    assert_values(&folder, &[1.0, 8.0], 2e-6);
    folder.write(
        "c.csv",
        "state,action,next_state,reward,remove\nhall,go,,,1\nhall,sleep,,0.3,\nhall,go,kitchen,0,\n",
    );
    folder.solve("t.csv --discount 0.9 --changes c.csv --values v.csv --policy p.csv");
    assert_values(&folder, &[7.2, 8.0], 2e-6);
    assert_eq!(folder.read("p.csv"), "state,action\nhall,go\nkitchen,cook\n");
    // Reaching the goal: the trap becomes less likely.
    folder.write("c.csv", "state,action,next_state,prob\n0,go,1,0.75\n0,go,2,0.25\n");
    folder.solve("m.tra --reach goal --changes c.csv --values v.csv");
    assert_values(&folder, &[0.675, 0.9, 0.0, 1.0], 2e-6);
    // Costs until the end: the slow way gets slower, the expensive one cheaper, and a way out of the lost state appears.
    folder.write(
        "c.csv",
        "state,action,next_state,prob,reward\n0,slow,0,0.75,1\n0,slow,1,0.25,1\n0,dear,,,2.5\n3,lost,2,1,4\n",
    );
    let minimal = "walk.tra --reward cost --until done --minimize";
    folder.solve(&format!("{minimal} --changes c.csv --values v.csv --policy p.csv"));
    assert_values(&folder, &[3.5, 1.0, 0.0, 4.0], 2e-6);
    assert!(folder.read("p.csv").contains("0,dear\n"));
    // Each step counts 1, whatever reward a change sets; removing its only action leaves the state without any.
    folder.write("c.csv", "state,action,next_state,reward,remove\n1,on,0,7,\n0,dear,,,true\n1,leap,2,9,\n");
    folder.solve("walk.tra --reward steps --until done --minimize --changes c.csv --values v.csv");
    assert_values(&folder, &[3.0, 1.0, 0.0, f64::INFINITY], 2e-6);
    folder.write("c.csv", "state,action,remove\n1,on,true\n");
    folder.solve(&format!("{minimal} --changes c.csv --values v.csv"));
    assert_values(&folder, &[f64::INFINITY, f64::INFINITY, 0.0, f64::INFINITY], 2e-6);
    folder.write("c.csv", "state,action,next_state,reward\n2,end,2,5\n");
    folder.solve("walk.tra --reward cost --average --changes c.csv --values v.csv");
    assert_values(&folder, &[5.0, 5.0, 5.0, 0.0], 2e-6);
    folder.solve("walk.tra --reward cost --horizon 3 --changes c.csv --values v.csv");
    assert_values(&folder, &[11.0, 11.0, 15.0, 0.0], 2e-6);
}

#[test]
fn wrong_files_of_changes_are_refused() {
    let folder = Folder::new("wrong-changes");
    let header = "state,action,next_state,probability,reward,terminated,remove\n";
    for (rows, expected) in [
        (
            "attic,go,hall,1,0,,\n",
            "c.csv:2:1: state 'attic' is not in the model; expected one of its 2 states",
        ),
        ("hall,go,attic,1,0,,\n", "c.csv:2:9: state 'attic' is not in the model"),
        ("hall,go,hall,0.5,0,,\n", "c.csv:2:1: the probabilities of action 'go' sum to 0.5; expected 1"),
        (
            "hall,go,hall,0.5,0,,\nhall,sleep,hall,1,0,,\n",
            "c.csv:3:1: action 'go' from line 2 on is unfinished",
        ),
        (
            "hall,go,hall,0.5,0,,\nhall,go,kitchen,0.7,0,,\n",
            "c.csv:3:17: the probabilities of the action would sum to 1.2",
        ),
        ("hall,go,hall,nan,0,,\n", "c.csv:2:14: found 'nan'; expected a probability from 0 to 1"),
        ("hall,go,hall,1,inf,,\n", "c.csv:2:16: found 'inf'; expected a reward from -1e150 to 1e150"),
        ("hall,go,hall,1,0,maybe,\n", "found 'maybe'; expected true, false, 1 or 0"),
        ("hall,go,,1,0,,\n", "found nothing; expected a name: the row is not terminated"),
        ("hall,go,,,,,\n", "found nothing; expected a next state, a reward, or remove"),
        ("hall,fly,,,,,true\n", "c.csv:2:1: state 'hall' has no action 'fly'; expected one of: go, sleep"),
        (
            "hall,go,,,,,true\nhall,go,,,3,,\n",
            "c.csv:3:1: state 'hall' has no action 'go'; expected one of: sleep",
        ),
        ("hall,go,hall,1,0,,true\n", "found outcomes in a row that removes its action"),
        (
            "hall,go,hall,0.5,0,,\nhall,go,kitchen,0.5,,,\n",
            "expected a reward in every row of an action, or in none",
        ),
        ("hall,go\n", "c.csv:2:1: found 2 fields; expected 7 as in the first line"),
        (",go,hall,1,0,,\n", "c.csv:2:1: found nothing; expected a name"),
        ("", "c.csv: found no changes; expected at least one row"),
    ] {
        folder.write("c.csv", &format!("{header}{rows}"));
        let done = folder.run("solve t.csv --discount 0.9 --changes c.csv --values none.csv");
        let message = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{rows}");
        assert!(message.starts_with("backsweep: ") && message.contains(expected), "{rows}{message}");
        assert!(!folder.0.join("none.csv").exists(), "{rows}");
    }
    for (header, expected) in [
        ("state,next_state\n", "c.csv:1:1: found no column 'action'"),
        ("state,action,chance\n", "c.csv:1:1: found column 'chance'; expected some of state,action"),
    ] {
        folder.write("c.csv", header);
        assert!(folder.error("t.csv --discount 0.9 --changes c.csv").contains(expected));
    }
}

/// A watching command whose output is read line by line.
struct Watching {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Watching {
    fn new(folder: &Folder, line: &str) -> Self {
        let mut child = command(&folder.0, line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, lines }
    }

    /// The next line that contains this text. Even a slow machine takes less than a minute.
    fn line(&self, wanted: &str) -> String {
        let end = Instant::now() + Duration::from_secs(60);
        let mut seen = String::new();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(wanted) => return line,
                Ok(line) => seen += &(line + "\n"),
                Err(_) => panic!("no line with {wanted:?} in:\n{seen}"),
            }
        }
    }

    fn say(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Closes standard input; returns the exit code and the text on standard error.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let done = self.child.wait_with_output().unwrap();
        (done.status.code(), text(&done.stderr))
    }
}

#[test]
fn standard_input_is_followed_and_wrong_lines_lose_nothing() {
    let folder = Folder::new("watch-lines");
    let mut watching =
        Watching::new(&folder, "solve t.csv --discount 0.9 --watch --values v.csv --policy p.csv");
    watching.line("proven: every value");
    watching.say("state,action,next_state,probability,reward\nkitchen,cook,hall,0.5,1\n");
    // Half of an action is not a change yet, and a faulty line leaves that half as it is.
    watching.say("kitchen,cook,attic,0.5,1\nkitchen,cook,kitchen,0.5,1\n");
    watching.line("1 change, solved again in ");
    let hall = watching.line("hall");
    assert!(hall.contains(" 7.25") && hall.contains("go"), "{hall}");
    watching.say("hall,sleep,,,4\n");
    assert!(watching.line("1 change, ").contains("the policy changes in 1 state; proven within"));
    assert!(watching.line("hall").contains("40"));
    watching.say("hall,swim,,,4\nhall,go,hall,0.25,4\n");
    let (code, message) = watching.end();
    assert_eq!(code, Some(2), "{message}");
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(
        lines,
        [
            "backsweep: standard input:3:14: state 'attic' is not in the model; expected one of its 2 states",
            "backsweep: standard input:6:1: state 'hall' has no action 'swim'; expected one of: go, sleep",
            "backsweep: standard input:7:1: the probabilities of action 'go' sum to 0.25; expected 1; its rows were dropped",
            "backsweep: 3 changes were refused; the others were applied",
        ]
    );
    assert_eq!(folder.read("p.csv"), "state,action\nhall,sleep\nkitchen,cook\n");
    assert_values(&folder, &[40.0, 19.0 / 0.55], 2e-6);
}

#[test]
fn a_file_is_followed_when_it_grows_and_when_it_is_rewritten() {
    let folder = Folder::new("watch-file");
    let watching = Watching::new(
        &folder,
        "solve m.tra --reach goal --watch=c.csv --json --values v.csv --tolerance 1e-9",
    );
    let first: serde_json::Value = serde_json::from_str(&watching.line("states")).unwrap();
    assert!((first["states"][0]["value"].as_f64().unwrap() - 0.45).abs() < 1e-9, "{first}");
    let value = |line: String| {
        let found: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(found["converged"], true, "{line}");
        found["states"][0]["value"].as_f64().unwrap()
    };
    folder.write("c.csv", "state,action,next_state,probability\n0,go,1,0.75\n0,go,2,0.25\n");
    assert!((value(watching.line("\"changes\":1")) - 0.675).abs() < 1e-9);
    // Grown: only the new part is applied. The last line has no line break yet.
    let grown = folder.read("c.csv") + "1,on,3,1\n0,go,1,1";
    folder.write("c.csv", &grown);
    let mut last = value(watching.line("changes"));
    if (last - 0.75).abs() < 1e-9 {
        last = value(watching.line("changes"));
    }
    assert!((last - 1.0).abs() < 1e-9, "{last}");
    // Rewritten: all of it is applied, on top of the current model.
    folder.write("c.csv", "state,action,next_state,probability\n1,on,2,0.5\n1,on,3,0.5\n0,wait,3,1\n");
    assert!((value(watching.line("\"changes\":2")) - 1.0).abs() < 1e-9);
    assert_values(&folder, &[1.0, 1.0, 0.0, 1.0], 2e-9);
    folder.write("c.csv", "state,action,remove\n0,wait,true\n1,back,true\n");
    assert!((value(watching.line("\"changes\":2")) - 0.5).abs() < 1e-9);
    #[cfg(target_os = "linux")]
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&watching.child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    #[cfg(target_os = "linux")]
    assert_eq!(watching.end(), (Some(0), String::new()));
}
