#![doc = include_str!("../README.md")]

mod changes;
mod finding;
mod markdown;
mod patch;
mod pattern;
mod plan;

pub use changes::review_changes;
pub use finding::{Finding, PointOfView, Severity};
pub use plan::review_document;
