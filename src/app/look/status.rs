//! `status`: where a loop is, on one screen. The names in `--json` are documented in docs/your-own-loop.md.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::app::exit::{Exit, Failure};
use crate::app::program::{App, Program};
use crate::app::speaker::Speaker;
use crate::app::told::{self, Way};
use crate::app::words::{self, purpose};
use crate::app::{locate, loops, out, screen, stranded};
use crate::drive::Held;
use crate::machine::table::FieldKind;
use crate::machine::{Actor, Raw};
use crate::store::{ChangeEntry, Entry, LoopId, Store, Value};
use crate::text;

/// The longest text of a field that a terminal or a report shows, in characters.
const LONGEST: usize = 1000;

#[derive(Serialize)]
struct Shown {
    id: String,
    machine: &'static str,
    mode: Option<String>,
    phase: &'static str,
    doc: &'static str,
    terminal: bool,
    session: String,
    started: Option<String>,
    last_change: Option<Change>,
    fields: Map<String, Json>,
    ways_on: Vec<Way>,
    state: String,
}

/// The last change, and what it is for.
#[derive(Serialize)]
struct Change {
    what: String,
    by: String,
    at: Timestamp,
    from: Option<String>,
    to: Option<String>,
    revision: u64,
    doc: Option<String>,
}

impl Change {
    fn of(raw: &Raw, change: &ChangeEntry) -> Self {
        Self {
            what: text::one_line(&change.what, 80),
            by: text::one_line(&change.by, 80),
            at: change.at,
            from: change.from.clone(),
            to: change.to.clone(),
            revision: change.revision,
            doc: purpose(raw.table(), change),
        }
    }

    /// `promote (canary -> rollout) by a person at …, 2m 3s ago: …`
    fn line(&self, now: Timestamp) -> String {
        let way = match (&self.from, &self.to) {
            (Some(from), Some(to)) if from != to => format!(" ({from} -> {to})"),
            _ => String::new(),
        };
        let doc = self.doc.as_ref().map(|doc| format!(": {doc}"));
        format!(
            "{}{way} by {} at {}, {}{}",
            self.what,
            words::who(&self.by),
            self.at,
            words::ago(self.at, now),
            doc.unwrap_or_default(),
        )
    }
}

fn shown(speaker: &Speaker, raw: &Raw) -> Shown {
    let (table, held) = (raw.table(), &raw.table().state.fields);
    let phase = told::phase(raw);
    let shown = |field: &str| text::one_line(&raw.text(field), LONGEST);
    let last = raw.store().journal(raw.id()).unwrap_or_default();
    let last = last.iter().rev().find_map(|entry| match entry {
        // That a session took the loop is no decision: the stop that does it decides next.
        Entry::Change(change) if change.what != "bind" => Some(Change::of(raw, change)),
        _ => None,
    });
    let own = table
        .fields
        .iter()
        .filter(|field| field.kind != FieldKind::Held && field.exists_in(raw.phase()));
    let fields = own.map(|field| {
        let value = match raw.value(field.name) {
            Value::Count(count) => count.into(),
            Value::Flag(flag) => flag.into(),
            Value::Null => Json::Null,
            Value::List(texts) => texts.iter().map(|one| text::one_line(one, LONGEST)).collect(),
            _ => shown(field.name).into(),
        };
        (field.name.to_owned(), value)
    });
    Shown {
        id: raw.id().to_string(),
        machine: table.name,
        mode: held.mode.map(shown),
        phase: phase.name,
        doc: phase.doc,
        terminal: phase.terminal,
        session: shown(held.session),
        started: held.started.map(shown),
        last_change: last,
        fields: fields.collect(),
        ways_on: told::ways(speaker, raw),
        state: raw.store().path_of(raw.id()).to_string(),
    }
}

