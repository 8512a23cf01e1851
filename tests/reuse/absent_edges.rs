//! What cannot be written: each file of `ui-tests/` must fail to compile, with the message beside it; what can be is compiled here.
//!
//! The messages are rustc's, so they are those of the pinned toolchain. `TRYBUILD=overwrite cargo test --test reuse absent_edges` writes
//! them again; read the difference before committing it.

/// A part of this program and no case of trybuild: one case that has to be linked makes it compile the code of every dependency,
/// while the others need no more than their types.
#[path = "../../ui-tests/pass/every_step_of_a_plan.rs"]
mod every_step_of_a_plan;

#[test]
fn every_step_of_a_plan_is_a_program() {
    every_step_of_a_plan::main();
}

#[test]
fn illegal_programs_do_not_compile() {
    trybuild::TestCases::new().compile_fail("ui-tests/*.rs");
}
