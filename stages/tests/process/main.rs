//! The program as people, agents and hooks call it.

mod asked;
mod support;
mod way;
