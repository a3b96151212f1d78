//! Why the card cannot be used; each message is one line.

use std::fmt;

/// A failure on the way to a card or on it.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The driver's library is not on this machine.
    NoDriver,
    /// The driver is older than the kernels need; versions of CUDA times 1000, such as 12040 for 12.4.
    OldDriver {
        /// The version that the driver supports.
        found: i32,
    },
    /// The driver finds no card.
    NoCard,
    /// The card is older than the kernels need.
    OldCard {
        /// Its name.
        card: String,
        /// Its compute capability.
        found: (i32, i32),
    },
    /// The model does not fit the card's memory.
    Memory {
        /// The bytes that the model needs.
        needed: usize,
        /// The free bytes of the card.
        free: usize,
    },
    /// The numbers of a model do not fit the kernels, or one is not finite.
    Model(&'static str),
    /// The question has no discount.
    NoDiscount,
    /// The processor's part refused the question.
    Solve(backsweep_solve::Error),
    /// Any other problem that the driver reports.
    Driver(String),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gigabytes = |bytes: &usize| *bytes as f64 / 1e9;
        match self {
            Self::NoDriver => {
                f.write_str("no NVIDIA driver on this machine (its library, libcuda, was not found)")
            }
            Self::OldDriver { found } => write!(
                f,
                "the NVIDIA driver supports CUDA {}.{}; expected at least {}.{}: update the driver",
                found / 1000,
                found % 1000 / 10,
                crate::MIN_DRIVER / 1000,
                crate::MIN_DRIVER % 1000 / 10
            ),
            Self::NoCard => f.write_str("the NVIDIA driver finds no card"),
            Self::OldCard { card, found: (major, minor) } => {
                write!(f, "{card} has compute capability {major}.{minor}; expected at least 7.0")
            }
            Self::Memory { needed, free } => write!(
                f,
                "the model needs {:.1} GB of the card's memory, and {:.1} GB are free",
                gigabytes(needed),
                gigabytes(free)
            ),
            Self::NoDiscount => f.write_str("the card computes discounted rewards only"),
            Self::Solve(error) => error.fmt(f),
            Self::Model(problem) => f.write_str(problem),
            Self::Driver(problem) => write!(f, "the NVIDIA driver reports: {problem}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<backsweep_solve::Error> for Error {
    fn from(error: backsweep_solve::Error) -> Self {
        Self::Solve(error)
    }
}
