//! Discounted values.
