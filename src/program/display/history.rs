//! `journal`: the entries of a loop's journal, one line each, with their reasons and outcomes.

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::machine::{PhaseDeclaration as _, Table};
use crate::program::Program;
use crate::program::arguments::Journal;
use crate::program::exit::{Exit, Failure};
use crate::program::info::ProgramInfo;
use crate::program::settings::MAX_ROUNDS;
use crate::program::{attempts, change_text, durations, loops, out, rounds};
use crate::review::findings::Counts;
use crate::review::runs::{self, Run, RunOutcome};
use crate::store::{ChangeEntry, Entry, FieldValue, LoopId, NoteEntry, Store};
use crate::text;

/// The longest reason that is shown, in characters.
const MAX_REASON_CHARS: usize = 300;

/// A loop's journal, with the runs and findings that it names.
#[derive(Debug)]
pub(in crate::program) struct Past {
    pub(in crate::program) entries: Vec<Entry>,
    pub(in crate::program) runs: Vec<Run>,
    store: Store,
    id: LoopId,
}

impl Past {
    /// Reads the runs and findings of a journal.
    pub(in crate::program) fn new(store: &Store, id: &LoopId, entries: Vec<Entry>) -> Self {
        Self {
            runs: runs::read(&entries),
            entries,
            store: store.clone(),
            id: id.clone(),
        }
    }

    /// Returns the counts of the findings of a run.
    pub(super) fn counts(&self, run: &Run) -> Option<Counts> {
        rounds::counts_of_run(&self.store, &self.id, run)
    }

    /// Returns the last change but for `bind`, after which the same stop decides.
    pub(in crate::program) fn last_decision(&self) -> Option<&ChangeEntry> {
        let mut changes = self.entries.iter().rev().filter_map(Entry::change);
        changes.find(|change| change.what != "bind")
    }

    /// Returns the reason of a change: the outcome of its run, the argument, else the purpose of the transition.
    pub(in crate::program) fn why(&self, table: &'static Table, change: &ChangeEntry) -> String {
        let mut reasons = Vec::new();
        // The transition's purpose names the outcome of a command.
        if let Some(run) = change.run.as_ref().filter(|run| !run.starts_with("c-")) {
            let known = self.runs.iter().find(|known| known.began.run == *run);
            let outcome = known.map(|run| self.outcome(run));
            let outcome = outcome.unwrap_or("which the journal does not tell of".to_owned());
            reasons.push(format!("for run {}: {outcome}", text::one_line(run, 60)));
        }
        if let Some(record) = rounds::record(change) {
            if record.waived {
                reasons.push(format!(
                    "round {} was not reviewed ({}=optional)",
                    record.round,
                    ProgramInfo::new(table).variable("EVIDENCE")
                ));
            }
            if let Some(why) = &record.rejecting {
                reasons.push(format!(
                    "rejecting what is open: {}",
                    text::one_line(why, MAX_REASON_CHARS)
                ));
            }
        }
        if change.what == "bring-back" {
            reasons.push("it was in the archive".to_owned());
        }
        if reasons.is_empty() {
            reasons.extend(change_text::purpose(table, change));
        }
        reasons.join("; ")
    }

    /// Returns the outcome of a run in words.
    pub(in crate::program) fn outcome(&self, run: &Run) -> String {
        match (run.outcome(), run.cause()) {
            (None, _) => "not ended, or cut off".to_owned(),
            (Some(RunOutcome::CouldNotRun), Some(cause)) => format!("could not run: {cause}"),
            (Some(_), Some(cause)) => format!("unreadable: {cause}"),
            (Some(RunOutcome::Clean), _) => "no substantive findings".to_owned(),
            (Some(_), None) => match self.counts(run) {
                Some(counts) => counts.to_string(),
                None => "findings, whose file cannot be read now".to_owned(),
            },
        }
    }
}

