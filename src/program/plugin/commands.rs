//! The slash commands: their description, their permissions, and their text for the agent.
//!
//! A command may call the program. If the loop can go on after it, the command may also do what the loop will ask for:
//! write the files that a stop waits for, run `status` and reviews, and take the agent's own transitions.

use clap::{Arg, Command};
use serde_json::json;

use super::{CommandInfo, Does, PluginInfo};
use crate::behaviours::verify::is_used;
use crate::machine::Actor;
use crate::machine::table::{Constant, Table};
use crate::message::{Message, MessageError, Render as _};
use crate::program::Program;
use crate::program::info::ProgramInfo;
use crate::program::{command_line, start};
use crate::text;

/// A slash command, ready to be written.
pub(super) struct Written {
    /// Its file.
    pub(super) path: String,
    /// `/release-train:status`, with its arguments.
    pub(super) usage: String,
    /// What it does.
    pub(super) description: String,
    /// The file's text.
    pub(super) text: String,
}

/// The engine's knowledge of a command.
struct Known {
    /// The arguments of the program.
    call: String,
    /// Whether only the user may run it. The prompt hook keeps its arguments.
    by_user: bool,
    /// Whether the loop may go on after it, so that it also needs what the loop asks for.
    goes_on: bool,
    description: &'static str,
    arguments: String,
    /// Its text for the agent; `None`: that of all commands after which the loop goes on, or of those that end it.
    body: Option<Message>,
}

macro_rules! body {
    ($name:literal) => {
        Message {
            name: $name,
            text: include_str!(concat!("commands/", $name)),
        }
    };
}

/// All commands of a program.
pub(super) fn all(
    program: &Program,
    plugin: &str,
    info: &PluginInfo,
) -> Result<Vec<Written>, MessageError> {
    let whole = command_line::command(program);
    let written = |command| written(program, &whole, plugin, info, command);
    info.commands.iter().map(written).collect()
}

fn written(
    program: &Program,
    whole: &Command,
    plugin: &str,
    info: &PluginInfo,
    command: &CommandInfo,
) -> Result<Written, MessageError> {
    let known = known(program, whole, command);
    let arguments = command.arguments.unwrap_or(&known.arguments);
    let description = match command.doc {
        "" => known.description,
        doc => doc,
    };
    let description = text::one_line(description.trim_end_matches('.'), 300);
    let ticket = if known.by_user { " --from-prompt" } else { "" };
    let call = format!("{}{ticket}", known.call);
    let mut head = json!({ "description": description });
    if !arguments.is_empty() {
        head["argument-hint"] = json!(arguments);
    }
    head["allowed-tools"] = json!(allowed(program, whole, info, command, &call, known.goes_on));
    // Only the user may grant more than a look.
    if known.by_user || known.goes_on {
        head["disable-model-invocation"] = json!(true);
    }
    // A few texts and a flag: nothing that could fail to be written.
    let head = serde_yaml::to_string(&head).unwrap_or_default();
    let usual = match known.goes_on {
        true => body!("goes-on.md"),
        false => body!("ends.md"),
    };
    let body = match command.text {
        Some(text) => text.text.to_owned(),
        None => known.body.unwrap_or(usual).render(&json!({
            "program": program.info.program,
            "plugin": plugin,
            "call": call,
            "reviews": reviews(program.info.table),
        }))?,
    };
    let usage = format!("/{plugin}:{} {arguments}", command.name);
    Ok(Written {
        path: format!("commands/{}.md", command.name),
        usage: usage.trim_end().to_owned(),
        text: format!("---\n{head}---\n{body}"),
        description,
    })
}

fn known(program: &Program, whole: &Command, command: &CommandInfo) -> Known {
    let table = program.info.table;
    match command.does {
        Does::Start(mode) => Known {
            call: match table.modes.len() > 1 {
                true => format!("start {mode}"),
                false => "start".to_owned(),
            },
            by_user: true,
            goes_on: true,
            description: "Start a loop",
            arguments: start_hint(program, whole, mode),
            body: Some(body!("start.md")),
        },
        Does::Take(transition) => Known {
            call: command.name.to_owned(),
            by_user: true,
            goes_on: !ends(table, transition),
            description: "Take a step of the loop",
            arguments: verb_hint(table, whole, command.name),
            body: None,
        },
        Does::Own => own(table, command.name),
    }
}

