//! The Summary Contract, through its public functions.

mod edits;
mod given;
mod holds;
mod hostile;
mod lenient;
mod malformed;
mod rules;
mod schema;
mod validate;
