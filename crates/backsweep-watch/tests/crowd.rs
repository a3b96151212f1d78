//! Many clients, slow ones and gone ones: none of them slows or breaks the engine.

mod common;

use backsweep_watch::scene::Scene;
use backsweep_watch::server::Limits;
use common::Server;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn fast() -> Scene {
    Scene { speed: None, ..Scene::default() }
}

/// Reads from a stream of frames until so many frames have been seen, or fails.
fn read_frames(stream: &mut TcpStream, n: usize) -> String {
    let mut text = String::new();
    let mut buffer = [0; 65536];
    while text.matches("event: frame").count() < n {
        let got = stream.read(&mut buffer).expect("the stream goes on");
        assert!(got > 0, "the stream ended after {}", text.len());
        text.push_str(&String::from_utf8_lossy(&buffer[..got]));
    }
    text
}

fn steps_within(server: &Server, time: Duration) -> f64 {
    let before = server.engine.frame();
    std::thread::sleep(time);
    let after = server.engine.frame();
    assert!(after.number > before.number);
    (after.agents[0].steps - before.agents[0].steps) as f64
}

#[test]
fn a_thousand_slow_connections_do_not_keep_others_out() {
    let files = rlimit::increase_nofile_limit(4096).unwrap();
    assert!(files >= 2048, "this test needs 2048 open files and the system gives {files}: raise `ulimit -n`");
    let header = Duration::from_secs(3);
    let server = Server::start(fast(), true, Limits { header, ..Limits::default() });
    let began = Instant::now();
    let mut slow: Vec<TcpStream> = Vec::new();
    for i in 0..1000 {
        let mut stream = server.connect();
        // Some say nothing; the others begin a request and never end it. Those that were cut already may fail.
        if i % 4 > 0 {
            let _ = stream.write_all(b"POST /api/order HTTP/1.1\r\nHost: 127.0.0.1");
        }
        slow.push(stream);
        if i % 100 == 99 {
            let asked = Instant::now();
            assert_eq!(server.get("/").status, 200, "after {i} slow connections");
            assert!(asked.elapsed() < Duration::from_secs(2), "{:?} after {i}", asked.elapsed());
        }
    }
    let mut viewer = server.watch();
    read_frames(&mut viewer, 10);
    assert!(steps_within(&server, Duration::from_millis(300)) > 1000.0);
    // One byte at a time does not help: the whole of the headers must arrive in time.
    let dripping = Instant::now();
    let mut dripper = server.connect();
    let mut n_dripped = 0;
    while dripping.elapsed() < Duration::from_secs(15) && dripper.write_all(b"G").is_ok() {
        n_dripped += 1;
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(dripping.elapsed() < Duration::from_secs(10), "dripped {n_dripped} bytes");
    for stream in &mut slow {
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut answer = Vec::new();
        // Closed or reset: either way it has been cut.
        match stream.read_to_end(&mut answer) {
            Ok(_) => assert!(!answer.starts_with(b"HTTP/1.1 200")),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
    }
    assert_eq!(server.get("/").status, 200);
    println!("1,000 slow connections, all cut after {:?}", began.elapsed());
}

#[test]
fn twenty_viewers_all_see_frames_while_the_engine_runs_on() {
    let server = Server::start(fast(), true, Limits::default());
    steps_within(&server, Duration::from_millis(300));
    let alone = steps_within(&server, Duration::from_secs(2));
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
    std::thread::sleep(Duration::from_millis(200));
    let watched = steps_within(&server, Duration::from_secs(2));
    for reader in readers {
        let (time, _stream) = reader.join().unwrap();
        assert!(time < Duration::from_secs(20), "60 frames took {time:?}");
    }
    println!("steps in 2 s: {alone} alone, {watched} with 20 viewers");
    // On a machine with few cores the viewers' own threads take their share.
    assert!(watched > 0.1 * alone, "{alone} steps alone, {watched} with 20 viewers");
}

#[test]
fn viewers_that_stop_reading_or_vanish_cost_nothing() {
    let write = Duration::from_secs(2);
    let server = Server::start(fast(), true, Limits { write, ..Limits::default() });
    let sleepers: Vec<TcpStream> = (0..20).map(|_| server.watch()).collect();
    for _ in 0..20 {
        drop(server.watch());
    }
    std::thread::sleep(Duration::from_millis(500));
    assert!(steps_within(&server, Duration::from_secs(1)) > 1000.0);
    // Those that never read are cut once the buffers are full. There are 64 seats: 60 more viewers find room only when
    // those of the sleepers are free again.
    let began = Instant::now();
    loop {
        let mut viewers: Vec<TcpStream> = (0..60).map(|_| server.watch()).collect();
        let n_seated =
            viewers.iter_mut().filter_map(|viewer| first_line(viewer).contains("200").then_some(())).count();
        if n_seated == 60 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(40), "{n_seated} of 60 viewers found a seat");
        drop(viewers);
        std::thread::sleep(Duration::from_secs(1));
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
    let server = Server::start(fast(), true, Limits::default());
    let mut slow = server.watch();
    read_frames(&mut slow, 1);
    std::thread::sleep(Duration::from_secs(1));
    let text = read_frames(&mut slow, 100);
    let numbers: Vec<u64> =
        text.split("\"number\":").skip(1).filter_map(|rest| rest.split(',').next()?.parse().ok()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "frames come in order");
}

/// Whether the server has closed a connection; waits a little for it.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    match stream.read(&mut [0; 16]) {
        Ok(n) => n == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn connections_are_capped_and_those_that_ask_nothing_go_first() {
    let limits = Limits { connections: 10, header: Duration::from_secs(600), ..Limits::default() };
    let server = Server::start(fast(), true, limits);
    let mut silent: Vec<TcpStream> = (0..30).map(|_| server.connect()).collect();
    assert!(silent[..20].iter_mut().all(is_closed), "the oldest silent connections make room");
    assert!(!silent[20..].iter_mut().any(is_closed), "as many as the cap stay");
    let mut viewers: Vec<TcpStream> = (0..10).map(|_| server.watch()).collect();
    for viewer in &mut viewers {
        read_frames(viewer, 1);
    }
    assert!(silent[20..].iter_mut().all(is_closed), "viewers took their places");
    assert!(is_closed(&mut server.connect()), "there is no room beside those that do ask");
    for viewer in &mut viewers {
        read_frames(viewer, 1);
    }
}

#[test]
fn an_order_that_does_not_arrive_is_cut() {
    let server = Server::start(fast(), true, Limits::default());
    let request = server.order_request(r#"{"do":"pause"}"#);
    let began = Instant::now();
    let answer = server.send(&request.as_bytes()[..request.len() - 3]);
    assert_eq!(answer.status, 408, "{answer:?}");
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    assert!(server.engine.frame().running);
}
