//! The crates as a stranger uses them: outside this workspace, with a machine of their own.

#[path = "../support/mod.rs"]
mod support;

mod asking;
mod building;
mod checked;
mod document;
mod mismatch;
mod modes;
mod new;
mod outside;
mod own_loop;
mod packages;
mod project;
mod reviews;
mod stranger;
mod subjects;
mod verifying;
mod visits;
