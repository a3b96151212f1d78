//! Commands of viewers to the engine, and its answers.

use crate::scene::Scene;
use backsweep_worlds::grid_world::Brush;
use serde::Deserialize;

/// A command from a viewer.
// Commands without fields have braces: only then does serde refuse unknown fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum ViewerCommand {
    /// Run continuously.
    Run {},
    /// Stop.
    Pause {},
    /// Stop, then take this many steps.
    Step {
        /// The number of steps.
        count: u64,
    },
    /// Stop, then do this many update cycles.
    Cycle {
        /// The number of cycles.
        count: u64,
    },
    /// Forget what was learned and restart with the same seed. The world stays as painted.
    Reset {},
    /// Show another scene.
    Scene {
        /// All of it.
        scene: Box<Scene>,
        /// Restart if anything differs, even where agents could continue, as for a shared scene.
        #[serde(default)]
        restart: bool,
    },
    /// Change some settings of the scene and leave the others alone, so that two viewers can change different ones at
    /// the same time.
    Change {
        /// The settings by name.
        settings: serde_json::Map<String, serde_json::Value>,
    },
    /// Change the world; the agents have to find out.
    Paint {
        /// The cell's number, row by row.
        cell: u32,
        /// The brush that paints it.
        brush: Brush,
        /// Changes of one stroke (a number other than 0) are undone together.
        #[serde(default)]
        stroke: u64,
    },
    /// Change the world where it hurts; the agents have to find out.
    Break {
        /// The kind of change.
        what: Break,
    },
    /// Undo the last change to the world. What was learned meanwhile stays.
    Undo {},
}

/// A way to break the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Break {
    /// A wall on the path that the first agent takes.
    Wall,
    /// Opens the wall whose removal shortens the path most.
    Shortcut,
}

/// The result of a command: the frame that shows it. Steps and cycles that take long are answered while still in
/// progress; the frame then says that the engine is [busy](super::frame::Frame::busy).
#[derive(Clone, Copy, Debug)]
pub struct Receipt {
    /// The frame's number.
    pub number: u64,
    /// The scene's revision.
    pub revision: u64,
}
