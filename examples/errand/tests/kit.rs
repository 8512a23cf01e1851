//! What holds for any machine holds for errands.

use claudex_testkit::Kit;

#[test]
#[expect(clippy::print_stdout, reason = "what was tried is what the test has to say")]
fn an_errand_passes_the_kit() {
    let report = Kit::new("machine.toml", env!("CARGO_BIN_EXE_errand"))
        .quick()
        .unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}
