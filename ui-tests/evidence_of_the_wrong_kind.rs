//! That a round was reviewed does not settle it.

use claudex_loop::Reviewed;
use claudex_loop::plan::typestate::{Loop, Reviewing};

fn settle(review: Loop<Reviewing>, evidence: &Reviewed) {
    let _ = review.mark_done(evidence);
}

fn main() {
    let _ = settle;
}
