//! Compressed frames: what a browser unpacks is what a client without compression gets.

use crate::common::{Server, patient};
use backsweep_watch::engine::ViewerCommand;
use backsweep_watch::scene::Scene;
use flate2::read::GzDecoder;
use std::io::{Read, Write};

/// The events of a stream of frames, up to a frame with this many steps.
fn events(server: &Server, encoding: &str, steps: u64) -> (String, usize) {
    let mut stream = server.connect();
    let request = format!(
        "GET /api/frames HTTP/1.0\r\nHost: {}\r\nAccept-Encoding: {encoding}\r\n\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).unwrap();
    let (mut raw, mut part) = (Vec::new(), [0; 65536]);
    loop {
        let n = stream.read(&mut part).unwrap();
        assert!(n > 0, "the stream ended");
        raw.extend(&part[..n]);
        let Some(head) = raw.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        let body = &raw[head + 4..];
        let is_packed = String::from_utf8_lossy(&raw[..head]).contains("content-encoding: gzip");
        assert_eq!(is_packed, encoding.contains("gzip") && encoding != "gzip;q=0", "{encoding}");
        let mut text = Vec::new();
        if is_packed {
            // The stream has no end.
            let _ = GzDecoder::new(body).read_to_end(&mut text);
        } else {
            text = body.to_vec();
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        if text.contains(&format!("\"steps\":{steps},")) && text.ends_with("\n\n") {
            return (text, body.len());
        }
    }
}

#[test]
fn a_compressed_stream_says_the_same_in_a_third_of_the_bytes() {
    let maze = format!("S{}G\n{}", ".".repeat(98), format!("{}\n", ".".repeat(100)).repeat(99));
    let server = Server::start(Scene { maze, ..Scene::default() }, false, patient());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(server.engine.send(ViewerCommand::Step { count: 3000 })).unwrap();
    let last = |events: String| events.rsplit("event: frame").next().unwrap_or_default().to_owned();
    let (plain, size) = events(&server, "identity", 3000);
    for encoding in ["gzip, deflate, br", "br, gzip;q=0.5"] {
        let (packed, packed_size) = events(&server, encoding, 3000);
        assert!(packed.contains("event: scene"));
        assert_eq!(last(packed), last(plain.clone()));
        assert!(packed_size < size / 3, "{packed_size} of {size} bytes");
    }
    assert_eq!(last(events(&server, "gzip;q=0", 3000).0), last(plain));
}
