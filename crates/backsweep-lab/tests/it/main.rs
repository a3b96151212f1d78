//! The laboratory through its public API, and the documents.

mod documents;
mod figures;
mod made_up;
mod numbers;
mod report;
mod result;
mod verdict;
