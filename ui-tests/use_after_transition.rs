//! A loop that was moved into a transition is gone.

use claudex_loop::plan::Loop;
use claudex_loop::plan::typestate::Drafting;

fn twice(draft: Loop<Drafting>) {
    let _ = draft.begin();
    let _ = draft.begin();
}

fn main() {
    let _ = twice;
}