fn print(shown: &Shown, columns: Option<usize>, now: Timestamp) {
    let fields = shown.fields.keys().map(String::len).max().unwrap_or(0);
    let width = fields.max("session".len()) + 2;
    let say = |label: &str, text: &str| {
        let label = format!("{:<width$}", format!("{label}:"));
        for line in screen::wrap(&label, text, columns) {
            out::line(&line);
        }
    };
    say("loop", &shown.id);
    if let Some(mode) = &shown.mode {
        say("mode", mode);
    }
    say(
        "phase",
        &match shown.doc {
            "" => shown.phase.to_owned(),
            doc => format!("{} ({})", shown.phase, doc.trim_end_matches('.')),
        },
    );
    for (name, value) in &shown.fields {
        let value = match value {
            Json::String(text) => text.clone(),
            Json::Null => String::new(),
            // One text of a list may hold a comma: so they are quoted, as they are on disk.
            Json::Array(texts) if texts.is_empty() => String::new(),
            other => other.to_string(),
        };
        if !value.is_empty() {
            say(name, &value);
        }
    }
    say("session", &shown.session);
    if let Some(last) = &shown.last_change {
        say("last", &last.line(now));
    }
    for way in &shown.ways_on {
        let doc = match way.doc {
            "" => String::new(),
            doc => format!("  {}", doc.trim_end_matches('.')),
        };
        let who = if way.agent { "" } else { " (a person’s)" };
        say("next", &format!("{}{doc}{who}", way.command));
    }
}

/// The loops to show: the one that is named, else the active ones, else the newest.
fn picked<M: Program>(id: Option<&str>, problems: &mut Vec<String>) -> Result<Vec<(Store, LoopId)>, Failure> {
    let speaker = App::<M>::SPEAKER;
    let here = loops::here()?;
    if let Some(id) = id {
        return Ok(match locate::by_id(&speaker, &here, id) {
            Ok((store, id)) if store.swept().iter().any(|swept| swept.id == id) => {
                problems.push(format!(
                    "loop {id} showed no sign of life and was put aside in {}/swept; this brings it back:{}",
                    text::shown(store.folder()),
                    speaker.command(&format!("resume {id}"))
                ));
                Vec::new()
            }
            Ok(found) => vec![found],
            Err(error) => {
                problems.push(loops::with_help(&error));
                Vec::new()
            }
        });
    }
    let loops = locate::loops(speaker.state, &here);
    let mut picked: Vec<_> = loops.iter().filter(|(_, listed)| !listed.terminal).collect();
    if picked.is_empty() {
        picked.extend(loops.first());
    }
    Ok(picked
        .into_iter()
        .map(|(store, listed)| (store.clone(), listed.id.clone()))
        .collect())
}

/// Where the loop is. Always exits 0: a look changes nothing and fails nobody.
pub(in crate::app) fn status<M: Program>(id: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let speaker = App::<M>::SPEAKER;
    let now = Timestamp::now();
    let mut all = Vec::new();
    let mut problems = Vec::new();
    for (store, id) in picked::<M>(id, &mut problems)? {
        match M::open(&store, &id, Actor::Person) {
            Ok(held) => {
                problems.extend(held.raw().repairs().iter().map(ToString::to_string));
                all.push(shown(&speaker, held.raw()));
            }
            Err(error) => problems.push(stranded::line(&speaker, &store.path_of(&id), &error)),
        }
    }
    if json {
        out::json(&serde_json::json!({ "loops": all, "problems": problems }));
        return Ok(Exit::Complete);
    }
    let columns = screen::columns();
    if all.is_empty() && problems.is_empty() {
        let nothing = format!(
            "There are no loops in this project. Start one with:{}",
            speaker.command("start")
        );
        for line in screen::wrap("", &nothing, columns) {
            out::line(&line);
        }
    }
    for (index, shown) in all.iter().enumerate() {
        if index > 0 {
            out::line("");
        }
        print(shown, columns, now);
    }
    for problem in &problems {
        for line in screen::wrap("problem: ", &text::lines(problem, 1000), columns) {
            out::line(&line);
        }
    }
    Ok(Exit::Complete)
}
