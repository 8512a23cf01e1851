//! The release train as its users meet it: a program that is called, and whose hooks read one JSON value and answer one.

mod hooks;
mod hostile;
#[path = "../../../../tests/support/paste.rs"]
mod paste;
mod pasting;
mod people;
mod support;
mod way;
