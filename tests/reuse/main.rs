//! The crates in a project outside of this workspace, with its own machine.

#[path = "../support/machines.rs"]
mod machines;
#[path = "../support/outside_crate.rs"]
mod support;

mod absent_edges;
mod all_pairs;
mod bare_library;
mod document;
mod engine;
mod new;
mod own_loop;
mod packages;
mod packed_plan_loop;
mod project;
mod question_options;
mod reviews;
mod stops;
mod subjects;
mod verification;
mod visits;
