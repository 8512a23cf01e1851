//! `doctor`: whether a loop's folder can be written here, whether the client calls this program's hooks, and whether the
//! commands that its phases run are configured.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde_json::Value;

use super::exit::{Exit, Failure};
use super::program::{App, Program};
use super::speaker::Speaker;
use super::{locate, loops, out, screen};
use crate::drive::commands;
use crate::machine::table::Table;
use crate::store;
use crate::text;

/// One check. The names of its fields are those of `--json`.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Check {
    fn of(name: &'static str, result: Result<String, (String, String)>) -> Self {
        let ok = result.is_ok();
        let (found, remedy) = match result {
            Ok(found) => (found, None),
            Err((what, remedy)) => (what, Some(remedy)),
        };
        Self {
            name,
            ok,
            found: text::one_line(&found, 500),
            remedy: remedy.map(|remedy| text::one_line(&remedy, 500)),
        }
    }
}

/// Runs the checks; exit 1 when one fails.
pub(super) fn doctor<M: Program>(json: bool) -> Result<Exit, Failure> {
    let speaker = App::<M>::SPEAKER;
    let here = loops::here()?;
    let mut checks = vec![
        Check::of("folder", folder(&speaker, &here)),
        Check::of("hook", hook(&speaker, &here)),
    ];
    checks.extend(runs(M::TABLE).map(|name| Check::of("run", command(name))));
    if json {
        out::json(&checks);
    } else {
        let columns = screen::columns();
        for check in &checks {
            let label = format!("{}  {:<6}  ", if check.ok { "ok  " } else { "FAIL" }, check.name);
            for line in screen::wrap(&label, &check.found, columns) {
                out::line(&line);
            }
            let label = format!("{}-> ", " ".repeat(label.len()));
            for line in check
                .remedy
                .iter()
                .flat_map(|remedy| screen::wrap(&label, remedy, columns))
            {
                out::line(&line);
            }
        }
    }
    let all = checks.iter().all(|check| check.ok);
    Ok(if all { Exit::Complete } else { Exit::Refused })
}

/// The state folder, or the nearest folder above it that is there, is tried out with a file of ours.
fn folder(speaker: &Speaker, here: &Utf8Path) -> Result<String, (String, String)> {
    let store = locate::stores(speaker.state, &[here])
        .into_iter()
        .next()
        .unwrap_or_else(|| locate::for_start(speaker.state, here));
    let folder = store.folder();
    let there = folder
        .ancestors()
        .find(|path| path.is_dir())
        .unwrap_or(Utf8Path::new("/"));
    let tried = tempfile::Builder::new().prefix(".claudex-").tempfile_in(there);
    match tried {
        Ok(_) if there == folder => Ok(format!("{folder} can be written")),
        Ok(_) => Ok(format!("{folder} is not there yet and can be made")),
        Err(error) => Err((
            format!("{there} cannot be written: {error}"),
            "let your user write it, or start loops elsewhere".to_owned(),
        )),
    }
}

