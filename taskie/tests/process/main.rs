//! Taskie's program as users, agents and clients call it.

mod advance;
mod attacks;
mod commands;
mod continue_plan;
mod demo;
mod docs;
#[path = "../../../tests/support/documents.rs"]
mod documents;
mod hostile;
mod kills;
mod kit;
mod outcomes;
mod outputs;
mod real_use;
mod seed;
mod slash_commands;
mod support;
mod take_up;
#[path = "../../../tests/support/transcript.rs"]
mod transcript;
