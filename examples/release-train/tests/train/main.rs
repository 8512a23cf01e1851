//! The release train as its users see it: a program, and hooks with one JSON value in and out.

mod kit;
mod lifecycle;
mod permissions;
mod plugin;
mod review;
mod support;
