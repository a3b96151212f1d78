//! One file with a recorded run: the page, its scripts and the data, which opens from disk or any static host.
//!
//! Scripts are the page's own, one `data:` address each; an import map gives them their names.

use crate::assets::{ASSETS, PAGE};
use crate::engine::recording::record_run;
use crate::error::{Error, Result};
use crate::scene::Scene;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Map, Value, json};
use std::io::Write;

/// The most bytes of a file.
const MAX_BYTES: usize = 5_000_000;
/// The numbers of frames to try for a recording: the first that fits is used.
const FRAMES: [u64; 4] = [480, 240, 120, 60];

/// The file of a run of this many episodes.
///
/// # Errors
/// If the scene is not valid, episodes do not end, or the run does not fit into a file.
pub fn page(scene: &Scene, episodes: u64) -> Result<String> {
    let mut size = 0;
    for n_frames in FRAMES {
        let mut recording = record_run(scene, episodes, n_frames)?.json();
        recording["about"] = backsweep_page::about::about();
        let page = assemble(&recording)?;
        if page.len() <= MAX_BYTES {
            return Ok(page);
        }
        size = page.len();
    }
    Err(Error::new(format!(
        "the file would have {size} bytes; expected at most {MAX_BYTES}. Choose a smaller maze, or fewer episodes with --after"
    )))
}

fn assemble(recording: &Value) -> Result<String> {
    let unwritten =
        |error: std::io::Error| Error::new(format!("the recording cannot be compressed: {error}"));
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(recording.to_string().as_bytes()).map_err(unwritten)?;
    let packed = STANDARD.encode(packed.finish().map_err(unwritten)?);
    let data_address = |kind: &str, text: &str| format!("data:{kind};base64,{}", STANDARD.encode(text));
    let mut imports = Map::new();
    let (mut style, mut icon) = ("", String::new());
    for &(path, kind, text) in ASSETS {
        match path {
            "/style.css" => style = text,
            "/icon.svg" => icon = data_address(kind, text),
            // A script from a data: address has no folder: bare names are found in the import map.
            script => {
                let bare = text.replace("from \"./", "from \"").replace("import(\"./", "import(\"");
                imports.insert(script[1..].into(), data_address("text/javascript", &bare).into());
            }
        }
    }
    let scripts = format!(
        "<script type=\"importmap\">{}</script>\n<script id=\"recording\" type=\"application/gzip\">{packed}</script>\n\
         <script type=\"module\">import \"main.js\";</script>",
        json!({ "imports": imports })
    );
    Ok(PAGE
        .replace("<link rel=\"stylesheet\" href=\"style.css\">", &format!("<style>{style}</style>"))
        .replace("<script type=\"module\" src=\"main.js\"></script>", &scripts)
        .replace("icon.svg", &icon)
        .replace("{token}", "")
        .replace("{session}", "")
        .replace("{arrival}", "typed"))
}
