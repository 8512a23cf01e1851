//! The way of a plan, written down: each step gives the type that the next one needs.

use claudex_loop::plan::typestate::{
    Cancelled, Done, Drafting, Loop, Reviewing, ReviseNext, Summarizing,
};
use claudex_loop::{Refused, Reviewed, Settled};

fn begin(draft: Loop<Drafting>) -> Result<Loop<Reviewing>, Refused<Loop<Drafting>>> {
    draft.begin()
}

fn revise(
    review: Loop<Reviewing>,
    evidence: &Reviewed,
) -> Result<ReviseNext, Refused<Loop<Reviewing>>> {
    review.revise(evidence)
}

fn settle(
    review: Loop<Reviewing>,
    evidence: &Settled,
) -> Result<Loop<Summarizing>, Refused<Loop<Reviewing>>> {
    // Settled evidence shows that the round was reviewed, too.
    let _: &Reviewed = evidence;
    review.accept(evidence)
}

fn finish(summary: Loop<Summarizing>) -> Result<Loop<Done>, Refused<Loop<Summarizing>>> {
    summary.finish()
}

fn give_up(draft: Loop<Drafting>) -> Option<Loop<Cancelled>> {
    draft.cancel().ok()
}

pub(crate) fn main() {
    let _ = (begin, revise, settle, finish, give_up);
}
