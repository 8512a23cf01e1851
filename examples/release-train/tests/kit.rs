//! What holds for any machine holds for a release train.

use claudex_testkit::Kit;

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what was tried is what the test has to say"
)]
fn a_train_passes_the_kit() {
    let kit = Kit::new("machine.toml", env!("CARGO_BIN_EXE_release-train"));
    let report = kit.plugin("plugin").quick().unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}
