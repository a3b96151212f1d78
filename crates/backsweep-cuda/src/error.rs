//! Why the card cannot be used; each message is one line.

/// A failure on the way to a card or on it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The driver's library is not on this machine.
    #[error("no NVIDIA driver on this machine (its library, libcuda, was not found)")]
    NoDriver,
    /// The driver is older than the kernels need; versions of CUDA times 1000, such as 12040 for 12.4.
    #[error("the NVIDIA driver supports CUDA {}; expected at least {}: update the driver", version(*found), version(crate::MIN_DRIVER))]
    OldDriver {
        /// The version that the driver supports.
        found: i32,
    },
    /// The driver finds no card.
    #[error("the NVIDIA driver finds no card")]
    NoCard,
    /// The card is older than the kernels need.
    #[error("{card} has compute capability {}.{}; expected at least 7.0", found.0, found.1)]
    OldCard {
        /// Its name.
        card: String,
        /// Its compute capability.
        found: (i32, i32),
    },
    /// The model does not fit the card's memory.
    #[error(
        "the model needs {:.1} GB of the card's memory, and {:.1} GB are free", *needed as f64 / 1e9, *free as f64 / 1e9
    )]
    Memory {
        /// The bytes that the model needs.
        needed: usize,
        /// The free bytes of the card.
        free: usize,
    },
    /// The numbers of a model do not fit the kernels, or one is not finite.
    #[error("{0}")]
    Model(&'static str),
    /// The question has no discount.
    #[error("the card computes discounted rewards only")]
    NoDiscount,
    /// The processor's part refused the question.
    #[error(transparent)]
    Solve(#[from] backsweep_solve::Error),
    /// Any other problem that the driver reports.
    #[error("the NVIDIA driver reports: {0}")]
    Driver(String),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

fn version(number: i32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}
