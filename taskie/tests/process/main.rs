//! Taskie's program as users, agents and clients call it.

mod advance;
mod commands;
mod continued;
mod demo;
mod docs;
#[path = "../../../tests/support/documents.rs"]
mod documents;
mod hostile;
mod kit;
mod outcomes;
mod real_use;
mod seed;
mod seventeen;
mod sly;
mod support;
mod taken_up;
