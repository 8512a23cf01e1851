//! Claude Code's settings files and installed plugins, as far as they concern our Stop hook.
//!
//! They are only read. Measured on 2.1.330 (docs/dev/clients.md). A file that is missing or unreadable
//! counts as empty: the client reports those itself.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::info::ProgramInfo;
use crate::files;

/// The settings files of administrators, by system.
const MANAGED: [&str; 2] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
];

/// The client's settings and plugins.
#[derive(Debug)]
pub(super) struct ClientFiles {
    /// The settings files with their contents. Later files win.
    settings: Vec<(Utf8PathBuf, Value)>,
    /// The plugins that are installed and enabled.
    plugins: Vec<Plugin>,
}

/// An installed and enabled plugin.
#[derive(Debug)]
struct Plugin {
    /// Name and marketplace, such as `claudex@claudex-engine`.
    key: String,
    /// The name without the marketplace.
    name: String,
    /// The folder that the client reads it from.
    root: Utf8PathBuf,
    /// The commands of its Stop hooks.
    stop_commands: Vec<String>,
}

impl ClientFiles {
    /// Reads the files that a client reads in the project at `root`.
    pub(super) fn read(root: &Utf8Path) -> Self {
        let absolute = |name| {
            let path = Utf8PathBuf::from(std::env::var(name).ok()?);
            path.is_absolute().then_some(path)
        };
        let config = absolute("CLAUDE_CONFIG_DIR")
            .or_else(|| Some(absolute("HOME")?.join(".claude")))
            .unwrap_or_default();
        let mut files = vec![
            config.join("settings.json"),
            root.join(".claude/settings.json"),
            root.join(".claude/settings.local.json"),
        ];
        files.extend(MANAGED.map(Utf8PathBuf::from));
        let settings: Vec<_> = files
            .into_iter()
            .filter_map(|file| json(&file).map(|value| (file, value)))
            .collect();
        Self {
            plugins: plugins(&config.join("plugins"), &settings),
            settings,
        }
    }

    /// Returns the settings file that sets a key to `true`, if no later file sets it to `false`.
    pub(super) fn is_switched_on(&self, key: &str) -> Option<&Utf8Path> {
        let mut files = self.settings.iter().rev();
        let (file, is_on) =
            files.find_map(|(file, value)| Some((file, value.get(key)?.as_bool()?)))?;
        is_on.then_some(file)
    }

    /// Returns the plugin or the settings file whose Stop hook calls our program.
    pub(super) fn our_hook(&self, info: &ProgramInfo) -> Option<String> {
        if let Some(plugin) = self.plugins.iter().find(|plugin| plugin.is_ours(info)) {
            return Some(format!("plugin {}", plugin.key));
        }
        let calls =
            |command: &String| command.ends_with("hook stop") && command.contains(info.program);
        let mut files = self.settings.iter();
        let (file, _) = files.find(|(_, value)| stop_commands(value).iter().any(calls))?;
        Some(file.to_string())
    }

    /// Returns another plugin whose Stop hook works on our state folder: it has our plugin's name, or
    /// its hook's command names the folder.
    pub(super) fn rival(&self, info: &ProgramInfo) -> Option<&str> {
        let works_on_ours = |plugin: &&Plugin| {
            let has_our_name = Some(plugin.name.as_str()) == info.plugin;
            let works = |command: &String| has_our_name || command.contains(info.state.folder);
            !plugin.is_ours(info) && plugin.stop_commands.iter().any(works)
        };
        let rival = self.plugins.iter().find(works_on_ours)?;
        Some(&rival.key)
    }
}

impl Plugin {
    /// Returns whether it has our name and brings our launcher along.
    fn is_ours(&self, info: &ProgramInfo) -> bool {
        Some(self.name.as_str()) == info.plugin
            && self.root.join("bin").join(info.program).is_file()
    }
}

/// Returns the plugins that are installed in the folder and enabled by the settings.
fn plugins(folder: &Utf8Path, settings: &[(Utf8PathBuf, Value)]) -> Vec<Plugin> {
    let switches = settings
        .iter()
        .filter_map(|(_, value)| value["enabledPlugins"].as_object());
    let enabled: BTreeMap<_, _> = switches.flatten().collect();
    let installed = json(&folder.join("installed_plugins.json")).unwrap_or_default();
    let plugin = |(key, _): (&String, _)| {
        let root = Utf8PathBuf::from(installed["plugins"][key][0]["installPath"].as_str()?);
        let hooks = json(&root.join("hooks/hooks.json")).unwrap_or_default();
        Some(Plugin {
            key: key.clone(),
            name: key.split('@').next().unwrap_or_default().to_owned(),
            root,
            stop_commands: stop_commands(&hooks),
        })
    };
    let enabled = enabled.into_iter().filter(|(_, is_on)| **is_on == true);
    enabled.filter_map(plugin).collect()
}

/// Returns the commands of the Stop hooks that a file declares, with their arguments.
fn stop_commands(declared: &Value) -> Vec<String> {
    fn items(list: &Value) -> impl Iterator<Item = &Value> {
        list.as_array().into_iter().flatten()
    }
    let hooks = items(&declared["hooks"]["Stop"]).flat_map(|group| items(&group["hooks"]));
    let command = |hook: &Value| {
        let arguments = items(&hook["args"]).filter_map(Value::as_str);
        let words = std::iter::once(hook["command"].as_str()?).chain(arguments);
        Some(words.collect::<Vec<_>>().join(" "))
    };
    hooks.filter_map(command).collect()
}

/// Reads a JSON file.
fn json(file: &Utf8Path) -> Option<Value> {
    serde_json::from_str(&files::read_to_string(file).ok()?).ok()
}
