//! `doctor`: checks whether loops can run, one line and help each. It leaves nothing behind.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;

use camino::Utf8Path;
use miette::Diagnostic;
use serde::Serialize;

use super::app::Program;
use super::client_files::{HOOKS_OFF, StopHooks};
use super::exit::{CommandResult, Failure};
use super::info::ProgramInfo;
use super::settings::{Settings, shown_user_path};
use super::{locate, out, reviewers};
use crate::process::configured::is_installed;
use crate::process::environment::{find_installed, find_program};
use crate::store::{StateHome, Store};
use crate::text;

const MAX_TEXT_CHARS: usize = 500;

#[derive(Serialize)]
struct Check {
    name: &'static str,
    /// `ok`, `warning` (loops run) or `problem` (no loop runs as it should).
    result: &'static str,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

/// The result of a check: a description of the state, or a warning or problem without a name yet.
type Checked = Result<String, Check>;

fn check(result: &'static str, found: impl Into<String>, help: Option<String>) -> Check {
    Check {
        name: "",
        result,
        found: found.into(),
        help,
    }
}

fn warn(found: impl Into<String>, help: impl Into<String>) -> Checked {
    Err(check("warning", found, Some(help.into())))
}

fn fail(found: impl Into<String>, help: impl Into<String>) -> Checked {
    Err(check("problem", found, Some(help.into())))
}

impl<E: Diagnostic> From<E> for Check {
    fn from(error: E) -> Self {
        let help = error.help().map(|help| help.to_string());
        check("problem", error.to_string(), help)
    }
}

/// Runs the checks. The exit code is 1 if there is a problem.
pub(super) fn doctor(program: &Program, json: bool) -> CommandResult {
    let checks = run_checks(program)?;
    let is_sound = checks.iter().all(|check| check.result != "problem");
    if json {
        out::json(&checks);
        return Ok(is_sound.into());
    }
    for check in &checks {
        let style = match check.result {
            "ok" => out::GOOD,
            "warning" => out::WARNING,
            _ => out::BAD,
        };
        let found = text::lines(&check.found, MAX_TEXT_CHARS);
        let line = format!("{:<7}  {:<13}  {found}", check.result, check.name);
        out::emphasize(&line, check.result, style);
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

fn run_checks(program: &Program) -> Result<Vec<Check>, Failure> {
    let info = program.info;
    let store = locate::nearest(info.state, &locate::current_folder()?);
    let root = store.root();
    // This check is first, because the others open the folder and close it to other users.
    let state_home = check_state_home(info);
    let hooks = StopHooks::read(info, root);
    let loaded = Settings::load(info, root);
    let settings = loaded
        .as_ref()
        .map_or_else(|_| Settings::defaults(info), Clone::clone);
    let mut checks = vec![
        ("program", check_program(program, root)),
        ("hooks", check_hooks(info, &hooks)),
        ("other plugins", check_other_plugins(info, &hooks)),
        ("state folder", check_state_folder(&store)),
        ("state home", state_home),
        ("git", check_git(root)),
        ("configuration", check_configuration(loaded)),
    ];
    let behaviours = info.table.phases.iter().filter_map(|phase| phase.on_stop);
    let runs = behaviours.filter(|behaviour| behaviour.name == "run");
    let commands: BTreeSet<_> = runs.filter_map(|run| run.parameter("command")).collect();
    for command in commands {
        checks.push(("run", check_command(command, &settings, root)));
    }
    if info.reviews() {
        checks.push(("reviewer", check_reviewer(info, &settings, root)));
    }
    let checks = checks.into_iter().map(|(name, checked)| {
        let check = checked.map_or_else(|failed| failed, |found| check("ok", found, None));
        Check { name, ..check }
    });
    Ok(checks.collect())
}

/// Checks that the first program of our name on PATH, which agents and users call, is this one.
fn check_program(program: &Program, root: &Utf8Path) -> Checked {
    let name = program.info.program;
    let file = std::env::current_exe().unwrap_or_default();
    let this = format!("{name} {}, {}", program.protocol(), file.display());
    let help = "install this version (cargo install --path . in the folder of its crate), or put it first on PATH";
    // In a client's shell, PATH has the plugin's own folder.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(first) = find_program(name, Some(&path), root) else {
        return warn(
            format!("{this}, is not on PATH outside of the project"),
            help,
        );
    };
    // The plugin's launcher started this program.
    let is_launcher = first.with_file_name("../.claude-plugin").is_dir();
    if is_launcher || first.canonicalize().ok() == file.canonicalize().ok() {
        return Ok(this);
    }
    let first = first.display();
    warn(format!("{this}, but the first on PATH is {first}"), help)
}

fn check_hooks(info: &ProgramInfo, hooks: &StopHooks) -> Checked {
    if let Some(file) = &hooks.off_in {
        return fail(
            format!("{file} has `{HOOKS_OFF}`: the client does not run our hooks"),
            format!("remove `{HOOKS_OFF}` from that file"),
        );
    }
    let program = info.program;
    match (&hooks.ours, info.plugin) {
        (None, _) if let Some(problem) = &hooks.unreadable => warn(
            problem,
            "correct that file: no loop is driven if our Stop hook or plugin is only there",
        ),
        (None, _) if let Some(plugin) = &hooks.disabled => warn(
            format!("our plugin {plugin} is disabled, so no loop is driven"),
            format!("enable it:\n    claude plugin enable {plugin}"),
        ),
        (Some(place), _) => Ok(format!("our Stop hook is called by {place}")),
        (None, Some(plugin)) => warn(
            format!("our plugin is not installed, and no settings have a Stop hook of {program}"),
            format!(
                "install the plugin {plugin} in Claude Code, or add the output of this to .claude/settings.json:\n    {program} hooks"
            ),
        ),
        (None, None) => warn(
            format!("no Stop hook calls {program}, so no loop is driven"),
            format!("add the output of this to .claude/settings.json:\n    {program} hooks"),
        ),
    }
}

fn check_other_plugins(info: &ProgramInfo, hooks: &StopHooks) -> Checked {
    let folder = info.state.folder;
    let Some(plugin) = &hooks.rival else {
        return Ok(format!("none works on {folder}"));
    };
    warn(
        format!("the Stop hook of {plugin} also works on {folder}"),
        format!("keep one of the two. To disable that one:\n    claude plugin disable {plugin}"),
    )
}

/// Checks that files can be written in a folder, or in its nearest ancestor that exists.
fn check_writable(folder: &Utf8Path, help: &str) -> Checked {
    let mut ancestors = folder.ancestors();
    let existing = ancestors.find(|path| path.symlink_metadata().is_ok());
    match existing.map(tempfile::tempfile_in) {
        Some(Err(error)) => fail(format!("cannot write to {folder}: {error}"), help),
        _ if existing == Some(folder) => Ok(folder.to_string()),
        _ => Ok(format!("{folder} (the first start creates it)")),
    }
}

fn check_state_folder(store: &Store) -> Checked {
    store.refusal().map_or(Ok(()), Err)?;
    let help = "make the project's folder writable, on a local file system";
    check_writable(store.folder(), help)
}

fn check_state_home(info: &ProgramInfo) -> Checked {
    let home = StateHome::for_user(info.program);
    let folder = home.folder()?;
    let help = "make that folder writable, or set XDG_STATE_HOME to one that is";
    let found = check_writable(folder, help)?;
    home.check_key()?;
    let mode = folder.metadata().map_or(0, |found| found.mode());
    if mode & 0o077 != 0 {
        return fail(
            format!("{folder} is open to other users"),
            format!(
                "close it:\n    chmod 700 {}",
                text::shell_word(folder.as_str())
            ),
        );
    }
    Ok(found)
}

fn check_git(root: &Utf8Path) -> Checked {
    let found = "git is not on PATH outside of the project";
    let help = "install git: a review of changes needs it";
    find_installed("git", root)
        .map_or_else(|| warn(found, help), |git| Ok(git.display().to_string()))
}

fn check_configuration(loaded: Result<Settings, Failure>) -> Checked {
    let settings = loaded?;
    if settings.ignored.is_empty() {
        return Ok(format!("reviewer {}", settings.reviewer));
    }
    let help = "remove it there; your own file may have it";
    warn(settings.ignored.join("\n"), help)
}

fn check_command(command: &str, settings: &Settings, root: &Utf8Path) -> Checked {
    let found = match settings.commands.get(command) {
        Some(configured) if is_installed(configured, root) => {
            return Ok(format!("{command} runs {}", configured.program));
        }
        Some(configured) => format!("{command}: {} is not on PATH", configured.program),
        None => format!("{command} is not configured, and a loop may wait for it"),
    };
    let file = shown_user_path();
    let help = format!("name an installed program in [commands.{command}] of {file}");
    // Only the machine knows what happens without the command.
    warn(found, &help)
}

fn check_reviewer(info: &ProgramInfo, settings: &Settings, root: &Utf8Path) -> Checked {
    let chosen = reviewers::choose(None, None, settings, root)?;
    let names = settings.reviewers.iter();
    let installed: Vec<&str> = names
        .filter(|(_, reviewer)| reviewers::is_installed(reviewer, root))
        .map(|(name, _)| name.as_str())
        .collect();
    let name = &*chosen[0].name;
    if !installed.contains(&name) {
        let found = format!("the program of {name} is not on PATH outside of the project");
        let variable = info.variable("REVIEWER");
        let help = format!("install it, or set {variable} to another reviewer, such as lint");
        return fail(found, help);
    }
    let installed = installed.join(", ");
    Ok(format!("{}; installed: {installed}", chosen[0].shown))
}
