//! The tests of `backsweep-solve`, one module per subject.

mod ask;
mod common;
mod discounted;
mod exact;
mod exact_answer;
mod exact_models;
mod functions;
mod learned;
mod policy;
mod repair;
mod repair_undiscounted;
mod streamed;
mod undiscounted;
mod undiscounted_exact;
