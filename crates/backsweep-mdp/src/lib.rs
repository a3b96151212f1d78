//! Known Markov decision processes: the model, the words in which questions about it are asked, and its files.
//!
//! | to | use |
//! |---|---|
//! | build a model row by row | [`MdpBuilder`] |
//! | read or write a file | [`read`], [`write()`]; the formats are in `docs/models.md` |
//! | keep a model on disk that does not fit into memory | [`DiskMdp`], [`DiskWriter`] |
//! | ask | [`Question`]: an [`Objective`] and a [`Direction`] |
//! | say what changes | [`Change`] |
//! | find states and actions by name | [`StateNames`] |
//! | give a model by functions | [`ModelSource`], [`FunctionSource`] |
//!
//! States, choices (the actions of a state) and arcs (the successors of a choice) are numbered consecutively. An [`Mdp`] is
//! always consistent: a builder or a reader has checked every row.

mod builder;
mod change;
mod check;
mod complete;
mod error;
mod formats;
mod mdp;
mod names;
mod question;
mod row;
mod source;

pub use builder::MdpBuilder;
pub use change::Change;
pub use check::{MAX_REWARD, SUM_SLACK, check_row, reward_sum_error};
pub use error::{ChoicePlace, Error, Result, RowProblem, printable};
pub use formats::{BlockRows, Compression, DiskMdp, DiskWriter, Format, ReadMdp, read, write};
pub use mdp::{Label, Mdp, NO_CHOICE, Rewards, STEPS};
pub use names::StateNames;
pub use question::{Direction, Objective, Question};
pub use row::{ChoiceRow, OutcomeProblem, SourceOutcome};
pub use source::{FRONTIER, FunctionOutcomes, FunctionSource, KnownPart, ModelSource, SourceError};

pub(crate) use mdp::INIT;
