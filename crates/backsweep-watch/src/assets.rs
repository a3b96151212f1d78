//! The page's files, built into the program.

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page's files: address, type, text.
pub const ASSETS: &[(&str, &str, &str)] = &[
    ("/style.css", "text/css; charset=utf-8", include_str!("../assets/style.css")),
    ("/icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
    ("/main.js", SCRIPT, include_str!("../assets/main.js")),
    ("/link.js", SCRIPT, include_str!("../assets/link.js")),
    ("/stream.js", SCRIPT, include_str!("../assets/stream.js")),
    ("/scene.js", SCRIPT, include_str!("../assets/scene.js")),
    ("/algorithm.js", SCRIPT, include_str!("../assets/algorithm.js")),
    ("/lessons.js", SCRIPT, include_str!("../assets/lessons.js")),
    ("/lesson-scenes.js", SCRIPT, include_str!("../assets/lesson-scenes.js")),
    ("/controls.js", SCRIPT, include_str!("../assets/controls.js")),
    ("/label.js", SCRIPT, include_str!("../assets/label.js")),
    ("/chart.js", SCRIPT, include_str!("../assets/chart.js")),
    ("/maze.js", SCRIPT, include_str!("../assets/maze.js")),
    ("/overlay.js", SCRIPT, include_str!("../assets/overlay.js")),
    ("/sweep.js", SCRIPT, include_str!("../assets/sweep.js")),
    ("/queue.js", SCRIPT, include_str!("../assets/queue.js")),
    ("/explain.js", SCRIPT, include_str!("../assets/explain.js")),
    ("/tour.js", SCRIPT, include_str!("../assets/tour.js")),
    ("/tour-steps.js", SCRIPT, include_str!("../assets/tour-steps.js")),
    ("/race.js", SCRIPT, include_str!("../assets/race.js")),
    ("/breaking.js", SCRIPT, include_str!("../assets/breaking.js")),
    ("/share.js", SCRIPT, include_str!("../assets/share.js")),
    ("/webp.js", SCRIPT, include_str!("../assets/webp.js")),
    ("/player.js", SCRIPT, include_str!("../assets/player.js")),
    ("/recording.js", SCRIPT, include_str!("../assets/recording.js")),
    ("/pointer.js", SCRIPT, include_str!("../assets/pointer.js")),
    ("/keys.js", SCRIPT, include_str!("../assets/keys.js")),
    ("/address.js", SCRIPT, include_str!("../assets/address.js")),
    ("/shown.js", SCRIPT, include_str!("../assets/shown.js")),
];
/// The page itself, with places for token, session and arrival.
pub const PAGE: &str = include_str!("../assets/index.html");
