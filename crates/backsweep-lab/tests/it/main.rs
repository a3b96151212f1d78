//! The laboratory through its public API, and the documents.

mod documents;
mod result;
