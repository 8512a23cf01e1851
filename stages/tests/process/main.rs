//! The program as users, agents and hooks call it.

mod demo;
mod docs;
#[path = "../../../tests/support/documents.rs"]
mod documents;
mod kills;
mod kit;
mod lifecycle;
mod messages;
mod outputs;
mod questions;
mod refusals;
mod report;
#[path = "../../../tests/support/seal.rs"]
mod seal;
mod support;
mod take_up;
#[path = "../../../tests/support/transcript.rs"]
mod transcript;
