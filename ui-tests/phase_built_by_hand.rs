//! A loop in a phase of one's own choosing.

use std::marker::PhantomData;

use claudex_loop::machine::Raw;
use claudex_loop::plan::Loop;
use claudex_loop::plan::typestate::Done;

fn done(raw: Raw) -> Loop<Done> {
    Loop { raw, phase: PhantomData }
}

fn main() {
    let _ = done;
}
