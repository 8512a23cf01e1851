//! What holds for any machine holds for errands.

use claudex_testkit::{Actor, Kit};

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what was tried is what the test has to say"
)]
fn an_errand_passes_the_kit() {
    let report = Kit::new("machine.toml", env!("CARGO_BIN_EXE_errand"))
        .verb("working", "pay", Actor::Agent, |_, _| {
            Ok(["pay", "3", "nails"].map(str::to_owned).into())
        })
        .quick()
        .unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}
