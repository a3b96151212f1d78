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

/// A path for a file of this test only.
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
        // A port whose successor is free, so that the answer is known, unless another program takes it in the meantime.
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

/// The port of a page that was started with these arguments.
fn port_of(arguments: &[&str]) -> u16 {
    let mut child = watch(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    line.trim().trim_end_matches('/').rsplit_once(':').unwrap().1.parse().unwrap()
}

#[test]
fn the_page_is_at_the_same_port_unless_that_is_in_use() {
    // Other tests start pages too.
    let finds = |free: bool| {
        (0..40).any(|_| {
            let taken = TcpListener::bind("127.0.0.1:8213");
            let _held = taken.ok().filter(|_| !free);
            let port = port_of(&["--paused"]);
            if free { port == 8213 } else { (8214..8245).contains(&port) }
        })
    };
    assert!(finds(true), "8213 is the page's port");
    assert!(finds(false), "the next free one takes its place");
    assert!(!(8213..8245).contains(&port_of(&["--paused", "--port", "0"])), "0 is any free port");
}

#[test]
fn faulty_arguments_are_one_line() {
    let maze = scratch("faulty-maze.txt");
    std::fs::write(&maze, "S..\n.?G\n").unwrap();
    let maze = maze.to_str().unwrap();
    refused(&["--maze", maze], "faulty-maze.txt: line 2, column 2: found '?'");
    refused(&["--maze", maze, "--record", "never.png"], "line 2, column 2");
    refused(&["--maze", "no-such-file.txt"], "no-such-file.txt: cannot be read");
    std::fs::write(maze, "S.G\nG = 1e308\n").unwrap();
    refused(
        &["--maze", maze],
        "faulty-maze.txt: line 1, column 3: the reward of this cell is 1e308; expected",
    );
    refused(&["--planner", "guess"], "no planner is called 'guess'");
    refused(&["--race", "guess"], "no planner is called 'guess'");
    refused(&["--law", "six"], "law is 'six'; expected 'fifteen' or 'four'");
    refused(&["--discount", "1"], "discount is 1; expected 0 to 0.9999");
    refused(&["--epsilon", "nan"], "epsilon is NaN");
    refused(
        &["--after", "5"],
        "--after 5: the page has no end; use --after with --terminal, --record or --export",
    );
    refused(
        &["--export", "race.html", "--race", "value_iteration", "--equal", "work"],
        "--equal: a race that is not live runs on equal steps",
    );
    refused(&["--speed", "warp"], "--speed warp: expected steps per second");
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
fn output_that_is_not_a_terminal_gets_one_plain_picture() {
    let shown = output(&["--terminal", "--after", "20"]);
    assert!(shown.status.success(), "{shown:?}");
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(!text.contains('\x1b'), "no colors or cursor movements outside a terminal");
    assert!(text.contains("episode 20, ") && text.contains("optimum -43.4"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains('█')).count(), 23);
}

#[test]
fn a_byte_order_mark_and_a_closed_cell_are_accepted() {
    let maze = scratch("marked-maze.txt");
    std::fs::write(&maze, "\u{feff}S..#.\n...#G\n..~.#\n~ = 5 end\n").unwrap();
    let arguments = ["--maze", maze.to_str().unwrap(), "--law", "four", "--terminal", "--after", "3"];
    let shown = output(&arguments);
    assert!(shown.status.success(), "{shown:?}");
}

#[cfg(unix)]
#[test]
fn signals_end_the_server_cleanly() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut child =
            watch(&["--speed", "max"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/')).unwrap();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        std::net::TcpStream::connect(address).unwrap();
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{signal}");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.ends_with("Ended.\n"), "{said}");
    }
}

#[test]
fn an_address_that_can_be_opened_is_printed() {
    let mut child = watch(&["--host", "0.0.0.0", "--paused"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("http://127.0.0.1:"), "{line}");
}

/// The command in a terminal of its own, of 80 columns and 24 lines.
#[cfg(target_os = "linux")]
mod terminal {
    use super::watch;
    use rustix::process::{Pid, Signal, kill_process};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{Winsize, tcsetwinsize};
    use std::fs::File;
    use std::io::Read;
    use std::process::Child;
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    struct Session {
        child: Child,
        shown: Arc<Mutex<String>>,
    }

    impl Session {
        fn start(term: &str, arguments: &[&str]) -> Self {
            let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
            grantpt(&master).unwrap();
            unlockpt(&master).unwrap();
            let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
            tcsetwinsize(&master, size).unwrap();
            let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
            let slave = File::options().read(true).write(true).open(name).unwrap();
            let mut command = watch(arguments);
            command.env("TERM", term).env_remove("NO_COLOR").env_remove("COLORTERM").stdout(slave);
            let child = command.spawn().unwrap();
            drop(command); // and with it the other end, so that reading ends with the child
            let shown = Arc::new(Mutex::new(String::new()));
            let (writer, mut master) = (shown.clone(), File::from(master));
            std::thread::spawn(move || {
                let mut buffer = [0; 65536];
                while let Ok(n @ 1..) = master.read(&mut buffer) {
                    writer.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..n]));
                }
            });
            Self { child, shown }
        }

        fn shown(&self) -> String {
            self.shown.lock().unwrap().clone()
        }

        fn signal(&self, signal: Signal) {
            kill_process(Pid::from_child(&self.child), signal).unwrap();
        }

        fn wait(&self, what: &str, holds: impl Fn(&str) -> bool) {
            let began = Instant::now();
            while !holds(&self.shown()) {
                assert!(began.elapsed() < Duration::from_secs(60), "{what}: {:?}", self.shown());
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    impl Drop for Session {
        fn drop(&mut self) {
            // It has ended already, unless the test failed.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    /// Returns true if the last cursor command shows the cursor.
    fn has_cursor(shown: &str) -> bool {
        shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l")
    }

    #[test]
    fn pictures_fit_and_the_cursor_comes_back_when_it_is_ended_or_suspended() {
        for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
            let mut session = Session::start("xterm", &["--terminal"]);
            session.wait("some pictures", |shown| shown.matches("\x1b[H").count() > 3);
            assert!(!has_cursor(&session.shown()));
            let all = session.shown();
            let pictures: Vec<&str> = all.split("\x1b[H").collect();
            for picture in &pictures[1..pictures.len() - 1] {
                assert!(picture.matches('\n').count() < 24, "{} line ends", picture.matches('\n').count());
                assert!(
                    picture.contains("Reversed full") || picture.contains("reversed full"),
                    "the first line"
                );
            }
            session.signal(Signal::TSTP);
            session.wait("the cursor while it is suspended", has_cursor);
            session.signal(Signal::CONT);
            session.wait("it is back", |shown| !has_cursor(shown));
            session.signal(signal);
            assert_eq!(session.child.wait().unwrap().code(), Some(0), "{signal:?}");
            session.wait("the cursor at the end", has_cursor);
            assert!(session.shown().rfind("\x1b[?1049l") > session.shown().rfind("\x1b[?1049h"));
        }
    }

    #[test]
    fn a_dumb_terminal_gets_no_escapes() {
        let mut session = Session::start("dumb", &["--terminal", "--after", "3"]);
        assert!(session.child.wait().unwrap().success());
        session.wait("a picture", |shown| shown.contains("episode 3"));
        assert!(!session.shown().contains('\x1b'), "{:?}", session.shown());
    }
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
    // At most two minutes, for a slow and busy machine.
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