/// The commands that the machine's phases run, each once, in the order of the phases.
fn runs(machine: &'static Table) -> impl Iterator<Item = &'static str> {
    let mut seen = BTreeSet::new();
    let behaviours = machine.phases.iter().filter_map(|phase| phase.on_stop.as_ref());
    behaviours
        .filter(|behaviour| behaviour.name == "run")
        .filter_map(|behaviour| behaviour.parameter("command"))
        .filter(move |name| seen.insert(*name))
}

/// Whether the person's configuration has the command, and its program is installed.
fn command(name: &str) -> Result<String, (String, String)> {
    match commands::find(name) {
        Ok((Some(command), _)) if command.is_installed() => Ok(format!("{name} runs {}", command.program)),
        Ok((Some(command), file)) => Err((
            format!(
                "{name}: its program {} is not installed, or not in PATH",
                command.program
            ),
            format!("install it, or name another in [commands.{name}] of {file}"),
        )),
        Ok((None, file)) => Err((
            format!("{name} is not configured, and a loop waits where it is to run"),
            format!("add [commands.{name}] with its program to {file}"),
        )),
        Err(error) => Err((format!("{name}: {error}"), "mend the file".to_owned())),
    }
}

/// Whether a settings file calls this program at a stop. A hook of a plugin is not found here.
fn hook(speaker: &Speaker, here: &Utf8Path) -> Result<String, (String, String)> {
    let files = settings_files(here);
    for file in &files {
        let Ok(source) = store::read_to_string(file) else {
            continue;
        };
        let settings: Value = match serde_json::from_str(&source) {
            Ok(settings) => settings,
            Err(error) => {
                return Err((
                    format!("{file} is no JSON: {error}"),
                    "mend it: the client takes no hook from it as it is".to_owned(),
                ));
            }
        };
        if calls(&settings, speaker.program) {
            return Ok(format!("{file} calls {} at a stop", speaker.program));
        }
    }
    let looked: Vec<_> = files.iter().map(|file| file.as_str()).collect();
    Err((
        format!("no Stop hook calls {} in {}", speaker.program, looked.join(", ")),
        format!(
            "put what `{} hooks` prints into .claude/settings.json; a plugin's hooks are not looked for",
            speaker.program
        ),
    ))
}

/// The project's settings, from this folder upwards, then the user's.
fn settings_files(here: &Utf8Path) -> Vec<Utf8PathBuf> {
    let user = std::env::var("CLAUDE_CONFIG_DIR").ok().map(Utf8PathBuf::from);
    let home = || {
        std::env::var("HOME")
            .ok()
            .map(|home| Utf8PathBuf::from(home).join(".claude"))
    };
    let user = user.filter(|path| path.is_absolute()).or_else(home);
    let mut files: Vec<Utf8PathBuf> = Vec::new();
    for folder in here.ancestors().map(|folder| folder.join(".claude")).chain(user) {
        for name in ["settings.local.json", "settings.json"] {
            let file = folder.join(name);
            if file.is_file() && !files.contains(&file) {
                files.push(file);
            }
        }
    }
    if files.is_empty() {
        files.push(here.join(".claude/settings.json"));
    }
    files
}

/// Whether a Stop hook of these settings runs `… PROGRAM … stop`.
fn calls(settings: &Value, program: &str) -> bool {
    let stops = settings.pointer("/hooks/Stop").and_then(Value::as_array);
    let hooks = stops
        .into_iter()
        .flatten()
        .filter_map(|group| group.get("hooks")?.as_array());
    hooks.flatten().any(|hook| {
        let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
        let arguments = hook.get("args").and_then(Value::as_array);
        let last = arguments.and_then(|arguments| arguments.last()?.as_str());
        let ends = command.trim_end().ends_with(" stop") || last == Some("stop");
        ends && command.contains(program)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::calls;
    use crate::app::hooks::settings;

    #[test]
    fn the_hooks_that_are_printed_are_found_again_and_others_are_not() {
        for program in ["release-train", "/opt/a b/it's/release-train"] {
            assert!(calls(&settings(program, true), "release-train"), "{program}");
        }
        let exec =
            json!({"hooks": {"Stop": [{"hooks": [{"command": "/x/release-train", "args": ["stop"]}]}]}});
        assert!(calls(&exec, "release-train"));
        for other in [
            json!({}),
            json!({"hooks": {"Stop": "release-train stop"}}),
            json!({"hooks": {"Stop": [{"hooks": [{"command": "other stop"}]}]}}),
            json!({"hooks": {"SubagentStop": [{"hooks": [{"command": "release-train stop"}]}]}}),
            json!({"hooks": {"Stop": [{"hooks": [{"command": "release-train status"}]}]}}),
        ] {
            assert!(!calls(&other, "release-train"), "{other}");
        }
    }
}
