//! The tests of `backsweep-cuda`; none needs a card.

mod common;
mod host;
mod layouts;
mod open;
mod proposals;
