//! What is said of a loop of any machine: where it is, what it waits for, and the ways on from there.

use jiff::Timestamp;

use super::speaker::Speaker;
use crate::drive::words;
use crate::machine::table::Guard;
use crate::machine::table::{EdgeInfo, PhaseInfo};
use crate::machine::{Actor, Raw};
use crate::text;

/// Longest doc of a phase that a line shows, in characters.
const DOC: usize = 200;

/// The phase that a loop is in.
pub fn phase(raw: &Raw) -> &'static PhaseInfo {
    &raw.table().phases[raw.phase()]
}

/// Where a loop stands, each a part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// What it waits for.
    pub waits_for: String,
    /// What the agent does next.
    pub next: String,
}

/// The same of a loop of any machine, as far as its file says it.
pub fn outlook(raw: &Raw) -> Outlook {
    let (waits_for, _) = words::outlook(raw);
    let next = match phase(raw).doc.trim_end_matches('.') {
        "" => "end the turn: the Stop hook says what is to be done".to_owned(),
        doc => format!("{doc}. The Stop hook says the rest at the end of a turn"),
    };
    Outlook { waits_for, next }
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
}

/// The transitions that someone may take by a verb where the loop is now, each once, in the order of the machine file. Those
/// whose guards refuse are left out.
pub fn ways(speaker: &Speaker, raw: &Raw) -> Vec<Way> {
    let mut ways: Vec<Way> = Vec::new();
    let (table, record, now) = (raw.table(), raw.record(), Timestamp::now());
    let open = |edge: &&EdgeInfo| {
        let holds = |guard: &Guard| guard.holds(table, record, now).unwrap_or(false);
        edge.from == raw.phase() && !edge.by.is_empty() && edge.when.as_ref().is_none_or(holds)
    };
    for edge in table.edges.iter().filter(open) {
        if !ways.iter().any(|way| way.transition == edge.transition) {
            ways.push(Way {
                transition: edge.transition,
                doc: edge.doc,
                agent: edge.by.contains(&Actor::Agent),
                command: format!("{} {}", speaker.program, words::call(raw, edge)),
            });
        }
    }
    ways
}

/// `. The ways on:` and a line for each, such as `release-train approve ID`, or nothing.
fn ways_on(speaker: &Speaker, raw: &Raw) -> String {
    let commands: Vec<String> = ways(speaker, raw).into_iter().map(|way| way.command).collect();
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
        "" => format!(", by {}", edge.transition),
        doc => format!(", by {}: {doc}", edge.transition),
    }
}

/// One line for a turn that may end: the loop is over, or goes on at another stop.
pub fn ended(speaker: &Speaker, raw: &Raw) -> String {
    let phase = phase(raw);
    if phase.terminal {
        return speaker.line(&format!(
            "loop {} is over: {}{}{}",
            raw.id(),
            phase.name,
            doc(phase),
            cause(raw)
        ));
    }
    speaker.line(&format!(
        "loop {} is in phase {}{}, and the turn may end{}",
        raw.id(),
        phase.name,
        doc(phase),
        ways_on(speaker, raw)
    ))
}

/// Where a loop is, below a refusal.
pub fn unchanged(raw: &Raw) -> String {
    let phase = phase(raw);
    if phase.terminal {
        return format!("the loop is over ({}); nothing was changed", phase.name);
    }
    let mut verbs: Vec<String> = Vec::new();
    for edge in raw.table().edges {
        let verb = edge.transition.replace('_', "-");
        if edge.from == raw.phase() && !edge.by.is_empty() && !verbs.contains(&verb) {
            verbs.push(verb);
        }
    }
    let open = match verbs.is_empty() {
        true => String::new(),
        false => format!(", where {} may be taken", verbs.join(", ")),
    };
    format!("the loop is in phase {}{open}; nothing was changed", phase.name)
}

/// Removes what a loop that is over needs no more. What cannot be removed is told in the folder's log.
pub fn clear(raw: &Raw) {
    if phase(raw).terminal
        && let Err(error) = raw.store().clear(raw.id(), &[".lock"])
    {
        raw.store().log(&format!("{} clean-up: {error}", raw.id()));
    }
}
