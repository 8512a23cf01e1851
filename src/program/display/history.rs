//! `journal`: the entries in a loop's journal, one line each, with their reasons and outcomes.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use crate::machine::table::PhaseInfo;
use crate::machine::{Raw, Table};
use crate::message::Message;
use crate::program::Program;
use crate::program::arguments::ShowArgs;
use crate::program::caller::RUN;
use crate::program::exit::{CommandResult, Exit};
use crate::program::{loops, open_error, out, rounds};
use crate::review::findings::Counts;
use crate::review::runs::{self, Run};
use crate::store::{ChangeEntry, Entry, NoteEntry, to_plain};
use crate::{template, text};

const MAX_LINE_CHARS: usize = 500;
const JOURNAL: Message = template!("journal.txt");

/// A loop's journal, with the runs that it names.
#[derive(Debug)]
pub(super) struct LoopHistory {
    pub(super) entries: Arc<[Entry]>,
    pub(super) runs: Vec<Run>,
    table: &'static Table,
}

impl LoopHistory {
    pub(super) fn new(table: &'static Table, entries: Arc<[Entry]>) -> Self {
        Self {
            runs: runs::read(&entries),
            entries,
            table,
        }
    }

    /// Reads the journal of a loop. An unreadable one counts as empty.
    pub(super) fn read(raw: &Raw) -> Self {
        Self::new(raw.table(), raw.journal().unwrap_or_default())
    }

    pub(super) fn changes(&self) -> impl DoubleEndedIterator<Item = &ChangeEntry> {
        self.entries.iter().filter_map(Entry::change)
    }

    /// Returns the newest round with a verdict, and its findings.
    pub(super) fn newest_findings(&self) -> Option<(u64, Counts)> {
        let mut newest = self.runs.iter().rev();
        newest.find_map(|run| Some((run.began.round, run.counts()?)))
    }

    pub(super) fn facts(&self, change: &ChangeEntry) -> Json {
        json!({
            "revision": change.revision,
            "at": change.at,
            "what": change.what,
            "by": change.by,
            "from": change.from,
            "to": change.to,
            "run": change.run,
            "why": text::one_line(&self.why(change), MAX_LINE_CHARS),
        })
    }

    pub(super) fn run_facts(&self, run: &Run) -> Json {
        let outcome = match run.outcome() {
            Some(Ok([])) => "clean",
            Some(Ok(_)) => "findings",
            Some(Err(_)) => "failed",
            None => "unfinished",
        };
        json!({
            "run": run.began.run,
            "phase": self.phase_of(run).map_or("", |phase| phase.name),
            "round": run.began.round,
            "persona": run.began.persona,
            "reviewer": run.began.reviewer,
            "seconds": run.outcome().map(|_| rounds::seconds_between(run.began.at, run.ended.at)),
            "outcome": outcome,
            "came_to": rounds::outcome(run),
            "counts": run.counts(),
        })
    }

    /// Returns the phase that a run reviewed, or `None` if this version of the machine lacks it.
    pub(super) fn phase_of(&self, run: &Run) -> Option<&'static PhaseInfo> {
        let visit = run.began.visit?;
        let change = self.changes().find(|change| change.revision == visit)?;
        let phase = self.table.phase_position(change.to.as_deref()?)?;
        Some(&self.table.phases[phase])
    }

    /// Returns why a change was made: its run's outcome and argument, or the transition's purpose.
    fn why(&self, change: &ChangeEntry) -> String {
        let mut reasons = Vec::new();
        // For a command, the transition's purpose names the outcome.
        if let Some(id) = change.run.as_ref().filter(|run| !run.starts_with("c-")) {
            let run = self.runs.iter().find(|run| run.began.run == *id);
            let outcome = run.map_or_else(|| "unknown".to_owned(), rounds::outcome);
            reasons.push(format!("for run {id}: {outcome}"));
        }
        let record = rounds::record(change);
        let rejecting = record.and_then(|record| record.rejecting);
        reasons.extend(rejecting.map(|why| format!("rejecting what is open: {why}")));
        if reasons.is_empty() {
            let edge = rounds::edges_of(self.table, change).into_iter().next();
            reasons.extend(edge.map(|edge| edge.doc.trim_end_matches('.').to_owned()));
        }
        if reasons.is_empty() {
            let fields = change.args.iter().filter_map(Json::as_object).flatten();
            reasons.extend(fields.map(|(name, value)| format!("{name}: {}", to_plain(value))));
        }
        reasons.join("; ")
    }

    /// Returns the author of a change: `the hook`, `the agent`, `the user`, `the run command`.
    pub(super) fn maker(&self, change: &ChangeEntry) -> String {
        let session = change.field(self.table.state.fields.session);
        if change.by == "hook" && session.is_some_and(|session| *session == RUN) {
            format!("the {RUN} command")
        } else {
            actor(&change.by)
        }
    }

    pub(super) fn lines<'e>(&self, entries: impl IntoIterator<Item = &'e Entry>) -> Vec<String> {
        let topic = super::listing::about(self.table).unwrap_or_default();
        let session = self.table.state.fields.session;
        let entry_facts = |entry: &Entry| match entry {
            Entry::Change(change) => {
                let mut facts = self.facts(change);
                facts["topic"] = change.field(topic).cloned().into();
                facts["session"] = change.field(session).cloned().into();
                facts["maker"] = self.maker(change).into();
                facts
            }
            Entry::Note(NoteEntry { note, data, .. }) => {
                json!({ "note": note, "data": data, "text": data.to_string() })
            }
        };
        let run_facts = |run: &Run| {
            let mut facts = self.run_facts(run);
            facts["work_tree_changed"] = run.ended.work_tree_changed.into();
            (run.began.run.clone(), facts)
        };
        let facts = json!({
            "entries": entries.into_iter().map(entry_facts).collect::<Vec<_>>(),
            "runs": self.runs.iter().map(run_facts).collect::<Map<_, _>>(),
        });
        let lines = super::render(JOURNAL, &facts).unwrap_or_else(|failure| failure.to_string());
        lines.lines().map(str::to_owned).collect()
    }
}

pub(super) fn time(entry: &Entry) -> Timestamp {
    match entry {
        Entry::Change(change) => change.at,
        Entry::Note(note) => note.at,
    }
}

/// Returns an actor in words: `the hook`, `the agent`, `the user`.
pub(super) fn actor(by: &str) -> String {
    match by {
        "hook" | "agent" => format!("the {by}"),
        "person" => "the user".to_owned(),
        other => other.to_owned(),
    }
}

pub(in crate::program) fn journal(program: &Program, arguments: &ShowArgs) -> CommandResult {
    let info = program.info;
    let Some(id) = &arguments.target.id else {
        return super::list(info, arguments.format.json);
    };
    let (store, id) = loops::find(info, Some(id))?;
    let entries = loops::place_of(&store, &id)
        .journal(&id)
        .map_err(|error| open_error::failure(info, error.into()))?;
    if arguments.format.json {
        let lines = entries.iter().map(serde_json::to_string);
        lines.for_each(out::serialized);
        return Ok(Exit::Complete);
    }
    let past = LoopHistory::new(info.table, entries.into());
    for (entry, line) in past.entries.iter().zip(past.lines(past.entries.iter())) {
        out::line(&format!("{:.0}  {line}", time(entry)));
    }
    Ok(Exit::Complete)
}

#[cfg(all(test, feature = "plan"))]
mod tests;
