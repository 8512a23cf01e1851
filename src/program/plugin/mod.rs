//! The plugin of a client that calls this program: hooks, launcher and slash commands.
//!
//! `[plugin]` of a machine file names it. A command's text is the machine's own, or `command.md`.

pub(super) mod commands;
mod write;

use std::collections::BTreeMap;

use clap::ValueEnum as _;
use serde_json::json;

use super::app::{PROTOCOL, Program};
use super::arguments::{Hook, Plugin};
use super::exit::{CommandResult, Exit, Failure};
pub use super::info::{CommandInfo, PluginInfo};
use super::out;
use crate::message::{MessageError, Render as _};
use crate::process::environment::GUARD;
use crate::{template, text};

const HOOKS: &str = include_str!("hooks.json");

pub(super) fn run(program: &Program, command: &Plugin) -> CommandResult {
    let Plugin::Write { dir } = command;
    let (Some(name), Some(info)) = (program.info.plugin, program.plugin) else {
        let file = program.info.table.file;
        let message = format!("{file} names no plugin, so none can be written");
        let help = "add [plugin] with a name to it, and build the program again";
        return Err(Failure::refuse(message, help));
    };
    let files = files(program, name, &info).map_err(Failure::internal)?;
    write::write(dir, &files)?;
    let count = files.len();
    let dir = text::shown(dir);
    out::line(&format!("The plugin {name} is in {dir}: {count} files"));
    Ok(Exit::Complete)
}

/// The texts of the plugin's files by path.
type Files = BTreeMap<String, String>;

/// Renders the plugin's files. A file from the machine replaces a generated one.
fn files(program: &Program, name: &'static str, info: &PluginInfo) -> Result<Files, MessageError> {
    let commands = commands::all(program, name, info)?;
    let program_name = program.info.program;
    // `RELEASE_TRAIN_BIN` for `release-train`.
    let prefix = program_name.replace('-', "_").to_uppercase();
    let mut facts = json!({
        "plugin": name,
        "program": program_name,
        "doc": program.info.table.doc,
        "protocol": PROTOCOL,
        "guard": GUARD,
        "named": format!("{prefix}_BIN"),
        "probe": format!("{prefix}_PROBE"),
        "commands": commands,
    });
    let launcher = format!("bin/{program_name}");
    let mut files = Files::from(
        [
            (write::MANIFEST, manifest(program, name, info)),
            ("README.md", template!("README.md").render(&facts)?),
            (&launcher, template!("launcher.sh").render(&facts)?),
            ("SPEC.md", info.spec.to_owned()),
            ("hooks/hooks.json", HOOKS.to_owned()),
            (
                "hooks/stop-hook.sh",
                template!("stop-hook.sh").render(&facts)?,
            ),
        ]
        .map(|(path, text)| (path.to_owned(), text)),
    );
    let verbs = Hook::value_variants()
        .iter()
        .filter_map(Hook::to_possible_value);
    // Other hooks print nothing on errors.
    for verb in verbs.filter(|verb| verb.get_name() != "stop") {
        let verb = verb.get_name();
        facts["verb"] = verb.into();
        let hook = template!("quiet-hook.sh").render(&facts)?;
        files.insert(format!("hooks/{verb}-hook.sh"), hook);
    }
    files.extend(commands.into_iter().map(|one| (one.path, one.text)));
    let machine_files = info.files.iter();
    files.extend(machine_files.map(|file| (file.name.to_owned(), file.text.to_owned())));
    Ok(files)
}

fn manifest(program: &Program, name: &str, info: &PluginInfo) -> String {
    let doc = program.info.table.doc;
    let description = format!("{doc} Needs the program {}.", program.info.program);
    let mut manifest = json!({
        "name": name,
        "version": program.version,
        "description": text::one_line(description.trim(), 500),
    });
    for (key, value) in info.package.iter().filter(|(_, value)| !value.is_empty()) {
        manifest[*key] = match *key {
            "author" => json!({ "name": value.replace(':', ", ") }),
            _ => json!(value),
        };
    }
    format!("{manifest:#}\n")
}
