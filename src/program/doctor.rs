//! `doctor`: checks the needs of a loop, one line and one help for each check. It leaves nothing behind.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;

use camino::Utf8Path;
use miette::Diagnostic;
use serde::Serialize;

use super::builder::Program;
use super::client_files::{HOOKS_OFF, StopHooks};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::settings::{Settings, user_path};
use super::{locate, loops, out, reviewers};
use crate::process::configured::is_installed;
use crate::process::environment::{find_installed, find_program};
use crate::store::StateHome;
use crate::text;

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
    fn new(result: &'static str, found: impl Into<String>, help: Option<String>) -> Self {
        Self {
            name: "",
            result,
            found: found.into(),
            help,
        }
    }

    fn ok(found: impl Into<String>) -> Self {
        Self::new("ok", found, None)
    }

    fn warning(found: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new("warning", found, Some(help.into()))
    }

    fn problem(found: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new("problem", found, Some(help.into()))
    }

    /// Makes a problem with the help of an error, or else this one.
    fn unusable(error: &dyn Diagnostic, help: &str) -> Self {
        let own_help = error.help().map(|own| own.to_string());
        Self::problem(error.to_string(), own_help.as_deref().unwrap_or(help))
    }

    fn print(&self) {
        let style = match self.result {
            "ok" => out::GOOD,
            "warning" => out::WARNING,
            _ => out::BAD,
        };
        let found = text::lines(&self.found, MAX_TEXT_CHARS);
        let line = format!("{:<7}  {:<13}  {found}", self.result, self.name);
        out::emphasize(&line, self.result, style);
        if let Some(help) = &self.help {
            let help = text::lines(help, MAX_TEXT_CHARS);
            out::line(&format!("         help: {help}"));
        }
    }
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
        ("program", check_program(program, &root)),
        ("hooks", check_hooks(info, &hooks)),
        ("other plugins", check_other_plugins(info, &hooks)),
        ("state folder", check_state_folder(info, &here)),
        ("state home", state_home),
        ("git", check_git(&root)),
        ("configuration", configuration),
    ];
    let behaviours = info.table.phases.iter().filter_map(|phase| phase.on_stop);
    let runs = behaviours.filter(|behaviour| behaviour.name == "run");
    let commands: BTreeSet<_> = runs.filter_map(|run| run.parameter("command")).collect();
    for command in commands {
        checks.push(("run", check_command(command, &settings, &root)));
    }
    if info.reviews() {
        checks.push(("reviewer", check_reviewer(&settings, &root)));
    }
    let checks = checks.into_iter();
    Ok(checks
        .map(|(name, check)| Check { name, ..check })
        .collect())
}

/// Checks that the first program of our name on PATH is this one: agents and users call it.
fn check_program(program: &Program, root: &Utf8Path) -> Check {
    let name = program.info.program;
    let file = std::env::current_exe().unwrap_or_default();
    let this = format!("{name} {}, {}", program.protocol(), file.display());
    let help = "install this version (cargo install --path . in a clone), or put it first on PATH";
    // The PATH of this call: in a client's shell it has the plugin's own folder.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(first) = find_program(name, Some(&path), root) else {
        return Check::warning(format!("{this}, is not on PATH"), help);
    };
    // A plugin's launcher has started this program.
    let is_launcher = first.with_file_name("../.claude-plugin").is_dir();
    if is_launcher || first.canonicalize().ok() == file.canonicalize().ok() {
        return Check::ok(this);
    }
    let first = first.display();
    Check::warning(format!("{this}, but the first on PATH is {first}"), help)
}

/// Checks that the client runs our Stop hook.
fn check_hooks(info: &ProgramInfo, hooks: &StopHooks) -> Check {
    if let Some(file) = &hooks.off_in {
        return Check::problem(
            format!("{file} has `{HOOKS_OFF}`: the client does not run our hooks"),
            format!("remove `{HOOKS_OFF}` from that file"),
        );
    }
    if let Some(place) = &hooks.ours {
        return Check::ok(format!("our Stop hook is called by {place}"));
    }
    if info.plugin.is_some() {
        return Check::ok("enabled; our plugin is not installed");
    }
    let program = info.program;
    Check::warning(
        format!("no Stop hook calls {program}, so no loop is driven"),
        format!("add the output of this to .claude/settings.json:\n    {program} hooks"),
    )
}

