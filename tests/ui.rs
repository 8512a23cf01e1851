//! Programs that must not compile: each file of `ui-tests/` fails with the message beside it.
//!
//! The messages are rustc's, so they are those of the pinned toolchain. `TRYBUILD=overwrite cargo test --test ui` writes
//! them again; read the difference before committing it.

#[test]
fn illegal_programs_do_not_compile() {
    trybuild::TestCases::new().compile_fail("ui-tests/*.rs");
}
