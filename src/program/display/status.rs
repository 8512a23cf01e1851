//! `status`: the state of a loop on one screen; `statusline`: on one line.

use std::io::stdin;

use serde_json::{Value as Json, json};

use super::history::LoopHistory;
use super::loop_facts::facts;
use crate::hooks::input::{self, INPUT_TIMEOUT, Input};
use crate::machine::table::FieldKind;
use crate::machine::{Actor, PhaseDeclaration as _};
use crate::message::Message;
use crate::program::Program;
use crate::program::arguments::ShowArgs;
use crate::program::exit::{CommandResult, Exit, Failure};
use crate::program::info::ProgramInfo;
use crate::program::locate::StateFolders;
use crate::program::settings::{ROUNDS_FIELD, Settings};
use crate::program::{loops, open_error, out, rounds};
use crate::store::{Store, to_plain};
use crate::{template, text};

const MAX_LINE_CHARS: usize = 200;
const STATUS: Message = template!("status.txt");

pub(in crate::program) fn status(program: &Program, arguments: &ShowArgs) -> CommandResult {
    let info = program.info;
    let found = match &arguments.target.id {
        Some(id) => vec![loops::find(info, Some(id))?],
        None => loops::newest(info)?,
    };
    let folders = StateFolders::find_here(info.state)?;
    let mut all = Vec::new();
    let mut problems = folders.vanished(None);
    for (store, id) in found {
        let store = store.read_only();
        match program.app.open(&store, &id, Actor::Person) {
            Ok(held) => {
                problems.extend_from_slice(held.raw().record().repairs());
                let settings = Settings::load(info, store.root()).unwrap_or_else(|error| {
                    problems.push(error.to_string());
                    Settings::defaults(info)
                });
                problems.extend_from_slice(&settings.ignored);
                program.prepare(&*held, &settings, Actor::Person);
                all.push(facts(program, &*held, &settings));
            }
            Err(error) => problems.push(open_error::line(info, &error)),
        }
    }
    if arguments.format.json {
        out::json(&json!({ "loops": all, "problems": problems }));
        return Ok(Exit::Complete);
    }
    if all.is_empty() && problems.is_empty() {
        let start = info.start(info.table.modes.first().map_or("start", |mode| mode.name));
        let line = format!("This project has no loops. Start one with:{start}");
        out::line(&line);
        if !folders.list(Store::archived).is_empty() {
            out::line(&format!("Archived loops:\n    {} list", info.program));
        }
    }
    for (index, facts) in all.iter().enumerate() {
        if index > 0 {
            out::line("");
        }
        print(info, facts)?;
    }
    for problem in &problems {
        let line = format!("problem:   {}", text::lines(problem, 1000));
        out::emphasize(&line, "problem:", out::BAD);
    }
    Ok(Exit::Complete)
}

fn print(info: &ProgramInfo, facts: &Json) -> Result<(), Failure> {
    let mut specs = info.table.phases.iter().filter_map(|phase| phase.review());
    let spec = specs.next().filter(|spec| !spec.is_numbered());
    let fields = info.table.state.declared.iter().filter_map(|field| {
        let value = facts["fields"].get(field.name)?;
        let is_data = matches!(field.kind, FieldKind::Data(_));
        // A path, such as that of the plan, is shown even if it is the initial value.
        let is_news = matches!(field.kind, FieldKind::Path) || *value != (field.initial)();
        (is_news && !is_data)
            .then(|| (field.name, text::one_line(&to_plain(value), MAX_LINE_CHARS)))
    });
    let values = json!({
        "loop": facts,
        "id_field": Some(info.state.fields.id).filter(|name| *name != "id"),
        "round_fields": spec.map(|spec| [spec.round, ROUNDS_FIELD]),
        "fields": fields.collect::<Vec<_>>(),
    });
    for line in super::render(STATUS, &values)?.lines() {
        let label = line.split_inclusive(':').next().unwrap_or_default();
        match label {
            "note:" => out::emphasize(line, label, out::WARNING),
            _ if line.starts_with(' ') || !label.ends_with(':') => out::line(line),
            _ => out::emphasize(line, label, out::HEADING),
        }
    }
    Ok(())
}

/// `statusline`: prints a session's loop on one line, if it has one. It repairs nothing and never
/// fails, because the client calls it many times a minute.
pub(in crate::program) fn statusline(program: &Program) -> Exit {
    let input = input::read(stdin(), INPUT_TIMEOUT).unwrap_or_default();
    if let Some(line) = session_line(program, &input) {
        out::line(&program.info.line(&line));
    }
    Exit::Complete
}

fn session_line(program: &Program, input: &Input) -> Option<String> {
    let session = input.session_id.as_deref()?;
    let owned = StateFolders::find_for_hook(program.info.state, input).owned(session);
    let (store, id) = owned.into_iter().next()?.into_parts();
    let opened = program.app.open(&store.read_only(), &id, Actor::Person);
    let held = opened.ok()?;
    let raw = held.raw();
    let spec = rounds::spec(raw);
    let mut parts = Vec::from_iter(program.extension.status_line(&*held));
    if parts.is_empty() {
        parts.push(raw.phase_info().name.to_owned());
        parts.extend(spec.map(|spec| rounds::full_name(raw, spec)));
    }
    if raw.store().is_paused(&id) {
        parts.push("paused".to_owned());
    }
    if raw.store().is_running(&id) {
        parts.push("running".to_owned());
    }
    if let (Some(spec), Some((round, found))) = (spec, LoopHistory::read(raw).newest_findings()) {
        parts.push(if raw.count(spec.round) == round {
            found.to_string()
        } else {
            format!("round {round} found {found}")
        });
    }
    parts.push(text::age(rounds::seconds(raw)));
    Some(text::one_line(&parts.join(", "), 200))
}
