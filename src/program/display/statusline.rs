//! `statusline`: the loop of a session on one line, for the client's status line. It repairs nothing and never fails,
//! because the client calls it many times a minute.

use std::io::stdin;

use jiff::Timestamp;

use super::history::Past;
use crate::hooks::input::{self, INPUT_TIMEOUT, Input};
use crate::machine::Actor;
use crate::program::Program;
use crate::program::exit::Exit;
use crate::program::surroundings::Surroundings;
use crate::program::{durations, messages, out, rounds, session_loops};
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
    let session = input.session_id.as_deref()?;
    let owned = session_loops::owned(program.info, input, surroundings, session);
    let (store, id) = owned.into_iter().next()?;
    let opened = program
        .app
        .open(&store.clone().to_look(), &id, Actor::Person);
    let held = opened.ok()?;
    let raw = held.raw();
    let spec = rounds::spec(raw);
    let mut parts = Vec::from_iter(program.extension.status_line(&*held));
    if parts.is_empty() {
        parts.push(messages::phase(raw).stored.to_owned());
        parts.extend(spec.map(|spec| rounds::full_name(raw, spec)));
    }
    if store.is_running(&id) {
        parts.push("a review is running".to_owned());
    }
    if let (Some(spec), Some((round, found))) = (spec, Past::read(raw).newest_findings()) {
        parts.push(if raw.count(spec.round) == round {
            found.to_string()
        } else {
            format!("round {round} found {found}")
        });
    }
    parts.push(durations::age(rounds::seconds(raw, Timestamp::now())));
    Some(text::one_line(&parts.join(", "), 200))
}
