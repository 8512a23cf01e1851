//! `journal`: the entries of a loop's journal, one line each.

use serde_json::Value as Json;

use super::past::Past;
use crate::machine::Table;
use crate::program::Program;
use crate::program::arguments::Journal;
use crate::program::exit::{Exit, Failure};
use crate::program::settings::MAX_ROUNDS;
use crate::program::{attempts, change_text, durations, loops, out};
use crate::store::{ChangeEntry, Entry, FieldValue, NoteEntry};
use crate::text;

/// Prints the journal of a loop, or the list of loops if none is named.
pub(in crate::program) fn journal(
    program: &Program,
    Journal { look, verify }: &Journal,
) -> Result<Exit, Failure> {
    let info = program.info;
    let json = look.format.json;
    let Some(id) = loops::id_to_show(info, &look.target, &["history", "journal"])? else {
        let listed = super::list(info, json)?;
        if !json && !super::listing::is_empty(info)? {
            out::line("");
            out::line(&format!(
                "The history of one:{}",
                info.named_command("history", "journal LOOP")
            ));
        }
        return Ok(listed);
    };
    let (store, id) = loops::find(info, Some(&id))?;
    let store = match store.has_archived(&id) {
        true => store.archived_store(id.as_str()),
        false => store,
    };
    let exit = if *verify {
        Exit::Refused
    } else {
        Exit::Internal
    };
    let entries = store
        .journal(&id)
        .map_err(|error| Failure::new(exit, error))?;
    if *verify {
        let count = entries.len();
        out::line(&format!("Loop {id}: {count} entries, each with your seal"));
        return Ok(Exit::Complete);
    }
    if json {
        out::json_lines(&entries);
        return Ok(Exit::Complete);
    }
    let past = Past::of(&store, &id, entries.into());
    for entry in past.entries.iter() {
        let (at, line) = match entry {
            Entry::Change(change) => (change.at, of_change(info.table, &past, change)),
            Entry::Note(note) => (note.at, of_note(&past, note)),
        };
        out::line(&format!("{}  {line}", durations::time(at)));
    }
    Ok(Exit::Complete)
}

/// `revise by the hook in reviewing, now round 2 of 3, for run r1-…: high=1 medium=1 low=1`
pub(super) fn of_change(table: &'static Table, past: &Past, change: &ChangeEntry) -> String {
    let way = change_text::phases(change);
    let field = |name: &str| change.field(name);
    let count = |name| field(name).and_then(FieldValue::as_count);
    // A change that begins a round names it.
    let spec = table.phases.iter().find_map(|phase| phase.review);
    let round = match spec.map(|spec| (count(spec.round), count(MAX_ROUNDS))) {
        Some((Some(round), Some(most))) if begins_round(table, change) => {
            format!(", round {round} of {most}")
        }
        Some((Some(round), None)) if begins_round(table, change) => format!(", round {round}"),
        _ => String::new(),
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
    let about = match about.unwrap_or_default() {
        about if about.is_empty() => String::new(),
        about if about.starts_with("for run ") => format!(", {about}"),
        about => format!(": {about}"),
    };
    format!(
        "{} by {}{way}{round}{about}",
        text::one_line(&change.what, 80),
        change_text::maker(table, change)
    )
}

/// `verify-ended c-…: 2 of 3 commands passed`
fn of_verify(note: &NoteEntry) -> String {
    let data = &note.data;
    let run = text::one_line(data["run"].as_str().unwrap_or("?"), 100);
    if note.note == "verify-began" {
        return format!("verify-began {run}");
    }
    let Some(commands) = data["commands"]
        .as_array()
        .filter(|_| data.get("work").is_some())
    else {
        return format!("verify-ended {run}: cut off");
    };
    let passed = |command: &&Json| command["passed"] == true;
    let count = commands.iter().filter(passed).count();
    format!(
        "verify-ended {run}: {count} of {} commands passed",
        commands.len()
    )
}

/// `run-began r1-…: round 1, lint as Senior-engineer review`
pub(super) fn of_note(past: &Past, note: &NoteEntry) -> String {
    if let Some(told) = attempts::told(note) {
        return told;
    }
    let data = &note.data;
    let run = data["run"]
        .as_str()
        .and_then(|run| past.runs.iter().find(|known| known.began.run == run));
    let plain = |text: &str| text::one_line(text, 100);
    match (note.note.as_str(), run) {
        ("run-began", Some(run)) => format!(
            "run-began {}: round {}, {} as {}",
            plain(&run.began.run),
            run.began.round,
            plain(&run.began.reviewer),
            plain(&run.began.persona)
        ),
        ("run-ended", Some(run)) => {
            let changed = match run.work_tree_changed {
                true => "; the work tree changed meanwhile",
                false => "",
            };
            format!(
                "run-ended {}: {}{changed}",
                plain(&run.began.run),
                past.outcome(run)
            )
        }
        ("verify-began" | "verify-ended", _) => of_verify(note),
        (name, _) => format!(
            "{} {}",
            text::one_line(name, 80),
            text::one_line(&data.to_string(), 300)
        ),
    }
}

/// Returns whether a change enters a reviewing phase or advances its round.
fn begins_round(table: &Table, change: &ChangeEntry) -> bool {
    let to = change.to.as_deref();
    let mut entered = table.phases.iter().filter(|phase| Some(phase.stored) == to);
    let reviews = entered.any(|phase| phase.review.is_some());
    reviews && change.from.is_some() && change.visit == Some(change.revision)
}
