//! The mazes that come with the program.

use serde_json::{Value, json};

/// All of them by name, for the page.
pub fn all() -> Value {
    json!([
        { "name": "paper", "title": "the paper's maze", "text": backsweep_worlds::PAPER_MAZE },
        // Doors let values flow through them room by room.
        { "name": "rooms", "title": "four rooms", "text": include_str!("../assets/mazes/rooms.txt") },
        // A wall across an open field: build a wall in its gap and see.
        { "name": "gap", "title": "a wall with a gap", "text": include_str!("../assets/mazes/gap.txt") },
        // The mazes of Sutton & Barto as they begin. The wall on the path closes the short way of the second.
        { "name": "shortcut", "title": "a shortcut to open", "text": include_str!("../assets/mazes/shortcut.txt") },
        { "name": "blocking", "title": "a path to block", "text": include_str!("../assets/mazes/blocking.txt") },
    ])
}
