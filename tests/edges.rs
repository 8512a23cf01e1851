//! Every edge of the plan loop does what the machine file declares, and its guards are the same.

#[path = "support/edges.rs"]
mod edges;

use claudex_loop::plan::typestate::Plan;

const SOURCE: &str = include_str!("../machine.toml");

#[test]
fn every_edge_of_the_plan_loop_is_taken() {
    edges::take_every_edge::<Plan>(SOURCE);
}

#[test]
fn compiled_guards_of_plan_hold_as_declared() {
    edges::compare_guards::<Plan>(SOURCE);
}
