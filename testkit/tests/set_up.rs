//! What cannot be tried is one failure that says what, where and what to do.

use claudex_testkit::{Kit, Suite};

const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../taskie/machine.toml");

#[test]
fn a_machine_or_a_program_that_is_not_there_is_named() {
    for (machine, program, says) in [
        ("nothing.toml", "/bin/sh", "nothing.toml: "),
        (
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
            "/bin/sh",
            "Cargo.toml: ",
        ),
        (
            MACHINE,
            "/nowhere/taskie",
            "/nowhere/taskie: no such program\n    the kit needs",
        ),
    ] {
        let failures = Kit::new(machine, program).quick().unwrap_err();
        assert_eq!(failures.list.len(), 1, "{failures}");
        assert_eq!(failures.list[0].suite, Suite::SetUp);
        assert!(failures.to_string().contains(says), "{failures}");
    }
}

#[test]
fn a_program_that_refuses_every_start_fails_where_it_does() {
    let failures = Kit::new(MACHINE, "/bin/false")
        .only(Suite::Crowd)
        .quick()
        .unwrap_err();
    let said = failures.to_string();
    assert!(
        said.contains(
            "set-up: start --id=kit_1 --description=given-1: it was refused: exit code Some(1)"
        ),
        "{said}"
    );
    assert!(said.contains("`Kit::flag`"), "{said}");
}
