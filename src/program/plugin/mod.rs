//! The plugin of a client that calls this program: hooks, launcher and slash commands, rendered from the machine.
//!
//! `[plugin]` of a machine file gives the name. The rest follows from the machine and the program's name. The text of a
//! command is Markdown of the machine's own, or one of the short texts in `commands/`.

mod commands;
pub(super) mod info;
mod write;

use std::collections::BTreeMap;

use serde_json::json;

use super::arguments::Plugin;
use super::builder::{PROTOCOL, Program};
use super::command_line;
use super::exit::{Exit, Failure};
use super::out;
use crate::message::{Message, MessageError, Render as _};
use crate::process::environment::GUARD;
use crate::text;

pub use info::{CommandInfo, Does, PluginInfo};

const LAUNCHER: Message = Message {
    name: "launcher.sh",
    text: include_str!("launcher.sh"),
};
const STOP_HOOK: Message = Message {
    name: "stop-hook.sh",
    text: include_str!("stop-hook.sh"),
};
/// The other hooks, which are silent if something is wrong.
const QUIET_HOOK: Message = Message {
    name: "quiet-hook.sh",
    text: include_str!("quiet-hook.sh"),
};
const README: Message = Message {
    name: "README.md",
    text: include_str!("README.md"),
};
const HOOKS: &str = include_str!("hooks.json");
/// The verbs of the quiet hooks, and what their files say about them.
const QUIET_HOOKS: [(&str, &str); 5] = [
    (
        "prompt",
        "UserPromptSubmit and UserPromptExpansion: the program keeps the raw arguments of the plugin's commands for this\n\
         # session, so that no shell ever sees them.",
    ),
    (
        "answer",
        "PostToolUse of AskUserQuestion: the program takes the answers to the loop's own questions.",
    ),
    (
        "pre-compact",
        "PreCompact: the program keeps which session is compacted, so that a loop follows it to a new id.",
    ),
    (
        "pre-tool-use",
        "PreToolUse: the program allows the calls that the loop asks for, and refuses edits of its state.",
    ),
    (
        "session-start",
        "SessionStart: the program says in one line where a loop of this project waits, and how it is taken up.",
    ),
];

/// Runs a plugin command.
///
/// # Errors
/// Returns an error if the machine names no plugin, the folder has other files in the way, or it cannot be written.
pub(super) fn run(program: &Program, command: &Plugin) -> Result<Exit, Failure> {
    let Plugin::Write { dir } = command;
    let (Some(name), Some(info)) = (program.info.plugin, program.plugin) else {
        let file = program.info.table.file;
        let message = format!("{file} names no plugin, so none can be written");
        let help = "add [plugin] with a name to it, and build the program again";
        let code = "claudex::plugin::none";
        return Err(Failure::plain(Exit::Refused, code, message, help));
    };
    let files = files(program, name, &info).map_err(|error| Failure::new(Exit::Internal, error))?;
    write::write(dir, &files)?;
    let count = files.len();
    let dir = text::shown(dir);
    out::line(&format!("The plugin {name} is in {dir}: {count} files"));
    Ok(Exit::Complete)
}

/// Returns the name of a variable of a program: `RELEASE_TRAIN_BIN` for `release-train` and `BIN`.
pub(super) fn variable(program: &str, what: &str) -> String {
    let letters = program.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
        _ => '_',
    });
    format!("{}_{what}", letters.collect::<String>())
}

/// Returns the rules for the tool calls that a loop asks its agent for, such as `Bash(taskie next:*)`.
pub(super) fn permission_rules(program: &Program) -> Vec<String> {
    let permits = program.plugin.map_or(&[][..], |info| info.permits);
    let whole = command_line::command(program);
    let mut rules = commands::loop_rules(program.info, &whole, permits);
    rules.push(commands::bash_rule(program.info, "status"));
    rules
}

/// The files of the plugin's folder: their texts by their paths.
type Files = BTreeMap<String, String>;

/// Everything that the plugin's folder has. A file of the machine's own goes before one of ours.
fn files(program: &Program, name: &'static str, info: &PluginInfo) -> Result<Files, MessageError> {
    let commands = commands::all(program, name, info)?;
    let program_name = program.info.program;
    let cell = |text: &str| text.replace('|', "\\|");
    let rows = commands
        .iter()
        .map(|one| json!({ "usage": cell(&one.usage), "description": cell(&one.description) }));
    let rows: Vec<_> = rows.collect();
    let facts = |about: &str, verb: &str| {
        json!({
            "plugin": name,
            "program": program_name,
            "doc": program.info.table.doc,
            "protocol": PROTOCOL,
            "guard": GUARD,
            "named": variable(program_name, "BIN"),
            "probe": variable(program_name, "PROBE"),
            "about": about,
            "verb": verb,
            "commands": rows,
        })
    };
    let whole = facts("", "");
    let mut files = Files::from([
        (
            ".claude-plugin/plugin.json".to_owned(),
            manifest(program, name, info),
        ),
        ("README.md".to_owned(), README.render(&whole)?),
        ("SPEC.md".to_owned(), info.spec.to_owned()),
        (format!("bin/{program_name}"), LAUNCHER.render(&whole)?),
        ("hooks/hooks.json".to_owned(), HOOKS.to_owned()),
        ("hooks/stop-hook.sh".to_owned(), STOP_HOOK.render(&whole)?),
    ]);
    for (verb, about) in QUIET_HOOKS {
        let hook = QUIET_HOOK.render(&facts(about, verb))?;
        files.insert(format!("hooks/{verb}-hook.sh"), hook);
    }
    files.extend(commands.into_iter().map(|one| (one.path, one.text)));
    let own = info.files.iter();
    files.extend(own.map(|file| (file.name.to_owned(), file.text.to_owned())));
    Ok(files)
}

/// Returns `.claude-plugin/plugin.json`. What the package does not say is left out.
fn manifest(program: &Program, name: &str, info: &PluginInfo) -> String {
    let doc = program.info.table.doc;
    let description = format!("{doc} Needs the program {}.", program.info.program);
    let mut manifest = json!({
        "name": name,
        "version": program.version,
        "description": text::one_line(description.trim(), 500),
    });
    if !info.authors.is_empty() {
        manifest["author"] = json!({ "name": info.authors.replace(':', ", ") });
    }
    let homepage = match info.homepage {
        "" => info.repository,
        homepage => homepage,
    };
    let links = [
        ("homepage", homepage),
        ("repository", info.repository),
        ("license", info.license),
    ];
    for (key, value) in links.into_iter().filter(|(_, value)| !value.is_empty()) {
        manifest[key] = json!(value);
    }
    format!("{manifest:#}\n")
}
