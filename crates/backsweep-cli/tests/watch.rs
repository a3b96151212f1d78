//! The command `watch`, run as a user runs it.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn watch(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backsweep"));
    command.arg("watch").args(arguments).stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    watch(arguments).output().unwrap()
}

/// A path for a test's own file.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// One line on standard error, exit code 2, and this in it.
fn refused(arguments: &[&str], part: &str) -> String {
    let Output { status, stderr, stdout } = output(arguments);
    let line = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{arguments:?}: {line}");
    assert!(line.contains(part), "{arguments:?}: {line}");
    assert_eq!(line.lines().count(), 1, "{arguments:?}: {line}");
    assert!(stdout.is_empty());
    line
}

#[test]
fn a_port_in_use_is_reported_with_the_next_free_one() {
    let mut found = String::new();
    for _ in 0..20 {
        // A port whose follower is free, so that the answer is known; unless another program takes it just then.
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        if port == u16::MAX || TcpListener::bind(("127.0.0.1", port + 1)).is_err() {
            continue;
        }
        found = refused(&["--port", &port.to_string()], &format!("port {port} is in use; "));
        if found.contains(&format!("; {0} is free: --port {0}", port + 1)) {
            return;
        }
    }
    panic!("the next free port was never named: {found}");
}

#[test]
fn faulty_arguments_are_one_line() {
    let maze = scratch("faulty-maze.txt");
    std::fs::write(&maze, "S..\n.?G\n").unwrap();
    let maze = maze.to_str().unwrap();
    refused(&["--maze", maze], "faulty-maze.txt: line 2, column 2: found '?'");
    refused(&["--maze", maze, "--record", "never.png"], "line 2, column 2");
    refused(&["--maze", "no-such-file.txt"], "no-such-file.txt: cannot be read");
    refused(&["--planner", "guess"], "no planner is called 'guess'");
    refused(&["--race", "guess"], "no planner is called 'guess'");
    refused(&["--law", "six"], "law is 'six'; expected 'fifteen' or 'four'");
    refused(&["--discount", "1"], "discount is 1; expected 0 to 0.9999");
    refused(&["--epsilon", "nan"], "epsilon is NaN");
    refused(&["--after", "5"], "--after 5: the page goes on; expected --terminal or --record with it");
    refused(&["--speed", "warp"], "--speed warp: expected steps a second");
    refused(
        &["--record", "no/such/folder/out.png", "--after", "1"],
        "no/such/folder/out.png: cannot be written",
    );
}

#[test]
fn a_picture_is_written_without_a_browser() {
    let file = scratch("picture.png");
    let recorded = output(&["--record", file.to_str().unwrap(), "--after", "3", "--race", "value_iteration"]);
    assert!(recorded.status.success(), "{recorded:?}");
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 50_000, "{} bytes", bytes.len());
}

#[test]
fn output_that_is_no_terminal_gets_one_plain_picture() {
    let shown = output(&["--terminal", "--after", "20"]);
    assert!(shown.status.success(), "{shown:?}");
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(!text.contains('\x1b'), "no colours and no cursor movements where nobody sees them");
    assert!(text.contains("episode 20, ") && text.contains("optimum -45.2"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains('█')).count(), 23);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_server_cleanly() {
    let mut child = watch(&["--speed", "max"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/')).unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    std::net::TcpStream::connect(address).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.ends_with("Ended.\n"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_browser_is_opened_on_the_address_that_was_printed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch("desktop");
    std::fs::create_dir_all(&folder).unwrap();
    let (program, opened) = (folder.join("xdg-open"), folder.join("opened.txt"));
    let _ = std::fs::remove_file(&opened);
    std::fs::write(&program, format!("#!/bin/sh\necho \"$1\" > '{}'\n", opened.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut child = watch(&["--open", "--paused"])
        .env("PATH", path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut found = String::new();
    // Two minutes at the most, for a machine that is slow and busy.
    for _ in 0..1200 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        found = std::fs::read_to_string(&opened).unwrap_or_default();
        if found.ends_with('\n') {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(found, line);
}
