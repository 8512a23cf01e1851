//! The release train as its users see it: a program, and hooks with one JSON value in and out.

mod kit;
mod people;
mod plugin;
mod reviewed;
mod support;
mod way;
