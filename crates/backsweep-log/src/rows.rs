//! From the values of rows to numbers, and to what one thread counts.

pub(crate) mod counter;
mod encoder;
mod layout;
pub(crate) mod selection;

pub(crate) use encoder::Encoder;
pub(crate) use layout::ColumnLayout;
