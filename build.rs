//! Generates the plan loop's types from `machine.toml` if the feature `plan` is on.

fn main() {
    // Sets DEP_CLAUDEX_LOOP_PROGRAM for dependents: claudex-build then generates a command line.
    if std::env::var_os("CARGO_FEATURE_PROGRAM").is_some() {
        println!("cargo::metadata=program=1");
    }
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "plan")]
    claudex_build::Config::new()
        .commands(true)
        .compile("machine.toml");
}
