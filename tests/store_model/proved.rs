//! The protocol, walked through within bounds: what it promises holds in every state, and a store that left a step out
//! would break a promise, each of them one that is named here.

use std::collections::HashMap;
use std::time::Instant;

use stateright::{Checker as _, Expectation, HasDiscoveries, Model as _};

use crate::protocol::{Broken, Budget, Protocol, State};

const NOTHING: Budget = Budget {
    crashes: 0,
    refusals: 0,
    steps: 0,
    sweeps: 0,
    ages: 0,
    reviews: 0,
};

/// Three processes at one loop: commits, cancels, opens, crashes.
const COMMITS: Protocol = Protocol {
    processes: 3,
    ids: 1,
    queues: true,
    begun: true,
    budget: Budget {
        crashes: 2,
        refusals: 1,
        steps: 2,
        ..NOTHING
    },
    broken: Broken::Nothing,
};

/// Two processes and two ids: starts beside everything else.
const STARTS: Protocol = Protocol {
    processes: 2,
    ids: 2,
    queues: false,
    begun: false,
    budget: Budget {
        crashes: 2,
        refusals: 1,
        ..NOTHING
    },
    broken: Broken::Nothing,
};

/// Two processes at one loop that is swept, reviewed and brought back.
const SWEEPS: Protocol = Protocol {
    processes: 2,
    ids: 1,
    queues: false,
    begun: true,
    budget: Budget {
        crashes: 2,
        steps: 1,
        sweeps: 1,
        ages: 1,
        reviews: 1,
        ..NOTHING
    },
    broken: Broken::Nothing,
};

/// The same with a second loop in between.
const WAYS_BACK: Protocol = Protocol {
    processes: 2,
    ids: 2,
    queues: false,
    begun: true,
    budget: Budget {
        crashes: 1,
        sweeps: 1,
        ages: 1,
        ..NOTHING
    },
    broken: Broken::Nothing,
};

/// Walks through all of it. Every promise holds, and all that is named in `happens` is reached.
#[expect(
    clippy::print_stdout,
    reason = "the number of states is what the test has to say"
)]
fn holds(name: &str, protocol: Protocol, happens: &[&str]) {
    let begun = Instant::now();
    let checker = protocol.checker().threads(2).spawn_bfs().join();
    println!(
        "{name}: {} states, {} ways between them, depth {}, {:.1} s",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        begun.elapsed().as_secs_f32()
    );
    for property in protocol.properties() {
        match property.expectation {
            Expectation::Always => {
                if let Some(path) = checker.discovery(property.name) {
                    panic!(
                        "broken: {}\n{:#?}\n{:#?}",
                        property.name,
                        path.clone().into_actions(),
                        path.last_state()
                    );
                }
            }
            _ if happens.contains(&property.name) => {
                assert!(
                    checker.discovery(property.name).is_some(),
                    "never: {}",
                    property.name
                );
            }
            _ => {}
        }
    }
}

/// Walks until a promise is broken; it must be `promise` that can be.
fn breaks(promise: &'static str, broken: Broken, protocol: Protocol) {
    let protocol = Protocol { broken, ..protocol };
    let property = protocol
        .properties()
        .into_iter()
        .find(|one| one.name == promise);
    let name = property
        .unwrap_or_else(|| panic!("no promise: {promise}"))
        .name;
    let enough = HasDiscoveries::AnyOf([name].into());
    let checker = protocol
        .checker()
        .threads(2)
        .finish_when(enough)
        .spawn_bfs()
        .join();
    let broken_ones: Vec<_> = checker.discoveries().into_keys().collect();
    assert!(
        checker.discovery(name).is_some(),
        "{broken:?} breaks only {broken_ones:?}"
    );
}

const CONTENTION: [&str; 2] = [
    "two want the lock while a third or one of them works",
    "a commit comes too late",
];

const CRASHES: [&str; 3] = [
    "a crash leaves a torn line, which is cut",
    "a crash leaves a line without its rename, which is rolled forward",
    "a loop comes to its end",
];

#[test]
fn three_processes_that_commit_cancel_and_crash_keep_every_promise() {
    holds(
        "commits",
        COMMITS,
        &[&CONTENTION[..], &CRASHES[..]].concat(),
    );
}

#[test]
fn starts_that_crash_keep_every_promise() {
    holds(
        "starts",
        STARTS,
        &["a second loop follows the first", CRASHES[0], CRASHES[2]],
    );
}

#[test]
fn a_loop_that_is_swept_reviewed_and_brought_back_keeps_every_promise() {
    let happens = [
        "a loop is swept and brought back",
        "a crash leaves a journal without a document, which is rebuilt",
    ];
    holds(
        "sweeps",
        SWEEPS,
        &[&happens[..], &CONTENTION[1..], &CRASHES[..]].concat(),
    );
}

#[test]
fn a_second_loop_between_a_sweep_and_the_way_back_keeps_every_promise() {
    holds(
        "ways back",
        WAYS_BACK,
        &[
            "a loop is swept and brought back",
            "a second loop follows the first",
        ],
    );
}

