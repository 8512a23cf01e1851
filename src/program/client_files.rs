//! Where Claude Code keeps what bears on hooks: its settings files, and the plugins that are installed and enabled.
//!
//! Only looked at, never written; measured on 2.1.330 (docs/clients.md). A file that is not there, or is not what it should
//! be, says nothing: the client tells of those itself.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::files;

/// Where administrators put settings, by system.
const MANAGED: [&str; 2] = [
    "/etc/claude-code",
    "/Library/Application Support/ClaudeCode",
];

/// Most files of one folder of a plugin that are looked into.
const MOST_SCRIPTS: usize = 50;

/// The folders that the client looks in.
#[derive(Debug, Clone)]
pub struct Places {
    /// The person's configuration: CLAUDE_CONFIG_DIR, else `.claude` in the home.
    pub config: Option<Utf8PathBuf>,
    /// The project, and folders below it on the way to where the call came from, the outermost first.
    pub project: Vec<Utf8PathBuf>,
    /// Where administrators put settings.
    pub managed: Vec<Utf8PathBuf>,
    /// The person's home.
    pub home: Option<Utf8PathBuf>,
}

impl Places {
    /// What the environment says, for a call from `here` in the project at `root`.
    pub fn from_env(here: &Utf8Path, root: &Utf8Path) -> Self {
        let absolute = |name| {
            let path = std::env::var(name).ok().map(Utf8PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let home = absolute("HOME");
        let mut project: Vec<_> = here
            .ancestors()
            .take_while(|folder| folder.starts_with(root))
            .map(Utf8Path::to_owned)
            .collect();
        project.reverse();
        Self {
            config: absolute("CLAUDE_CONFIG_DIR").or_else(|| Some(home.as_ref()?.join(".claude"))),
            project,
            managed: MANAGED.map(Utf8PathBuf::from).to_vec(),
            home,
        }
    }

    /// The settings files that the client reads, there or not, those that win last. Each stands here once.
    pub fn candidates(&self) -> Vec<Utf8PathBuf> {
        let user = self
            .config
            .iter()
            .map(|folder| folder.join("settings.json"));
        let project = ["settings.json", "settings.local.json"]
            .iter()
            .flat_map(|name| {
                self.project
                    .iter()
                    .map(move |folder| folder.join(".claude").join(name))
            });
        let managed = self.managed.iter().flat_map(|folder| {
            let further = folder.join("managed-settings.d");
            let mut files: Vec<_> = further
                .read_dir_utf8()
                .into_iter()
                .flatten()
                .filter_map(|entry| Some(entry.ok()?.into_path()))
                .filter(|path| path.extension() == Some("json"))
                .collect();
            files.sort();
            files.insert(0, folder.join("managed-settings.json"));
            files
        });
        let mut files: Vec<Utf8PathBuf> = Vec::new();
        for file in user.chain(project).chain(managed) {
            // A project may be the home itself.
            if !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }

    /// Those that are there and can be read.
    pub fn settings(&self) -> Vec<Settings> {
        let files = self.candidates().into_iter();
        files
            .filter_map(|file| {
                Some(Settings {
                    value: json(&file)?,
                    file,
                })
            })
            .collect()
    }

    /// Those that are there and are no JSON.
    pub fn unreadable(&self) -> Vec<Utf8PathBuf> {
        let mut files = self.candidates();
        files.retain(|file| file.is_file() && json(file).is_none());
        files
    }

    /// The plugins that are installed and enabled.
    pub fn plugins(&self, settings: &[Settings]) -> Vec<Plugin> {
        let mut enabled: BTreeMap<&str, bool> = BTreeMap::new();
        for settings in settings {
            let named = settings
                .value
                .get("enabledPlugins")
                .and_then(Value::as_object);
            let switches = named.into_iter().flatten();
            enabled.extend(switches.filter_map(|(key, on)| Some((key.as_str(), on.as_bool()?))));
        }
        let Some(folder) = self.config.as_ref().map(|config| config.join("plugins")) else {
            return Vec::new();
        };
        let installed = json(&folder.join("installed_plugins.json")).unwrap_or_default();
        let markets = json(&folder.join("known_marketplaces.json")).unwrap_or_default();
        let on = enabled
            .into_iter()
            .filter(|(_, on)| *on)
            .map(|(key, _)| key);
        on.filter_map(|key| {
            let copies = installed.get("plugins")?.get(key)?.as_array()?;
            let copy = copies
                .iter()
                .find_map(|copy| copy.get("installPath")?.as_str());
            let root = in_place(&markets, key).or_else(|| copy.map(Utf8PathBuf::from))?;
            Some(Plugin {
                key: key.to_owned(),
                data: folder.join("data").join(key.replace('@', "-")),
                root,
            })
        })
        .collect()
    }
}

/// The folder of a plugin whose marketplace is a folder: the client reads it there, not in its copy.
fn in_place(markets: &Value, key: &str) -> Option<Utf8PathBuf> {
    let (name, market) = key.rsplit_once('@')?;
    let market = markets.get(market)?;
    if market.pointer("/source/source")?.as_str()? != "directory" {
        return None;
    }
    let root = Utf8Path::new(market.get("installLocation")?.as_str()?);
    let listed = json(&root.join(".claude-plugin/marketplace.json"))?;
    let mut plugins = listed.get("plugins")?.as_array()?.iter();
    let plugin = plugins.find(|plugin| plugin.get("name").and_then(Value::as_str) == Some(name))?;
    let source = plugin.get("source")?.as_str()?.strip_prefix("./")?;
    Some(root.join(source)).filter(|folder| folder.is_dir())
}

/// A settings file.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it is.
    pub file: Utf8PathBuf,
    /// What it says.
    pub value: Value,
}

/// A plugin that is enabled.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// Such as `claudex@claudex-engine`.
    pub key: String,
    /// The folder that the client reads it from.
    pub root: Utf8PathBuf,
    /// The folder for its own data.
    pub data: Utf8PathBuf,
}

impl Plugin {
    /// Returns its name, without that of its marketplace.
    pub fn name(&self) -> &str {
        self.key.split('@').next().unwrap_or_default()
    }

