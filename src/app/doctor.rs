//! `doctor`: whether a loop's folder can be written here, whether the client calls this program's hooks, and whether the
//! commands that its phases run are configured.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::client_files::Places;
use super::exit::{Exit, Failure};
use super::others::{self, Nature, Survey};
use super::program::{App, Program};
use super::speaker::Speaker;
use super::{locate, loops, out, screen};
use crate::drive::commands;
use crate::machine::table::Table;
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
            found: text::lines(&found, 500),
            remedy: remedy.map(|remedy| text::lines(&remedy, 500)),
        }
    }
}

/// Runs the checks; exit 1 when one fails.
pub(super) fn doctor<M: Program>(json: bool) -> Result<Exit, Failure> {
    let speaker = App::<M>::SPEAKER;
    let here = loops::here()?;
    let root = locate::for_start(speaker.state, &here).root().to_owned();
    let places = Places::from_env(&here, &root);
    let survey = others::survey(&places, speaker.program);
    let mut checks = vec![
        Check::of("folder", folder(&speaker, &here)),
        Check::of("hook", hook(&speaker, &places, &survey)),
        Check::of("others", Ok(of_others(&survey))),
    ];
    checks.extend(runs(M::TABLE).map(|name| Check::of("run", command(name, &root))));
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
    if let Some(refusal) = store.refusal() {
        return Err((
            refusal.to_string(),
            "remove it, or make it a folder of your own".to_owned(),
        ));
    }
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
fn command(name: &str, root: &Utf8Path) -> Result<String, (String, String)> {
    match commands::find(name) {
        Ok((Some(command), _)) if command.is_installed(root) => {
            Ok(format!("{name} runs {}", command.program))
        }
        Ok((Some(command), file)) => Err((
            format!(
                "{name}: its program {} is not installed, or not in PATH outside of the project",
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

/// Whether the client calls this program at a stop.
fn hook(speaker: &Speaker, places: &Places, survey: &Survey) -> Result<String, (String, String)> {
    let program = speaker.program;
    if let Some(file) = places.unreadable().first() {
        return Err((
            format!("{file} is no JSON"),
            "mend it: the client takes no hook from it as it is".to_owned(),
        ));
    }
    if let Some((file, key)) = &survey.off {
        return Err((
            format!("{file} has `{key}`: the client runs no hook, so no loop is driven"),
            "take that out of the file".to_owned(),
        ));
    }
    match survey.of(Nature::Ours).next() {
        Some(hook) => Ok(format!("{} calls {program} at a stop", hook.file)),
        None => {
            let looked: Vec<_> = places
                .candidates()
                .into_iter()
                .map(Utf8PathBuf::into_string)
                .collect();
            Err((
                format!(
                    "no Stop hook calls {program} in {}, nor in a plugin",
                    looked.join(", ")
                ),
                format!("put what `{program} hooks` prints into .claude/settings.json"),
            ))
        }
    }
}

/// The Stop hooks of others that may hold a turn. That there is one is no fault: the agent gets both reasons.
fn of_others(survey: &Survey) -> String {
    let blocking = survey.of(Nature::GateOn).chain(survey.of(Nature::Blocks));
    let blocking: Vec<String> = blocking
        .map(|hook| format!("`{}` in {}", text::one_line(&hook.command, 80), hook.file))
        .collect();
    match blocking.is_empty() {
        true => "no Stop hook of others that may hold a turn was found".to_owned(),
        false => format!(
            "other Stop hooks may hold a turn, too; the agent gets all reasons in one message: {}",
            blocking.join("; ")
        ),
    }
}
