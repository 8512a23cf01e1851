//! The crates in a project outside of this workspace, with its own machine.

#[path = "../support/machines.rs"]
mod machines;
#[path = "../support/stranger.rs"]
mod support;

mod absent_edges;
mod all_pairs;
mod asking;
mod document;
mod engine;
mod new;
mod outside;
mod own_loop;
mod packages;
mod project;
mod reviews;
mod stops;
mod stranger;
mod subjects;
mod verifying;
mod visits;
