//! A transition that guards divide leads to one of several phases, and each has to be dealt with.

use claudex_loop::Reviewed;
use claudex_loop::plan::typestate::{Loop, ReviseNext, Reviewing};

fn next(review: Loop<Reviewing>, evidence: &Reviewed) -> Option<Loop<Reviewing>> {
    match review.revise(evidence).ok()? {
        ReviseNext::Reviewing(again) => Some(again),
    }
}

fn main() {
    let _ = next;
}
