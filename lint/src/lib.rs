#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! `document` reads a plan and `changes` a patch. Both run a catalogue of checks and share nothing but [`Finding`].
//! The crate knows no loop, no round, no file system.

mod changes;
mod document;
mod finding;
mod quote;

pub use changes::review as review_changes;
pub use document::review as review_document;
pub use finding::{Finding, PointOfView, Severity};