/// Prints the journal of a loop, or the list of loops if none is named.
pub(in crate::program) fn journal(
    program: &Program,
    Journal { look, verify }: &Journal,
) -> Result<Exit, Failure> {
    let info = program.info;
    let json = look.format.json;
    let Some(id) = loops::id_to_show(info, &look.target, &["history", "journal"])? else {
        if super::listing::print(info, json)? && !json {
            let command = info.named_command("history", "journal LOOP");
            out::line(&format!("\nThe history of one:{command}"));
        }
        return Ok(Exit::Complete);
    };
    let (mut store, id) = loops::find(info, Some(&id))?;
    if store.has_archived(&id) {
        store = store.archived_store(id.as_str());
    }
    let unreadable = if *verify {
        Exit::Refused
    } else {
        Exit::Internal
    };
    let entries = store.journal(&id);
    let entries = entries.map_err(|error| Failure::new(unreadable, error))?;
    if *verify {
        let count = entries.len();
        out::line(&format!("Loop {id}: {count} entries, each with your seal"));
    } else if json {
        out::json_lines(&entries);
    } else {
        let past = Past::new(&store, &id, entries);
        for entry in past.entries.iter() {
            let (at, line) = event(info.table, &past, entry);
            out::line(&format!("{}  {line}", durations::time(at)));
        }
    }
    Ok(Exit::Complete)
}

/// Returns the time and the line of an entry.
pub(super) fn event(table: &'static Table, past: &Past, entry: &Entry) -> (Timestamp, String) {
    match entry {
        Entry::Change(change) => (change.at, change_line(table, past, change)),
        Entry::Note(note) => (note.at, note_line(past, note)),
    }
}

/// `revise by the hook in reviewing, now round 2 of 3, for run r1-…: high=1 medium=1 low=1`
pub(super) fn change_line(table: &'static Table, past: &Past, change: &ChangeEntry) -> String {
    let field = |name: &str| change.field(name);
    let count = |name| field(name).and_then(FieldValue::as_count);
    // A change that begins a round names it.
    let spec = table.phases.iter().find_map(|phase| phase.review());
    let spec = spec.filter(|_| begins_round(table, change));
    let round = match spec.and_then(|spec| count(spec.round)) {
        Some(round) => match count(MAX_ROUNDS) {
            Some(most) => format!(", round {round} of {most}"),
            None => format!(", round {round}"),
        },
        None => String::new(),
    };
    let about = match change.what.as_str() {
        "start" => super::listing::about(table)
            .and_then(field)
            .and_then(Json::as_str)
            .map(|topic| format!("“{}”", text::one_line(topic, 200))),
        "bind" | "adopt" => field(table.state.fields.session)
            .and_then(Json::as_str)
            .map(|session| format!("session {}", text::one_line(session, 80))),
        _ => Some(past.why(table, change)),
    };
    format!(
        "{} by {}{}{round}{}",
        text::one_line(&change.what, 80),
        change_text::maker(table, change),
        change_text::phases(change),
        change_text::reason(&about.unwrap_or_default()),
    )
}

/// `run-began r1-…: round 1, lint as Senior-engineer review`
fn note_line(past: &Past, note: &NoteEntry) -> String {
    if let Some(line) = attempts::describe(note) {
        return line;
    }
    let data = &note.data;
    let plain = |text: &str| text::one_line(text, 100);
    let id = data["run"].as_str().unwrap_or("?");
    let run = past.runs.iter().find(|known| known.began.run == id);
    let about = match (note.note.as_str(), run) {
        ("run-began", Some(run)) => format!(
            ": round {}, {} as {}",
            run.began.round,
            plain(&run.began.reviewer),
            plain(&run.began.persona)
        ),
        ("run-ended", Some(run)) if run.ended.as_ref().is_some_and(|end| end.work_tree_changed) => {
            let outcome = past.outcome(run);
            format!(": {outcome}; the work tree changed meanwhile")
        }
        ("run-ended", Some(run)) => format!(": {}", past.outcome(run)),
        ("verify-ended", _) => {
            // `verify-ended c-…: 2 of 3 commands passed`
            let commands = data["commands"].as_array().map_or(&[][..], Vec::as_slice);
            let passed = commands.iter().filter(|one| one["passed"] == true);
            format!(": {} of {} commands passed", passed.count(), commands.len())
        }
        (name, _) => {
            let data = text::one_line(&data.to_string(), 300);
            return format!("{} {data}", text::one_line(name, 80));
        }
    };
    format!("{} {}{about}", note.note, plain(id))
}

/// Returns whether a change enters a reviewing phase or advances its round.
fn begins_round(table: &Table, change: &ChangeEntry) -> bool {
    let to = change.to.as_deref();
    let mut entered = table.phases.iter().filter(|phase| Some(phase.stored) == to);
    let reviews = entered.any(|phase| phase.review().is_some());
    reviews && change.from.is_some() && change.visit == Some(change.revision)
}
