//! The commands that show loops: status, list, journal, report, personas and the status line.

mod history;
mod listing;
mod loop_facts;
mod report;
mod status;

use minijinja::value::Value;
use minijinja::{AutoEscape, Environment};
use serde_json::{Value as Json, json};

use super::exit::{CommandResult, Exit, Failure};
use super::info::ProgramInfo;
use super::{loops, out};
use crate::machine::PhaseDeclaration as _;
use crate::message::{Message, render_in};
use crate::review::ReviewSpec;
use crate::review::personas::machine_personas;
use crate::text;

pub(super) use history::journal;
pub(super) use listing::list;
pub(super) use report::report;
pub(super) use status::{status, statusline};

const STYLE: &str = include_str!("page.css");
const MAX_VALUE_CHARS: usize = 60;

/// Renders facts for people. In a page every value is escaped.
fn render(template: Message, facts: &Json) -> Result<String, Failure> {
    let add = |environment: &mut Environment<'static>| {
        if template.name.ends_with(".html") {
            environment.set_auto_escape_callback(|_| AutoEscape::Html);
        }
        environment.add_filter("actor", history::actor);
        environment.add_filter("elapsed", text::elapsed);
        environment.add_filter("age", text::age);
        environment.add_filter("label", |name: &str| format!("{:<10} ", format!("{name}:")));
        environment.add_global("style", Value::from_safe_string(STYLE.to_owned()));
        Ok(())
    };
    render_in(template, add, facts).map_err(Failure::internal)
}

pub(super) fn personas(info: &'static ProgramInfo) -> CommandResult {
    // Like every command of a round, it needs a valid configuration.
    loops::settings_here(info)?;
    let all = machine_personas(info.table);
    for (round, persona) in (1..).zip(all) {
        let later = if round == all.len() { " and later" } else { "" };
        let mut phases = info.table.phases.iter();
        let names_it = |spec: &ReviewSpec| spec.personas.iter().any(|one| one.name == persona.name);
        let phase = phases.find(|phase| phase.review().is_some_and(names_it));
        let of_round = || format!("Round {round}{later}");
        let place = phase.map_or_else(of_round, |phase| format!("Phase {}", phase.name));
        out::line(&format!("{place}: {}", persona.label));
        out::line(&format!("  {}", text::one_line(persona.prompt.text, 1000)));
    }
    Ok(Exit::Complete)
}

pub(super) fn configuration(info: &'static ProgramInfo, json: bool) -> CommandResult {
    let settings = loops::settings_here(info)?;
    let rows = settings.rows.iter();
    if json {
        let rows =
            rows.map(|row| json!({ "key": row.key(), "value": row.value, "source": row.source() }));
        out::json(&rows.collect::<Vec<_>>());
    } else {
        let lines = rows.map(|row| {
            let value = text::one_line(&row.value.to_string(), MAX_VALUE_CHARS);
            format!("{} = {value}\t{}\n", row.key(), row.source())
        });
        out::line(&text::table(&lines.collect::<String>()));
    }
    Ok(Exit::Complete)
}
