//! The crates as a stranger uses them: outside this workspace, with a machine of their own.

#[path = "../support/mod.rs"]
mod support;

mod approving;
mod building;
mod mismatch;
mod packages;
mod stranger;
