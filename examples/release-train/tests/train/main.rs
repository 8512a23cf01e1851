//! The release train as its users meet it: a program that is called, and whose hooks read one JSON value and answer one.

mod kit;
mod people;
mod plugin;
mod reviewed;
mod support;
mod way;
