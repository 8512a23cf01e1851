//! What cannot be written: each file of `ui-tests/` must fail to compile, with the message beside it.
//!
//! The messages are rustc's, so they are those of the pinned toolchain. `TRYBUILD=overwrite cargo test --test ui` writes
//! them anew; read the difference before committing it.

#[test]
fn illegal_programs_do_not_compile_and_say_why() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui-tests/*.rs");
    cases.pass("ui-tests/pass/*.rs");
}
