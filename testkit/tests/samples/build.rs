//! Types, command line and hooks of the machine.

fn main() {
    claudex_build::Config::new().compile("stages.toml");
}
