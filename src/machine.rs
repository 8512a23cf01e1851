//! Machines and their loops, from the engine.

// The macro of the same name is the engine's own, so the module cannot be named in a `use` of the crate's root.
pub use claudex_loop_engine::machine::*;
