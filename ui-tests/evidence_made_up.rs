//! Evidence without a review.

use claudex_loop::plan::typestate::{Loop, Reviewing};
use claudex_loop::{EvidenceRecord, Reviewed};

fn revise(review: Loop<Reviewing>, record: EvidenceRecord) {
    let made_up = Reviewed(record);
    let _ = review.revise(&made_up);
}

fn main() {
    let _ = revise;
}
