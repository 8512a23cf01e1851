//! Every edge of Taskie can be taken as the machine file declares it, and has the file's guards.

#[path = "../../tests/support/edges.rs"]
mod edges;

use taskie::typestate::Taskie;

const SOURCE: &str = include_str!("../machine.toml");

#[test]
fn every_edge_of_taskie_is_taken() {
    edges::take_every_edge::<Taskie>(SOURCE);
}

#[test]
fn compiled_guards_of_taskie_hold_as_declared() {
    edges::compare_guards::<Taskie>(SOURCE);
}
