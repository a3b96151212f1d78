//! `backsweep convert` and `backsweep verify`, run as a user runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

#[test]
fn a_model_is_converted_between_formats() {
    let folder = folder("convert");
    std::fs::write(folder.join("m.tra"), "2 3 4\n0 0 0 0.5\n0 0 1 0.5\n0 1 1 1\n1 0 1 1\n").unwrap();
    std::fs::write(folder.join("m.lab"), "0=\"init\" 1=\"goal\"\n0: 0\n1: 1\n").unwrap();
    for (from, to) in [("m.tra", "m.umb"), ("m.umb", "m.drn"), ("m.drn", "again.tra")] {
        let done = backsweep(&folder, &["convert", from, to]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert_eq!(text(&done.stdout), format!("{to}: 2 states, 3 choices, 4 arcs"));
        assert_eq!(text(&done.stderr), "");
    }
    let again = std::fs::read_to_string(folder.join("again.tra")).unwrap();
    assert_eq!(again, "2 3 4\n0 0 0 0.5\n0 0 1 0.5\n0 1 1 1.0\n1 0 1 1.0\n");
    std::fs::write(folder.join("bad.tra"), "2 3 4\n0 0 0 half\n").unwrap();
    let done = backsweep(&folder, &["convert", "bad.tra", "bad.umb"]);
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(
        text(&done.stderr),
        "backsweep: bad.tra:2:7: found 'half'; expected a probability from 0 to 1"
    );
    let done = backsweep(&folder, &["convert", "m.tra", "m.json"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("found extension 'json'"), "{}", text(&done.stderr));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn true_results_pass_and_false_ones_do_not() {
    let folder = folder("verify");
    std::fs::write(folder.join("m.tra"), "3 3 5\n0 0 1 0.5\n0 0 2 0.25\n0 0 0 0.25\n1 0 1 1\n2 0 2 1\n")
        .unwrap();
    std::fs::write(folder.join("m.lab"), "0=\"init\" 1=\"goal\"\n0: 0\n1: 1\n").unwrap();
    let result = |model: &str, lower: f64, upper: f64| {
        let objective = r#"{"kind":"reach","goal":"goal","avoid":null}"#;
        format!(
            r#"{{"model":"{model}","objective":{objective},"direction":"maximize","tolerance":1e-6,"converged":true,
            "lower":[{lower},1,0],"upper":[{upper},1,0],"policy":[0,null,null]}}"#
        )
    };
    let verify = |text_of_result: &str| {
        std::fs::write(folder.join("r.json"), text_of_result).unwrap();
        backsweep(&folder, &["verify", "m.tra", "r.json"])
    };
    let done = verify(&result("none", 0.6, 0.7));
    assert_eq!(done.status.code(), Some(2));
    // The message for another model's result names the fingerprint.
    let done = verify(&result("none", 2.0 / 3.0, 2.0 / 3.0));
    let message = text(&done.stderr);
    let print = message.rsplit(' ').next().unwrap();
    assert_eq!(print.len(), 32, "{message}");
    let done = verify(&result(print, 2.0 / 3.0 - 1e-7, 2.0 / 3.0 + 1e-7));
    assert_eq!(
        text(&done.stdout),
        "r.json: proven: the bounds of 3 states and the policy",
        "{}",
        text(&done.stderr)
    );
    assert!(done.status.success());
    let done = verify(&result(print, 0.6667, 0.6667));
    assert_eq!(done.status.code(), Some(2));
    assert!(
        text(&done.stderr).starts_with("backsweep: r.json: wrong: state 0: the lower bound 0.6667 is above")
    );
    std::fs::remove_dir_all(folder).unwrap();
}

/// The gambler of Haddad and Monmege: from the middle of a line of `2 n + 1` states, half a chance per step to fall back.
fn gambler(n: usize) -> String {
    let mut text = format!(
        "@type: MDP\n@value_type: double\n@parameters\n\n@reward_models\n\n@nr_states\n{}\n@model\n",
        2 * n + 1
    );
    for state in 0..=2 * n {
        let label = if state == 2 * n { " goal" } else { "" };
        text += &format!("state {state}{label}\n\taction 0\n");
        text += &match state {
            0 => "\t\t0 : 1\n".to_owned(),
            state if state == 2 * n => format!("\t\t{state} : 1\n"),
            state if state == n => format!("\t\t{} : 0.5\n\t\t{} : 0.5\n", n - 1, n + 1),
            state if state < n => format!("\t\t{} : 0.5\n\t\t{n} : 0.5\n", state - 1),
            state => format!("\t\t{n} : 0.5\n\t\t{} : 0.5\n", state + 1),
        };
    }
    text
}

#[test]
fn whatever_solve_calls_proven_is_confirmed() {
    let folder = folder("confirmed");
    for n in [40, 100] {
        std::fs::write(folder.join(format!("g{n}.drn")), gambler(n)).unwrap();
    }
    let rows = "state,action,next_state,probability,reward,terminated\n";
    // Values of 2.3e9, far above what a tolerance of 1e-8 leaves digits for.
    let large =
        "a,go,b,0.5,1e5,0\na,go,a,0.5,1e5,0\nb,go,a,0.9999,3e4,0\nb,go,,0.0001,3e4,1\nb,quit,,1,5e8,1\n";
    // Values of 1e5: few digits are left below the tolerance.
    let medium = "a,go,b,0.3,7.1,0\na,go,a,0.7,3.3,0\nb,go,a,0.9999,1.7,0\nb,go,,0.0001,2.9,1\n";
    std::fs::write(folder.join("large.csv"), format!("{rows}{large}")).unwrap();
    std::fs::write(folder.join("medium.csv"), format!("{rows}{medium}")).unwrap();
    // Forward or back to the start with even chances; staying costs nothing.
    let chain: String = (0..40)
        .map(|i| {
            let on = if i == 39 { ",0.5,1,1".to_owned() } else { format!("{},0.5,0,0", i + 1) };
            format!("{i},go,{on}\n{i},go,0,0.5,0,0\n{i},stay,{i},1,0,0\n")
        })
        .collect();
    std::fs::write(folder.join("chain.csv"), format!("{rows}{chain}")).unwrap();
    for (model, question) in [
        ("g40.drn", &["--reach", "goal"][..]),
        ("g100.drn", &["--reach", "goal"]),
        ("large.csv", &["--discount", "1", "--tolerance", "1e-8"]),
        ("large.csv", &["--discount", "0.9999", "--tolerance", "1e-8"]),
        ("medium.csv", &["--discount", "1", "--tolerance", "1e-8"]),
        ("medium.csv", &["--discount", "0.9999", "--tolerance", "1e-8"]),
        ("chain.csv", &["--discount", "1"]),
    ] {
        let solve = [&["solve", model, "--json", "--out", "r.json"], question].concat();
        let done = backsweep(&folder, &solve);
        assert!(done.status.success(), "{model}: {}", text(&done.stderr));
        let done = backsweep(&folder, &["verify", model, "r.json"]);
        assert!(text(&done.stdout).starts_with("r.json: proven"), "{solve:?}: {}", text(&done.stderr));
    }
    let result = std::fs::read_to_string(folder.join("r.json")).unwrap();
    assert!(result.contains("\"lower\":[0.99999") && result.contains("\"upper\":[1.0000"), "{result}");
    std::fs::remove_dir_all(folder).unwrap();
}
