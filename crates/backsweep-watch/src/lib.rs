//! See prioritized sweeping think: a live page, a terminal view and pictures of an agent that learns a maze.
//!
//! ```text
//! scene ──▶ engine (world, agents, random numbers) ──frames──▶ page over a local server · terminal · picture
//!             ▲                                                     │
//!             └───────────────────── commands ──────────────────────┘
//! ```

pub mod agent_spec;
mod assets;
pub mod choices;
pub mod command;
pub mod engine;
pub mod error;
pub mod export;
pub mod mazes;
pub mod palette;
pub mod picture;
pub mod scene;
pub mod server;
pub mod terminal;
pub mod tour;
