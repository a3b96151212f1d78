//! The page's server: local by default, and careful even then.
//!
//! ```text
//! connection ──limits──▶ guard (Host, Origin, token) ──▶ route ──▶ engine's latest frame, or a command to it
//! ```
//!
//! Nothing is read from disk: the page is compiled into the program.

mod connections;
mod guard;
mod packed;

pub use connections::ClientLimits;
pub use guard::{Guard, TOKEN_HEADER};
use packed::PackedFrames;

use crate::assets::{ASSETS, PAGE};
use crate::engine::frame::Frame;
use crate::engine::{Engine, ViewerCommand};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The most bytes in the body of a request: a maze of the largest size and its settings.
const MAX_BODY: usize = 64 * 1024;
/// The time in which a body must have arrived.
const BODY_TIME: Duration = Duration::from_secs(5);
/// The event that an idle stream sends.
const BEAT: &str = "event: beat\ndata:\n\n";
/// The most viewers at once.
const MAX_VIEWERS: usize = 64;
/// An idle stream sends a heartbeat at this interval. The page waits three times as long.
const HEARTBEAT: Duration = Duration::from_secs(2);

#[derive(Clone)]
struct Shared {
    engine: Engine,
    guard: Arc<Guard>,
    viewers: Arc<Semaphore>,
    packed: Arc<PackedFrames>,
}

/// Listens on an address; port 0 means any free port. Call it inside the runtime that will serve.
///
/// # Errors
/// If the system refuses.
pub fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // On Windows this would let two servers share a port; elsewhere it lets a server restart at once.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Frames buffered by the system for a slow viewer are outdated on arrival, so keep the buffer small.
    socket.set_send_buffer_size(64 * 1024)?;
    socket.bind(address)?;
    socket.listen(1024)
}

/// Serves the page until `stop` is ready.
pub async fn serve(
    listener: TcpListener,
    engine: Engine,
    guard: Arc<Guard>,
    limits: ClientLimits,
    stop: impl Future<Output = ()>,
) {
    connections::serve(listener, router(engine, guard), limits, stop).await;
}

fn router(engine: Engine, guard: Arc<Guard>) -> Router {
    let shared = Shared {
        engine,
        guard: guard.clone(),
        viewers: Arc::new(Semaphore::new(MAX_VIEWERS)),
        packed: Arc::default(),
    };
    let mut router = Router::new()
        .route("/", get(page))
        .route("/api/about", get(about))
        .route("/api/tour", get(tour))
        .route("/api/frames", get(frames))
        .route("/api/cell/{cell}", get(cell))
        .route("/api/values", get(values))
        .route("/api/order", post(command));
    for &(path, kind, text) in ASSETS {
        router = router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }));
    }
    router
        .with_state(shared)
        .fallback(|| async { (StatusCode::NOT_FOUND, "not found\n") })
        .layer(axum::middleware::from_fn_with_state(guard, guard::protect))
}

async fn page(State(shared): State<Shared>, request: Request) -> impl IntoResponse {
    let arrival = if guard::is_typed(request.headers()) { "typed" } else { "linked" };
    // Token and session are hexadecimal, so nothing needs escaping.
    let page = PAGE.replace("{token}", shared.guard.token()).replace("{session}", shared.guard.session());
    axum::response::Html(page.replace("{arrival}", arrival))
}

/// Which server this is, and the available choices.
async fn about(State(shared): State<Shared>) -> impl IntoResponse {
    let mut about = backsweep_page::about::about();
    about["session"] = shared.guard.session().into();
    about["max_viewers"] = MAX_VIEWERS.into();
    about["free_seats"] = shared.viewers.available_permits().into();
    axum::Json(about)
}

