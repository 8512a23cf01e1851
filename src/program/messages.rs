//! What is said of a loop of any machine: where it is, and the ways on from there.

use super::info::ProgramInfo;
use super::next_action::{self, NextAction};
use crate::behaviours::words;
use crate::machine::table::{PhaseInfo, Table};
use crate::machine::{Actor, Raw};
use crate::review::runs;
use crate::text;

/// Longest doc of a phase that a line shows, in characters.
const DOC: usize = 200;

/// The phase that a loop is in.
pub fn phase(raw: &Raw) -> &'static PhaseInfo {
    &raw.table().phases[raw.phase()]
}

/// Returns whether a loop in this phase can go on in any session: no stop moves it.
pub fn is_for_any_session(table: &Table, phase: usize) -> bool {
    let mut edges = table.edges().filter(|edge| edge.from == phase);
    !table.phases[phase].terminal && edges.all(|edge| !edge.by.is_empty())
}

/// A verb that is open to a loop.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Way {
    /// The transition.
    pub transition: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Whether an agent may take it too.
    pub agent: bool,
    /// What is typed: the subcommand, the loop, and its arguments.
    pub command: String,
    /// The subcommand.
    #[serde(skip)]
    pub verb: String,
    /// Whether it takes nothing but the loop.
    #[serde(skip)]
    pub is_plain: bool,
}

/// The transitions that someone may take by a verb where the loop is now, each once, in the order of the machine file. Those
/// whose guards refuse are left out.
pub fn ways(info: &ProgramInfo, raw: &Raw) -> Vec<Way> {
    let mut ways: Vec<Way> = Vec::new();
    for edge in raw.open_edges().iter().filter(|edge| edge.is_verb()) {
        if !ways.iter().any(|way| way.transition == edge.transition) {
            ways.push(Way {
                transition: edge.transition,
                doc: edge.doc,
                agent: edge.by.contains(&Actor::Agent),
                command: format!("{} {}", info.program, words::call(raw.id().as_str(), edge)),
                verb: edge.transition.replace('_', "-"),
                is_plain: edge.args.is_empty(),
            });
        }
    }
    ways
}

/// `. The ways on:` and a line for each, such as `release-train approve ID`, or nothing.
fn ways_on(info: &ProgramInfo, raw: &Raw) -> String {
    let commands: Vec<String> = ways(info, raw).into_iter().map(|way| way.command).collect();
    match commands.is_empty() {
        true => String::new(),
        false => format!(". The ways on:{}", words::lines(&commands)),
    }
}

/// ` (DOC)`, or nothing.
fn doc(phase: &PhaseInfo) -> String {
    match text::one_line(phase.doc, DOC).trim_end_matches('.') {
        "" => String::new(),
        doc => format!(" ({doc})"),
    }
}

/// `, by give_up: The build failed for the third time`: the edge that was taken just now.
fn cause(raw: &Raw) -> String {
    let Some(edge) = raw.taken() else {
        return String::new();
    };
    match text::one_line(edge.doc, DOC).trim_end_matches('.') {
        doc if doc.is_empty() || edge.doc == phase(raw).doc => format!(", by {}", edge.transition),
        doc => format!(", by {}: {doc}", edge.transition),
    }
}

/// Returns the note for a turn that may end: the loop is over, or goes on at another stop. `caveats` are sentences that belong to it.
pub fn ended(info: &ProgramInfo, raw: &Raw, caveats: &[String], own: Option<NextAction>) -> String {
    let phase = phase(raw);
    let failed = last_failure(raw);
    if phase.terminal {
        let id = raw.id();
        if let Some(failure) = failed {
            return info.line(&format!(
                "loop {id} is over: {}{}; the last review gave no verdict: {failure}. Its files stay; ‘{} journal {id}’ tells what happened.",
                phase.name,
                cause(raw),
                info.program
            ));
        }
        let mut line = format!(
            "loop {id} is over: {}{}{}",
            phase.name,
            doc(phase),
            cause(raw)
        );
        if !caveats.is_empty() {
            let caveats = text::one_line(&caveats.join(" "), 1200);
            line += &format!(
                ". What its last message does not say: {caveats} ‘{} journal {id}’ has it.",
                info.program
            );
        }
        return info.line(&line);
    }
    match failed {
        Some(cause) => info.line(&format!(
            "the review gave no verdict: {cause}. With another reviewer:\n    {} review {} --reviewer NAME\nL{}",
            info.program,
            raw.id(),
            next_action::waiting(info, raw, None, None).trim_start_matches('l'),
        )),
        None => info.line(&match own {
            Some(own) => format!(
                "loop {} is in phase {} now{}. Next: {}",
                raw.id(),
                phase.stored,
                cause(raw),
                own.next
            ),
            None => format!(
                "loop {} is in phase {}{}, and the turn may end{}",
                raw.id(),
                phase.name,
                doc(phase),
                ways_on(info, raw)
            ),
        }),
    }
}

/// Says to the agent where a loop is, and what to do next, where the message for that cannot be shown.
pub fn fallback(info: &ProgramInfo, raw: &Raw, next: &str) -> String {
    let phase = phase(raw);
    let line = info.line(&format!(
        "loop {} is in phase {}{}",
        raw.id(),
        phase.name,
        doc(phase)
    ));
    format!("{line}.\nNext: {next}\n")
}

/// Returns why the last review gave no verdict, where the edge that was taken just now is of a reviewing phase.
fn last_failure(raw: &Raw) -> Option<String> {
    let edge = raw.taken()?;
    let reviewed = raw.table().phases[edge.from].on_stop.as_ref()?.name == "review";
    let journal = raw.recent().ok().filter(|_| reviewed)?;
    let last = runs::read(&journal)
        .into_iter()
        .rfind(|run| run.ended.is_some())?;
    let cause = last.ended?.cause()?.to_string();
    Some(cause.trim_end_matches(['.', ' ']).to_owned())
}

/// Where a loop is, below a refusal.
pub fn unchanged(raw: &Raw) -> String {
    let phase = phase(raw);
    if phase.terminal {
        return format!("the loop is over ({}); nothing was changed", phase.name);
    }
    let mut verbs: Vec<String> = Vec::new();
    for edge in raw.table().edges() {
        let verb = edge.transition.replace('_', "-");
        if edge.from == raw.phase() && edge.is_verb() && !verbs.contains(&verb) {
            verbs.push(verb);
        }
    }
    let open = match verbs.is_empty() {
        true => String::new(),
        false => format!(", where {} may be taken", verbs.join(", ")),
    };
    format!(
        "the loop is in phase {}{open}; nothing was changed",
        phase.name
    )
}

/// Removes what a loop that is over needs no more. What cannot be removed is told in the folder's log.
pub fn clear(raw: &Raw) {
    if phase(raw).terminal
        && let Err(error) = raw.store().clear(raw.id(), &[".lock"])
    {
        raw.store().log(&format!("{} clean-up: {error}", raw.id()));
    }
}
