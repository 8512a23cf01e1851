//! The Summary Contract, through its public functions.

mod edits;
mod given;
mod hostile;
mod lenient;
mod malformed;
mod rules;
mod schema;
mod validate;
