//! Predictors: their theorems and their errors.

mod errors;
mod predict;
