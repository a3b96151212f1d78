//! Access control: every request passes here before anything else sees it.
//!
//! A page of another site can make a browser send requests to a server on this machine. Three checks keep it out: by `Host`
//! (a name that the attacker controls and has rebound to 127.0.0.1), by `Origin` and `Sec-Fetch-Site` (a request that
//! another page sent), and by a token that only the page of this server can read and that every changing call must carry.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;

/// The header that carries the token.
pub const TOKEN_HEADER: &str = "x-backsweep-token";

/// The policy for content: what answers may load, and where they may be shown: nothing from other origins, and in no frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The rules of one server.
#[derive(Debug)]
pub struct Guard {
    port: u16,
    /// True if the server listens on addresses other than loopback, so that its name may be any address.
    open: bool,
    /// Host names that the user has allowed.
    names: Vec<String>,
    token: String,
    session: String,
}

impl Guard {
    /// The rules of a server on this address, with a fresh token from the operating system.
    ///
    /// # Errors
    /// If the operating system does not provide random numbers.
    pub fn new(address: std::net::SocketAddr, names: Vec<String>) -> std::io::Result<Arc<Self>> {
        let mut secret = [0u8; 48];
        getrandom::fill(&mut secret).map_err(std::io::Error::other)?;
        let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (token, session) = (hexadecimal(&secret[..32]), hexadecimal(&secret[32..]));
        let names = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        Ok(Arc::new(Self { port: address.port(), open: !address.ip().is_loopback(), names, token, session }))
    }

    /// The token that every changing call must carry.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The name of this run of the server. It is not secret: a page compares it to notice that the server was restarted.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the reason why a request is refused, if it is.
    pub fn refusal(&self, request: &Request) -> Option<(StatusCode, &'static str)> {
        let headers = request.headers();
        if request.uri().authority().is_some() {
            return Some((StatusCode::BAD_REQUEST, "this server is not a proxy; expected a path"));
        }
        let Some(host) = single(headers, "host") else {
            return Some((StatusCode::BAD_REQUEST, "expected exactly one Host header"));
        };
        if !self.is_own_host(host) {
            return Some((
                StatusCode::MISDIRECTED_REQUEST,
                "unknown Host; open the printed address, or allow the name with --allow-host",
            ));
        }
        if headers.contains_key(header::ORIGIN) {
            let same = single(headers, "origin").and_then(|origin| origin.strip_prefix("http://"));
            if !same.is_some_and(|same| same.eq_ignore_ascii_case(host)) {
                return Some((StatusCode::FORBIDDEN, "requests from other origins are refused"));
            }
        }
        if headers.contains_key("sec-fetch-site") && !is_own_fetch(request) {
            return Some((StatusCode::FORBIDDEN, "requests from other sites are refused"));
        }
        match *request.method() {
            Method::GET | Method::HEAD => None,
            Method::POST => self.refusal_of_change(headers),
            _ => Some((StatusCode::METHOD_NOT_ALLOWED, "expected GET or POST")),
        }
    }

    fn refusal_of_change(&self, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        let token = single(headers, TOKEN_HEADER).unwrap_or("");
        if !same_secret(token.as_bytes(), self.token.as_bytes()) {
            return Some((StatusCode::FORBIDDEN, "the page's token is missing or wrong; reload the page"));
        }
        // Forms of other sites can send text/plain, but not this type.
        let kind = single(headers, "content-type").map(|kind| kind.split(';').next().unwrap_or("").trim());
        if kind != Some("application/json") {
            return Some((StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected content-type application/json"));
        }
        None
    }

    /// Returns whether a Host header names this server. Names other than `localhost` must be allowed explicitly, since the owner of a
    /// name can bind it to any address; an address cannot be rebound.
    fn is_own_host(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => match port.parse::<u16>() {
                Ok(number) if number.to_string() == port => (name, number),
                _ => return false,
            },
            _ => (host, 80),
        };
        if port != self.port {
            return false;
        }
        if name.eq_ignore_ascii_case("localhost") || self.names.contains(&name.to_ascii_lowercase()) {
            return true;
        }
        let address: Option<IpAddr> = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(inner) => inner.parse().ok().filter(IpAddr::is_ipv6),
            None => name.parse().ok().filter(IpAddr::is_ipv4),
        };
        address.is_some_and(|address| self.open || address.is_loopback())
    }
}

/// The value of a header that occurs exactly once.
fn single<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Returns whether the request comes from this server's own page or from the user, as the browser says. A link on another site may
/// open the page, but only at top level.
fn is_own_fetch(request: &Request) -> bool {
    let value = |name| single(request.headers(), name);
    match value("sec-fetch-site") {
        Some("same-origin" | "none") => true,
        Some("same-site" | "cross-site") => {
            request.method() == Method::GET
                && request.uri().path() == "/"
                && value("sec-fetch-mode") == Some("navigate")
                && value("sec-fetch-dest") == Some("document")
        }
        _ => false,
    }
}

/// Returns whether the user opened the page directly: typed or pasted its address, or reloaded it. Otherwise a link on another page
/// did, or the browser does not say.
pub fn is_typed(headers: &HeaderMap) -> bool {
    matches!(single(headers, "sec-fetch-site"), Some("none" | "same-origin"))
}

/// Compares in constant time, which does not reveal where the two differ.
fn same_secret(found: &[u8], expected: &[u8]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// The middleware: applies the guard and adds the protective headers to every answer.
pub async fn protect(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.refusal(&request) {
        Some((status, reason)) => (status, format!("{reason}\n")).into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", CONTENT_SECURITY_POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        headers.insert(name, axum::http::HeaderValue::from_static(value));
    }
    response
}
