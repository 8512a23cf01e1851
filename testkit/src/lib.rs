//! Tests of any machine.
pub mod search;
