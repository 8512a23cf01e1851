//! The plugin of a client that calls this program: hooks, launcher and slash commands.
//!
//! `[plugin]` of a machine file names it. A command's text is the machine's own, or `command.md`.

pub(super) mod commands;
mod write;

use std::collections::BTreeMap;

use serde_json::json;

use super::app::{PROTOCOL, Program};
use super::arguments::Plugin;
use super::exit::{CommandResult, Exit, Failure};
pub use super::info::{CommandInfo, PluginInfo};
use super::{hooks, out};
use crate::message::{MessageError, Render as _};
use crate::process::environment::GUARD;
use crate::{template, text};

const HOOKS_JSON: &str = include_str!("hooks.json");

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
    let dir = text::printable(dir);
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
    let mut files = Files::new();
    let mut add = |path: &str, text: String| files.insert(path.to_owned(), text);
    add(write::MANIFEST, manifest(program, name, info));
    add("README.md", template!("README.md").render(&facts)?);
    add("SPEC.md", info.spec.to_owned());
    let launcher = template!("launcher.sh").render(&facts)?;
    add(&format!("bin/{program_name}"), launcher);
    add("hooks/hooks.json", HOOKS_JSON.to_owned());
    let names = hooks::HOOKS.iter().map(|(name, ..)| *name);
    for hook in names.chain(["stop"]) {
        facts["hook"] = hook.into();
        // Only the Stop hook prints something on errors.
        let template = match hook {
            "stop" => template!("stop-hook.sh"),
            _ => template!("quiet-hook.sh"),
        };
        add(&format!("hooks/{hook}-hook.sh"), template.render(&facts)?);
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
