//! Every edge of stages can be taken, and does what machine.toml says.

#[path = "../../tests/support/edges.rs"]
mod edges;

#[test]
fn every_edge_of_stages_is_taken() {
    edges::take_every_edge::<stages::typestate::Stages>();
}
