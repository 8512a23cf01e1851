//! A missing machine or program is one failure with its place.

use claudex_testkit::Kit;

const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../taskie/machine.toml");

#[test]
fn missing_machine_or_program_is_named() {
    for (machine, program, says) in [
        ("nothing.toml", "/bin/sh", "nothing.toml: "),
        (
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
            "/bin/sh",
            "Cargo.toml:",
        ),
        (
            MACHINE,
            "/nowhere/taskie",
            "/nowhere/taskie: no such program",
        ),
    ] {
        let failure = Kit::new(machine, program).quick().unwrap_err();
        assert_eq!(failure.suite, "set-up");
        assert!(failure.what.contains(says), "{failure}");
    }
}