/// The recordings of the guided tour.
async fn tour() -> Response {
    match crate::tour::recordings() {
        Ok(json) => axum::Json(json).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

async fn cell(State(shared): State<Shared>, Path(cell): Path<u32>) -> Response {
    match shared.engine.cell(cell).await {
        Some(json) => axum::Json(json).into_response(),
        None => (StatusCode::NOT_FOUND, "no such cell\n").into_response(),
    }
}

async fn values(State(shared): State<Shared>) -> impl IntoResponse {
    axum::Json(shared.engine.frame().values_json())
}

/// A stream of frames: the scene first, and again whenever it changed.
async fn frames(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let Ok(seat) = shared.viewers.clone().try_acquire_owned() else {
        let line = format!("{MAX_VIEWERS} viewers are watching, which is the limit; close one and reload\n");
        return (StatusCode::SERVICE_UNAVAILABLE, line).into_response();
    };
    let mut frames = shared.engine.frames();
    frames.mark_changed();
    let packed = packed::is_accepted(&headers).then(|| shared.packed.clone());
    let is_packed = packed.is_some();
    let viewer = Viewer {
        frames,
        session: shared.guard.session().to_owned(),
        revision: 0,
        packed,
        is_first: true,
        _seat: seat,
    };
    let events = futures_util::stream::unfold(viewer, |mut viewer| async move {
        viewer.next().await.map(|event| (Ok::<_, std::convert::Infallible>(event), viewer))
    });
    let mut response = Response::new(Body::from_stream(events));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    if is_packed {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

struct Viewer {
    frames: watch::Receiver<Arc<Frame>>,
    session: String,
    /// The scene that the viewer knows.
    revision: u64,
    /// The compressed frames, if the viewer takes them, and whether nothing has been sent.
    packed: Option<Arc<PackedFrames>>,
    is_first: bool,
    _seat: OwnedSemaphorePermit,
}

impl Viewer {
    /// The next event; `None` if the engine has ended. A viewer that was busy with the last one gets the latest.
    async fn next(&mut self) -> Option<Bytes> {
        match tokio::time::timeout(HEARTBEAT, self.frames.changed()).await {
            Err(_) => {
                return Some(self.part(|packed| packed.map_or(BEAT.into(), |_| packed::pack(BEAT).into())));
            }
            Ok(changed) => changed.ok()?,
        }
        let frame = self.frames.borrow_and_update().clone();
        let mut scene = String::new();
        if frame.revision != self.revision {
            self.revision = frame.revision;
            scene = format!("event: scene\ndata: {}\n\n", frame.scene_json(&self.session));
        }
        let text = || format!("event: frame\ndata: {}\n\n", frame.text());
        Some(self.part(|packed| match packed {
            None => (scene + &text()).into(),
            Some(frames) => [packed::pack(&scene), frames.of(frame.number, text)].concat().into(),
        }))
    }

    /// The next part of the body. A compressed one begins with a header.
    fn part(&mut self, events: impl FnOnce(Option<&PackedFrames>) -> Bytes) -> Bytes {
        let events = events(self.packed.as_deref());
        let is_headed = std::mem::take(&mut self.is_first) && self.packed.is_some();
        if is_headed { [&packed::HEADER[..], &events].concat().into() } else { events }
    }
}

async fn command(State(shared): State<Shared>, request: Request) -> Response {
    let refuse =
        |status: StatusCode, line: String| (status, axum::Json(json!({ "error": line }))).into_response();
    let body = match tokio::time::timeout(BODY_TIME, to_bytes(request.into_body(), MAX_BODY)).await {
        Err(_) => {
            return refuse(
                StatusCode::REQUEST_TIMEOUT,
                "the command took too long to arrive; send it again".into(),
            );
        }
        Ok(Err(_)) => {
            return refuse(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the command is too large or incomplete; expected at most {MAX_BODY} bytes"),
            );
        }
        Ok(Ok(body)) => body,
    };
    let command: ViewerCommand = match serde_json::from_slice(&body) {
        Ok(command) => command,
        Err(error) => return refuse(StatusCode::BAD_REQUEST, format!("invalid command: {error}")),
    };
    match shared.engine.send(command).await {
        Ok(done) => axum::Json(json!({ "number": done.number, "revision": done.revision })).into_response(),
        Err(error) => refuse(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
    }
}
