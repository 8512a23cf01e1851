//! The slash commands: their description, their permissions, and their text for the agent.
//!
//! If the loop can continue after a command, it also permits the loop's requests ([`loop_rules`]).

use std::collections::{BTreeMap, BTreeSet};

use clap::Command;
use serde::Serialize;
use serde_json::json;
use serde_yaml::Value as Yaml;

use super::{CommandInfo, PluginInfo};
use crate::behaviours::verify::is_used;
use crate::machine::Actor;
use crate::machine::table::Table;
use crate::message::{Message, MessageError, Render as _};
use crate::program::Program;
use crate::program::command_line;
use crate::program::info::ProgramInfo;
use crate::program::open_error::ends;
use crate::{template, text};

#[derive(Serialize)]
pub(super) struct CommandFile {
    pub(super) path: String,
    /// `/release-train:status`, with its arguments.
    usage: String,
    description: String,
    pub(super) text: String,
}

pub(super) fn all(
    program: &Program,
    plugin: &str,
    info: &PluginInfo,
) -> Result<Vec<CommandFile>, MessageError> {
    let mut whole = command_line::command(program);
    whole.build();
    let rules = loop_rules(program);
    let render = |command| render(program, plugin, &whole, command, &rules);
    // Loops are not started by a mode's name if the program has its own command.
    let is_hidden =
        |one: &CommandInfo| one.call.starts_with("start") && program.info.start_command.is_some();
    let commands = info.commands.iter().filter(|one| !is_hidden(one));
    let files = info.files.iter();
    let files: Vec<CommandFile> = files
        .filter_map(|file| machine_command(plugin, file))
        .collect();
    let mut generated = commands.map(render).collect::<Result<Vec<_>, _>>()?;
    generated.retain(|one| files.iter().all(|file| file.path != one.path));
    Ok(files.into_iter().chain(generated).collect())
}

/// Returns the command of a file that the machine has, with arguments and description of its head.
fn machine_command(plugin: &str, file: &Message) -> Option<CommandFile> {
    let name = file.name.strip_prefix("commands/")?.strip_suffix(".md")?;
    let head = file.text.split("---\n").nth(1)?;
    let head: BTreeMap<String, Yaml> = serde_yaml::from_str(head).ok()?;
    let value = |key| head.get(key).and_then(Yaml::as_str).unwrap_or_default();
    let usage = format!("/{plugin}:{name} {}", value("argument-hint"));
    Some(CommandFile {
        path: file.name.to_owned(),
        usage: usage.trim_end().to_owned(),
        description: value("description").to_owned(),
        text: file.text.to_owned(),
    })
}

fn render(
    program: &Program,
    plugin: &str,
    whole: &Command,
    command: &CommandInfo,
    loop_rules: &[String],
) -> Result<CommandFile, MessageError> {
    let info = program.info;
    let name = command.name;
    let is_start = command.transition.is_none() && command.call.starts_with("start");
    let is_common = command.transition.is_none() && !is_start;
    let common_name = if is_common { name } else { "" };
    // Only the user may run the others. The prompt hook keeps their arguments.
    let by_user = !["doctor", "status"].contains(&common_name);
    let goes_on = match command.transition {
        Some(transition) => !ends(info.table, transition),
        None => !["pause", "rollback", "doctor"].contains(&common_name),
    };
    let called = command_line::find(whole, command.call);
    let doc = match (command.doc, called.and_then(Command::get_about)) {
        ("", Some(about)) => about.to_string(),
        (doc, _) => doc.to_owned(),
    };
    let description = text::one_line(doc.trim_end_matches('.'), 300);
    let usual = || arguments(called, is_common);
    let arguments = command.arguments.map_or_else(usual, str::to_owned);
    let takes_nothing = common_name == "doctor";
    let from_prompt = if takes_nothing { "" } else { " --from-prompt" };
    let call = format!("{}{from_prompt}", command.call);
    let mut rules = Vec::from(if goes_on { loop_rules } else { &[] });
    let own_rule = bash_rule(info, &call);
    if !rules.contains(&own_rule) {
        rules.push(own_rule);
    }
    let mut head = json!({ "description": description });
    if !arguments.is_empty() {
        head["argument-hint"] = json!(arguments);
    }
    head["allowed-tools"] = json!(rules.join(", "));
    // Only the user may permit changes.
    if by_user || goes_on {
        head["disable-model-invocation"] = json!(true);
    }
    // These texts and a flag can always be serialized.
    let head = serde_yaml::to_string(&head).unwrap_or_default();
    let body = match command.text {
        Some(text) => text.text.to_owned(),
        None => template!("command.md").render(&json!({
            "program": info.program,
            "plugin": plugin,
            "call": call,
            "is_start": is_start,
            "common": common_name,
            "goes_on": goes_on,
            "reviews": info.reviews(),
        }))?,
    };
    let usage = format!("/{plugin}:{name} {arguments}");
    Ok(CommandFile {
        path: format!("commands/{name}.md"),
        usage: usage.trim_end().to_owned(),
        text: format!("---\n{head}---\n{body}"),
        description,
    })
}

