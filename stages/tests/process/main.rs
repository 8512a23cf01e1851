//! The program as users, agents and hooks call it.

mod asked;
mod demo;
mod docs;
#[path = "../../../tests/support/documents.rs"]
mod documents;
mod killed;
mod kit;
mod page;
mod refused;
#[path = "../../../tests/support/seal.rs"]
mod seal;
mod shown;
mod support;
mod taken_up;
mod way;
