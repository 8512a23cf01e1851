//! Evidence that no review stands behind.

use claudex_loop::plan::typestate::{Loop, Reviewing};
use claudex_loop::{Claim, Reviewed};

fn revise(review: Loop<Reviewing>, claim: Claim) {
    let made_up = Reviewed { claim, findings: Default::default() };
    let _ = review.revise(&made_up);
}

fn main() {
    let _ = revise;
}
