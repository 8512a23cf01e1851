//! The program as people, agents and hooks call it.

mod asked;
mod demo;
mod docs;
#[path = "../../../tests/support/documents.rs"]
mod documents;
mod lock;
mod page;
mod support;
mod taken_up;
#[path = "../../../tests/support/terminal.rs"]
mod terminal;
mod way;
