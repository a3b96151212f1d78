//! What is measured is what it claims to be.

mod measurements;
mod queues_in_the_maze;
