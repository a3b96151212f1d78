//! Connections: how many, and for how long. A client that sends or reads too slowly is disconnected; it never holds up others.

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep};

/// Limits on the number of clients, and on their slowness.
#[derive(Clone, Copy, Debug)]
pub struct ClientLimits {
    /// Connections at once.
    pub connections: usize,
    /// The time to send all headers of a request; an idle connection is closed after the same time.
    pub header: Duration,
    /// The time within which a client must read something.
    pub write: Duration,
}

impl Default for ClientLimits {
    /// 256 connections, 5 seconds to send a request, 10 seconds to read.
    fn default() -> Self {
        Self { connections: 256, header: Duration::from_secs(5), write: Duration::from_secs(10) }
    }
}

/// An open connection.
struct OpenConnection {
    task: AbortHandle,
    /// True if it has sent a complete request. Those that have not are closed first when there are too many.
    has_asked: Arc<AtomicBool>,
}

/// The open connections, oldest first.
#[derive(Clone, Default)]
struct Register(Arc<Mutex<BTreeMap<u64, OpenConnection>>>);

impl Register {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, OpenConnection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for one more by closing the oldest connection without a request. False if all have sent one.
    fn make_room(&self, limit: usize) -> bool {
        let mut open = self.lock();
        if open.len() < limit {
            return true;
        }
        let Some((&id, _)) = open.iter().find(|(_, one)| !one.has_asked.load(Ordering::Relaxed)) else {
            return false;
        };
        if let Some(one) = open.remove(&id) {
            one.task.abort();
        }
        true
    }
}

/// Removes a connection from the register when its task ends, however it ends.
struct Registered(Register, u64);

impl Drop for Registered {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

/// Accepts connections and serves them until `stop` is ready; then all of them end.
pub async fn serve(listener: TcpListener, app: Router, limits: ClientLimits, stop: impl Future<Output = ()>) {
    let register = Register::default();
    let mut stop = std::pin::pin!(stop);
    for id in 0.. {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let has_room = register.make_room(limits.connections);
        match accepted {
            Ok((stream, _)) if has_room => begin(&register, id, stream, app.clone(), limits),
            Ok(_) => {} // All places are taken by active clients: the new one is closed.
            // Out of file descriptors, most likely: wait for some to be closed instead of trying again at once.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    for one in register.lock().values() {
        one.task.abort();
    }
}

fn begin(register: &Register, id: u64, stream: TcpStream, app: Router, limits: ClientLimits) {
    let has_asked = Arc::new(AtomicBool::new(false));
    let asked = has_asked.clone();
    let _ = stream.set_nodelay(true);
    // The lock is held until the entry is added, so that the task cannot end before that.
    let mut open = register.lock();
    let registered = Registered(register.clone(), id);
    let task = tokio::spawn(async move {
        let _registered = registered;
        let service = tower_service(app, asked);
        let io = TokioIo::new(Impatient::new(stream, limits.write));
        // Errors end the connection; nobody is left to tell.
        let _ = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header)
            .max_buf_size(64 * 1024)
            .max_headers(64)
            .serve_connection(io, service)
            .await;
    });
    open.insert(id, OpenConnection { task: task.abort_handle(), has_asked });
}

fn tower_service(
    app: Router,
    asked: Arc<AtomicBool>,
) -> impl hyper::service::Service<
    hyper::Request<Incoming>,
    Response = axum::response::Response,
    Error = std::convert::Infallible,
    Future: Send,
> {
    let app = TowerToHyperService::new(app);
    hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        asked.store(true, Ordering::Relaxed);
        hyper::service::Service::call(&app, request.map(axum::body::Body::new) as Request)
    })
}

/// A stream that fails when nothing could be written for some time: the other side has stopped reading.
struct Impatient {
    stream: TcpStream,
    patience: Duration,
    /// Runs while a write waits.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Impatient {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience, deadline: None }
    }

    fn watched<T>(
        &mut self,
        context: &mut Context<'_>,
        progress: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.deadline = None;
            return progress;
        }
        let patience = self.patience;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Impatient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watched(context, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.watched(context, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
