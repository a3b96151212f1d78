//! Exploration: how an agent explores and forgets.
//!
//! [`exploring`] builds an agent of the core that explores as an [`Exploration`] says: its acting values are optimistic where
//! little was seen, and its recommended ones are exactly what its model says. [`restore`] reads any stored agent.

mod exploration;

pub use exploration::{Exploration, Explore, Forgetting, exploration, exploring, intervals, restore};

/// The example of the README runs too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CratePage;
