//! See prioritized sweeping think: a live page, a terminal view and pictures of an agent that learns a maze.
//!
//! ```text
//! scene ──▶ engine (world, agents, random numbers) ──frames──▶ page over a local server · terminal · picture
//!             ▲                                                     │
//!             └───────────────────── commands ──────────────────────┘
//! ```

mod assets;
pub mod command;
pub mod engine;
pub mod export;
pub mod picture;
pub mod server;
pub mod terminal;

pub use backsweep_page::{agent_spec, choices, error, mazes, palette, scene, tour};
