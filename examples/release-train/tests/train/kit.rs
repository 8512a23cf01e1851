//! The release train passes the kit.

use claudex_testkit::Kit;

#[test]
#[expect(clippy::print_stdout, reason = "the report is the test's output")]
fn train_passes_the_kit() {
    let kit = Kit::new("machine.toml", env!("CARGO_BIN_EXE_release-train"));
    let report = kit.plugin("plugin").quick().unwrap();
    println!("{report}");
    assert!(report.unreached.is_empty(), "{report}");
}
