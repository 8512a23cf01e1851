//! `doctor`: checks what a loop needs, one line and one help for each check. It leaves nothing behind.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use camino::Utf8Path;
use miette::Diagnostic;
use serde_json::{Value, json};

use super::builder::Program;
use super::client_files::ClientFiles;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::settings::{Settings, user_path};
use super::{Tone, locate, loops, out, reviewers};
use crate::files::Folder;
use crate::hooks::OLDEST_CLIENT;
use crate::machine::PhaseDeclaration as _;
use crate::process::configured::is_installed;
use crate::process::environment::{Environment, clean_path, find_installed};
use crate::process::limits::Limits;
use crate::process::{Call, ProcessEnd, supervise};
use crate::review::claude;
use crate::store::{Listed, RunLock, StateHome, Store};
use crate::text;

/// How long a program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest text of a check, in characters.
const MAX_TEXT_CHARS: usize = 500;

/// A finding that is not as it should be: how bad it is, the finding, and the next step.
type Fault = (Tone, String, String);
/// The result of a check.
type Found = Result<String, Fault>;

/// Returns a fault with which loops run all the same.
fn warning<T>(found: impl Into<String>, help: impl Into<String>) -> Result<T, Fault> {
    Err((Tone::Warning, found.into(), help.into()))
}

/// Returns a fault with which no loop runs as it should.
fn problem<T>(found: impl Into<String>, help: impl Into<String>) -> Result<T, Fault> {
    Err((Tone::Bad, found.into(), help.into()))
}

/// Returns an error as a problem, with this help if the error has none of its own.
fn refused<T>(error: impl Diagnostic, help: &str) -> Result<T, Fault> {
    let own = error.help().map(|help| help.to_string());
    problem(error.to_string(), own.unwrap_or(help.to_owned()))
}

/// Runs the checks. The exit code is 1 if one of them found a problem.
pub(super) fn doctor(program: &Program, json: bool) -> Result<Exit, Failure> {
    let info = program.info;
    let here = loops::here()?;
    let root = locate::root(info.state, &here);
    // The others open the folder and close it to other users.
    let state_home = check_state_home(info);
    let client_files = ClientFiles::read(&here, &root);
    let version = format!("{} {}", info.program, program.protocol());
    let (configuration, settings) = match Settings::load(info, &root) {
        Ok(settings) => (check_configuration(&settings), settings),
        Err(error) => (refused(error, "fix or remove it"), Settings::usual(info)),
    };
    let mut found: Vec<(&str, Found)> = vec![
        ("program", check_program(info, &version, &root)),
        ("client", check_client(&root)),
        ("hooks", check_hooks(info, &client_files)),
        ("other plugins", check_other_plugins(info, &client_files)),
        ("state folder", check_state_folder(info, &here)),
        ("loops", check_loops(info, &here)),
        ("state home", state_home),
        ("git", check_git(&root)),
        ("configuration", configuration),
    ];
    found.extend(check_commands(&settings, &root).map(|command| ("run", command)));
    if info
        .table
        .phases
        .iter()
        .any(|phase| phase.review().is_some())
    {
        found.push(("reviewer", check_reviewer(&settings, &root)));
    }

    let is_broken = found.iter().any(|(_, found)| verdict(found) == "problem");
    let (exit, conclusion) = match is_broken {
        true => (
            Exit::Refused,
            "Fix each problem first: until then no loop runs as it should.",
        ),
        false => (Exit::Complete, "Loops can run."),
    };
    if json {
        out::json(&found.iter().map(to_json).collect::<Vec<_>>());
    } else {
        found.iter().for_each(print);
        out::line(conclusion);
    }
    Ok(exit)
}

/// Returns the word for the result of a check.
fn verdict(found: &Found) -> &'static str {
    match found {
        Ok(_) => "ok",
        Err((Tone::Bad, ..)) => "problem",
        Err(_) => "warning",
    }
}

