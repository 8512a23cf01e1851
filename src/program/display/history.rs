//! `journal`: the entries of a loop's journal, one line each, with their reasons and outcomes.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use crate::machine::{EdgeAt, Raw, Table};
use crate::program::Program;
use crate::program::arguments::Look;
use crate::program::caller::RUN;
use crate::program::exit::{Exit, Failure};
use crate::program::{attempts, durations, loops, out, rounds};
use crate::review::findings::Counts;
use crate::review::runs::{self, Run};
use crate::store::{ChangeEntry, Entry, NoteEntry};
use crate::text;

/// The longest line of an entry, in characters.
const MAX_LINE_CHARS: usize = 500;

/// A loop's journal, with the runs that it names.
#[derive(Debug)]
pub(super) struct Past {
    pub(super) entries: Arc<[Entry]>,
    pub(super) runs: Vec<Run>,
    table: &'static Table,
}

impl Past {
    /// Reads the runs of a journal.
    pub(super) fn new(table: &'static Table, entries: Arc<[Entry]>) -> Self {
        Self {
            runs: runs::read(&entries),
            entries,
            table,
        }
    }

    /// Reads the journal of a loop. One that cannot be read counts as empty.
    pub(super) fn read(raw: &Raw) -> Self {
        let entries = raw.journal().unwrap_or_default();
        Self::new(raw.table(), entries)
    }

    /// Returns the changes, oldest first.
    pub(super) fn changes(&self) -> impl DoubleEndedIterator<Item = &ChangeEntry> {
        self.entries.iter().filter_map(Entry::change)
    }

    /// Returns the newest round with a verdict, and its findings.
    pub(super) fn newest_findings(&self) -> Option<(u64, Counts)> {
        let mut newest = self.runs.iter().rev();
        newest.find_map(|run| Some((run.began.round, run.counts()?)))
    }

    /// Returns the facts of a change, for programs.
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

    /// Returns the reason of a change: the outcome of its run and the argument, else the purpose of the transition.
    fn why(&self, change: &ChangeEntry) -> String {
        let mut reasons = Vec::new();
        // The transition's purpose names the outcome of a command.
        if let Some(id) = change.run.as_ref().filter(|run| !run.starts_with("c-")) {
            let run = self.runs.iter().find(|run| run.began.run == *id);
            let outcome = run.map_or_else(|| "unknown".to_owned(), rounds::outcome);
            reasons.push(format!("for run {id}: {outcome}"));
        }
        let record = rounds::record(change);
        let rejecting = record.and_then(|record| record.rejecting);
        reasons.extend(rejecting.map(|why| format!("rejecting what is open: {why}")));
        if reasons.is_empty() {
            let edge = edges_of(self.table, change).into_iter().next();
            reasons.extend(edge.map(|edge| edge.doc.trim_end_matches('.').to_owned()));
        }
        reasons.join("; ")
    }

    /// Returns the maker of a change: `the hook`, `the agent`, `the user`, `the run command`.
    pub(super) fn maker(&self, change: &ChangeEntry) -> String {
        let session = change.field(self.table.state.fields.session);
        if change.by == "hook" && session.is_some_and(|session| *session == RUN) {
            format!("the {RUN} command")
        } else {
            actor(&change.by)
        }
    }

    /// Returns the time and the line of an entry.
    pub(super) fn event(&self, entry: &Entry) -> (Timestamp, String) {
        let (at, line) = match entry {
            Entry::Change(change) => (change.at, self.change_line(change)),
            Entry::Note(note) => (note.at, self.note_line(note)),
        };
        (at, text::one_line(&line, MAX_LINE_CHARS))
    }

    /// `revise by the hook in reviewing, for run r1-…: high=1 medium=1 low=1`
    pub(super) fn change_line(&self, change: &ChangeEntry) -> String {
        let phases = match (&change.from, &change.to) {
            (Some(from), Some(to)) if from == to => format!(" in {from}"),
            (Some(from), Some(to)) => format!(" {from} -> {to}"),
            (None, Some(to)) => format!(" -> {to}"),
            _ => String::new(),
        };
        let field = |name| change.field(name).and_then(Json::as_str);
        let session = || field(self.table.state.fields.session).unwrap_or_default();
        let about = match change.what.as_str() {
            "start" => super::listing::about(self.table)
                .and_then(field)
                .map_or(String::new(), |topic| format!(": “{topic}”")),
            "bind" | "adopt" => format!(": session {}", session()),
            _ => match self.why(change) {
                none if none.is_empty() => none,
                run if run.starts_with("for run ") => format!(", {run}"),
                why => format!(": {why}"),
            },
        };
        format!("{} by {}{phases}{about}", change.what, self.maker(change))
    }

    /// `run-began r1-…: round 1, lint as Senior-engineer review`
    fn note_line(&self, entry: &NoteEntry) -> String {
        if let Some(line) = attempts::describe(entry) {
            return line;
        }
        let NoteEntry { note, data, .. } = entry;
        let id = data["run"].as_str().unwrap_or_default();
        let run = self.runs.iter().find(|known| known.began.run == id);
        let about = match (note.as_str(), run) {
            ("run-began", Some(Run { began, .. })) => {
                format!(
                    "round {}, {} as {}",
                    began.round, began.reviewer, began.persona
                )
            }
            ("run-ended", Some(run)) if run.work_tree_changed() => {
                format!("{}; the work tree changed meanwhile", rounds::outcome(run))
            }
            ("run-ended", Some(run)) => rounds::outcome(run),
            ("verify-ended", _) => {
                let commands = data["commands"].as_array().map_or(&[][..], Vec::as_slice);
                let passed = commands.iter().filter(|one| one["status"] == 0);
                format!("{} of {} commands passed", passed.count(), commands.len())
            }
            _ => return format!("{note} {data}"),
        };
        format!("{note} {id}: {about}")
    }
}

/// Returns the edges by which a change may have been made: those with its transition and phases.
pub(in crate::program) fn edges_of(table: &'static Table, change: &ChangeEntry) -> Vec<EdgeAt> {
    let phase = |stored: &Option<String>| table.phase_position(stored.as_deref()?);
    let (Some(from), Some(to)) = (phase(&change.from), phase(&change.to)) else {
        return Vec::new();
    };
    let edges = table.edges_at(&change.what, from);
    edges.filter(|edge| edge.to == to).collect()
}

/// Returns an actor for people: `the hook`, `the agent`, `the user`.
pub(in crate::program) fn actor(by: &str) -> String {
    match by {
        "hook" | "agent" => format!("the {by}"),
        "person" => "the user".to_owned(),
        other => other.to_owned(),
    }
}

/// Prints the journal of a loop, or the list of loops if none is named.
pub(in crate::program) fn journal(program: &Program, look: &Look) -> Result<Exit, Failure> {
    let info = program.info;
    let Some(id) = &look.target.id else {
        return super::list(info, look.format.json);
    };
    let (found, id) = loops::find(info, Some(id))?;
    let store = if found.has_archived(&id) {
        found.archived_store(id.as_str())
    } else {
        found
    };
    let entries = store.journal(&id).map_err(Failure::internal)?;
    if look.format.json {
        entries.iter().for_each(out::json_line);
        return Ok(Exit::Complete);
    }
    let past = Past::new(info.table, entries.into());
    for entry in past.entries.iter() {
        let (at, line) = past.event(entry);
        out::line(&format!("{}  {line}", durations::time(at)));
    }
    Ok(Exit::Complete)
}
