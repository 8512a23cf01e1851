//! The release train as its users meet it: a program that is called, and whose hooks read one JSON value and answer one.

mod hooks;
mod hostile;
mod names;
#[path = "../../../../tests/support/paste.rs"]
mod paste;
mod pasting;
mod people;
mod plugin;
mod reviewed;
mod support;
mod trees;
mod way;
