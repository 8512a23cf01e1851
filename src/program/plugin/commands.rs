//! The slash commands: their description, their permissions, and their text for the agent.
//!
//! A command may call the program. If the loop can go on after it, the command also has the permissions for the loop's requests:
//! write the files that a stop waits for, run `status` and reviews, and take the agent's own transitions.

use clap::{Arg, Command};
use serde::Serialize;
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
#[derive(Serialize)]
pub(super) struct Written {
    /// The path of its file.
    pub(super) path: String,
    /// `/release-train:status`, with its arguments.
    usage: String,
    description: String,
    /// The file's text.
    pub(super) text: String,
}

/// The engine's knowledge of a command.
struct Known {
    /// The arguments of the program.
    call: String,
    /// Whether only the user may run it. The prompt hook keeps its arguments.
    by_user: bool,
    /// Whether the loop may go on after it, so that it also needs the permissions for the loop's requests.
    goes_on: bool,
    arguments: String,
    /// The text for the agent.
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
pub(super) fn all(
    program: &Program,
    plugin: &str,
    info: &PluginInfo,
) -> Result<Vec<Written>, MessageError> {
    let mut whole = command_line::command(program);
    whole.build();
    let rules = loop_rules(program.info, &whole, info.permits);
    let commands = info.commands.iter();
    let written = commands.map(|command| written(program, plugin, &whole, command, &rules));
    written.collect()
}

fn written(
    program: &Program,
    plugin: &str,
    whole: &Command,
    command: &CommandInfo,
    loop_rules: &[String],
) -> Result<Written, MessageError> {
    let info = program.info;
    let known = known(program, whole, command);
    let mut names = known.call.split(' ');
    let about = names
        .try_fold(whole, |command, name| command.find_subcommand(name))
        .and_then(Command::get_about)
        .map(ToString::to_string);
    let description = match command.doc {
        "" => about.unwrap_or_default(),
        doc => doc.to_owned(),
    };
    let description = text::one_line(description.trim_end_matches('.'), 300);
    let arguments = command.arguments.unwrap_or(&known.arguments);
    let ticket = if known.by_user { " --from-prompt" } else { "" };
    let call = format!("{}{ticket}", known.call);
    let mut rules = Vec::new();
    if known.goes_on {
        rules.extend_from_slice(loop_rules);
    }
    for rule in [&*call, "status"].map(|call| bash_rule(info, call)) {
        if !rules.contains(&rule) && (known.goes_on || rules.is_empty()) {
            rules.push(rule);
        }
    }
    let mut head = json!({ "description": description });
    if !arguments.is_empty() {
        head["argument-hint"] = json!(arguments);
    }
    head["allowed-tools"] = json!(rules.join(", "));
    // Only the user may grant more than a look.
    if known.by_user || known.goes_on {
        head["disable-model-invocation"] = json!(true);
    }
    // A few texts and a flag: nothing that could fail to be written.
    let head = serde_yaml::to_string(&head).unwrap_or_default();
    let body = match command.text {
        Some(text) => text.text.to_owned(),
        None => known.body.render(&json!({
            "program": info.program,
            "plugin": plugin,
            "call": call,
            "reviews": info.reviews(),
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
    let name = command.name;
    let id = format!("[{}]", table.state.fields.id.replace('_', "-"));
    match command.does {
        Does::Start(mode) => Known {
            call: if table.modes.len() > 1 {
                format!("start {mode}")
            } else {
                "start".to_owned()
            },
            by_user: true,
            goes_on: true,
            arguments: start_hint(program, whole, mode),
            body: body!("start.md"),
        },
        Does::Take(transition) => {
            let goes_on = !ends(table, transition);
            let flags = flags(whole.find_subcommand(name));
            let flags = flags.map(|flag| flag_hint(flag, flag.is_required_set()));
            Known {
                call: name.to_owned(),
                by_user: true,
                goes_on,
                arguments: std::iter::once(id)
                    .chain(flags)
                    .collect::<Vec<_>>()
                    .join(" "),
                body: if goes_on {
                    body!("goes-on.md")
                } else {
                    body!("ends.md")
                },
            }
        }
        Does::Own => {
            let takes_id = !["rollback", "doctor", "status"].contains(&name);
            Known {
                call: name.replace("history", "journal"),
                by_user: takes_id || name == "rollback",
                goes_on: !["pause", "rollback", "doctor"].contains(&name),
                arguments: if takes_id { id } else { String::new() },
                body: match name {
                    "history" => body!("history.md"),
                    "resume" | "adopt" => body!("goes-on.md"),
                    "pause" => body!("ends.md"),
                    "rollback" => body!("rollback.md"),
                    "doctor" => body!("doctor.md"),
                    _ => body!("status.md"),
                },
            }
        }
    }
}

/// Returns the rule for a call of the program.
pub(super) fn bash_rule(info: &ProgramInfo, call: &str) -> String {
    format!("Bash({} {call}:*)", info.program)
}

/// Returns the rules for the requests of a loop: files to write, reviews, and the agent's own transitions.
pub(super) fn loop_rules(info: &ProgramInfo, whole: &Command, permits: &[&str]) -> Vec<String> {
    let table = info.table;
    let mut rules = files_to_write(table);
    rules.extend(permits.iter().map(|rule| (*rule).to_owned()));
    if info.reviews() {
        rules.push(bash_rule(info, "review"));
    }
    if is_used(table) {
        // It runs only lines that the user allows.
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

/// Returns the rules for the files that stops wait for. Fields in their paths have their initial values.
fn files_to_write(table: &Table) -> Vec<String> {
    let behaviours = table.phases.iter().filter_map(|phase| phase.on_stop);
    let waiting = behaviours.filter(|behaviour| behaviour.name == "require-file");
    let mut rules = Vec::new();
    for path in waiting.filter_map(|behaviour| behaviour.parameter("path")) {
        let path = table
            .fields
            .iter()
            .fold(path.to_owned(), |path, field| match field.initial {
                Constant::Text(text) => path.replace(&format!("{{{}}}", field.name), text),
                _ => path,
            });
        let rule = format!("Edit(/{path})");
        // Any other path could be a pattern that permits more than a file.
        let is_plain = |part: &str| {
            let plain = |c: char| c.is_alphanumeric() || "._- ".contains(c);
            !part.is_empty() && part != ".." && part.chars().all(plain)
        };
        if path.split('/').all(is_plain) && !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

/// Returns the arguments of a start in a mode: `[--soak <SOAK>] <version>`.
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

/// Returns the flags of a command that are not hidden, without `--help`.
fn flags(command: Option<&Command>) -> impl Iterator<Item = &Arg> {
    let arguments = command.into_iter().flat_map(Command::get_arguments);
    arguments.filter(|argument| {
        !argument.is_hide_set() && !argument.is_positional() && argument.get_id() != "help"
    })
}

/// Returns a flag with its value, in brackets if it is optional.
fn flag_hint(flag: &Arg, is_required: bool) -> String {
    if is_required {
        flag.to_string()
    } else {
        format!("[{flag}]")
    }
}
