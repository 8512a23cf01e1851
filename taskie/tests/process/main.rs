//! Taskie's program, called as people, agents and clients call it.

mod advance;
mod continued;
mod demo;
mod hostile;
mod outcomes;
mod people;
mod seed;
mod support;
mod taken_up;
mod way;
