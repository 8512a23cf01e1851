//! `statusline`: the loop of a session on one line, for the client's status line. It repairs nothing and never fails,
//! because the client calls it many times a minute.

use std::io::stdin;

use jiff::Timestamp;

use super::listing::Row;
use crate::hooks::input::{self, INPUT_TIMEOUT, Input};
use crate::machine::Actor;
use crate::program::Program;
use crate::program::exit::Exit;
use crate::program::surroundings::Surroundings;
use crate::program::{durations, out, session_loops};
use crate::text;

/// Prints the line, or nothing if the session has no loop.
pub(in crate::program) fn statusline(program: &Program) -> Exit {
    let input = input::read(stdin(), INPUT_TIMEOUT).unwrap_or_default();
    if let Some(line) = line(program, &input, &Surroundings::from_env()) {
        out::line(&program.info.line(&line));
    }
    Exit::Complete
}

fn line(program: &Program, input: &Input, surroundings: &Surroundings) -> Option<String> {
    let info = program.info;
    let session = input.session_id.as_deref()?;
    let mut own = Vec::new();
    for store in surroundings.stores(info, input) {
        let listed = store.list_active().into_iter();
        let listed =
            listed.filter(|one| one.session.as_deref() == Some(session) && one.problem.is_none());
        own.extend(listed.map(|one| (store.clone(), one)));
    }
    session_loops::order(info, session, &mut own);
    let (store, listed) = own.into_iter().next()?;
    let row = Row::new(info.table, &store, &listed, false, Timestamp::now());
    let round = row.round.map(|round| match row.max_rounds {
        Some(most) => format!("round {round} of {most}"),
        None => format!("round {round}"),
    });
    let running = row.running.then(|| "a review is running".to_owned());
    let findings = row.findings_round.zip(row.findings);
    let findings = findings.map(|(of, found)| match row.round == Some(of) {
        true => found.to_string(),
        false => format!("round {of} found {found}"),
    });
    let held = program
        .app
        .open(&store.to_look(), &listed.id, Actor::Person)
        .ok();
    let own_place = held.and_then(|held| program.app.status_line(&*held));
    let round = round.filter(|_| own_place.is_none());
    let parts = [
        own_place.or(Some(row.phase)),
        round,
        running,
        findings,
        Some(durations::age(row.age_seconds)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(text::one_line(&parts.join(", "), 200))
}
