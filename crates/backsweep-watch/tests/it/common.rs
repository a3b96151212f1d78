//! A real server on a free port, and a client that can send anything.
#![allow(dead_code)] // Each test file uses only a part of it.

use backsweep_watch::engine::frame::Frame;
use backsweep_watch::engine::{Engine, ViewerCommand};
use backsweep_watch::scene::Scene;
use backsweep_watch::server::{self, ClientLimits, Guard};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The time to wait for anything: machines may be slow and busy.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// ClientLimits for tests of other things: a client that a busy machine has stopped for a while is not cut.
pub fn patient() -> ClientLimits {
    ClientLimits { header: PATIENCE, write: PATIENCE, ..ClientLimits::default() }
}

/// A running server; it ends when dropped.
pub struct Server {
    pub address: SocketAddr,
    pub engine: Engine,
    pub token: String,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    pub fn start(scene: Scene, running: bool, limits: ClientLimits) -> Self {
        let (engine, engine_thread) = Engine::start(scene, running, None).unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (sender, receiver) = std::sync::mpsc::channel();
        let served = engine.clone();
        let server_thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = server::listen("127.0.0.1:0".parse().unwrap()).unwrap();
                let address = listener.local_addr().unwrap();
                let guard = Guard::new(address, vec!["lab.example".into()]).unwrap();
                sender.send((address, guard.token().to_owned())).unwrap();
                let stop = async {
                    let _ = stopped.await;
                };
                server::serve(listener, served, guard, limits, stop).await;
            });
        });
        let (address, token) = receiver.recv().unwrap();
        Self { address, engine, token, stop: Some(stop), threads: vec![engine_thread, server_thread] }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and reads the whole answer. The request must ask for the connection to be closed.
    pub fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that has refused already may close before all is written.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::read(&bytes)
    }

    /// An honest GET.
    pub fn get(&self, path: &str) -> Answer {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        self.send(request.as_bytes())
    }

    /// An honest command, as the page sends it.
    pub fn order(&self, body: &str) -> Answer {
        self.send(self.order_request(body).as_bytes())
    }

    pub fn order_request(&self, body: &str) -> String {
        format!(
            "POST /api/order HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nSec-Fetch-Site: same-origin\r\n\
             X-Backsweep-Token: {1}\r\nContent-Type: application/json\r\nContent-Length: {2}\r\n\
             Connection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )
    }

    /// Opens the stream of frames.
    pub fn watch(&self) -> TcpStream {
        let mut stream = self.connect();
        let request = format!("GET /api/frames HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        self.engine.end();
        for thread in self.threads.drain(..) {
            // A failed join after a failed test would hide the test's own message.
            let _ = thread.join();
        }
    }
}

/// An engine without a server; it ends when dropped.
pub struct Running {
    pub engine: Engine,
    thread: Option<JoinHandle<()>>,
    runtime: tokio::runtime::Runtime,
}

impl Running {
    pub fn start(scene: Scene, running: bool) -> Self {
        let (engine, thread) = Engine::start(scene, running, None).unwrap();
        Self::of(engine, thread)
    }

    pub fn of(engine: Engine, thread: JoinHandle<()>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { engine, thread: Some(thread), runtime }
    }

    pub fn send(&self, command: ViewerCommand) -> Arc<Frame> {
        let done = self.runtime.block_on(self.engine.send(command)).unwrap();
        self.wait(|frame| frame.number >= done.number && !frame.busy)
    }

    /// The first frame that satisfies a condition. Fails if the engine never gets there.
    pub fn wait(&self, holds: impl Fn(&Frame) -> bool) -> Arc<Frame> {
        let mut frames = self.engine.frames();
        let patience = Duration::from_secs(120);
        self.runtime.block_on(async {
            let found = tokio::time::timeout(patience, frames.wait_for(|frame| holds(frame))).await;
            found.expect("the condition was never met").expect("the engine runs").clone()
        })
    }

    pub fn cell(&self, cell: u32) -> serde_json::Value {
        self.runtime.block_on(self.engine.cell(cell)).unwrap()
    }

    pub fn refused(&self, command: ViewerCommand) -> String {
        self.runtime.block_on(self.engine.send(command)).unwrap_err().to_string()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.engine.end();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// The server's answer. Status 0: nothing, it closed the connection.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }
}
