//! `journal`: what happened to a loop, one line an event.

use crate::app::exit::{Exit, Failure};
use crate::app::program::{App, Program};
use crate::app::words::{self, purpose};
use crate::app::{attempts, loops, out, screen};
use crate::machine::Table;
use crate::store::{ChangeEntry, Entry, NoteEntry, Value};
use crate::text;

/// What happened to a loop: the one that is named, else the active one, else the newest.
pub(in crate::app) fn journal<M: Program>(id: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let (store, id) = loops::find_to_look(&App::<M>::SPEAKER, id)?;
    let entries = store
        .journal(&id)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    if json {
        out::json_lines(&entries);
        return Ok(Exit::Complete);
    }
    let columns = screen::columns();
    for entry in &entries {
        let (at, line) = match entry {
            Entry::Change(change) => (change.at, of_change(M::TABLE, change)),
            Entry::Note(note) => (note.at, of_note(note)),
        };
        for line in screen::wrap(&format!("{at}  "), &line, columns) {
            out::line(&line);
        }
    }
    Ok(Exit::Complete)
}

/// `promote by the hook canary -> rollout: the canary soaked long enough`
fn of_change(table: &Table, change: &ChangeEntry) -> String {
    let session = || {
        let fields = &change.fields;
        let (_, value) = fields
            .iter()
            .find(|(name, _)| name == table.state.fields.session)?;
        Some(format!("session {}", text::one_line(&Value::to_plain(value), 80)))
    };
    let about = match change.what.as_str() {
        "bind" | "adopt" => session(),
        _ => purpose(table, change),
    };
    format!(
        "{} by {}{}{}",
        text::one_line(&change.what, 80),
        words::who(&change.by),
        words::way(change),
        about.map(|about| format!(": {about}")).unwrap_or_default(),
    )
}

fn of_note(note: &NoteEntry) -> String {
    if let Some(told) = attempts::told(note) {
        return told;
    }
    let data = serde_json::Value::Object(note.data.clone()).to_string();
    format!(
        "{} {}",
        text::one_line(&note.note, 80),
        text::one_line(&data, 300)
    )
}
