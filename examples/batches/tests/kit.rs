//! What holds for any machine holds for batches.

use claudex_testkit::Kit;

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what was tried is what the test has to say"
)]
fn batches_pass_the_kit() {
    let report = Kit::new("machine.toml", env!("CARGO_BIN_EXE_batches"))
        .quick()
        .unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}
