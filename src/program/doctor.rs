//! `doctor`: checks the needs of a loop, one line and one help for each check. It leaves nothing behind.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use camino::Utf8Path;
use miette::Diagnostic;
use serde::Serialize;

use super::builder::Program;
use super::client_files::{HOOKS_OFF, StopHooks};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::settings::{Settings, user_path};
use super::{Tone, locate, loops, out, reviewers};
use crate::hooks::OLDEST_CLIENT;
use crate::process::configured::is_installed;
use crate::process::environment::{Environment, clean_path, find_installed, find_program};
use crate::process::limits::Limits;
use crate::process::{Call, ProcessEnd, supervise};
use crate::review::claude;
use crate::store::{Listed, StateHome, Store};
use crate::text;

/// The longest time for a program to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest text of a check, in characters.
const MAX_TEXT_CHARS: usize = 500;

/// A check, as `doctor --json` prints it.
#[derive(Serialize)]
struct Check {
    name: &'static str,
    /// `ok`, `warning` (loops run) or `problem` (no loop runs as it should).
    result: &'static str,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

/// The text of a check that is well, or its fault.
type Checked = Result<String, Fault>;
/// The result of a check that is not well, its text, and the next step.
type Fault = (&'static str, String, String);

fn warning<T>(found: impl Into<String>, help: impl Into<String>) -> Result<T, Fault> {
    Err(("warning", found.into(), help.into()))
}

fn problem<T>(found: impl Into<String>, help: impl Into<String>) -> Result<T, Fault> {
    Err(("problem", found.into(), help.into()))
}

/// Returns a problem with the help of an error, or else this one.
fn from_error(error: &dyn Diagnostic, help: &str) -> Fault {
    let help = error.help().map_or(help.to_owned(), |own| own.to_string());
    ("problem", error.to_string(), help)
}

/// Runs the checks. The exit code is 1 if one of them found a problem.
pub(super) fn doctor(program: &Program, json: bool) -> Result<Exit, Failure> {
    let checks: Vec<Check> = run_checks(program)?
        .into_iter()
        .map(|(name, checked)| {
            let (result, found, help) = match checked {
                Ok(found) => ("ok", found, None),
                Err((result, found, help)) => (result, found, Some(help)),
            };
            Check {
                name,
                result,
                found,
                help,
            }
        })
        .collect();
    let is_sound = checks.iter().all(|check| check.result != "problem");
    if json {
        out::json(&checks);
        return Ok(is_sound.into());
    }
    for check in &checks {
        let tone = match check.result {
            "ok" => Tone::Good,
            "warning" => Tone::Warning,
            _ => Tone::Bad,
        };
        let found = text::lines(&check.found, MAX_TEXT_CHARS);
        let line = format!("{:<7}  {:<13}  {found}", check.result, check.name);
        out::emphasize(&line, check.result, tone);
        if let Some(help) = &check.help {
            let help = text::lines(help, MAX_TEXT_CHARS);
            out::line(&format!("         help: {help}"));
        }
    }
    out::line(if is_sound {
        "Loops can run."
    } else {
        "Fix each problem first: until then no loop runs as it should."
    });
    Ok(is_sound.into())
}

/// Returns the name and the finding of each check.
fn run_checks(program: &Program) -> Result<Vec<(&'static str, Checked)>, Failure> {
    let info = program.info;
    let here = loops::here()?;
    let root = locate::root(info.state, &here);
    // The others open the folder and close it to other users.
    let state_home = check_state_home(info);
    let hooks = StopHooks::read(info, &root);
    let loaded = Settings::load(info, &root);
    let configuration = check_configuration(&loaded);
    let settings = loaded.unwrap_or_else(|_| Settings::usual(info));
    let mut checks = vec![
        ("program", check_program(program, &root)),
        ("client", check_client(&root)),
        ("hooks", check_hooks(info, &hooks)),
        ("other plugins", check_other_plugins(info, &hooks)),
        ("state folder", check_state_folder(info, &here)),
        ("loops", check_loops(info, &here)),
        ("state home", state_home),
        ("git", check_git(&root)),
        ("configuration", configuration),
    ];
    let phases = info.table.phases.iter();
    let behaviours = phases.filter_map(|phase| phase.on_stop.as_ref());
    let runs = behaviours.filter(|behaviour| behaviour.name == "run");
    let commands: BTreeSet<_> = runs.filter_map(|run| run.parameter("command")).collect();
    for command in commands {
        checks.push(("run", check_command(command, &settings, &root)));
    }
    if info.reviews() {
        checks.push(("reviewer", check_reviewer(&settings, &root)));
    }
    Ok(checks)
}

/// Runs a program and returns the first line that it prints.
fn first_line(
    program: &Path,
    argument: &str,
    environment: Environment,
    root: &Utf8Path,
) -> Result<String, String> {
    // The program does not run in the project, so the project's folders are taken off PATH here.
    let path = clean_path(&std::env::var_os("PATH").unwrap_or_default(), root);
    let name = program.to_string_lossy();
    let call = Call {
        program: &name,
        arguments: &[argument.to_owned()],
        directory: Utf8Path::new("/"),
        stdin: b"",
        environment: &environment.setting("PATH", path.to_string_lossy()),
        limits: Limits {
            timeout: VERSION_TIMEOUT,
            idle: VERSION_TIMEOUT,
        },
    };
    let ended = supervise(&call, &mut |_| ControlFlow::Continue(()));
    let printed = String::from_utf8_lossy(&ended.stdout);
    match ended.how {
        ProcessEnd::Exited(0) => {
            let first = printed.lines().next().unwrap_or_default();
            Ok(text::one_line(first, 100))
        }
        ProcessEnd::TimedOut { .. } => Err(format!("{name} {argument} did not end in time")),
        _ => Err(format!("{name} {argument} failed")),
    }
}

/// Checks that the first program of our name on PATH is of this version: agents and users call it.
fn check_program(program: &Program, root: &Utf8Path) -> Checked {
    let name = program.info.program;
    let version = format!("{name} {}", program.protocol());
    let file = std::env::current_exe().unwrap_or_default();
    let this = format!("{version}, {}", file.display());
    let help = "install this version (cargo install --path . in a clone), or put it first on PATH";
    // The PATH of this call: in a client's shell it has the plugin's own folder.
    let path = std::env::var_os("PATH");
    let Some(first) = find_program(name, path.as_deref(), root) else {
        return warning(format!("{this}, is not on PATH"), help);
    };
    // A plugin's launcher has started this program.
    if first.with_file_name("../.claude-plugin").is_dir() {
        return Ok(this);
    }
    match first_line(&first, "--protocol", Environment::default(), root) {
        Ok(line) if line == version => Ok(this),
        Ok(line) | Err(line) => {
            let first = first.display();
            warning(
                format!("{this}, but the first on PATH is {first}: {line}"),
                help,
            )
        }
    }
}

/// Checks that the client is not older than the oldest version that we test with.
fn check_client(root: &Utf8Path) -> Checked {
    let inside = std::env::var_os("CLAUDE_CODE_EXECPATH")
        .map(PathBuf::from)
        .filter(|file| file.is_absolute() && file.is_file());
    let Some(client) = inside.or_else(|| find_installed("claude", root)) else {
        return Ok("not checked: `claude` is not on PATH".to_owned());
    };
    let environment = Environment::allowing(claude::variables());
    let line = first_line(&client, "--version", environment, root)
        .or_else(|why| warning(why, "install Claude Code again"))?;
    if parse_version(&line).is_some_and(|version| version < OLDEST_CLIENT) {
        let found = format!("{line} is older than the oldest version that is tested");
        return warning(found, "run `claude update`");
    }
    Ok(format!("{line}, {}", client.display()))
}

/// Parses `2.1.330 (Claude Code)`.
fn parse_version(line: &str) -> Option<[u64; 3]> {
    let number = line.split([' ', '-']).next()?;
    let parts: Option<Vec<u64>> = number.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

/// Checks that the client runs our Stop hook.
fn check_hooks(info: &ProgramInfo, hooks: &StopHooks) -> Checked {
    if let Some(file) = &hooks.off_in {
        return problem(
            format!("{file} has `{HOOKS_OFF}`: the client does not run our hooks"),
            format!("remove `{HOOKS_OFF}` from that file"),
        );
    }
    if let Some(place) = &hooks.ours {
        return Ok(format!("our Stop hook is called by {place}"));
    }
    if info.plugin.is_some() {
        return Ok("enabled; our plugin is not installed".to_owned());
    }
    let program = info.program;
    warning(
        format!("no Stop hook calls {program}, so no loop is driven"),
        format!("add the output of this to .claude/settings.json:\n    {program} hooks"),
    )
}

/// Checks that no Stop hook of another plugin works on our state folder.
fn check_other_plugins(info: &ProgramInfo, hooks: &StopHooks) -> Checked {
    let folder = info.state.folder;
    let Some(plugin) = &hooks.rival else {
        return Ok(format!("none works on {folder}"));
    };
    warning(
        format!("the Stop hook of {plugin} also works on {folder}"),
        format!("keep one of the two. To disable that one:\n    claude plugin disable {plugin}"),
    )
}

/// Checks that files can be written in a folder, or in the nearest folder above it that exists, and describes the folder.
fn check_writable(folder: &Utf8Path, help: &str) -> Checked {
    let mut ancestors = folder.ancestors();
    let existing = ancestors.find(|path| path.symlink_metadata().is_ok());
    if let Some(Err(error)) = existing.map(tempfile::tempfile_in) {
        return problem(format!("cannot write to {folder}: {error}"), help);
    }
    Ok(if existing == Some(folder) {
        folder.to_string()
    } else {
        format!("{folder} (the first start creates it)")
    })
}

/// Checks that files in the state folder can be written.
fn check_state_folder(info: &'static ProgramInfo, here: &Utf8Path) -> Checked {
    let store = locate::nearest(info.state, here);
    if let Some(refusal) = store.refusal() {
        return Err(from_error(&refusal, "look at what is there"));
    }
    let help = "make the project's folder writable, on a local file system";
    check_writable(store.folder(), help)
}

/// Checks that each loop of the project can be read.
fn check_loops(info: &'static ProgramInfo, here: &Utf8Path) -> Checked {
    let loops = locate::loops(info.state, here);
    let problem = |(store, listed): &(Store, Listed)| {
        let unreadable = || Some(store.journal(&listed.id).err()?.to_string());
        let is_read = listed.problem.is_none() && !listed.terminal;
        let why = match &listed.problem {
            Some(problem) => problem.clone(),
            None => unreadable().filter(|_| is_read)?,
        };
        Some(format!("{}: {why}", listed.path))
    };
    if let Some(found) = loops.iter().find_map(problem) {
        let program = info.program;
        let help = format!("move all loops to the archive:\n    {program} rollback");
        return warning(found, help);
    }
    let active = loops.iter().filter(|(_, listed)| !listed.terminal).count();
    Ok(format!("{} in this project, {active} active", loops.len()))
}

/// Checks that the user's own folder outside of every project is closed to others and can be written.
fn check_state_home(info: &ProgramInfo) -> Checked {
    let home = StateHome::of_user(info.program);
    let folder = home
        .usable_path()
        .map_err(|error| from_error(&error, "set HOME to your home folder"))?;
    let help = "make that folder writable, or set XDG_STATE_HOME to one that is";
    let found = check_writable(folder, help)?;
    home.check_key()
        .map_err(|error| from_error(&error, "restore the key from a backup, or remove it"))?;
    let mode = folder.metadata().map_or(0, |found| found.mode());
    if mode & 0o077 != 0 {
        let found = format!("{folder} is open to other users");
        return problem(found, "close it with `chmod 700`");
    }
    Ok(found)
}

fn check_git(root: &Utf8Path) -> Checked {
    find_installed("git", root).map_or_else(
        || {
            let help = "install git: it finds the top folder of a project";
            warning("git is not on PATH outside of the project", help)
        },
        |git| Ok(git.display().to_string()),
    )
}

fn check_configuration(loaded: &Result<Settings, Failure>) -> Checked {
    let settings = loaded
        .as_ref()
        .map_err(|error| from_error(error, "fix or remove it"))?;
    if !settings.ignored.is_empty() {
        let help = "remove it there; your own file may have it";
        return warning(settings.ignored.join("\n"), help);
    }
    let personas = settings.personas.all().len();
    let reviewer = &settings.reviewer;
    Ok(format!("reviewer {reviewer}, {personas} personas"))
}

/// Checks that a command which a phase runs is configured and installed.
fn check_command(command: &str, settings: &Settings, root: &Utf8Path) -> Checked {
    let found = match settings.commands.get(command) {
        Some(configured) if is_installed(configured, root) => {
            return Ok(format!("{command} runs {}", configured.program));
        }
        Some(configured) => format!("{command}: {} is not on PATH", configured.program),
        None => format!("{command} is not configured, and a loop waits for it"),
    };
    let file = user_path().map_or_else(|| "your configuration".to_owned(), Into::into);
    let help = format!("name an installed program in [commands.{command}] of {file}");
    problem(found, help)
}

/// Checks the reviewer that a loop gets. Names the others that are installed.
fn check_reviewer(settings: &Settings, root: &Utf8Path) -> Checked {
    let variable = settings.info.variable("REVIEWER");
    let help = format!("set {variable} to another reviewer, such as lint");
    let chosen =
        reviewers::choose(None, None, settings, root).map_err(|error| from_error(&error, &help))?;
    let is_installed = |name: &&String| reviewers::is_installed(&settings.reviewers[*name], root);
    let (installed, missing): (Vec<_>, Vec<_>) = settings.reviewers.keys().partition(is_installed);
    let name = chosen.reviewer.name();
    if missing.iter().any(|missing| *missing == name) {
        let found = format!("the program of {name} is not on PATH outside of the project");
        return problem(found, format!("install it, or {help}"));
    }
    let installed: Vec<&str> = installed.into_iter().map(String::as_str).collect();
    Ok(format!(
        "{}; installed: {}",
        chosen.shown,
        installed.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_of_three_numbers_is_parsed() {
        let beta = "2.1.330-beta.2 (Claude Code)";
        assert_eq!(parse_version(beta), Some([2, 1, 330]));
        for line in ["", "Claude Code", "2.1", "2.1.x", "2.1.3.4", "v2.1.3"] {
            assert_eq!(parse_version(line), None, "{line}");
        }
    }
}