#[test]
fn a_store_without_the_lock_would_have_two_winners() {
    breaks("at most one winner per revision", Broken::NoLock, COMMITS);
}

#[test]
fn a_store_without_the_revision_check_would_have_two_winners_and_leave_the_end() {
    breaks(
        "at most one winner per revision",
        Broken::NoRevisionCheck,
        COMMITS,
    );
    breaks(
        "a terminal phase is never left",
        Broken::NoRevisionCheck,
        COMMITS,
    );
}

#[test]
fn a_store_that_renamed_before_the_journal_would_take_a_crash_for_an_edit() {
    breaks(
        "a crash is never taken for an edit by hand",
        Broken::RenameBeforeJournal,
        COMMITS,
    );
}

#[test]
fn a_store_that_did_not_sync_the_journal_would_lose_a_change() {
    breaks(
        "no acknowledged change is lost",
        Broken::NoJournalSync,
        COMMITS,
    );
}

#[test]
fn a_heal_that_dropped_the_last_line_would_lose_a_change() {
    breaks(
        "no acknowledged change is lost",
        Broken::HealDropsALine,
        COMMITS,
    );
}

#[test]
fn a_heal_that_did_not_roll_forward_would_leave_document_and_journal_apart() {
    breaks(
        "document and journal agree after every open",
        Broken::NoRollForward,
        COMMITS,
    );
}

#[test]
fn a_heal_that_did_not_sync_the_journal_first_would_take_a_power_loss_for_an_edit() {
    breaks(
        "a crash is never taken for an edit by hand",
        Broken::HealDoesNotSync,
        COMMITS,
    );
    breaks("at most one active loop", Broken::HealDoesNotSync, STARTS);
}

#[test]
fn a_sweep_that_looked_before_it_locked_would_take_a_loop_that_was_touched() {
    breaks(
        "a sweep takes nothing that was touched",
        Broken::SweepLooksBeforeTheLock,
        SWEEPS,
    );
}

#[test]
fn a_touch_without_the_lock_would_not_keep_the_sweep_away() {
    breaks(
        "a sweep takes nothing that was touched",
        Broken::TouchWithoutLock,
        SWEEPS,
    );
}

#[test]
fn a_sweep_that_did_not_take_the_run_lock_would_take_a_loop_under_review() {
    breaks(
        "a sweep takes nothing that is reviewed",
        Broken::SweepWithoutRunLock,
        SWEEPS,
    );
}

#[test]
fn a_start_that_refused_nothing_would_make_two_active_loops() {
    breaks(
        "at most one active loop",
        Broken::StartRefusesNothing,
        STARTS,
    );
}

#[test]
fn a_failed_start_that_took_nothing_back_would_leave_a_loop() {
    breaks(
        "a start leaves all or nothing",
        Broken::FailedStartTakesNothingBack,
        STARTS,
    );
}

#[test]
fn a_start_that_looked_at_state_files_alone_would_make_two_active_loops() {
    breaks(
        "at most one active loop",
        Broken::StartSeesNoLostState,
        STARTS,
    );
    breaks(
        "at most one active loop",
        Broken::StartSeesNoLostState,
        WAYS_BACK,
    );
}

#[test]
fn a_start_that_showed_a_loop_before_its_names_were_synced_would_lose_a_change() {
    breaks(
        "no acknowledged change is lost",
        Broken::StartShowsBeforeItSyncs,
        STARTS,
    );
}

/// From every state that can be reached, some way leads to one in which every loop has come to its end and nobody is in
/// the middle of anything: the whole graph is walked backwards from there.
#[expect(
    clippy::print_stdout,
    reason = "the number of states is what the test has to say"
)]
fn comes_to_an_end(name: &str, protocol: Protocol) {
    let mut known: HashMap<State, usize> = HashMap::new();
    let mut states: Vec<State> = Vec::new();
    let mut before: Vec<Vec<usize>> = Vec::new();
    for state in protocol.init_states() {
        known.insert(state.clone(), states.len());
        states.push(state);
        before.push(Vec::new());
    }
    let mut at = 0;
    while at < states.len() {
        for next in protocol.next_states(&states[at]) {
            let to = *known.entry(next).or_insert_with_key(|next| {
                states.push(next.clone());
                before.push(Vec::new());
                states.len() - 1
            });
            before[to].push(at);
        }
        at += 1;
    }
    let ends: Vec<usize> = (0..states.len())
        .filter(|at| states[*at].is_at_an_end())
        .collect();
    println!(
        "{name}: {} states, of which {} are ends",
        states.len(),
        ends.len()
    );
    let mut leads = vec![false; states.len()];
    let mut open = ends;
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut leads[at], true) {
            open.extend(&before[at]);
        }
    }
    let stuck = leads.iter().position(|leads| !leads).map(|at| &states[at]);
    assert!(stuck.is_none(), "no way out of {stuck:#?}");
}

#[test]
fn from_every_state_a_way_leads_to_the_end() {
    comes_to_an_end(
        "commits",
        Protocol {
            processes: 2,
            ..COMMITS
        },
    );
    comes_to_an_end("starts", STARTS);
    comes_to_an_end("sweeps", SWEEPS);
}
