//! The texts about a loop of any machine: where it is, and the commands that continue it.

use super::extension::NextAction;
use super::info::ProgramInfo;
use super::next_action;
use crate::behaviours::loop_message;
use crate::machine::Raw;
use crate::machine::table::{PhaseInfo, Table};
use crate::review::runs;
use crate::text;

/// The longest doc of a phase or an edge in a line, in characters.
const MAX_DOC_CHARS: usize = 200;
/// The longest caveats in a line, in characters.
const MAX_CAVEATS_CHARS: usize = 1200;

/// Returns the phase that a loop is in.
pub fn phase(raw: &Raw) -> &'static PhaseInfo {
    &raw.table().phases[raw.phase()]
}

/// Returns whether a loop in this phase can go on in any session: no stop moves it.
pub fn is_for_any_session(table: &Table, phase: usize) -> bool {
    let mut edges = table.edges().filter(|edge| edge.from == phase);
    !table.phases[phase].terminal && edges.all(|edge| !edge.by.is_empty())
}

/// Returns the doc of a phase in parentheses after a space, or nothing.
fn doc(phase: &PhaseInfo) -> String {
    match text::one_line(phase.doc, MAX_DOC_CHARS).trim_end_matches('.') {
        "" => String::new(),
        doc => format!(" ({doc})"),
    }
}

/// Returns the doc of the edge that was taken just now after a colon, or nothing.
fn cause(raw: &Raw) -> String {
    let edge = raw.taken().filter(|edge| edge.doc != phase(raw).doc);
    let doc = text::one_line(edge.map_or("", |edge| edge.doc), MAX_DOC_CHARS);
    match doc.trim_end_matches('.') {
        "" => String::new(),
        doc => format!(": {doc}"),
    }
}

/// Returns the note about a turn that may end: the loop is over, or another stop continues it. `caveats` are sentences.
pub fn ended(info: &ProgramInfo, raw: &Raw, caveats: &[String], own: Option<NextAction>) -> String {
    let id = raw.id();
    let phase = phase(raw);
    let failure = last_failure(raw);
    info.line(&match (failure, own) {
        (Some(failure), _) if phase.terminal => format!(
            "loop {id} is {}{}. The last review gave no verdict: {failure}. Its files stay. To see what happened:{}",
            phase.name,
            cause(raw),
            text::command_lines(&[format!("{} journal {id}", info.program)])
        ),
        _ if phase.terminal => {
            let line = format!("loop {id} is {}{}", phase.name, cause(raw));
            if caveats.is_empty() { line } else { format!(
                    "{line}. {}",
                    text::one_line(&caveats.join(" "), MAX_CAVEATS_CHARS)
                ) }
        }
        (Some(failure), _) => format!(
            "the review gave no verdict: {failure}. With another reviewer:\n    {} review {id} --reviewer NAME\nL{}",
            info.program,
            next_action::waiting(info, raw, None, None).trim_start_matches('l'),
        ),
        (None, Some(own)) => format!(
            "loop {id} is in phase {}{}. Next: {}",
            phase.stored,
            cause(raw),
            own.next
        ),
        (None, None) => {
            let doc = doc(phase);
            let line = format!("loop {id} is in phase {}{doc}, and the turn may end", phase.name);
            match possible(raw).as_slice() {
                [] => line,
                commands => format!("{line}. To continue:{}", text::command_lines(commands)),
            }
        }
    })
}

/// Returns the text for the agent about where a loop is, if the message of its phase cannot be rendered.
pub fn fallback(info: &ProgramInfo, raw: &Raw, next: &str) -> String {
    let phase = phase(raw);
    let place = format!("loop {} is in phase {}{}", raw.id(), phase.name, doc(phase));
    format!("{}.\nNext: {next}\n", info.line(&place))
}

/// Returns why the last review gave no verdict, if the edge that was taken just now leaves a reviewing phase.
fn last_failure(raw: &Raw) -> Option<String> {
    let edge = raw.taken()?;
    let reviewed = raw.table().phases[edge.from].on_stop.as_ref()?.name == "review";
    let journal = raw.recent().ok().filter(|_| reviewed)?;
    let last = runs::read(&journal)
        .into_iter()
        .rfind(|run| run.ended.is_some())?;
    let cause = last.cause()?.to_string();
    Some(cause.trim_end_matches(['.', ' ']).to_owned())
}

/// Returns the help of a refusal: nothing was changed, and the commands that can be run now.
pub fn unchanged(raw: &Raw) -> String {
    let phase = phase(raw);
    if phase.terminal {
        return format!("nothing was changed; the loop is {}", phase.name);
    }
    match possible(raw).as_slice() {
        [] => format!(
            "nothing was changed; the loop is in phase {}, where no command changes it",
            phase.name
        ),
        commands => format!(
            "nothing was changed; possible in phase {}:{}",
            phase.name,
            text::command_lines(commands)
        ),
    }
}

/// Returns the command lines of the transitions that are open to somebody now.
fn possible(raw: &Raw) -> Vec<String> {
    let ways = loop_message::ways(raw).into_iter();
    ways.map(|way| way.command).collect()
}

/// Adds notes before a line for the user.
pub(super) fn with_notes(
    info: &ProgramInfo,
    notes: &[String],
    line: Option<String>,
) -> Option<String> {
    let prefix = info.line("");
    let line = line.map(|line| line.strip_prefix(&prefix).unwrap_or(&line).to_owned());
    let notes: Vec<String> = notes.iter().cloned().chain(line).collect();
    (!notes.is_empty()).then(|| info.line(&notes.join("; ")))
}

/// Returns the repairs of opening a loop, each a sentence.
pub(super) fn repairs(raw: &Raw) -> Vec<String> {
    raw.repairs().iter().map(ToString::to_string).collect()
}

/// Removes the lock file of a loop that is over. A failure is noted in the folder's log.
pub fn clear(raw: &Raw) {
    if phase(raw).terminal
        && let Err(error) = raw.store().clear(raw.id(), &[".lock"])
    {
        raw.store().log(&format!("{} clean-up: {error}", raw.id()));
    }
}
