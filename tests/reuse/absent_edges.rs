//! Each file of `ui-tests/` fails to compile, with the error beside it. Valid code is here.
//!
//! The errors are those of the pinned toolchain. To write them again, run
//! `TRYBUILD=overwrite cargo test --test reuse absent_edges`, and read the difference.

/// A part of this program instead of a trybuild case: a case that is linked compiles the code of
/// all dependencies, while the others need only their types.
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
