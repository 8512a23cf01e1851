//! Work in batches. Everything that it does stands in `machine.toml`.

claudex_loop::main!(batches);
