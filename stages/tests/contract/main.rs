//! The Summary Contract, through its public functions.

mod hostile;
mod invariants;
mod lenient_reader;
mod rules;
mod support;
mod validate;
