//! The Stop hooks of others: which there are, and which of them may hold a turn as ours do.
//!
//! Two hooks that block are both heard: the agent gets both reasons in one message. So nothing of others is in the way;
//! but who wonders why a turn does not end should find here what holds it. Hooks are looked at, never run.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::client_files::{Places, Plugin, Settings, json};
use super::info::ProgramInfo;
use crate::files;
use crate::review::Digest;

/// The script of the stop-time review gate of Codex's plugin for Claude Code.
const GATE: &str = "stop-review-gate-hook";

/// What a Stop hook is, as far as it can be seen without running it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookKind {
    /// It calls this program.
    Ours,
    /// It belongs to a plugin of our name, or names our state folder: two programs would change the same loops.
    SharesState,
    /// What it runs speaks of blocking, or a model decides it.
    Blocks,
    /// Codex's review gate, switched on for this project.
    GateOn,
    /// Codex's review gate, switched off for this project: it lets each turn end.
    GateOff,
    /// Nothing in it speaks of blocking, or it cannot be looked into.
    Other,
}

/// A Stop hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopHook {
    /// The file that declares it.
    pub file: Utf8PathBuf,
    /// The plugin that it belongs to, such as `codex@openai-codex`.
    pub plugin: Option<String>,
    /// What it runs.
    pub command: String,
    /// What it is.
    pub nature: HookKind,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// The Stop hooks, those of settings files first.
    pub hooks: Vec<StopHook>,
    /// The file and the key that turn hooks off.
    pub off: Option<(Utf8PathBuf, &'static str)>,
}

impl Survey {
    /// The hooks of this nature.
    pub fn of(&self, nature: HookKind) -> impl Iterator<Item = &StopHook> {
        self.hooks.iter().filter(move |hook| hook.nature == nature)
    }
}

/// What our own hooks are known by, and what no hook of others should work on.
#[derive(Debug, Clone, Copy)]
pub struct Own<'a> {
    /// The program that they call.
    pub program: &'a str,
    /// The plugin that they belong to.
    pub plugin: Option<&'a str>,
    /// The state folder, as machine.toml names it.
    pub folder: &'a str,
}

impl From<&ProgramInfo> for Own<'static> {
    fn from(info: &ProgramInfo) -> Self {
        Self {
            program: info.program,
            plugin: info.plugin,
            folder: info.state.folder,
        }
    }
}

/// Looks at every Stop hook that a client which is opened in the project runs.
pub fn survey(places: &Places, own: Own<'_>) -> Survey {
    let settings = places.settings();
    let mut hooks: Vec<StopHook> = Vec::new();
    for settings in &settings {
        hooks.extend(stop_hooks(settings, None, places, own));
    }
    for plugin in places.plugins(&settings) {
        for declared in plugin.hooks() {
            hooks.extend(stop_hooks(&declared, Some(&plugin), places, own));
        }
    }
    let flag = |settings: &Settings, key: &str| settings.value.get(key).and_then(Value::as_bool);
    let disabled = settings
        .iter()
        .rev()
        .find_map(|one| flag(one, "disableAllHooks").map(|on| (one, on)))
        .filter(|(_, on)| *on)
        .map(|(one, _)| (one.file.clone(), "disableAllHooks"));
    let is_managed = |file: &Utf8Path| places.managed.iter().any(|folder| file.starts_with(folder));
    let managed_only = || {
        let mut managed = settings.iter().filter(|one| is_managed(&one.file));
        let one = managed.find(|one| flag(one, "allowManagedHooksOnly") == Some(true))?;
        Some((one.file.clone(), "allowManagedHooksOnly"))
    };
    Survey {
        hooks,
        off: disabled.or_else(managed_only),
    }
}

/// The Stop hooks that a file declares.
fn stop_hooks(
    declared: &Settings,
    plugin: Option<&Plugin>,
    places: &Places,
    own: Own<'_>,
) -> Vec<StopHook> {
    let groups = declared
        .value
        .pointer("/hooks/Stop")
        .and_then(Value::as_array);
    let hooks = groups
        .into_iter()
        .flatten()
        .filter_map(|group| group.get("hooks")?.as_array())
        .flatten();
    hooks
        .map(|hook| {
            let command = command(hook);
            StopHook {
                nature: nature(hook, &command, plugin, places, own),
                file: declared.file.clone(),
                plugin: plugin.map(|plugin| plugin.key.clone()),
                command,
            }
        })
        .collect()
}

/// What a hook runs, as one line: the command and its arguments, or what else it is.
fn command(hook: &Value) -> String {
    let text = |key: &str| hook.get(key).and_then(Value::as_str);
    let Some(command) = text("command") else {
        return format!(
            "a hook of type {}",
            text("type").unwrap_or("that is not given")
        );
    };
    let arguments = hook.get("args").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
    std::iter::once(command)
        .chain(arguments)
        .collect::<Vec<_>>()
        .join(" ")
}

