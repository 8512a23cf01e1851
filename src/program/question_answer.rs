//! The user's answer to a phase's question: the hook on AskUserQuestion, and the command `answer`.
//!
//! The hook takes the transition as the user; the agent only asks. It ignores all but loops of the
//! session or of none, the question of their phase, and the offered answers.

use super::app::Program;
use super::caller::Caller;
use super::exit::{CommandResult, Exit, Failure};
use super::extension::Variables;
use super::locate::{FoundLoop, StateFolders};
use super::{loops, next_action, verbs};
use crate::hooks::answers::{self, DialogAnswer};
use crate::hooks::{HookOutput, Input};
use crate::machine::Actor;
use crate::text;

const ALTERED: &str = "the dialog had other options or descriptions than the question; ask the question again, exactly as given";

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
    // The answer is for the loop that asked, even if a stop would drive another.
    let mut output = HookOutput::default();
    let mut loops = StateFolders::find_for_hook(info.state, input).active();
    loops.retain(|one| one.is_usable() && one.owner().is_none_or(|owner| owner == session));
    for found in loops {
        match take(program, &found, session, &answers, &mut output) {
            Ok(false) => {}
            Ok(true) => break,
            Err(problem) => {
                let problem = text::note(&problem, 300);
                found.log(&format!("answer: {problem}"));
                let id = &found.id;
                let line = info.line(&format!("the answer did not change loop {id}: {problem}"));
                return Some(HookOutput {
                    agent_note: Some(line.clone()),
                    user_note: Some(line),
                    ..HookOutput::default()
                });
            }
        }
    }
    Some(output)
}

/// `answer`: takes the answer that the user typed in a terminal.
pub(super) fn run(program: &Program, id: Option<&str>, label: &str) -> CommandResult {
    let info = program.info;
    let actor = Caller::from_env().actor(false);
    loops::person_only(info, actor, "answer", id)?;
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

/// Takes the first answer to the question of a loop, and binds it to the session. Returns whether
/// one exists.
fn take(
    program: &Program,
    found: &FoundLoop,
    session: &str,
    answers: &[DialogAnswer],
    output: &mut HookOutput,
) -> Result<bool, String> {
    let info = program.info;
    let id = &found.id;
    let held = program
        .app
        .open(&found.store, id, Actor::Person)
        .map_err(|error| error.to_string())?;
    let repairs = held.raw().record().repairs();
    if !repairs.is_empty() {
        output.user_note = Some(info.line(&format!("loop {id}: {}", repairs.join("; "))));
    }
    // The next stop reports a question that cannot be asked.
    let Some(asked) = program.question(&*held).ok().flatten() else {
        return Ok(false);
    };
    let mut chosen = None;
    for answer in answers {
        if chosen.is_none() && asked.matches(&answer.header, &answer.question) {
            if !asked.offers(&answer.options) {
                return Err(ALTERED.to_owned());
            }
            chosen = asked.answer(&answer.text, answer.is_typed)?;
        }
    }
    let Some(chosen) = chosen else {
        let mut typed = answers.iter().filter(|answer| answer.is_typed);
        let own_words = typed.find(|answer| asked.matches(&answer.header, &answer.question));
        return own_words.map_or(Ok(false), |answer| {
            let text = text::one_line(&answer.text, 80);
            let labels = asked.labels();
            Err(format!("“{text}” is not one of the options: {labels}"))
        });
    };
    let now = verbs::take_answer(program, &chosen, held)
        .map_err(|failure| failure.to_string().replace(&format!("loop {id}: "), ""))?;
    let raw = now.raw();
    let phase = raw.phase_info();
    if found.owner().is_none() && !phase.terminal {
        let bound = found
            .store
            .set_session(raw.record(), session, "bind", "hook");
        bound.map_err(|error| error.to_string())?;
    }

    // The next stop does not repeat the message of this phase.
    let message = raw
        .last_edge()
        .and_then(|edge| edge.effective_message(raw.table()));
    let message = program
        .render(&*now, message, Variables::new())
        .unwrap_or_else(|problem| {
            found.log(&format!("answer: {problem}"));
            None
        });
    let next = match &message {
        _ if phase.terminal => " It is over.",
        None => " End your turn to continue.",
        Some(_) => "",
    };
    output.agent_note = Some(info.line(&format!(
        "the answer “{}” took loop {id} by {} to phase {}.{next}",
        text::one_line(&chosen.label, 80),
        chosen.transition,
        phase.name,
    )));
    output.instruction = message.filter(|_| !phase.terminal);
    Ok(true)
}
