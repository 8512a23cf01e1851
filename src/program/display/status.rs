//! `status`: the state of a loop on one screen.

use jiff::Timestamp;
use minijinja::Environment;
use serde_json::{Value as Json, json};

use super::loop_facts::facts;
use crate::machine::Actor;
use crate::machine::PhaseDeclaration as _;
use crate::machine::table::{Constant, FieldKind};
use crate::message::{Message, Render as _};
use crate::program::Program;
use crate::program::arguments::Look;
use crate::program::exit::{Exit, Failure};
use crate::program::info::ProgramInfo;
use crate::program::settings::{MAX_ROUNDS, Settings};
use crate::program::{Tone, durations, incompatible, locate, loops, out, session_loops};
use crate::store::{LoopId, Store};
use crate::text;

/// The longest text on one line of a terminal, in characters; a report has the rest.
const MAX_LINE_CHARS: usize = 200;
/// Fields that a terminal is not shown, since every loop has a line of that name.
const RESERVED_LABELS: [&str; 4] = ["loop", "mode", "phase", "session"];
/// A loop, as it is printed.
const STATUS: Message = Message {
    name: "status.txt",
    text: include_str!("status.txt"),
};

/// Prints a loop with its labels in bold.
fn print(info: &ProgramInfo, facts: &Json) -> Result<(), Failure> {
    let mut specs = info.table.phases.iter().filter_map(|phase| phase.review());
    let round_field = specs.next().filter(|spec| !spec.is_numbered());
    let round_field = round_field.map(|spec| spec.round);
    let values = json!({
        "loop": facts,
        "id_field": Some(info.state.fields.id).filter(|name| *name != "id"),
        "has_rounds": round_field.is_some(),
        "fields": printed_fields(info, facts, round_field),
    });
    let add = |environment: &mut Environment<'static>| {
        environment.add_filter("elapsed", durations::elapsed);
        environment.add_filter("label", |label: &str| {
            format!("{:<10} ", format!("{label}:"))
        });
        Ok(())
    };
    let text = STATUS.render_in(add, &values);
    let text = text.map_err(|error| Failure::new(Exit::Internal, error))?;
    for line in text.lines() {
        let label = line.split_inclusive(':').next().unwrap_or_default();
        match label {
            "note:" => out::toned(line, label, Tone::Warning),
            _ if line.starts_with(' ') || !label.ends_with(':') => out::line(line),
            _ => out::toned(line, label, Tone::Heading),
        }
    }
    Ok(())
}

/// Returns the fields that a terminal shows. Those with their own line, data and start values are left out.
fn printed_fields<'f>(
    info: &ProgramInfo,
    facts: &'f Json,
    round_field: Option<&str>,
) -> Vec<(&'f str, String)> {
    let shows = facts["shows"].as_object();
    let has_line = |name: &str| {
        RESERVED_LABELS.contains(&name)
            || shows.is_some_and(|shows| shows.contains_key(name))
            || round_field.is_some_and(|round| [round, MAX_ROUNDS].contains(&name))
    };
    let is_left_out = |name: &str, value: &Json| {
        let field = info.table.field(name);
        field.is_some_and(|field| match (&field.kind, &field.initial) {
            (FieldKind::Data(_), _) => true,
            (FieldKind::OneOf(_), Constant::Text(word)) => value.as_str() == Some(word),
            (_, Constant::Count(count)) => value.as_u64() == Some(*count),
            _ => false,
        })
    };
    let mut printed = Vec::new();
    for (name, value) in facts["fields"].as_object().into_iter().flatten() {
        let text = match value {
            Json::Null | Json::Bool(false) => continue,
            Json::String(text) => text::one_line(text, MAX_LINE_CHARS),
            // The texts of a list may hold commas, so they are quoted.
            other => other.to_string(),
        };
        let is_empty = ["", "[]"].contains(&text.as_str());
        if !is_empty && !has_line(name) && !is_left_out(name, value) {
            printed.push((name.as_str(), text));
        }
    }
    for (name, text) in shows.into_iter().flatten() {
        let text = text.as_str().unwrap_or_default();
        printed.push((name.as_str(), text.to_owned()));
    }
    printed
}

/// Returns the loops to show: the one that is named, else the active ones, else the newest.
fn picked(
    info: &ProgramInfo,
    id: Option<&str>,
    problems: &mut Vec<String>,
) -> Result<Vec<(Store, LoopId)>, Failure> {
    if let Some(id) = id {
        let (store, id) = loops::find(info, Some(id))?;
        if store.has_archived(&id) {
            problems.push(format!(
                "loop {id} is in the archive, {}/archive. To restore it:{}",
                text::shown(store.folder()),
                info.command(&format!("resume {id}"))
            ));
            return Ok(Vec::new());
        }
        return Ok(vec![(store, id)]);
    }
    loops::newest(info)
}

/// Prints the state of the loops, and the problems found on the way.
pub(in crate::program) fn status(program: &Program, look: &Look) -> Result<Exit, Failure> {
    let info = program.info;
    let now = Timestamp::now();
    let id = loops::id_to_show(info, &look.target, &["status"])?;
    let mut all = Vec::new();
    let mut problems = Vec::new();
    let active = if session_loops::has_many(info) {
        locate::active_loops(info.state, &loops::here()?)
    } else {
        Vec::new()
    };
    for (store, id) in picked(info, id.as_deref(), &mut problems)? {
        match program
            .app
            .open(&store.clone().to_look(), &id, Actor::Person)
        {
            Ok(held) => {
                problems.extend(held.raw().repairs().iter().map(ToString::to_string));
                let settings = Settings::load(info, store.root()).unwrap_or_else(|error| {
                    problems.push(error.to_string());
                    Settings::usual(info)
                });
                problems.extend(settings.ignored.iter().cloned());
                program.prepare(&*held, &settings, Actor::Person);
                all.push(facts(program, &*held, &settings, &active, now));
            }
            Err(error) => problems.push(incompatible::line(info, &store.path_of(&id), &error)),
        }
    }
    if look.format.json {
        out::json(&json!({ "loops": all, "problems": problems }));
        return Ok(Exit::Complete);
    }
    if all.is_empty() && id.is_none() && problems.is_empty() {
        out::line(&nothing(info)?);
    }
    for (index, facts) in all.iter().enumerate() {
        if index > 0 {
            out::line("");
        }
        print(info, facts)?;
    }
    for problem in &problems {
        let line = format!("problem:   {}", text::lines(problem, 1000));
        out::toned(&line, "problem:", Tone::Bad);
    }
    Ok(Exit::Complete)
}

/// Returns the text if there is no loop: how to start one, and where archived ones are listed.
fn nothing(info: &ProgramInfo) -> Result<String, Failure> {
    let mode = info.table.modes.first().map_or("start", |mode| mode.name);
    let start = info.start(mode);
    let mut nothing = format!("There are no loops in this project. Start one with:{start}");
    if !locate::archived(info.state, &loops::here()?).is_empty() {
        nothing += &format!("\nArchived loops:\n    {} list", info.program);
    }
    Ok(nothing)
}