fn to_json((name, found): &(&str, Found)) -> Value {
    let (Ok(text) | Err((_, text, _))) = found;
    let mut check = json!({ "name": name, "result": verdict(found), "found": text });
    if let Err((_, _, help)) = found {
        check["help"] = json!(help);
    }
    check
}

fn print((name, found): &(&str, Found)) {
    let result = verdict(found);
    let tone = found.as_ref().err().map_or(Tone::Good, |fault| fault.0);
    let (Ok(text) | Err((_, text, _))) = found;
    let text = text::lines(text, MAX_TEXT_CHARS);
    out::toned(&format!("{result:<7}  {name:<13}  {text}"), result, tone);
    if let Err((_, _, help)) = found {
        let help = text::lines(help, MAX_TEXT_CHARS);
        out::line(&format!("         help: {help}"));
    }
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
    let line = printed.lines().next().unwrap_or_default();
    match ended.how {
        ProcessEnd::Exited(0) => Ok(text::one_line(line, 100)),
        ProcessEnd::TimedOut { .. } => Err(format!("{name} {argument} did not end in time")),
        _ => Err(format!("{name} {argument} failed")),
    }
}

/// Checks that the first program of our name on PATH is of this version: agents and users call it.
fn check_program(info: &ProgramInfo, version: &str, root: &Utf8Path) -> Found {
    let own = std::env::current_exe().unwrap_or_default();
    let this = format!("{version}, {}", own.display());
    let path = clean_path(&std::env::var_os("PATH").unwrap_or_default(), root);
    let files = std::env::split_paths(&path).map(|folder| folder.join(info.program));
    let is_launcher = |file: &PathBuf| file.with_file_name("../.claude-plugin").is_dir();
    let (launchers, programs): (Vec<_>, Vec<_>) =
        files.filter(|file| file.is_file()).partition(is_launcher);
    let help = "install this version (cargo install --path . in a clone), or put it first on PATH";
    let Some(first) = programs.first() else {
        return match launchers.is_empty() {
            // A plugin's launcher has started this program.
            false => Ok(this),
            true => warning(format!("{this}, is not on PATH"), help),
        };
    };
    let line = first_line(first, "--protocol", Environment::default(), root);
    let line = line.unwrap_or_else(|why| why);
    if line == version {
        return Ok(this);
    }
    let first = first.display();
    warning(
        format!("{this}, but the first on PATH is {first}: {line}"),
        help,
    )
}

/// Checks that the client is not older than the oldest version that we test with.
fn check_client(root: &Utf8Path) -> Found {
    let this = std::env::var_os("CLAUDE_CODE_EXECPATH").map(PathBuf::from);
    let this = this.filter(|file| file.is_absolute() && file.is_file());
    let Some(client) = this.or_else(|| find_installed("claude", root)) else {
        return Ok("not checked: `claude` is not on PATH".to_owned());
    };
    let environment = Environment::allowing(claude::variables());
    match first_line(&client, "--version", environment, root) {
        Ok(line) if parse_version(&line).is_some_and(|version| version < OLDEST_CLIENT) => {
            let found = format!("{line} is older than the oldest version that is tested");
            warning(found, "run `claude update`")
        }
        Ok(line) => Ok(format!("{line}, {}", client.display())),
        Err(why) => warning(why, "install Claude Code again"),
    }
}

