//! The user's answer to a phase's question: the hook on AskUserQuestion, and the command `answer`.
//!
//! The hook takes the transition as the user; the agent only asks. It ignores all but loops of the
//! session or of none, the question of their phase, and the offered answers.

use super::app::Program;
use super::exit::{CommandResult, Exit, Failure};
use super::extension::Variables;
use super::locate::{FoundLoop, StateFolders};
use super::{loops, next_action, verbs};
use crate::hooks::answers::{self, DialogAnswer};
use crate::hooks::{HookOutput, Input};
use crate::machine::Actor;
use crate::text;

const ALTERED: &str = "the dialog had another question, header, option or description; ask the question again, exactly as given";

pub(super) fn answer(program: &Program, input: &Input) -> Option<HookOutput> {
    let info = program.info;
    if let Some(output) = program.extension.on_answer(input) {
        return Some(output);
    }
    let answers = answers::from_input(input);
    let session = input
        .session_id
        .as_deref()
        .filter(|_| !answers.is_empty())?;
    let mut loops = StateFolders::find_for_hook(info.state, input).active();
    loops.retain(|one| one.is_usable() && one.is_for(Some(session)));
    // The answer is for the loop that asked, even if a stop would drive another.
    loops.iter().find_map(|found| {
        take(program, found, session, &answers).unwrap_or_else(|problem| {
            let problem = text::note(&problem, 600);
            found.log(&format!("answer: {problem}"));
            let id = &found.id;
            let line = info.line(&format!("the answer did not change loop {id}: {problem}"));
            Some(HookOutput {
                agent_note: Some(line.clone()),
                user_note: Some(line),
                ..HookOutput::default()
            })
        })
    })
}

/// `answer`: takes the answer that the user typed in a terminal.
pub(super) fn run(program: &Program, id: Option<&str>, label: &str) -> CommandResult {
    loops::check_person(program.info, "answer", id)?;
    let held = loops::open_found(program, id)?;
    let id = held.raw().id().clone();
    let unchanged = next_action::unchanged(held.raw());
    let refused = |why: String, help: &str| Failure::refuse(format!("loop {id}: {why}"), help);
    let question = program
        .question(&*held)
        .map_err(|why| refused(format!("cannot ask: {why}"), &unchanged))?;
    let Some(asked) = question else {
        let help = program
            .extension
            .refusal_help(&*held, "answer")
            .unwrap_or(unchanged);
        return Err(refused("it asks nothing now".to_owned(), &help));
    };
    let answer = asked.answer(label, true);
    let Some(answer) = answer.map_err(|why| refused(why, &unchanged))? else {
        let label = text::one_line(&text::printable(label), 80);
        let why = format!("“{label}” does not answer: {}", asked.question);
        let help = format!("nothing was changed; the options are {}", asked.labels());
        return Err(refused(why, &help));
    };
    let name = answer.transition.replace('_', "-");
    let now = verbs::take_answer(program, &answer, held)?;
    verbs::print_result(program, &name, &*now);
    Ok(Exit::Complete)
}

/// Takes the first answer to the question of a loop, and binds it to the session. Returns `None` if
/// no answer is for this loop.
fn take(
    program: &Program,
    found: &FoundLoop,
    session: &str,
    answers: &[DialogAnswer],
) -> Result<Option<HookOutput>, String> {
    let info = program.info;
    let id = &found.id;
    let held = program
        .app
        .open(&found.store, id, Actor::Person)
        .map_err(|error| error.to_string())?;
    let repairs = held.raw().record().repairs().join("; ");
    // The next stop reports a question that cannot be asked.
    let Some(asked) = program.question(&*held).ok().flatten() else {
        return Ok(None);
    };
    let mut chosen = None;
    let mut own_words = None;
    for answer in answers {
        let is_same = asked.matches(&answer.header, &answer.question);
        let has_options = asked.offers(&answer.options);
        match (is_same, has_options) {
            (true, true) => {}
            (false, false) => continue,
            _ => return Err(ALTERED.to_owned()),
        }
        chosen = asked.answer(&answer.text, answer.is_typed)?;
        if chosen.is_some() {
            break;
        }
        own_words = own_words.or(answer.is_typed.then_some(&answer.text));
    }
    let Some(chosen) = chosen else {
        return own_words.map_or(Ok(None), |words| {
            let words = text::one_line(words, 80);
            let labels = asked.labels();
            let commands = next_action::possible_commands(held.raw());
            Err(format!(
                "“{words}” is not one of the options: {labels}. The user can run:{commands}"
            ))
        });
    };
    let now = verbs::take_answer(program, &chosen, held)
        .map_err(|failure| failure.to_string().replace(&format!("loop {id}: "), ""))?;
    let raw = now.raw();
    let phase = raw.phase_info();
    if found.owner().is_none() && !phase.terminal {
        let store = &found.store;
        let bound = store.set_session(raw.record(), session, "bind", "hook");
        bound.map_err(|error| error.to_string())?;
    }

    // The next stop does not repeat the message of this phase.
    let edge = raw.last_edge().filter(|_| !phase.terminal);
    let message = edge.and_then(|edge| edge.effective_message(raw.table()));
    let rendered = program.render(&*now, message, Variables::new());
    let instruction = rendered.unwrap_or_else(|problem| {
        found.log(&format!("answer: {problem}"));
        None
    });
    let next = match &instruction {
        _ if phase.terminal => " It is over.",
        None => " End your turn to continue.",
        Some(_) => "",
    };
    Ok(Some(HookOutput {
        agent_note: Some(info.line(&format!(
            "the answer “{}” took loop {id} by {} to phase {}.{next}",
            text::one_line(&chosen.label, 80),
            chosen.transition,
            phase.name,
        ))),
        instruction,
        user_note: (!repairs.is_empty()).then(|| info.line(&format!("loop {id}: {repairs}"))),
        ..HookOutput::default()
    }))
}
