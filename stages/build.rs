//! Types, command line and hooks of the machine in `machine.toml`.

fn main() {
    claudex_build::Config::new().compile("machine.toml");
}