/// Describes one of the commands that every program has.
fn own(table: &Table, name: &str) -> Known {
    let (body, description) = match name {
        "history" => (
            Some(body!("history.md")),
            "Show what happened to a loop, change by change; without an id, list the loops",
        ),
        "resume" => (
            None,
            "Let a waiting or archived loop go on, its counters begun anew",
        ),
        "pause" => (None, "Hold a loop: no stop drives it until it is resumed"),
        "adopt" => (None, "Take over a loop of another session, after a crash"),
        "rollback" => (
            Some(body!("rollback.md")),
            "Move every file of every loop of this project aside, but the log",
        ),
        "doctor" => (
            Some(body!("doctor.md")),
            "Check what the loop needs, from the program to the state folder",
        ),
        _ => (
            Some(body!("status.md")),
            "Show the loops of this project: where each is, and what comes next",
        ),
    };
    let takes_id = !["rollback", "doctor", "status"].contains(&name);
    Known {
        call: match name {
            "history" => "journal".to_owned(),
            _ => name.to_owned(),
        },
        by_user: takes_id || name == "rollback",
        goes_on: !["pause", "rollback", "doctor"].contains(&name),
        description,
        arguments: match takes_id {
            true => id_hint(table),
            false => String::new(),
        },
        body,
    }
}

