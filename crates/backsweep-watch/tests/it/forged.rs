//! Requests that no honest page sends: each is refused, and none changes anything.

use crate::common::{Server, patient};
use backsweep_watch::scene::Scene;

/// A forged request: what is wrong with it, its bytes, the statuses that refuse it (0: the connection was closed).
struct Forged {
    what: String,
    bytes: Vec<u8>,
    refused_by: &'static [u16],
}

const PAUSE: &str = r#"{"do":"pause"}"#;

fn forged(server: &Server) -> Vec<Forged> {
    let mut all = Vec::new();
    let own = server.address.to_string();
    let port = server.address.port();
    let honest = server.order_request(PAUSE);
    let mut add = |what: &str, bytes: String, refused_by: &'static [u16]| {
        all.push(Forged { what: what.into(), bytes: bytes.into_bytes(), refused_by });
    };
    let changed = |from: &str, to: &str| {
        assert!(honest.contains(from), "{from}");
        honest.replacen(from, to, 1)
    };
    let host_line = format!("Host: {own}\r\n");
    let origin_line = format!("Origin: http://{own}\r\n");

    // Names bound to this machine by somebody else (DNS rebinding), and other readings of what a host is.
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("evil.example@127.0.0.1:{port}"),
        format!("lab.example.evil:{port}"),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1:{port}0"),
        format!("127.0.0.1:0{port}"),
        format!("127.0.0.1:+{port}"),
        format!("127.0.0.1:{port}:{port}"),
        format!("0.0.0.0:{port}"),
        format!("192.168.1.7:{port}"),
        format!("169.254.169.254:{port}"),
        format!("2130706433:{port}"),
        format!("0x7f.0.0.1:{port}"),
        format!("[::2]:{port}"),
        format!("[127.0.0.1]:{port}"),
        format!("::1:{port}"),
        format!("localhost :{port}"),
        format!(":{port}"),
        String::new(),
    ] {
        add(
            &format!("GET with host '{host}'"),
            format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
            &[400, 421],
        );
        let page = changed(&host_line, &format!("Host: {host}\r\n"));
        add(&format!("order with host '{host}'"), page.replacen(&origin_line, "", 1), &[400, 421]);
    }
    add("no host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n".into(), &[400]);
    add("no host, old protocol", "GET / HTTP/1.0\r\n\r\n".into(), &[400]);
    add("two hosts", changed(&host_line, &format!("{host_line}Host: evil.example\r\n")), &[400]);
    add("own host twice", changed(&host_line, &format!("{host_line}{host_line}")), &[400]);
    add("as to a proxy", changed("POST /api", "POST http://evil.example/api"), &[400]);
    add("as to a proxy for itself", changed("POST /api", &format!("POST http://{own}/api")), &[400]);

    // Pages from other sites.
    for origin in [
        "http://evil.example".to_owned(),
        "null".to_owned(),
        String::new(),
        format!("https://{own}"),
        format!("http://{own}/"),
        format!("http://{own}.evil.example"),
        format!("http://evil.example#{own}"),
        format!("http://localhost:{port}"),
        "http://127.0.0.1".to_owned(),
        "http://127.0.0.1:1".to_owned(),
        format!("file://{own}"),
        format!("http://user@{own}"),
        format!("http://{own} http://evil.example"),
        "chrome-extension://abcdefgh".to_owned(),
    ] {
        let line = format!("Origin: {origin}\r\n");
        add(&format!("order from origin '{origin}'"), changed(&origin_line, &line), &[400, 403]);
        add(
            &format!("frames for origin '{origin}'"),
            format!("GET /api/frames HTTP/1.1\r\n{host_line}{line}Connection: close\r\n\r\n"),
            &[400, 403],
        );
    }
    add(
        "two origins",
        changed(&origin_line, &format!("{origin_line}Origin: http://evil.example\r\n")),
        &[403],
    );
    for site in ["cross-site", "same-site", "", "none, same-origin", "SAME-ORIGIN"] {
        add(&format!("fetched {site}"), changed("same-origin", site), &[403]);
        add(
            &format!("the page as a frame, {site}"),
            format!(
                "GET / HTTP/1.1\r\n{host_line}Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: navigate\r\n\
                 Sec-Fetch-Dest: iframe\r\nConnection: close\r\n\r\n"
            ),
            &[403],
        );
        add(
            &format!("a script, {site}"),
            format!(
                "GET /main.js HTTP/1.1\r\n{host_line}Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: no-cors\r\nConnection: close\r\n\r\n"
            ),
            &[403],
        );
    }

    // Commands without the page's token.
    let token = &server.token;
    for wrong in [
        String::new(),
        "0".repeat(64),
        token[1..].to_owned(),
        format!("{token}0"),
        token.to_uppercase() + "x",
        format!("{token},{token}"),
        "undefined".into(),
        "{token}".into(),
        "é".repeat(32),
    ] {
        add(&format!("token '{wrong}'"), changed(token.as_str(), &wrong), &[400, 403]);
    }
    let token_line = format!("X-Backsweep-Token: {token}\r\n");
    add("no token", changed(&token_line, ""), &[403]);
    add("two tokens", changed(&token_line, &format!("{token_line}X-Backsweep-Token: 0\r\n")), &[403]);
    add("token as a cookie", changed("X-Backsweep-Token", "Cookie"), &[403]);
    add(
        "token in the address",
        changed(&token_line, "").replacen("/api/order", &format!("/api/order?token={token}"), 1),
        &[403],
    );

    // What a form of another site can send without asking.
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "application/jsonp",
    ] {
        add(&format!("content type '{kind}'"), changed("application/json", kind), &[415]);
    }
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "LINK", "PROPFIND"] {
        add(&format!("method {method}"), changed("POST", method), &[400, 405]);
    }
    add("order by GET", changed("POST", "GET"), &[405]);
    add("order to the page", changed("/api/order", "/"), &[405]);

    // Files of this machine.
    for path in [
        "/../Cargo.toml",
        "/..%2fCargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/etc/passwd",
        "/src/lib.rs",
        "/main.js/",
        "/main.js%00.txt",
        "/.git/config",
        "/assets/main.js",
        "/style.css/../../Cargo.toml",
        "/..\\..\\windows\\win.ini",
        "/api",
        "/api/cell/-1",
        "/api/cell/598",
        "/api/cell/18446744073709551615",
        "/api/cell/1e3",
        "/api/cell/..",
        "/api/order/",
        "/favicon.ico",
    ] {
        add(
            &format!("path {path}"),
            format!("GET {path} HTTP/1.1\r\n{host_line}Connection: close\r\n\r\n"),
            &[400, 404],
        );
    }

    // With everything right but the command.
    let scene = |change: &str| {
        let mut scene = serde_json::to_value(Scene::default()).unwrap();
        let change: serde_json::Value = serde_json::from_str(change).unwrap();
        for (name, value) in change.as_object().unwrap() {
            scene[name] = value.clone();
        }
        serde_json::json!({ "do": "scene", "scene": scene }).to_string()
    };
    for body in [
        String::new(),
        "{".into(),
        "null".into(),
        "[]".into(),
        r#"{"do":"fly"}"#.into(),
        r#"{"do":"pause","do":"run","x":1}"#.into(),
        r#"{"do":"pause","x":1}"#.into(),
        r#"{"do":"run","count":1}"#.into(),
        r#"{"do":"reset","scene":null}"#.into(),
        r#"{"do":"step","count":1,"x":1}"#.into(),
        r#"{"do":"change"}"#.into(),
        r#"{"do":"change","settings":{"epsilon":2}}"#.into(),
        r#"{"do":"change","settings":{"epsilon":"0.1"}}"#.into(),
        r#"{"do":"change","settings":{"greed":1}}"#.into(),
        r#"{"do":"change","settings":[]}"#.into(),
        r#"{"do":"step"}"#.into(),
        r#"{"do":"step","count":-1}"#.into(),
        r#"{"do":"step","count":1e99}"#.into(),
        r#"{"do":"paint","cell":598,"brush":"wall"}"#.into(),
        r#"{"do":"paint","cell":4294967296,"brush":"wall"}"#.into(),
        r#"{"do":"paint","cell":1,"brush":"lava"}"#.into(),
        r#"{"do":"paint","cell":597,"brush":"wall"}"#.into(),
        scene(r#"{"planner":"<script>"}"#),
        scene(r#"{"rival":"x"}"#),
        scene(r#"{"cycles":10001}"#),
        scene(r#"{"cycles":-1}"#),
        scene(r#"{"epsilon":1.1}"#),
        scene(r#"{"epsilon":null}"#),
        scene(r#"{"min_visits":0}"#),
        scene(r#"{"discount":1}"#),
        scene(r#"{"discount":-0.1}"#),
        scene(r#"{"seed":9007199254740992}"#),
        scene(r#"{"seed":1.5}"#),
        scene(r#"{"law":"six"}"#),
        scene(r#"{"law":"four","intended":2}"#),
        scene(r#"{"law":"fifteen","intended":1.5}"#),
        scene(r#"{"speed":0}"#),
        scene(r#"{"speed":1e7}"#),
        scene(r#"{"speed":"max"}"#),
        scene(r#"{"maze":""}"#),
        scene(r#"{"maze":"S.."}"#),
        scene(r#"{"maze":"S?G"}"#),
        scene(r#"{"maze":"S.G\nG = 1e308"}"#),
        scene(r#"{"extra":1}"#),
        scene(&format!(r#"{{"maze":"{}"}}"#, "S.G\\n".repeat(3400))),
        "[".repeat(60_000),
    ] {
        let shown: String = body.chars().take(60).collect();
        add(&format!("order {shown}"), server.order_request(&body), &[400, 422]);
    }
    let large = format!(r#"{{"do":"pause","x":"{}"}}"#, "a".repeat(70_000));
    add("a body that is too large", server.order_request(&large), &[413]);
    add(
        "a length that is a lie",
        changed(&format!("Content-Length: {}", PAUSE.len()), "Content-Length: 9999999999"),
        &[400, 408, 413],
    );
    add("two lengths", changed("Content-Length", "Content-Length: 3\r\nContent-Length"), &[400]);
    add(
        "length and chunks",
        changed("Content-Length", "Transfer-Encoding: chunked\r\nContent-Length"),
        &[400, 413],
    );
    add(
        "headers without end",
        format!("GET / HTTP/1.1\r\n{host_line}X: {}\r\n\r\n", "a".repeat(200_000)),
        &[400, 431, 0],
    );
    add(
        "too many headers",
        format!("GET / HTTP/1.1\r\n{host_line}{}\r\n", "X: y\r\n".repeat(500)),
        &[400, 431, 0],
    );
    add("no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03\x03".repeat(20), &[400, 0]);
    add("no HTTP either", "EHLO evil.example\r\nMAIL FROM:<a@b>\r\n\r\n".into(), &[400, 0]);
    all
}

#[test]
fn every_forged_request_is_refused_and_changes_nothing() {
    let server = Server::start(Scene { speed: Some(1.0), ..Scene::default() }, true, patient());
    let before = server.engine.frame();
    let all = forged(&server);
    assert!(all.len() >= 60, "only {} forged requests", all.len());
    for Forged { what, bytes, refused_by } in &all {
        let answer = server.send(bytes);
        assert!(refused_by.contains(&answer.status), "{what}: {} {}", answer.status, answer.body);
        assert!(!answer.body.contains(&server.token), "{what}: the answer reveals the token");
        assert!(!answer.head.contains("access-control"), "{what}: the answer allows other origins");
        let now = server.engine.frame();
        assert!(now.running, "{what}: it paused the engine");
        assert_eq!((now.revision, now.life), (before.revision, before.life), "{what}: it changed the scene");
    }
    println!("{} forged requests were refused", all.len());
    // The same request with nothing wrong is obeyed, so the test can fail.
    assert_eq!(server.order(PAUSE).status, 200);
    assert!(!server.engine.frame().running);
}

#[test]
fn honest_requests_are_answered() {
    let server = Server::start(Scene::default(), false, patient());
    let port = server.address.port();
    let page = server.get("/");
    assert_eq!(page.status, 200);
    assert!(page.body.contains(&server.token));
    for host in [
        format!("localhost:{port}"),
        format!("LOCALHOST:{port}"),
        format!("[::1]:{port}"),
        format!("lab.example:{port}"),
    ] {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert_eq!(server.send(request.as_bytes()).status, 200, "{host}");
    }
    let link = format!(
        "GET /?planner=small_backups HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: cross-site\r\n\
         Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nConnection: close\r\n\r\n",
        server.address
    );
    assert_eq!(server.send(link.as_bytes()).status, 200, "a link on another site may open the page");
    assert_eq!(server.get("/api/cell/597").status, 200);
}

#[test]
fn every_answer_is_protected() {
    let server = Server::start(Scene::default(), false, patient());
    let paths = [
        "/",
        "/main.js",
        "/maze.js",
        "/scene.js",
        "/chart.js",
        "/controls.js",
        "/link.js",
        "/label.js",
        "/stream.js",
        "/style.css",
        "/icon.svg",
        "/api/about",
        "/api/values",
        "/nothing",
    ];
    for path in paths {
        let answer = server.get(path);
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(answer.head.contains(header), "{path} lacks {header}: {}", answer.head);
        }
        assert!(!answer.head.contains("unsafe-inline"), "{path}");
    }
    let page = server.get("/").body;
    assert_eq!(
        page.matches("<script").count(),
        page.matches("<script type=\"module\" src=\"main.js\"").count()
    );
    assert!(
        !page.contains("<style") && !page.contains(" style=") && !page.contains("javascript:"),
        "inline style or script"
    );
    let is_handler = |word: &str| {
        word.strip_prefix("on")
            .and_then(|rest| rest.split_once('='))
            .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()))
    };
    let handler = page.split_whitespace().any(is_handler);
    assert!(!handler, "an inline event handler");
    let is_link = |before: &str| before.ends_with("<a href=\"");
    let parts: Vec<&str> = page.split("https://").collect();
    let are_links = parts[..parts.len() - 1].iter().all(|before| is_link(before));
    assert!(!page.contains("http://") && are_links, "the page loads from other origins");
}

#[test]
fn names_and_mazes_arrive_escaped() {
    let server = Server::start(Scene::default(), false, patient());
    // Characters with a meaning in HTML are cells like any other.
    let maze = "S<\"G\n&'>.\n< = -2\n\" = -3\n& = -4\n' = -5\n> = -6\n";
    let scene = Scene { maze: maze.into(), ..Scene::default() };
    let body = serde_json::json!({ "do": "scene", "scene": scene }).to_string();
    assert_eq!(server.order(&body).status, 200);
    assert_eq!(server.engine.frame().scene.maze, maze);
    assert!(!server.get("/").body.contains("&'>"), "the page itself holds no maze");
    let event = server.engine.frame().scene_json("0").to_string();
    assert_eq!(event.lines().count(), 1, "a maze cannot end the line of an event: {event}");
}

#[test]
fn tokens_differ_from_start_to_start() {
    let one = Server::start(Scene::default(), false, patient());
    let two = Server::start(Scene::default(), false, patient());
    assert_eq!(one.token.len(), 64);
    assert_ne!(one.token, two.token);
}
