//! The text of a maze: read or refused, never a panic, and a maze that was read can be walked through.
#![no_main]

use backsweep_worlds::Maze;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Maze::parse(text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(maze) => {
            for cell in maze.cells() {
                assert!(maze.reward(cell).is_none_or(f64::is_finite));
                for step in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
                    if let Some(next) = maze.neighbor(cell, step) {
                        maze.kind(next);
                        maze.place(next);
                    }
                }
            }
        }
    }
});
