//! A phase and an edge of one's own.

use claudex_loop::plan::Loop;
use claudex_loop::plan::typestate::{Done, Finish};

enum Shortcut {}

impl Finish for Shortcut {
    type Next = Loop<Done>;
}

fn main() {}
