//! A loop that is over stays over.

use claudex_loop::plan::Loop;
use claudex_loop::plan::typestate::Done;

fn again(over: Loop<Done>) {
    let _ = over.cancel();
}

fn main() {
    let _ = again;
}
