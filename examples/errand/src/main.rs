//! An errand whose state file is its notes. Everything that it does stands in `machine.toml`.

claudex_loop::main!(errand);
