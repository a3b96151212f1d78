//! The engine of the live page: an agent that learns a maze while it is watched.
//!
//! ```text
//! commands ──▶ engine state (world, agents, random numbers) ──▶ frames and answers, taken by whoever runs it
//!                     │ policies            ▲ findings
//!                     └────▶ evaluator ─────┘
//! ```
//!
//! Nothing here starts a thread, waits, or reads a clock but the one it is given. `backsweep-watch` runs it in two threads
//! behind a server, `backsweep-wasm` in a browser.

pub mod about;
pub mod agent_spec;
pub mod choices;
pub mod engine;
pub mod error;
pub mod mazes;
pub mod palette;
pub mod scene;
pub mod tour;
