//! A release train that Claude Code's Stop hook drives. Everything that it does is in `machine.toml`.

claudex_loop::main!(release_train);
