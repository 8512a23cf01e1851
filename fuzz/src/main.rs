//! The target that FUZZ_TARGET names, as libFuzzer calls it.

#![no_main]

use std::sync::LazyLock;

use claudex_loop::fuzzing::{TARGETS, Target};

mod machine;

#[path = "../../stages/tests/contract/holds.rs"]
mod stages_summary;

fn check_machine(bytes: &[u8]) {
    machine::check(&String::from_utf8_lossy(bytes));
}

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let wanted = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
    let others = [
        ("machine", check_machine as Target),
        ("stages_summary", |bytes| drop(stages_summary::holds(bytes))),
    ];
    let all = TARGETS.iter().copied().chain(others);
    all.into_iter()
        .find(|(name, _)| *name == wanted)
        .expect("there is such a target")
        .1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| TARGET(bytes));
