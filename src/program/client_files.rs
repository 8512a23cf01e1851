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
    /// The folder that the client reads it from.
    root: Utf8PathBuf,
    /// The commands of its Stop hooks.
    stop_commands: Vec<String>,
}

impl ClientFiles {
    /// Reads the files that a client reads if it is opened at `here`, in the project at `root`.
    pub(super) fn read(here: &Utf8Path, root: &Utf8Path) -> Self {
        let absolute = |name| {
            let path = std::env::var(name).ok().map(Utf8PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let config =
            absolute("CLAUDE_CONFIG_DIR").or_else(|| Some(absolute("HOME")?.join(".claude")));
        let config = config.unwrap_or_default();
        let mut files = vec![config.join("settings.json")];
        let folders = here.ancestors();
        let project: Vec<_> = folders
            .take_while(|folder| folder.starts_with(root))
            .collect();
        for name in [".claude/settings.json", ".claude/settings.local.json"] {
            files.extend(project.iter().rev().map(|folder| folder.join(name)));
        }
        files.extend(MANAGED.map(Utf8PathBuf::from));
        let files = files.into_iter();
        let settings: Vec<_> = files
            .filter_map(|file| Some((file.clone(), json(&file)?)))
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
        let plugin = self.plugins.iter().find(|plugin| plugin.is_ours(info));
        if let Some(plugin) = plugin {
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
            let mut commands = plugin.stop_commands.iter();
            let has_our_name = Some(plugin.name()) == info.plugin;
            let works = commands.any(|command| has_our_name || command.contains(info.state.folder));
            works && !plugin.is_ours(info)
        };
        let rival = self.plugins.iter().find(works_on_ours)?;
        Some(&rival.key)
    }
}

impl Plugin {
    /// Returns the name without the marketplace.
    fn name(&self) -> &str {
        self.key.split('@').next().unwrap_or_default()
    }

    /// Returns whether it has our name and brings our launcher along.
    fn is_ours(&self, info: &ProgramInfo) -> bool {
        Some(self.name()) == info.plugin && self.root.join("bin").join(info.program).is_file()
    }
}

/// Returns the plugins that are installed in the folder and enabled by the settings.
fn plugins(folder: &Utf8Path, settings: &[(Utf8PathBuf, Value)]) -> Vec<Plugin> {
    let mut enabled: BTreeMap<&str, bool> = BTreeMap::new();
    for (_, value) in settings {
        let switches = value["enabledPlugins"].as_object().into_iter().flatten();
        enabled.extend(switches.filter_map(|(key, on)| Some((key.as_str(), on.as_bool()?))));
    }
    let installed = json(&folder.join("installed_plugins.json")).unwrap_or_default();
    let plugin = |(key, is_on): (&str, bool)| {
        let copies = installed["plugins"][key].as_array().filter(|_| is_on)?;
        let mut roots = copies
            .iter()
            .filter_map(|copy| copy["installPath"].as_str());
        let root = Utf8PathBuf::from(roots.next()?);
        let hooks = json(&root.join("hooks/hooks.json")).unwrap_or_default();
        Some(Plugin {
            key: key.to_owned(),
            root,
            stop_commands: stop_commands(&hooks),
        })
    };
    enabled.into_iter().filter_map(plugin).collect()
}

/// Returns the commands of the Stop hooks that a file declares, with their arguments.
fn stop_commands(declared: &Value) -> Vec<String> {
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let groups = items(&declared["hooks"]["Stop"]).into_iter();
    let hooks = groups.flat_map(|group| items(&group["hooks"]));
    let command = |hook: Value| {
        let arguments = items(&hook["args"]);
        let arguments = arguments.iter().filter_map(Value::as_str);
        let words = std::iter::once(hook["command"].as_str()?).chain(arguments);
        Some(words.collect::<Vec<_>>().join(" "))
    };
    hooks.filter_map(command).collect()
}

/// Reads a JSON file.
fn json(file: &Utf8Path) -> Option<Value> {
    serde_json::from_str(&files::read_to_string(file).ok()?).ok()
}
