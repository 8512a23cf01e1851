//! Every edge of taskie can be taken, and does what machine.toml says.

#[path = "../../tests/support/edges.rs"]
mod edges;

#[test]
fn every_edge_of_taskie_is_taken() {
    edges::take_every_edge::<taskie::typestate::Taskie>();
}
