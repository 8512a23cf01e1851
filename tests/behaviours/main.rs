//! The behaviours of the catalogue, each in its own machine, in a crate outside of this workspace against the bare library.
//!
//! The crate in `crate/` is built once; each case runs its program, one step a process, in a folder with an awkward name.

#[path = "../support/stranger.rs"]
mod stranger;

mod ask;
mod docs;
mod run;
mod support;
mod turns;
mod wait;
