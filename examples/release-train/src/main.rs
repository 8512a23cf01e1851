//! A release train that Claude Code's Stop hook drives. `machine.toml` declares all of it.

claudex_loop::main!(release_train);
