//! Every edge of the stages does what the machine file declares, and its guards are the same.

#[path = "../../tests/support/edges.rs"]
mod edges;

use stages::typestate::Stages;

const SOURCE: &str = include_str!("../machine.toml");

#[test]
fn every_edge_is_taken() {
    edges::take_every_edge::<Stages>(SOURCE);
}

#[test]
fn compiled_guards_hold_as_declared() {
    edges::compare_guards::<Stages>(SOURCE);
}
