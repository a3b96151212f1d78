//! Measurements measure the world, the algorithm and the values that they name.

mod measurements;
mod queues_in_the_maze;
