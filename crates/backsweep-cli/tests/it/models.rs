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
