//! A transition that machine.toml does not declare for the phase.

use claudex_loop::plan::Loop;
use claudex_loop::plan::typestate::Drafting;

fn finish(draft: Loop<Drafting>) {
    let _ = draft.finish();
}

fn main() {
    let _ = finish;
}
