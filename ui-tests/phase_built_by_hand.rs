//! A loop in a phase of one's own choosing.

use std::marker::PhantomData;

use claudex_loop::machine::Held;
use claudex_loop::plan::Loop;
use claudex_loop::plan::typestate::{Done, Plan};

fn done(held: Held<Plan>) -> Loop<Done> {
    Loop { held, phase: PhantomData }
}

fn main() {
    let _ = done;
}
