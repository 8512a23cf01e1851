//! Claude Code's settings files and installed plugins, as far as they concern Stop hooks.
//!
//! Measured on 2.1.330 (docs/dev/clients.md). A missing or unreadable file counts as empty; doctor
//! names unreadable settings.

use std::collections::BTreeMap;
use std::fmt::Display;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::info::ProgramInfo;
use crate::files;

/// The setting that keeps the client from running any hook.
pub(super) const HOOKS_OFF: &str = "disableAllHooks";

#[derive(Debug, Default)]
pub(super) struct StopHooks {
    pub(super) off_in: Option<Utf8PathBuf>,
    /// The plugin or the settings file whose Stop hook calls our program.
    pub(super) ours: Option<String>,
    /// Our plugin, such as `claudex@claudex-engine`, if it is installed and disabled.
    pub(super) disabled: Option<String>,
    /// Another plugin with our plugin's name, or with a Stop hook whose command names our folder.
    pub(super) rival: Option<String>,
    /// The path and the error of the first settings file that cannot be read.
    pub(super) unreadable: Option<String>,
}

impl StopHooks {
    /// Reads the files that a client reads in the project at `root`. Later settings files win.
    pub(super) fn read(info: &ProgramInfo, root: &Utf8Path) -> Self {
        let absolute = |name| {
            let path = Utf8PathBuf::from(std::env::var(name).ok()?);
            path.is_absolute().then_some(path)
        };
        let config = absolute("CLAUDE_CONFIG_DIR")
            .or_else(|| Some(absolute("HOME")?.join(".claude")))
            .unwrap_or_default();
        let files = [
            config.join("settings.json"),
            root.join(".claude/settings.json"),
            root.join(".claude/settings.local.json"),
            // The administrator's settings on each system.
            "/etc/claude-code/managed-settings.json".into(),
            "/Library/Application Support/ClaudeCode/managed-settings.json".into(),
        ];

        let mut hooks = Self::default();
        let mut plugins = BTreeMap::new();
        for file in files {
            let settings = read_json(&file).unwrap_or_else(|problem| {
                hooks.unreadable.get_or_insert(problem);
                Value::Null
            });
            let declared = stop_hooks(&settings);
            if declared.contains("hook stop") && declared.contains(info.program) {
                hooks.ours.get_or_insert(file.to_string());
            }
            let enabled = settings["enabledPlugins"].as_object().into_iter().flatten();
            plugins.extend(enabled.map(|(key, is_on)| (key.clone(), *is_on == true)));
            if let Some(is_off) = settings[HOOKS_OFF].as_bool() {
                hooks.off_in = is_off.then_some(file);
            }
        }
        let installed =
            read_json(&config.join("plugins/installed_plugins.json")).unwrap_or_default();
        for (key, is_on) in plugins {
            let folder = installed["plugins"][&key][0]["installPath"].as_str();
            match folder.map(Utf8Path::new) {
                Some(root) if is_on => hooks.add_plugin(info, &key, root),
                Some(_) if key.split('@').next() == info.plugin => hooks.disabled = Some(key),
                _ => {}
            }
        }
        hooks
    }

    /// Adds an enabled plugin, such as `claudex@claudex-engine`. Ours contains our launcher.
    fn add_plugin(&mut self, info: &ProgramInfo, key: &str, root: &Utf8Path) {
        let has_our_name = key.split('@').next() == info.plugin;
        if has_our_name && root.join("bin").join(info.program).is_file() {
            self.ours = Some(format!("plugin {key}"));
            return;
        }
        let hooks = read_json(&root.join("hooks/hooks.json")).unwrap_or_default();
        let declared = stop_hooks(&hooks);
        if has_our_name && declared != "null" || declared.contains(info.state.folder) {
            self.rival.get_or_insert(key.to_owned());
        }
    }
}

fn stop_hooks(declared: &Value) -> String {
    declared["hooks"]["Stop"].to_string()
}

/// Reads a JSON file, also one with a byte order mark. A missing file is null.
fn read_json(file: &Utf8Path) -> Result<Value, String> {
    let problem = |error: &dyn Display| format!("cannot read {file}: {error}");
    let read = files::optional(files::read_to_string(file)).map_err(|error| problem(&error))?;
    let Some(text) = read else {
        return Ok(Value::Null);
    };
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| problem(&error))
}