    /// Returns the texts of the scripts that a hook of it may read into its shell.
    pub fn scripts(&self) -> Vec<String> {
        let folders = ["hooks", "scripts"].iter().map(|name| self.root.join(name));
        folders
            .flat_map(|folder| {
                folder
                    .read_dir_utf8()
                    .into_iter()
                    .flatten()
                    .take(MOST_SCRIPTS)
            })
            .filter_map(|entry| files::read_to_string(entry.ok()?.path()).ok())
            .collect()
    }

    /// The files that may hold its hooks, each with what it says.
    pub fn hooks(&self) -> Vec<Settings> {
        let manifest = self.root.join(".claude-plugin/plugin.json");
        let said = json(&manifest);
        let named = said.as_ref().and_then(|manifest| manifest.get("hooks"));
        let mut files = vec![self.root.join("hooks/hooks.json")];
        let mut found = Vec::new();
        let mut take = |value: &Value| match value {
            Value::String(path) => files.push(self.root.join(path.trim_start_matches("./"))),
            Value::Object(_) => found.push(Settings {
                file: manifest.clone(),
                value: match value.get("hooks") {
                    Some(_) => value.clone(),
                    None => serde_json::json!({ "hooks": value }),
                },
            }),
            _ => {}
        };
        match named {
            Some(Value::Array(several)) => several.iter().for_each(take),
            Some(one) => take(one),
            None => {}
        }
        files.dedup();
        found.extend(files.into_iter().filter_map(|file| {
            Some(Settings {
                value: json(&file)?,
                file,
            })
        }));
        found
    }
}

/// What a JSON file says.
pub(super) fn json(file: &Utf8Path) -> Option<Value> {
    serde_json::from_str(&files::read_to_string(file).ok()?).ok()
}