/// Returns the arguments in the menu: `[--soak <N>] [VERSION]...`. Common commands show no flags.
fn arguments(called: Option<&Command>, is_common: bool) -> String {
    let all = called.into_iter().flat_map(Command::get_arguments);
    let visible = all.filter(|argument| {
        let is_shown = !is_common || argument.is_positional();
        is_shown && !argument.is_hide_set() && argument.get_id() != "help"
    });
    let words = visible.map(|argument| {
        if argument.is_positional() || argument.is_required_set() {
            argument.to_string()
        } else {
            format!("[{argument}]")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn bash_rule(info: &ProgramInfo, call: &str) -> String {
    format!("Bash({} {call}:*)", info.program)
}

/// Returns the rules for a loop's requests: files to write, reviews, transitions, `status`.
pub(in crate::program) fn loop_rules(program: &Program) -> Vec<String> {
    let info = program.info;
    let table = info.table;
    let permits = program.plugin.map_or(&[][..], |plugin| plugin.permits);
    let by_agent = table.edges().filter(|edge| {
        edge.by.contains(&Actor::Agent) && edge.is_verb() && !ends(table, edge.transition)
    });
    let mut calls = Vec::new();
    calls.extend(info.reviews().then(|| "review".to_owned()));
    // It runs only lines that the user's configuration allows.
    calls.extend(is_used(table).then(|| "verify".to_owned()));
    calls.extend(by_agent.map(|edge| edge.transition.replace('_', "-")));
    calls.push("status".to_owned());

    let mut rules = files_to_write(table);
    rules.extend(permits.iter().map(|rule| (*rule).to_owned()));
    rules.extend(calls.iter().map(|call| bash_rule(info, call)));
    let mut known = BTreeSet::new();
    rules.retain(|rule| known.insert(rule.clone()));
    rules
}

/// Returns the rules for files that stops wait for, whose paths have the fields' initial values.
fn files_to_write(table: &Table) -> Vec<String> {
    let behaviours = table.phases.iter().filter_map(|phase| phase.on_stop);
    let waiting = behaviours.filter(|behaviour| behaviour.name == "require-file");
    let templates = waiting.filter_map(|behaviour| behaviour.parameter("path"));
    let mut paths: Vec<String> = templates.map(str::to_owned).collect();
    for field in table.state.declared {
        if let serde_json::Value::String(text) = (field.initial)() {
            let name = format!("{{{}}}", field.name);
            (paths.iter_mut()).for_each(|path| *path = path.replace(&name, &text));
        }
    }
    // Any other path could be a pattern that permits more files.
    let is_plain = |part: &str| {
        let plain = |c: char| c.is_alphanumeric() || "._- ".contains(c);
        !part.is_empty() && part != ".." && part.chars().all(plain)
    };
    paths.retain(|path| path.split('/').all(is_plain));
    paths.iter().map(|path| format!("Edit(/{path})")).collect()
}
