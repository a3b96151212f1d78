//! Save and resume: a whole agent in one file, or in bytes.
//!
//! ```text
//! SavedAgent ──▶ Snapshot (named arrays) ──encode──▶ bytes ──write to a temporary file, sync, rename──▶ file
//! ```
//!
//! An agent that is read back continues **bit for bit** like one that was never interrupted. The format is described in
//! `docs/format.md`: versioned, little-endian, checksummed. Nothing in a file is trusted: a damaged one causes an error,
//! never a panic, and no length in it is used before it has been compared with the size of the file.
//!
//! ```
//! use backsweep::save::SavedAgent;
//! use backsweep::{Agent, Random, Settings};
//! let mut agent = Agent::new(Settings::default())?;
//! agent.add_state(2)?;
//! let bytes = SavedAgent::new(agent, Random::from_seed(7)).to_bytes()?;
//! let mut same = SavedAgent::from_bytes(&bytes)?;
//! assert_eq!(same.random.next_u64(), Random::from_seed(7).next_u64());
//! # Ok::<(), backsweep::save::Error>(())
//! ```

mod error;
mod file;
mod format;
mod name;
mod saved_agent;

pub use error::{Error, Result};
pub use file::{load, save};
pub use format::{MAGIC, VERSION, decode, encode};
pub use name::{Name, decode_names, encode_names};
pub use saved_agent::{AgentNames, SavedAgent};
