//! The core, agents, exploration and files: one binary, so that it is built and linked once.

mod certificate;
mod common;
mod conformance;
mod counts;
mod deadlock;
mod departures;
mod drift;
mod errors;
mod exact;
mod exploration;
mod files;
mod format;
mod histories;
mod intervals;
mod loops;
mod mended;
mod own_planner;
mod queue;
mod random;
mod resume;
mod rmax;
mod snapshot;
mod termination;
mod theorems;
mod trace;
