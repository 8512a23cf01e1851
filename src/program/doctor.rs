//! `doctor`: checks the needs of a loop, one line and one help for each check. It leaves nothing behind.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
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
use crate::process::configured::is_installed;
use crate::process::environment::{Environment, clean_path, find_installed, find_program};
use crate::process::limits::Limits;
use crate::process::{Call, supervise};
use crate::store::StateHome;
use crate::text;

/// The longest time for a program to print its protocol.
const PROTOCOL_TIMEOUT: Duration = Duration::from_secs(5);
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

impl Check {
    fn new(name: &'static str, checked: Checked) -> Self {
        let (result, found, help) = match checked {
            Ok(found) => ("ok", found, None),
            Err((result, found, help)) => (result, found, Some(help)),
        };
        Self {
            name,
            result,
            found,
            help,
        }
    }

    fn print(&self) {
        let tone = match self.result {
            "ok" => Tone::Good,
            "warning" => Tone::Warning,
            _ => Tone::Bad,
        };
        let found = text::lines(&self.found, MAX_TEXT_CHARS);
        let line = format!("{:<7}  {:<13}  {found}", self.result, self.name);
        out::emphasize(&line, self.result, tone);
        if let Some(help) = &self.help {
            let help = text::lines(help, MAX_TEXT_CHARS);
            out::line(&format!("         help: {help}"));
        }
    }
}

/// The text of a check that is well, or else its result, its text and the next step.
type Checked = Result<String, (&'static str, String, String)>;

fn warning(found: impl Into<String>, help: impl Into<String>) -> Checked {
    Err(("warning", found.into(), help.into()))
}

fn problem(found: impl Into<String>, help: impl Into<String>) -> Checked {
    Err(("problem", found.into(), help.into()))
}

/// Returns a problem with the help of an error, or else this one.
fn unusable(error: &dyn Diagnostic, help: &str) -> Checked {
    let own_help = error.help().map(|own| own.to_string());
    problem(error.to_string(), own_help.as_deref().unwrap_or(help))
}

/// Runs the checks. The exit code is 1 if one of them found a problem.
pub(super) fn doctor(program: &Program, json: bool) -> Result<Exit, Failure> {
    let checks = run_checks(program)?;
    let is_sound = checks.iter().all(|check| check.result != "problem");
    if json {
        out::json(&checks);
    } else {
        checks.iter().for_each(Check::print);
        out::line(if is_sound {
            "Loops can run."
        } else {
            "Fix each problem first: until then no loop runs as it should."
        });
    }
    Ok(is_sound.into())
}

fn run_checks(program: &Program) -> Result<Vec<Check>, Failure> {
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
        Check::new("program", check_program(program, &root)),
        Check::new("hooks", check_hooks(info, &hooks)),
        Check::new("other plugins", check_other_plugins(info, &hooks)),
        Check::new("state folder", check_state_folder(info, &here)),
        Check::new("state home", state_home),
        Check::new("git", check_git(&root)),
        Check::new("configuration", configuration),
    ];
    let phases = info.table.phases.iter();
    let behaviours = phases.filter_map(|phase| phase.on_stop.as_ref());
    let runs = behaviours.filter(|behaviour| behaviour.name == "run");
    let commands: BTreeSet<_> = runs.filter_map(|run| run.parameter("command")).collect();
    checks.extend(
        commands
            .into_iter()
            .map(|command| Check::new("run", check_command(command, &settings, &root))),
    );
    if info.reviews() {
        checks.push(Check::new("reviewer", check_reviewer(&settings, &root)));
    }
    Ok(checks)
}

/// Checks that the first program of our name on PATH is of this version: agents and users call it.
fn check_program(program: &Program, root: &Utf8Path) -> Checked {
    let name = program.info.program;
    let version = format!("{name} {}", program.protocol());
    let file = std::env::current_exe().unwrap_or_default();
    let this = format!("{version}, {}", file.display());
    let help = "install this version (cargo install --path . in a clone), or put it first on PATH";
    // The PATH of this call: in a client's shell it has the plugin's own folder.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(first) = find_program(name, Some(&path), root) else {
        return warning(format!("{this}, is not on PATH"), help);
    };
    // A plugin's launcher has started this program.
    if first.with_file_name("../.claude-plugin").is_dir() {
        return Ok(this);
    }
    // The program does not run in the project, so the project's folders are taken off PATH here.
    let path = clean_path(&path, root);
    let call = Call {
        program: &first.to_string_lossy(),
        arguments: &["--protocol".to_owned()],
        directory: Utf8Path::new("/"),
        stdin: b"",
        environment: &Environment::default().setting("PATH", path.to_string_lossy()),
        limits: Limits {
            timeout: PROTOCOL_TIMEOUT,
            idle: PROTOCOL_TIMEOUT,
        },
    };
    let ended = supervise(&call, &mut |_| ControlFlow::Continue(()));
    let printed = String::from_utf8_lossy(&ended.stdout);
    let line = printed.lines().next().unwrap_or("no answer to --protocol");
    if line == version {
        return Ok(this);
    }
    let line = text::one_line(line, 100);
    let first = first.display();
    warning(
        format!("{this}, but the first on PATH is {first}: {line}"),
        help,
    )
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
        return unusable(&refusal, "look at what is there");
    }
    let help = "make the project's folder writable, on a local file system";
    check_writable(store.folder(), help)
}

/// Checks that the user's own folder outside of every project is closed to others and can be written.
fn check_state_home(info: &ProgramInfo) -> Checked {
    let home = StateHome::of_user(info.program);
    let folder = match home.usable_path() {
        Ok(folder) => folder,
        Err(error) => return unusable(&error, "set HOME to your home folder"),
    };
    let help = "make that folder writable, or set XDG_STATE_HOME to one that is";
    let found = check_writable(folder, help)?;
    if let Err(error) = home.check_key() {
        return unusable(&error, "restore the key from a backup, or remove it");
    }
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
            let help = "install git: a review of changes needs it";
            warning("git is not on PATH outside of the project", help)
        },
        |git| Ok(git.display().to_string()),
    )
}

fn check_configuration(loaded: &Result<Settings, Failure>) -> Checked {
    let settings = match loaded {
        Ok(settings) => settings,
        Err(error) => return unusable(error, "fix or remove it"),
    };
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
    let chosen = match reviewers::choose(None, None, settings, root) {
        Ok(chosen) => chosen,
        Err(error) => return unusable(&error, &help),
    };
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