fn nature(
    hook: &Value,
    command: &str,
    plugin: Option<&Plugin>,
    places: &Places,
    own: Own<'_>,
) -> HookKind {
    let program = own.program;
    if hook.get("command").is_none() {
        return match hook.get("type").and_then(Value::as_str) {
            // A model judges whether the turn may end.
            Some("prompt" | "agent") => HookKind::Blocks,
            _ => HookKind::Other,
        };
    }
    let words = words(hook, command);
    let is_ours = words.ends_with(&["hook".to_owned(), "stop".to_owned()])
        && words
            .iter()
            .any(|word| Utf8Path::new(word).file_name() == Some(program));
    if is_ours {
        return HookKind::Ours;
    }
    if let Some(plugin) = plugin.filter(|_| command.contains(GATE)) {
        return match gate_is_on(plugin, places) {
            true => HookKind::GateOn,
            false => HookKind::GateOff,
        };
    }
    let files = words.iter().filter_map(|word| file(word, plugin, places));
    let texts: Vec<String> = files
        .filter_map(|file| files::read_to_string(&file).ok())
        .collect();
    let calls_ours = |text: &String| {
        let calls = [
            format!("{program} hook stop"),
            format!("{program}\" hook stop"),
        ];
        // A plugin's script reads the launcher into its own shell.
        let reads = text.contains("--hook stop") && text.contains(&format!("/bin/{program}\""));
        reads || calls.iter().any(|call| text.contains(call))
    };
    if texts.iter().any(calls_ours) {
        HookKind::Ours
    } else if plugin.is_some_and(|plugin| Some(plugin.name()) == own.plugin)
        || texts
            .iter()
            .chain(&plugin.map(Plugin::scripts).unwrap_or_default())
            .any(|text| names_folder(text, own.folder))
        || names_folder(command, own.folder)
    {
        HookKind::SharesState
    } else if texts
        .iter()
        .map(String::as_str)
        .chain([command])
        .any(speaks_of_blocking)
    {
        HookKind::Blocks
    } else {
        HookKind::Other
    }
}

/// Whether a text names a folder, and not one whose name only begins in the same way.
fn names_folder(text: &str, folder: &str) -> bool {
    let goes_on =
        |rest: &str| rest.starts_with(|next: char| next.is_alphanumeric() || "-_".contains(next));
    text.match_indices(folder)
        .any(|(at, _)| !goes_on(&text[at + folder.len()..]))
}

/// Whether a text has one of the two ways in which a hook blocks: a decision, or exit status 2.
fn speaks_of_blocking(text: &str) -> bool {
    let decides = text.contains("decision") && text.contains("block");
    let exits = ["exit 2", "exit(2)", "exitCode = 2", "exitCode=2"];
    decides || exits.iter().any(|exit| text.contains(exit))
}

/// The words of a hook's command: those of the exec form as they are, those of a shell's line without quotes.
fn words(hook: &Value, command: &str) -> Vec<String> {
    if let Some(arguments) = hook.get("args").and_then(Value::as_array) {
        let first = hook.get("command").and_then(Value::as_str);
        let rest = arguments.iter().filter_map(Value::as_str);
        return first.into_iter().chain(rest).map(str::to_owned).collect();
    }
    let words = shlex::split(command).unwrap_or_default().into_iter();
    words
        .map(|word| word.trim_end_matches([';', '&', '|']).to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The file that a word names, where it names one.
fn file(word: &str, plugin: Option<&Plugin>, places: &Places) -> Option<Utf8PathBuf> {
    let project = places.project.first();
    let known = [
        ("CLAUDE_PLUGIN_ROOT", plugin.map(|plugin| &plugin.root)),
        ("CLAUDE_PROJECT_DIR", project),
        ("HOME", places.home.as_ref()),
    ];
    let mut path = word.to_owned();
    for (name, value) in known {
        let Some(value) = value else { continue };
        for form in [format!("${{{name}}}"), format!("${name}")] {
            path = path.replace(&form, value.as_str());
        }
    }
    if let (Some(rest), Some(home)) = (path.strip_prefix("~/"), &places.home) {
        path = home.join(rest).into_string();
    }
    let file = project.map_or_else(|| Utf8PathBuf::from(&path), |project| project.join(&path));
    file.is_file().then_some(file)
}

/// Whether Codex's gate is switched on for the project: a flag in a file of the plugin's, one per project, whose folder ends in
/// a digest of the project's path.
fn gate_is_on(plugin: &Plugin, places: &Places) -> bool {
    let Some(project) = places.project.first() else {
        return false;
    };
    let digest = Digest::of(project.as_str().as_bytes());
    let ending = format!("-{}", &digest.as_str()[..16]);
    let folders = plugin
        .data
        .join("state")
        .read_dir_utf8()
        .into_iter()
        .flatten();
    folders
        .filter_map(|entry| Some(entry.ok()?.into_path()))
        .filter(|path| path.as_str().ends_with(&ending))
        .filter_map(|path| json(&path.join("state.json")))
        .any(|state| {
            state
                .pointer("/config/stopReviewGate")
                .and_then(Value::as_bool)
                == Some(true)
        })
}

#[cfg(test)]
mod tests;
