//! Many clients, some slow, some disconnecting: none of them slows or breaks the engine.

use crate::common::{PATIENCE, Server, patient};
use backsweep_watch::scene::Scene;
use backsweep_watch::server::ClientLimits;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn fast() -> Scene {
    Scene { speed: None, ..Scene::default() }
}

/// Reads from a stream of frames until this many frames have been seen, or fails.
fn read_frames(stream: &mut TcpStream, n: usize) -> String {
    let mut text = String::new();
    let mut buffer = [0; 65536];
    while text.matches("event: frame").count() < n {
        let got = stream.read(&mut buffer).expect("the stream continues");
        assert!(got > 0, "the stream ended after {}", text.len());
        text.push_str(&String::from_utf8_lossy(&buffer[..got]));
    }
    text
}

/// Waits until the engine has taken this many more steps and shown it. Returns the steps per second, for the report.
fn runs_on(server: &Server, steps: u64) -> f64 {
    let (began, before) = (Instant::now(), server.engine.frame());
    loop {
        let now = server.engine.frame();
        let taken = now.agents[0].steps - before.agents[0].steps;
        if taken >= steps && now.number > before.number {
            return taken as f64 / began.elapsed().as_secs_f64();
        }
        assert!(began.elapsed() < PATIENCE, "{taken} of {steps} steps");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Never completes a request: says nothing, or begins a request and does not end it.
fn slow(server: &Server, i: usize) -> TcpStream {
    let mut stream = server.connect();
    // One that was cut already may fail.
    if !i.is_multiple_of(4) {
        let _ = stream.write_all(b"POST /api/order HTTP/1.1\r\nHost: 127.0.0.1");
    }
    stream
}

#[test]
fn a_thousand_slow_connections_do_not_keep_others_out() {
    let files = rlimit::increase_nofile_limit(4096).unwrap();
    assert!(files >= 2048, "this test needs 2048 open files and the system gives {files}: raise `ulimit -n`");
    // Their time does not run out here: others get in anyway.
    let server = Server::start(fast(), true, patient());
    let began = Instant::now();
    let mut all: Vec<TcpStream> = Vec::new();
    let mut longest = Duration::ZERO;
    for i in 0..1000 {
        all.push(slow(&server, i));
        if i % 100 == 99 {
            let asked = Instant::now();
            assert_eq!(server.get("/").status, 200, "after {i} slow connections");
            longest = longest.max(asked.elapsed());
        }
    }
    let mut viewer = server.watch();
    read_frames(&mut viewer, 10);
    runs_on(&server, 1000);
    println!("1,000 slow connections: {:?}; the page took {longest:?} at most", began.elapsed());
}

#[test]
fn slow_connections_are_cut() {
    let header = Duration::from_secs(2);
    let server = Server::start(fast(), true, ClientLimits { header, ..patient() });
    let began = Instant::now();
    let all: Vec<TcpStream> = (0..100).map(|i| slow(&server, i)).collect();
    // One byte at a time does not help: the whole of the headers must arrive in time.
    let mut dripper = server.connect();
    let mut n_dripped = 0;
    while dripper.write_all(b"G").is_ok() {
        n_dripped += 1;
        assert!(began.elapsed() < PATIENCE, "dripped {n_dripped} bytes");
        std::thread::sleep(Duration::from_millis(100));
    }
    for mut stream in all {
        let mut answer = Vec::new();
        // Closed or reset: either way it has been cut.
        match stream.read_to_end(&mut answer) {
            Ok(_) => assert!(!answer.starts_with(b"HTTP/1.1 200")),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
    }
    // A client that sends its request in time is answered; a busy machine may delay this client itself, but not always.
    assert!((0..20).any(|_| server.get("/").status == 200));
    println!(
        "100 slow connections were cut after {:?}, one that dripped after {n_dripped} bytes",
        began.elapsed()
    );
}

#[test]
fn twenty_viewers_all_see_frames_while_the_engine_runs_on() {
    let server = Server::start(fast(), true, patient());
    let alone = runs_on(&server, 50_000);
    let readers: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = server.watch();
            std::thread::spawn(move || {
                let began = Instant::now();
                let text = read_frames(&mut stream, 60);
                assert!(text.contains("event: scene"));
                (began.elapsed(), stream)
            })
        })
        .collect();
    let watched = runs_on(&server, 50_000);
    // None of them is dropped until all have seen their frames.
    let seen: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
    let longest = seen.iter().map(|(time, _)| *time).max().unwrap();
    println!("steps per second: {alone:.0} alone, {watched:.0} with 20 viewers; 60 frames took {longest:?}");
}

#[test]
fn viewers_that_stop_reading_or_disconnect_cost_nothing() {
    let write = Duration::from_secs(2);
    let server = Server::start(fast(), true, ClientLimits { write, ..patient() });
    let sleepers: Vec<TcpStream> = (0..20).map(|_| server.watch()).collect();
    for _ in 0..20 {
        drop(server.watch());
    }
    runs_on(&server, 1000);
    // Those that never read are cut once the buffers are full. There are 64 seats: 60 more viewers find room only when
    // those of the sleepers are free again.
    let began = Instant::now();
    for pause in 1.. {
        let mut viewers: Vec<TcpStream> = (0..60).map(|_| server.watch()).collect();
        let n_seated =
            viewers.iter_mut().filter_map(|viewer| first_line(viewer).contains("200").then_some(())).count();
        if n_seated == 60 {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{n_seated} of 60 viewers found a seat");
        drop(viewers);
        // Longer each time: a busy server must notice that these have vanished too.
        std::thread::sleep(Duration::from_secs(pause));
    }
    println!("viewers that do not read were cut after {:?}", began.elapsed());
    drop(sleepers);
}

fn first_line(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 64];
    let got = stream.read(&mut buffer).unwrap_or(0);
    String::from_utf8_lossy(&buffer[..got]).lines().next().unwrap_or("").to_owned()
}

#[test]
fn a_late_viewer_sees_the_latest_and_not_the_oldest_frame() {
    let server = Server::start(fast(), true, patient());
    let mut slow = server.watch();
    read_frames(&mut slow, 1);
    runs_on(&server, 20_000);
    let text = read_frames(&mut slow, 100);
    let numbers: Vec<u64> =
        text.split("\"number\":").skip(1).filter_map(|rest| rest.split(',').next()?.parse().ok()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "frames come in order");
}

/// Returns whether the server closes a connection within a time.
fn is_closed(stream: &mut TcpStream, within: Duration) -> bool {
    stream.set_read_timeout(Some(within)).unwrap();
    match stream.read(&mut [0; 16]) {
        Ok(n) => n == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn connections_are_capped_and_silent_ones_are_closed_first() {
    let limits = ClientLimits { connections: 10, ..patient() };
    let server = Server::start(fast(), true, limits);
    let mut silent: Vec<TcpStream> = (0..30).map(|_| server.connect()).collect();
    let is_cut = |stream: &mut TcpStream| is_closed(stream, PATIENCE);
    assert!(silent[..20].iter_mut().all(is_cut), "the oldest silent connections make room");
    // The last of those was closed for the last newcomer, so all of them have been handled.
    let glance = Duration::from_millis(50);
    assert!(!silent[20..].iter_mut().any(|stream| is_closed(stream, glance)), "as many as the cap stay");
    let mut viewers: Vec<TcpStream> = (0..10).map(|_| server.watch()).collect();
    for viewer in &mut viewers {
        read_frames(viewer, 1);
    }
    assert!(silent[20..].iter_mut().all(is_cut), "viewers took their places");
    assert!(is_cut(&mut server.connect()), "there is no room next to active clients");
    for viewer in &mut viewers {
        read_frames(viewer, 1);
    }
}

#[test]
fn an_order_that_does_not_arrive_is_cut() {
    let server = Server::start(fast(), true, patient());
    let request = server.order_request(r#"{"do":"pause"}"#);
    let began = Instant::now();
    let answer = server.send(&request.as_bytes()[..request.len() - 3]);
    assert_eq!(answer.status, 408, "{answer:?}");
    println!("an order that does not arrive was cut after {:?}", began.elapsed());
    assert!(server.engine.frame().running);
}
