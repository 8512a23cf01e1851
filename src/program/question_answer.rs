//! A person's answer to the question of a phase, which takes the transition that it stands for: the hook on AskUserQuestion, and
//! the command `answer`.
//!
//! In the client the answer is what makes the change a person's; the agent only put the question. Everything that is not the
//! session's own loop, its phase's question and one of the offered answers is passed over in silence.

use jiff::Timestamp;

use super::app::{App, Program};
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::extension::NotTaken;
use super::session_loops::all_owned;
use super::settings::Settings;
use super::surroundings::Surroundings;
use super::{loops, messages, verbs};
use crate::behaviours::words;
use crate::hooks::answers::{self, Answer};
use crate::hooks::{HookOutput, Input};
use crate::machine::LoopHandle;
use crate::machine::{Actor, Refusal};
use crate::store::{LoopId, Store};
use crate::text;

/// What is said of an answer to a dialog that the agent altered.
const ALTERED: &str = "the dialog had other options or descriptions than the question has; put the question again, exactly as it was given";

/// Takes an answer to the question of the phase that the session's own loop is in.
pub(super) fn take<M: App>(
    program: &Program<M>,
    input: &Input,
    surroundings: &Surroundings,
) -> HookOutput {
    let info = program.info;
    if surroundings.reviewer_child {
        return HookOutput::default();
    }
    if let Some(taken) = program.extension.answered(input, surroundings) {
        return taken;
    }
    let answers = answers::from_input(input);
    let Some(session) = input.session_id.as_deref().filter(|_| !answers.is_empty()) else {
        return HookOutput::default();
    };
    // Of several loops the one that asked is meant, whichever a stop would drive now.
    let mut told = HookOutput::default();
    for (store, id) in all_owned(info, input, surroundings, session) {
        match taken::<M>(program, &store, &id, &answers, &mut told) {
            Ok(false) => {}
            Ok(true) => break,
            Err(problem) => {
                let line = text::note(&problem, 300);
                store.log(&format!("{id} answer: {line}"));
                let line = info.line(&format!("the answer changed nothing in loop {id}: {line}"));
                return HookOutput {
                    agent: Some(line.clone()),
                    more: None,
                    person: Some(line),
                };
            }
        }
    }
    told
}

/// Takes an answer that a person gives in a terminal.
pub(super) fn by_hand<M: App>(
    program: &Program<M>,
    id: Option<&str>,
    label: &str,
) -> Result<Exit, Failure> {
    let info = program.info;
    let actor = Caller::from_env().actor(false);
    loops::person_only(info, actor, "answer LABEL", id)?;
    let (store, id) = loops::find(info, id)?;
    let settings = loops::settings(info, store.root(), None)?;
    let held = loops::open::<M>(&store, &id, actor)?;
    program.prepare(&held, &settings, actor);
    let refused = |why: String, help: &str| {
        Failure::plain(
            Exit::Refused,
            "claudex::answer",
            format!("loop {id}: {why}"),
            help,
        )
    };
    let unchanged = messages::unchanged(held.raw());
    let asked = program
        .question(&held)
        .map_err(|problem| refused(format!("it cannot ask: {problem}"), &unchanged))?
        .ok_or_else(|| {
            let help = program.extension.refusal_help(&held, "answer");
            refused(
                "it asks nothing now".to_owned(),
                help.as_deref().unwrap_or(&unchanged),
            )
        })?;
    let answer = asked
        .answer(label, true)
        .map_err(|problem| refused(problem, &unchanged))?
        .ok_or_else(|| {
            let label = text::one_line(&text::shown(label), 80);
            let why = format!("“{label}” is no answer to: {}", asked.question);
            refused(
                why,
                &format!("the options are {}; nothing was changed", asked.labels()),
            )
        })?;
    let verb =
        verbs::of_answer::<M>(&answer, &id).map_err(|problem| refused(problem, &unchanged))?;
    let name = answer.transition.replace('_', "-");
    let now = verbs::take(program, verb, held, &settings)?;
    verbs::tell(program, &name, &now, &settings);
    Ok(Exit::Complete)
}

/// Takes the first of the answers that is one to the question of a loop, and says what came of it; returns whether there was one.
fn taken<M: App>(
    program: &Program<M>,
    store: &Store,
    id: &LoopId,
    answers: &[Answer],
    told: &mut HookOutput,
) -> Result<bool, String> {
    let info = program.info;
    let held = M::open(store, id, Actor::Person).map_err(|error| error.to_string())?;
    let repairs: Vec<String> = held
        .raw()
        .repairs()
        .iter()
        .map(ToString::to_string)
        .collect();
    // Opening it was the one time that this can be told.
    if !repairs.is_empty() {
        told.person = Some(info.line(&format!("loop {id}: {}", repairs.join("; "))));
    }
    // What is wrong with a question is said at a stop.
    let asked = program.question(&held).ok().flatten();
    let chosen = asked.iter().find_map(|asked| {
        let mut ours = answers
            .iter()
            .filter(|answer| asked.is(&answer.header, &answer.question));
        ours.find_map(|answer| match asked.offers(&answer.options) {
            true => asked.answer(&answer.text, answer.is_typed).transpose(),
            false => Some(Err(ALTERED.to_owned())),
        })
    });
    let Some(chosen) = chosen.transpose()? else {
        return Ok(false);
    };
    let transition = chosen.transition;
    let now = match program.run(verbs::of_answer::<M>(&chosen, id)?, held) {
        Ok(now) => now,
        // Someone else decided first; what came of it is told at the next stop.
        Err(NotTaken::Refused(refused)) if matches!(*refused.refusal, Refusal::Stale { .. }) => {
            return Ok(true);
        }
        Err(NotTaken::Refused(refused)) => return Err(refused.to_string()),
        Err(NotTaken::Failed(failure)) => return Err(failure.to_string()),
    };
    let (raw, phase) = (now.raw(), messages::phase(now.raw()));
    store.log(&format!(
        "{id} {transition} by an answer: now {}",
        phase.name
    ));
    // The answer counts; settings that cannot be used are said at the next stop.
    let settings = Settings::load(info, store.root()).unwrap_or_else(|_| Settings::usual(info));
    if let Err(error) = program.extension.entered(&now, &settings) {
        store.log(&format!("{id} answer: {error}"));
    }
    messages::clear(raw);
    // The next stop says nothing of a phase that was entered before it; so it is said here.
    let own = program.words(&now, &settings, Timestamp::now());
    let words = own.and_then(|own| match raw.taken() {
        Some(edge) => {
            words::render(raw, edge.words(raw.table()), own).map_err(|error| error.to_string())
        }
        None => Ok(None),
    });
    let words = words.unwrap_or_else(|problem| {
        store.log(&format!("{id} answer: {problem}"));
        None
    });
    let next = match (phase.terminal, &words) {
        (true, _) => " It is over.",
        (false, None) => " End your turn to go on.",
        (false, Some(_)) => "",
    };
    told.agent = Some(info.line(&format!(
        "the answer “{}” took loop {id} by {transition} to phase {}.{next}",
        text::one_line(&chosen.label, 80),
        phase.name,
    )));
    told.more = words.filter(|_| !phase.terminal);
    Ok(true)
}
