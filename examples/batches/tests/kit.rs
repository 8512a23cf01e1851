//! What holds for any machine holds for batches, those of the first version too.

use claudex_testkit::{Kit, Suite};

const PROGRAM: &str = env!("CARGO_BIN_EXE_batches");
const FIRST: &str = "tests/machine-1.toml";

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what was tried is what the test has to say"
)]
fn batches_pass_the_kit() {
    let report = Kit::new("machine.toml", PROGRAM)
        .earlier(FIRST)
        .quick()
        .unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}

#[test]
fn a_version_whose_machine_file_is_not_given_is_named() {
    let kit = Kit::new("machine.toml", PROGRAM).only(Suite::Migrations);
    let report = kit.quick().unwrap().to_string();
    assert!(
        report.contains("not tried") && report.contains("f288f0f010e4d0a7"),
        "{report}"
    );
}

/// The machine file says of the first version what the program does not do.
#[test]
fn a_program_that_migrates_otherwise_or_not_at_all_fails_the_kit() {
    let folder = tempfile::tempdir().unwrap();
    let machine = std::fs::read_to_string("machine.toml").unwrap();
    let first = std::fs::read_to_string(FIRST).unwrap();
    let older = first.replace("reporting", "beginning");
    for (from, to, earlier, said) in [
        (
            "set    = { reminders = 0 }",
            "set    = { reminders = 4 }",
            &first,
            "`reminders` is 4 by the machine file, and 0 in the journal",
        ),
        (
            "from   = \"f288f0f010e4d0a7\"",
            "from   = \"a9e1c114229bf25f\"",
            &older,
            "the phase `beginning` was removed",
        ),
    ] {
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        assert!(machine.contains(from), "{from}");
        let machine = file("machine.toml", &machine.replace(from, to));
        let kit = Kit::new(machine, PROGRAM).earlier(file("earlier.toml", earlier));
        let failures = kit.only(Suite::Migrations).quick().unwrap_err();
        assert_eq!(failures.list.len(), 1, "{failures}");
        assert!(failures.list[0].what.contains(said), "{failures}");
    }
}
