//! `list`: one row per loop (docs/status.md). It reads journals and repairs nothing.

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::history::LoopHistory;
use crate::machine::table::FieldKind;
use crate::machine::{PhaseDeclaration as _, Table};
use crate::message::Message;
use crate::program::exit::{CommandResult, Exit};
use crate::program::info::ProgramInfo;
use crate::program::locate::{FoundLoop, StateFolders};
use crate::program::settings::ROUNDS_FIELD;
use crate::program::{out, rounds};
use crate::store::{Store, to_count, to_plain};
use crate::{template, text};

const MAX_TEXT_CHARS: usize = 300;
const LIST: Message = template!("list.txt");

/// Returns a row for a loop in a folder of active loops or, if `archived`, in the archive.
fn row(machine: &'static Table, listed: &FoundLoop, archived: bool) -> Json {
    let archive = archived.then(|| listed.store.archived_store(&listed.id));
    let store = archive.as_ref().unwrap_or(&listed.store);
    let entries = store.journal(&listed.id).unwrap_or_default();
    let past = LoopHistory::new(machine, entries.into());
    let last = past.changes().next_back();
    let line = |name: &str| {
        let line = text::one_line(&to_plain(last?.field(name)?), MAX_TEXT_CHARS);
        Some(line).filter(|line| !line.is_empty())
    };
    let plain = |text: &Option<String>| Some(text::one_line(text.as_deref()?, MAX_TEXT_CHARS));
    let count = |name: &str| to_count(last?.field(name)?);
    let spec = machine.phases.iter().find_map(|phase| phase.review());
    let round = spec.and_then(|spec| count(spec.round));
    let newest = spec.and_then(|_| past.newest_findings());
    let began = rounds::began(machine, &past.entries);
    let now = Timestamp::now();
    let modified = || Timestamp::try_from(listed.modified).unwrap_or(now);
    json!({
        "id": listed.id.as_str(),
        "mode": machine.state.fields.mode.and_then(line),
        "phase": plain(&listed.phase).unwrap_or_else(|| "?".to_owned()),
        "terminal": listed.terminal,
        "round": round,
        "max_rounds": round.and_then(|_| count(ROUNDS_FIELD)),
        "findings_round": newest.map(|(round, _)| round),
        "findings": newest.map(|(_, counts)| counts),
        "age_seconds": rounds::seconds_between(began.unwrap_or_else(modified), now),
        "about": about(machine).and_then(line),
        "session": plain(&listed.session),
        "running": store.is_running(&listed.id),
        "archived": archived,
        "problem": plain(&listed.problem),
        "state": listed.path.as_str(),
    })
}

/// Returns the field with the subject of a loop: the first text that a start takes.
pub(super) fn about(machine: &Table) -> Option<&'static str> {
    let mut fields = machine.state.declared.iter();
    let found = fields.find(|field| field.at_start && matches!(field.kind, FieldKind::Text))?;
    Some(found.name)
}

pub(in crate::program) fn list(info: &ProgramInfo, json: bool) -> CommandResult {
    let folders = StateFolders::find_here(info.state)?;
    for line in folders.vanished(None) {
        out::note(&info.line(&line));
    }
    let loops = folders.newest(|store| store.list().collect());
    let archived = folders.newest(Store::archived);
    let in_archive: usize = folders.stores.iter().map(Store::archived_count).sum();
    let finished = in_archive.saturating_sub(archived.len());
    let rows = loops.iter().map(|one| row(info.table, one, false));
    let archived_rows = archived.iter().map(|one| row(info.table, one, true));
    let rows: Vec<Json> = rows.chain(archived_rows).collect();
    if json {
        out::json(&rows);
        return Ok(Exit::Complete);
    }
    let subject = about(info.table).unwrap_or_default();
    let facts = json!({
        "rows": rows,
        "finished": finished,
        "has_modes": info.table.modes.len() > 1,
        "has_rounds": info.reviews(),
        "subject": subject.replace('_', " "),
        "program": info.program,
    });
    let text = super::render(LIST, &facts)?;
    for line in text::table(&text).lines() {
        let head = if line.starts_with("LOOP ") { line } else { "" };
        out::emphasize(line, head, out::HEADING);
    }
    Ok(Exit::Complete)
}