/// Returns the rules of `allowed-tools`.
fn allowed(
    program: &Program,
    whole: &Command,
    info: &PluginInfo,
    command: &CommandInfo,
    call: &str,
    goes_on: bool,
) -> String {
    let own = bash_rule(program.info, call);
    if !goes_on {
        return own;
    }
    let mode = match command.does {
        Does::Start(mode) => Some(mode),
        Does::Take(_) | Does::Own => None,
    };
    let mut rules = loop_rules(program.info, whole, info.permits, mode);
    for rule in [own, bash_rule(program.info, "status")] {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules.join(", ")
}

/// Returns the rule for a call of the program.
pub(super) fn bash_rule(info: &ProgramInfo, call: &str) -> String {
    format!("Bash({} {call}:*)", info.program)
}

/// Returns the rules for what a loop asks its agent for: files to write, reviews, and the agent's own transitions.
pub(super) fn loop_rules(
    info: &ProgramInfo,
    whole: &Command,
    permits: &[&str],
    mode: Option<&str>,
) -> Vec<String> {
    let table = info.table;
    let mut rules = files_to_write(table, mode);
    rules.extend(permits.iter().map(|rule| (*rule).to_owned()));
    if reviews(table) {
        rules.push(bash_rule(info, "review"));
    }
    if is_used(table) {
        // It runs only what the user allows.
        rules.push(bash_rule(info, "verify"));
    }
    let by_agent = table.edges().filter(|edge| edge.by.contains(&Actor::Agent));
    for edge in by_agent.filter(|edge| !ends(table, edge.transition)) {
        let name = edge.transition.replace('_', "-");
        let rule = bash_rule(info, &name);
        // A transition without a verb of its own cannot be typed.
        if whole.find_subcommand(&name).is_some() && !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

/// Returns whether a transition ends the loop in every phase.
fn ends(table: &Table, transition: &str) -> bool {
    let mut edges = table.edges().filter(|edge| edge.transition == transition);
    edges.all(|edge| table.phases[edge.to].terminal)
}

/// Returns whether a phase reviews.
fn reviews(table: &Table) -> bool {
    let mut behaviours = table.phases.iter().filter_map(|phase| phase.on_stop);
    behaviours.any(|behaviour| behaviour.name == "review")
}

/// Returns the rules for the files that stops wait for, in the phases that a mode leads to, or in all.
fn files_to_write(table: &Table, mode: Option<&str>) -> Vec<String> {
    let mode = mode.and_then(|name| table.modes.iter().find(|mode| mode.name == name));
    let mut reached: Vec<usize> = match mode {
        Some(mode) => vec![mode.start],
        None => (0..table.phases.len()).collect(),
    };
    let mut at = 0;
    while let Some(&from) = reached.get(at) {
        for edge in table.edges().filter(|edge| edge.from == from) {
            if !reached.contains(&edge.to) {
                reached.push(edge.to);
            }
        }
        at += 1;
    }
    let mut rules = Vec::new();
    for phase in reached {
        let behaviour = table.phases[phase].on_stop;
        let path = behaviour
            .filter(|behaviour| behaviour.name == "require-file")
            .and_then(|behaviour| behaviour.parameter("path"))
            .and_then(|path| filled(table, mode.map_or(&[], |mode| mode.initial), path));
        let rule = path.map(|path| format!("Edit(/{path})"));
        rules.extend(rule.filter(|rule| !rules.contains(rule)));
    }
    rules
}

/// Fills in the fields of a path with their start values. Returns `None` if they are not known, or if the path would be a
/// pattern that permits more than a file.
fn filled(table: &Table, initial: &[(&str, Constant)], path: &str) -> Option<String> {
    let mut filled = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let own = initial.iter().find(|(field, _)| *field == name);
        let value = own.map_or_else(
            || Some(table.field(name)?.initial),
            |(_, value)| Some(*value),
        )?;
        filled.push_str(before);
        match value {
            Constant::Text(text) => filled.push_str(text),
            Constant::Count(count) => filled.push_str(&count.to_string()),
            _ => return None,
        }
        rest = after;
    }
    filled.push_str(rest);
    let is_plain = |part: &str| {
        let plain = |c: char| c.is_alphanumeric() || "._- ".contains(c);
        !part.is_empty() && part != ".." && part.chars().all(plain)
    };
    filled.split('/').all(is_plain).then_some(filled)
}

/// Returns the argument of a command that takes an id, by the name of the field that holds it: `[id]`.
fn id_hint(table: &Table) -> String {
    format!("[{}]", table.state.fields.id.replace('_', "-"))
}

/// Returns the arguments of a start in a mode: `[--soak <soak>] <version>`.
fn start_hint(program: &Program, whole: &Command, mode: &str) -> String {
    let in_words = start::in_words(program).map(|field| field.name);
    let command = start::of_mode(whole, mode);
    let flags = flags(command.as_ref()).filter(|flag| in_words != Some(flag.get_id().as_str()));
    let is_required = |flag: &Arg| program.required.contains(&flag.get_id().as_str());
    let mut parts: Vec<String> = flags
        .map(|flag| flag_hint(flag, is_required(flag)))
        .collect();
    parts.extend(in_words.map(|name| format!("<{}>", name.replace('_', "-"))));
    parts.join(" ")
}

/// Returns the arguments of a transition: `[id] --why <why>`.
fn verb_hint(table: &Table, whole: &Command, verb: &str) -> String {
    let flags =
        flags(whole.find_subcommand(verb)).map(|flag| flag_hint(flag, flag.is_required_set()));
    let parts: Vec<String> = std::iter::once(id_hint(table)).chain(flags).collect();
    parts.join(" ")
}

/// Returns the flags of a command that are not hidden.
fn flags(command: Option<&Command>) -> impl Iterator<Item = &Arg> {
    let arguments = command.into_iter().flat_map(Command::get_arguments);
    arguments.filter(|argument| !argument.is_hide_set() && !argument.is_positional())
}

/// Returns a flag with its value, in brackets if it is optional.
fn flag_hint(flag: &Arg, is_required: bool) -> String {
    let name = flag.get_long().unwrap_or_default();
    let may_stand_alone = flag
        .get_num_args()
        .is_some_and(|number| number.min_values() == 0);
    let text = if !flag.get_action().takes_values() || may_stand_alone {
        format!("--{name}")
    } else {
        format!("--{name} <{name}>")
    };
    match is_required {
        true => text,
        false => format!("[{text}]"),
    }
}
