//! The Summary Contract, through its public functions.

mod given;
mod holds;
mod hostile;
mod lenient;
mod rules;
mod validate;
