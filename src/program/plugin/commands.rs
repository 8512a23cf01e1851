//! The slash commands: what their menu says, what they may do without asking, and what the agent is told.
//!
//! A command may call the program as it says itself, and, where the loop can go on after it, do what the loop will ask for: write
//! the files that a stop waits for, see where it is, have it reviewed, and take the agent's own transitions.

use serde::Serialize;
use serde_json::json;

use super::{CommandInfo, Does, PluginInfo, hint};
use crate::behaviours::verify::is_used;
use crate::machine::Actor;
use crate::machine::table::{Constant, Table};
use crate::message::{Message, MessageError, Render as _};
use crate::program::app::{App, Program};
use crate::program::command_line;
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

/// The head of a command's file.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Head<'a> {
    description: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    argument_hint: &'a str,
    allowed_tools: String,
    #[serde(skip_serializing_if = "is_false")]
    disable_model_invocation: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Names what a command may do besides what it is for.
enum Further {
    /// Nothing: the loop does not go on after it.
    Nothing,
    /// What the loop asks for, since it may go on after it.
    Loop,
    /// And see where the loop is.
    LoopAndStatus,
}

/// What the engine knows of a command.
struct Known {
    /// What is called.
    call: String,
    /// Whether it needs a person, whose arguments come from the prompt hook.
    of_person: bool,
    further: Further,
    description: &'static str,
    arguments: String,
    body: Message,
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
pub(super) fn all<M: App>(
    program: &Program<M>,
    plugin: &str,
    info: &PluginInfo,
) -> Result<Vec<Written>, MessageError> {
    let whole = command_line::command(program);
    let commands = info.commands.iter();
    commands
        .map(|command| written::<M>(&whole, plugin, info, command))
        .collect()
}

fn written<M: App>(
    whole: &clap::Command,
    plugin: &str,
    info: &PluginInfo,
    command: &CommandInfo,
) -> Result<Written, MessageError> {
    let known = known::<M>(whole, command);
    let table = M::TABLE;
    let arguments = command.arguments.unwrap_or(&known.arguments);
    let description = if command.doc.is_empty() {
        known.description
    } else {
        command.doc
    };
    let description = text::one_line(description.trim_end_matches('.'), 300);
    let ticket = if known.of_person {
        " --from-prompt"
    } else {
        ""
    };
    let call = format!("{}{ticket}", known.call);
    let head = Head {
        description: &description,
        argument_hint: arguments,
        allowed_tools: allowed::<M>(whole, info, command, &call, &known.further),
        // What permits more than to look is a person's to give.
        disable_model_invocation: known.of_person || !matches!(known.further, Further::Nothing),
    };
    // A few texts and a flag: nothing that could fail to be written.
    let head = serde_yaml::to_string(&head).unwrap_or_default();
    let body = match command.text {
        Some(text) => text.text.to_owned(),
        None => known.body.render(&json!({
            "program": M::INFO.program, "plugin": plugin, "call": call, "reviews": reviews(table),
        }))?,
    };
    Ok(Written {
        path: format!("commands/{}.md", command.name),
        usage: format!("/{plugin}:{} {arguments}", command.name)
            .trim_end()
            .to_owned(),
        text: format!("---\n{head}---\n{body}"),
        description,
    })
}

fn known<M: App>(whole: &clap::Command, command: &CommandInfo) -> Known {
    let table = M::TABLE;
    let of_person = |call: String, further, description, arguments, body| Known {
        call,
        of_person: true,
        further,
        description,
        arguments,
        body,
    };
    match command.does {
        Does::Start(mode) => {
            let call = if table.modes.len() > 1 {
                format!("start {mode}")
            } else {
                "start".to_owned()
            };
            of_person(
                call,
                Further::LoopAndStatus,
                "Start a loop",
                hint::start::<M>(whole, mode),
                body!("start.md"),
            )
        }
        Does::Take(transition) => {
            let (further, body) = if ends(table, transition) {
                (Further::Nothing, body!("ends.md"))
            } else {
                (Further::LoopAndStatus, body!("goes-on.md"))
            };
            let arguments = hint::verb::<M>(whole, command.name);
            of_person(
                command.name.to_owned(),
                further,
                "Take a step of the loop",
                arguments,
                body,
            )
        }
        Does::Own => own::<M>(command.name),
    }
}

/// The engine's own commands.
fn own<M: App>(name: &str) -> Known {
    let (call, of_person, further, description, body) = match name {
        "history" => (
            "journal",
            true,
            Further::Loop,
            "Show what happened to a loop, change by change; without an id, list the loops",
            body!("history.md"),
        ),
        "resume" => (
            "resume",
            true,
            Further::LoopAndStatus,
            "Let a waiting or archived loop go on, its counters begun anew",
            body!("goes-on.md"),
        ),
        "pause" => (
            "pause",
            true,
            Further::Nothing,
            "Hold a loop: no stop drives it until it is resumed",
            body!("ends.md"),
        ),
        "adopt" => (
            "adopt",
            true,
            Further::LoopAndStatus,
            "Take over a loop of another session, after a crash",
            body!("goes-on.md"),
        ),
        "rollback" => (
            "rollback",
            true,
            Further::Nothing,
            "Move every file of every loop of this project aside, but the log",
            body!("rollback.md"),
        ),
        "doctor" => (
            "doctor",
            false,
            Further::Nothing,
            "Check what the loop needs, from the program to the state folder",
            body!("doctor.md"),
        ),
        _ => (
            "status",
            false,
            Further::Loop,
            "Show the loops of this project: where each is, and what comes next",
            body!("status.md"),
        ),
    };
    let takes_id = matches!(name, "history" | "resume" | "pause" | "adopt");
    Known {
        call: call.to_owned(),
        of_person,
        further,
        description,
        arguments: if takes_id {
            hint::id::<M>()
        } else {
            String::new()
        },
        body,
    }
}

/// The rules of `allowed-tools`.
fn allowed<M: App>(
    whole: &clap::Command,
    info: &PluginInfo,
    command: &CommandInfo,
    call: &str,
    further: &Further,
) -> String {
    let own = bash_rule::<M>(call);
    if let Further::Nothing = further {
        return own;
    }
    let mode = match command.does {
        Does::Start(mode) => Some(mode),
        Does::Take(_) | Does::Own => None,
    };
    let mut rules = loop_rules::<M>(whole, info.permits, mode);
    if !rules.contains(&own) {
        rules.push(own);
    }
    if let Further::LoopAndStatus = further {
        rules.push(bash_rule::<M>("status"));
    }
    rules.join(", ")
}

/// Returns the rule for a call of the program.
pub(super) fn bash_rule<M: App>(call: &str) -> String {
    format!("Bash({} {call}:*)", M::INFO.program)
}

/// Returns the rules for what a loop asks its agent for: files to write, reviews, and the agent's own transitions.
pub(super) fn loop_rules<M: App>(
    whole: &clap::Command,
    permits: &[&str],
    mode: Option<&str>,
) -> Vec<String> {
    let table = M::TABLE;
    let mut rules = files_to_write(table, mode);
    rules.extend(permits.iter().map(|rule| (*rule).to_owned()));
    if reviews(table) {
        rules.push(bash_rule::<M>("review"));
    }
    if is_used(table) {
        // It runs what the user allows, and nothing else.
        rules.push(bash_rule::<M>("verify"));
    }
    let by_agent = table.edges().filter(|edge| edge.by.contains(&Actor::Agent));
    for edge in by_agent.filter(|edge| !ends(table, edge.transition)) {
        let name = edge.transition.replace('_', "-");
        let rule = bash_rule::<M>(&name);
        // What only the program's own verbs take is nothing to type.
        if whole.find_subcommand(&name).is_some() && !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

/// Returns whether a transition ends the loop, wherever it is taken.
fn ends(table: &Table, transition: &str) -> bool {
    let mut edges = table.edges().filter(|edge| edge.transition == transition);
    edges.all(|edge| table.phases[edge.to].terminal)
}

/// Returns whether a reviewer looks at something in some phase.
fn reviews(table: &Table) -> bool {
    let mut behaviours = table.phases.iter().filter_map(|phase| phase.on_stop);
    behaviours.any(|behaviour| behaviour.name == "review")
}

/// The rules for the files that stops wait for, in the phases that a mode leads to, or in all.
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

/// Fills in the fields of a path as they are at the start. `None`: they are not known, or the path would be a pattern that permits
/// more than a file.
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
