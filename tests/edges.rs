//! Every edge of the plan loop can be taken, and does what machine.toml says.

#[path = "support/edges.rs"]
mod edges;

#[test]
fn every_edge_of_the_plan_loop_is_taken() {
    edges::take_every_edge::<claudex_loop::plan::typestate::Plan>();
}