/// Checks that no Stop hook of another plugin works on our state folder.
fn check_other_plugins(info: &ProgramInfo, hooks: &StopHooks) -> Check {
    let folder = info.state.folder;
    let Some(plugin) = &hooks.rival else {
        return Check::ok(format!("none works on {folder}"));
    };
    Check::warning(
        format!("the Stop hook of {plugin} also works on {folder}"),
        format!("keep one of the two. To disable that one:\n    claude plugin disable {plugin}"),
    )
}

/// Checks that files can be written in a folder, or in the nearest folder above it that exists, and describes the folder.
fn check_writable(folder: &Utf8Path, help: &str) -> Check {
    let mut ancestors = folder.ancestors();
    let existing = ancestors.find(|path| path.symlink_metadata().is_ok());
    match existing.map(tempfile::tempfile_in) {
        Some(Err(error)) => Check::problem(format!("cannot write to {folder}: {error}"), help),
        _ if existing == Some(folder) => Check::ok(folder.as_str()),
        _ => Check::ok(format!("{folder} (the first start creates it)")),
    }
}

/// Checks that files in the state folder can be written.
fn check_state_folder(info: &'static ProgramInfo, here: &Utf8Path) -> Check {
    let store = locate::nearest(info.state, here);
    if let Some(refusal) = store.refusal() {
        return Check::unusable(&refusal, "look at what is there");
    }
    let help = "make the project's folder writable, on a local file system";
    check_writable(store.folder(), help)
}

/// Checks that the user's own folder outside of every project is closed to others and can be written.
fn check_state_home(info: &ProgramInfo) -> Check {
    let home = StateHome::of_user(info.program);
    let folder = match home.usable_path() {
        Ok(folder) => folder,
        Err(error) => return Check::unusable(&error, "set HOME to your home folder"),
    };
    let help = "make that folder writable, or set XDG_STATE_HOME to one that is";
    let writable = check_writable(folder, help);
    if writable.result != "ok" {
        return writable;
    }
    if let Err(error) = home.check_key() {
        return Check::unusable(&error, "restore the key from a backup, or remove it");
    }
    let mode = folder.metadata().map_or(0, |found| found.mode());
    if mode & 0o077 != 0 {
        let found = format!("{folder} is open to other users");
        return Check::problem(found, "close it with `chmod 700`");
    }
    writable
}

fn check_git(root: &Utf8Path) -> Check {
    match find_installed("git", root) {
        Some(git) => Check::ok(git.display().to_string()),
        None => Check::warning(
            "git is not on PATH outside of the project",
            "install git: a review of changes needs it",
        ),
    }
}

fn check_configuration(loaded: &Result<Settings, Failure>) -> Check {
    match loaded {
        Err(error) => Check::unusable(error, "fix or remove it"),
        Ok(settings) if settings.ignored.is_empty() => {
            Check::ok(format!("reviewer {}", settings.reviewer))
        }
        Ok(settings) => Check::warning(
            settings.ignored.join("\n"),
            "remove it there; your own file may have it",
        ),
    }
}

/// Checks that a command which a phase runs is configured and installed.
fn check_command(command: &str, settings: &Settings, root: &Utf8Path) -> Check {
    let found = match settings.commands.get(command) {
        Some(configured) if is_installed(configured, root) => {
            return Check::ok(format!("{command} runs {}", configured.program));
        }
        Some(configured) => format!("{command}: {} is not on PATH", configured.program),
        None => format!("{command} is not configured, and a loop waits for it"),
    };
    let file = user_path().map_or_else(|| "your configuration".to_owned(), Into::into);
    let help = format!("name an installed program in [commands.{command}] of {file}");
    Check::problem(found, help)
}

/// Checks the reviewer that a loop gets. Names the others that are installed.
fn check_reviewer(settings: &Settings, root: &Utf8Path) -> Check {
    let variable = settings.info.variable("REVIEWER");
    let help = format!("set {variable} to another reviewer, such as lint");
    let chosen = match reviewers::choose(None, None, settings, root) {
        Ok(chosen) => chosen,
        Err(error) => return Check::unusable(&error, &help),
    };
    let names = settings.reviewers.iter();
    let installed: Vec<&str> = names
        .filter(|(_, reviewer)| reviewers::is_installed(reviewer, root))
        .map(|(name, _)| name.as_str())
        .collect();
    let name = &*chosen[0].name;
    if !installed.contains(&name) {
        let found = format!("the program of {name} is not on PATH outside of the project");
        return Check::problem(found, format!("install it, or {help}"));
    }
    Check::ok(format!(
        "{}; installed: {}",
        chosen[0].shown,
        installed.join(", ")
    ))
}
