//! What must hold in every state of the model, and what must happen in some, so that it is not about nothing.

use stateright::Property;

use crate::protocol::{At, Call, Files, Next, Part, Protocol, State};
use crate::reference::{Content, Fix, Judged};

/// What is asked of one state.
type Condition = fn(&Protocol, &State) -> bool;

/// What holds in every state.
pub(crate) fn promises() -> Vec<Property<Protocol>> {
    let holds: [(&'static str, Condition); 11] = [
        ("at most one winner per revision", |_, state| {
            !state.wrong.two_winners
        }),
        ("no acknowledged change is lost", |_, state| {
            let is_there = |files: &Files| {
                files
                    .acknowledged
                    .iter()
                    .all(|told| files.journal.lines.contains(told))
            };
            state.files.iter().all(is_there)
        }),
        ("what a process holds is on disk, or was", |_, state| {
            let is_there =
                |(id, held): (usize, Content)| state.files[id].journal.lines.contains(&held);
            state
                .processes
                .iter()
                .all(|process| process.held.is_none_or(is_there))
        }),
        ("document and journal agree after every open", |_, state| {
            !state.wrong.opened_apart
        }),
        ("a crash is never taken for an edit by hand", |_, state| {
            !state.wrong.crash_taken_for_edit
        }),
        ("a terminal phase is never left", |_, state| {
            let stays =
                |pair: &[Content]| !pair[0].phase.is_terminal() || pair[0].phase == pair[1].phase;
            state
                .files
                .iter()
                .all(|files| files.journal.lines.windows(2).all(stays))
        }),
        ("the journal counts from one without a gap", |_, state| {
            let counts = |files: &Files| {
                let mut lines = files.journal.lines.iter().zip(1..);
                lines.all(|(line, number)| line.revision == number)
            };
            state.files.iter().all(counts)
        }),
        ("at most one active loop", |_, state| {
            state.files.iter().filter(|files| files.is_active()).count() <= 1
        }),
        ("a start leaves all or nothing", |_, state| {
            !state.wrong.failed_start_left_something
        }),
        ("a sweep takes nothing that was touched", |_, state| {
            !state.wrong.took_touched
        }),
        ("a sweep takes nothing that is reviewed", |_, state| {
            !state.wrong.took_reviewed
        }),
    ];
    holds
        .into_iter()
        .map(|(name, holds)| Property::always(name, holds))
        .collect()
}

/// What really happens within the bounds: without it the promises would be empty. Which of these a model must show is
/// said where it is run.
pub(crate) fn happenings() -> Vec<Property<Protocol>> {
    fn inside(state: &State, is: impl Fn(Call, Next) -> bool) -> bool {
        state
            .processes
            .iter()
            .any(|process| matches!(process.at, At::Inside(call, next) if is(call, next)))
    }
    let happens: [(&'static str, Condition); 8] = [
        (
            "two want the lock while a third or one of them works",
            |_, state| {
                state.is_locked()
                    && state
                        .processes
                        .iter()
                        .any(|process| matches!(process.at, At::Waiting(..)))
            },
        ),
        ("a commit comes too late", |_, state| {
            state.processes.iter().any(|process| {
                matches!((process.at, process.held), (At::Inside(Call::Commit(_), Next::Decide { found, .. }), Some((_, held))) if found.revision > held.revision)
            })
        }),
        ("a crash leaves a torn line, which is cut", |_, state| {
            inside(state, |_, next| matches!(next, Next::Cut { .. }))
        }),
        (
            "a crash leaves a line without its rename, which is rolled forward",
            |_, state| {
                inside(state, |_, next| {
                    matches!(
                        next,
                        Next::Fix {
                            judged: Judged {
                                fix: Some(Fix::RollForward),
                                ..
                            },
                            ..
                        }
                    )
                })
            },
        ),
        (
            "a crash leaves a journal without a document, which is rebuilt",
            |_, state| {
                inside(state, |_, next| {
                    matches!(
                        next,
                        Next::Fix {
                            judged: Judged {
                                fix: Some(Fix::Rebuild),
                                ..
                            },
                            ..
                        }
                    )
                })
            },
        ),
        ("a loop comes to its end", |_, state| {
            state.is_at_an_end()
                && state
                    .files
                    .iter()
                    .any(|files| !files.acknowledged.is_empty())
        }),
        ("a loop is swept and brought back", |_, state| {
            inside(state, |call, next| {
                matches!(
                    (call, next),
                    (Call::BringBack(_), Next::Write(Part::Finish, _))
                )
            })
        }),
        ("a second loop follows the first", |_, state| {
            state.files.len() > 1
                && state
                    .files
                    .iter()
                    .all(|files| !files.acknowledged.is_empty())
        }),
    ];
    happens
        .into_iter()
        .map(|(name, happens)| Property::sometimes(name, happens))
        .collect()
}
