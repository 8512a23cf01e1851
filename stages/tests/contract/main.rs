//! The Summary Contract, through its public functions.

mod holds;
mod hostile;
mod lenient;
mod rules;
mod support;
mod validate;
