//! Taskie passes the kit.

use claudex_testkit::Kit;

#[test]
#[expect(clippy::print_stdout, reason = "the report is the test's output")]
fn taskie_passes_the_kit() {
    let kit = Kit::new("machine.toml", env!("CARGO_BIN_EXE_taskie"))
        .project(|project| project.write(".taskie/plans/kit_1/plan.md", "# Plan\n"));
    println!("{}", kit.plugin("plugin").quick().unwrap());
}