/// Parses `2.1.330 (Claude Code)`.
fn parse_version(line: &str) -> Option<[u64; 3]> {
    let number = line.split([' ', '-']).next()?;
    let parts: Option<Vec<u64>> = number.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

/// Checks that the client runs our Stop hook.
fn check_hooks(info: &ProgramInfo, client: &ClientFiles) -> Found {
    if let Some((file, key)) = client.hooks_off() {
        let found = format!("{file} has `{key}`: the client does not run our hooks");
        return problem(found, format!("remove `{key}` from that file"));
    }
    if let Some(place) = client.our_hook(info) {
        return Ok(format!("our Stop hook is called by {place}"));
    }
    if info.plugin.is_some() {
        return Ok("enabled; our plugin is not installed".to_owned());
    }
    let program = info.program;
    let found = format!("no Stop hook calls {program}, so no loop is driven");
    let help = format!("add the output of this to .claude/settings.json:\n    {program} hooks");
    warning(found, help)
}

/// Checks that no Stop hook of another plugin works on our state folder.
fn check_other_plugins(info: &ProgramInfo, client: &ClientFiles) -> Found {
    let folder = info.state.folder;
    let Some(plugin) = client.rival(info) else {
        return Ok(format!("none works on {folder}"));
    };
    let found = format!("the Stop hook of {plugin} also works on {folder}");
    let help =
        format!("keep one of the two. To disable that one:\n    claude plugin disable {plugin}");
    warning(found, help)
}

/// Checks that files in the state folder can be replaced and locked.
fn check_state_folder(info: &'static ProgramInfo, here: &Utf8Path) -> Found {
    let store = locate::stores(info.state, &[here]).into_iter().next();
    let store = store.unwrap_or_else(|| locate::for_start(info.state, here));
    let folder = store.folder();
    if let Some(refusal) = store.refusal() {
        return refused(refusal, "look at what is there");
    }
    let existing = nearest_existing(folder);
    match try_folder(existing) {
        Ok(()) if existing == folder => Ok(folder.to_string()),
        Ok(()) => Ok(format!("{folder} (the first start creates it)")),
        Err(error) => problem(
            format!("cannot write to {existing}: {error}"),
            "make the project's folder writable, on a local file system",
        ),
    }
}

/// Returns a folder, or its nearest ancestor that exists, on whose file system it will be created.
fn nearest_existing(folder: &Utf8Path) -> &Utf8Path {
    let mut ancestors = folder.ancestors();
    let existing = ancestors.find(|path| path.symlink_metadata().is_ok());
    existing.unwrap_or(folder)
}

/// Replaces and locks a file in a temporary folder below this one.
fn try_folder(folder: &Utf8Path) -> std::io::Result<()> {
    let mut scratch = tempfile::Builder::new();
    let scratch = scratch.prefix(".loop-doctor").tempdir_in(folder)?;
    let scratch = Folder::open(Utf8Path::from_path(scratch.path()).unwrap_or(folder))?;
    scratch.replace("x.state", b"phase: drafting\n")?;
    let lock = RunLock::try_take(&scratch).map_err(std::io::Error::other)?;
    match lock.map(|_lock| RunLock::is_held(&scratch)) {
        Some(true) => Ok(()),
        _ => Err(std::io::Error::other("a lock does not exclude others")),
    }
}

/// Checks that each loop of the project can be read.
fn check_loops(info: &'static ProgramInfo, here: &Utf8Path) -> Found {
    let loops = locate::loops(info.state, here);
    let problem = |(store, listed): &(Store, Listed)| {
        let is_read = listed.ours && !listed.terminal;
        let error = || Some(store.journal(&listed.id).err()?.to_string());
        let why = listed.problem.clone();
        let why = why.or_else(|| error().filter(|_| is_read))?;
        Some(format!("{}: {why}", listed.path))
    };
    if let Some(broken) = loops.iter().find_map(problem) {
        let program = info.program;
        let help = format!("move all loops to the archive:\n    {program} rollback");
        return warning(broken, help);
    }
    let active = loops.iter().filter(|(_, listed)| !listed.terminal).count();
    Ok(format!("{} in this project, {active} active", loops.len()))
}

/// Checks that the user's own folder outside of every project is closed to others and can be written.
fn check_state_home(info: &ProgramInfo) -> Found {
    let home = StateHome::of_user(info.program);
    let folder = home
        .checked()
        .or_else(|error| refused(error, "set HOME to your home folder"))?;
    let existing = nearest_existing(folder);
    let unwritable = |error| {
        let help = "make that folder writable, or set XDG_STATE_HOME to one that is";
        problem(format!("cannot write to {folder}: {error}"), help)
    };
    let written = tempfile::tempfile_in(existing).map(drop);
    written.or_else(unwritable)?;
    let key = home.check_key().map(drop);
    key.or_else(|error| refused(error, "restore the key from a backup, or remove it"))?;
    if existing != folder {
        return Ok(format!("{folder} (the first start creates it)"));
    }
    let mode = folder.metadata().map_or(0, |found| found.mode());
    match mode & 0o077 {
        0 => Ok(folder.to_string()),
        _ => problem(
            format!("{folder} is open to other users"),
            "close it with `chmod 700`",
        ),
    }
}

fn check_git(root: &Utf8Path) -> Found {
    let help = "install git: it finds the top folder of a project";
    match find_installed("git", root) {
        Some(git) => first_line(&git, "--version", Environment::default(), root)
            .or_else(|why| warning(why, help)),
        None => warning("git is not on PATH outside of the project", help),
    }
}

fn check_configuration(settings: &Settings) -> Found {
    if !settings.ignored.is_empty() {
        let help = "remove it there; your own file may have it";
        return warning(settings.ignored.join("\n"), help);
    }
    let personas = settings.personas.all().len();
    let reviewer = &settings.reviewer;
    Ok(format!("reviewer {reviewer}, {personas} personas"))
}

/// Checks that each command which a phase runs is configured and installed.
fn check_commands(settings: &Settings, root: &Utf8Path) -> impl Iterator<Item = Found> {
    let phases = settings.info.table.phases.iter();
    let behaviours = phases.filter_map(|phase| phase.on_stop.as_ref());
    let runs = behaviours.filter(|behaviour| behaviour.name == "run");
    let names: BTreeSet<_> = runs.filter_map(|run| run.parameter("command")).collect();
    let file = user_path().map_or_else(|_| "your configuration".to_owned(), Into::into);
    names.into_iter().map(move |name| {
        let found = match settings.commands.get(name) {
            Some(command) if is_installed(command, root) => {
                return Ok(format!("{name} runs {}", command.program));
            }
            Some(command) => format!("{name}: {} is not on PATH", command.program),
            None => format!("{name} is not configured, and a loop waits for it"),
        };
        let help = format!("name an installed program in [commands.{name}] of {file}");
        problem(found, help)
    })
}

/// Checks the reviewer that a loop gets. Names the others that are installed.
fn check_reviewer(settings: &Settings, root: &Utf8Path) -> Found {
    let variable = settings.info.variable("REVIEWER");
    let help = format!("set {variable} to another reviewer, such as lint");
    let chosen = reviewers::choose(None, None, settings, root);
    let chosen = chosen.or_else(|error| refused(error, &help))?;
    let is_installed = |name: &&String| reviewers::is_installed(&settings.reviewers[*name], root);
    let (installed, missing): (Vec<_>, Vec<_>) = settings.reviewers.keys().partition(is_installed);
    let name = chosen.reviewer.name();
    if missing.iter().any(|missing| *missing == name) {
        let found = format!("the program of {name} is not on PATH outside of the project");
        return problem(found, format!("install it, or {help}"));
    }
    let mut names = settings.info.own_reviewers();
    names.extend(installed.into_iter().cloned());
    Ok(format!("{}; installed: {}", chosen.shown, names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_of_three_numbers_is_parsed() {
        assert_eq!(parse_version("2.1.330 (Claude Code)"), Some([2, 1, 330]));
        assert_eq!(
            parse_version("2.1.330-beta.2 (Claude Code)"),
            Some([2, 1, 330])
        );
        for line in ["", "Claude Code", "2.1", "2.1.x", "2.1.3.4", "v2.1.3"] {
            assert_eq!(parse_version(line), None, "{line}");
        }
    }
}
