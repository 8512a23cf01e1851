//! Each behaviour in its own machine, in a crate outside of this workspace, with the bare library.
//!
//! The crate in `crate/` is built once. Each test runs its program in an awkward folder.

#[path = "../support/outside_crate.rs"]
mod outside_crate;

mod ask;
mod docs;
mod run;
mod support;
mod turns;
mod wait;
