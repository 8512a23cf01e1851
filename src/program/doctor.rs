//! `doctor`: checks what a loop needs, one line and one help for each check. It leaves nothing behind.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use miette::Diagnostic;
use serde::Serialize;

use super::app::{App, Program};
use super::client_files::ClientFiles;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::plugin::variable;
use super::settings::{Settings, user_path};
use super::{Tone, locate, loops, out, reviewers};
use crate::files::Folder;
use crate::hooks::OLDEST_CLIENT;
use crate::process::configured::is_installed;
use crate::process::environment::{Environment, clean_path, find_program};
use crate::process::limits::Limits;
use crate::process::{Call, ProcessEnd, supervise};
use crate::review::claude;
use crate::review::settings::ReviewerKind;
use crate::store::{RunLock, StateHome};
use crate::text;

/// How long a program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest text of a check, in characters.
const MAX_TEXT_CHARS: usize = 500;

/// One check. Its fields are those of `--json`.
#[derive(Debug, Serialize)]
struct Check {
    name: String,
    result: Verdict,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, derive_more::Display)]
#[serde(rename_all = "lowercase")]
#[display(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// Loops run, but something is missing.
    Warning,
    /// No loop runs as it should.
    Problem,
}

impl Check {
    fn ok(name: &str, found: impl AsRef<str>) -> Self {
        Self {
            name: name.to_owned(),
            result: Verdict::Ok,
            found: text::lines(found.as_ref(), MAX_TEXT_CHARS),
            help: None,
        }
    }

    fn warning(name: &str, found: impl AsRef<str>, help: impl AsRef<str>) -> Self {
        Self {
            result: Verdict::Warning,
            help: Some(text::lines(help.as_ref(), MAX_TEXT_CHARS)),
            ..Self::ok(name, found)
        }
    }

    fn problem(name: &str, found: impl AsRef<str>, help: impl AsRef<str>) -> Self {
        Self {
            result: Verdict::Problem,
            ..Self::warning(name, found, help)
        }
    }

    /// Returns a problem with the help of an error, or else with this one.
    fn error(name: &str, error: &dyn Diagnostic, otherwise: &str) -> Self {
        let help = error.help().map(|help| help.to_string());
        Self::problem(
            name,
            error.to_string(),
            help.as_deref().unwrap_or(otherwise),
        )
    }
}

/// Runs the checks. The exit code is 1 if one of them found a problem.
pub(super) fn doctor<M: App>(program: &Program<M>, json: bool) -> Result<Exit, Failure> {
    let info = program.info;
    let here = loops::here()?;
    let root = locate::root(info.state, &here);
    // The others open the folder and close it to other users.
    let state_home = check_state_home(info);
    let client_files = ClientFiles::read(&here, &root);
    let protocol = super::dispatch::protocol::<M>();

    let mut checks = vec![
        check_program(info, &protocol, &root),
        check_plugin(info, &protocol, &root),
        check_client(&root),
        check_hooks(info, &client_files),
        check_other_plugins(info, &client_files),
        check_state_folder(info, &here),
        check_loops(info, &here),
        state_home,
        check_git(&root),
    ];
    let (configuration, settings) = check_configuration(info, &root);
    checks.push(configuration);
    checks.extend(check_commands(info, &settings, &root));
    if M::TABLE.phases.iter().any(|phase| phase.review.is_some()) {
        checks.extend(check_reviewers(&settings, &root));
    }

    match json {
        true => out::json(&checks),
        false => print(&checks),
    }
    Ok(
        match checks.iter().any(|check| check.result == Verdict::Problem) {
            true => Exit::Refused,
            false => Exit::Complete,
        },
    )
}

fn print(checks: &[Check]) {
    let width = checks.iter().map(|check| check.name.len()).max();
    let width = width.unwrap_or_default();
    for check in checks {
        let sign = check.result.to_string();
        let tone = match check.result {
            Verdict::Ok => Tone::Good,
            Verdict::Warning => Tone::Warning,
            Verdict::Problem => Tone::Bad,
        };
        let line = format!("{sign:<7}  {:<width$}  {}", check.name, check.found);
        out::toned(&line, &sign, tone);
        if let Some(help) = &check.help {
            out::line(&format!("{:1$}  help: {help}", "", "problem".len()));
        }
    }
    let count = |result| checks.iter().filter(|check| check.result == result).count();
    out::line(match (count(Verdict::Problem), count(Verdict::Warning)) {
        (0, 0) => "Everything is as it should be.",
        (0, _) => "Loops can run. Each warning says what is missing.",
        _ => "Fix each problem first: until then no loop runs as it should.",
    });
}

/// Runs a program with a few seconds of time and returns the first line that it prints.
fn first_line(
    program: &Path,
    argument: &str,
    environment: Environment,
    root: &Utf8Path,
) -> Result<String, String> {
    let shown = program.display();
    let name = program
        .to_str()
        .ok_or_else(|| format!("{shown} is not UTF-8"))?;
    // The program does not run in the project, so the project's folders are taken off PATH here.
    let path = clean_path(&std::env::var_os("PATH").unwrap_or_default(), root);
    let call = Call {
        program: name,
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
    match ended.how {
        ProcessEnd::Exited(0) => {
            let printed = String::from_utf8_lossy(&ended.stdout);
            Ok(text::one_line(
                printed.lines().next().unwrap_or_default(),
                100,
            ))
        }
        ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. } => Err(format!(
            "{shown} {argument} did not end within {} s",
            VERSION_TIMEOUT.as_secs()
        )),
        ProcessEnd::CouldNotStart(error) => Err(error.to_string()),
        _ => Err(format!("{shown} {argument} failed")),
    }
}

/// Returns the files of our name on PATH: programs, and launchers of the plugin.
fn on_path(info: &ProgramInfo, root: &Utf8Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let path = clean_path(&std::env::var_os("PATH").unwrap_or_default(), root);
    let is_program = |file: &PathBuf| {
        let plugin = file.parent().and_then(Path::parent);
        plugin.is_none_or(|plugin| !plugin.join(".claude-plugin").is_dir())
    };
    std::env::split_paths(&path)
        .filter_map(|folder| find_program(info.program, Some(folder.as_os_str()), root))
        .partition(is_program)
}

/// Checks that the first program of our name on PATH is of this version: agents and people call it.
fn check_program(info: &ProgramInfo, protocol: &str, root: &Utf8Path) -> Check {
    const NAME: &str = "program";
    let inode = |file: &Path| file.metadata().map(|found| (found.dev(), found.ino())).ok();
    let own = std::env::current_exe().ok();
    let shown = own
        .as_ref()
        .map_or("?".into(), |own| own.display().to_string());
    let this = format!("{} {protocol}, {shown}", info.program);

    let (programs, launchers) = on_path(info, root);
    let help =
        "install this version (cargo install --path . in a clone), or put its folder first on PATH";
    let Some(first) = programs.first() else {
        return match launchers.is_empty() {
            true => Check::warning(NAME, format!("{this}, is not on PATH"), help),
            false => Check::ok(NAME, this),
        };
    };
    let is_this = own
        .as_deref()
        .and_then(inode)
        .is_some_and(|own| Some(own) == inode(first));
    if is_this {
        return Check::ok(NAME, this);
    }
    match first_line(first, "--protocol", Environment::default(), root) {
        Ok(line) if line == format!("{} {protocol}", info.program) => Check::ok(NAME, this),
        Ok(line) => {
            let found = format!(
                "{this}, but the first on PATH is {}: {line}",
                first.display()
            );
            Check::warning(NAME, found, help)
        }
        Err(why) => Check::warning(NAME, format!("{this}, but on PATH: {why}"), help),
    }
}

/// Checks that the plugin's launcher finds a program of this version.
fn check_plugin(info: &ProgramInfo, protocol: &str, root: &Utf8Path) -> Check {
    const NAME: &str = "plugin";
    let of_client = std::env::var_os("CLAUDE_PLUGIN_ROOT").map(PathBuf::from);
    let of_client = of_client
        .map(|plugin| plugin.join("bin").join(info.program))
        .filter(|file| file.is_absolute() && file.is_file());
    let Some(launcher) = of_client.or_else(|| on_path(info, root).1.into_iter().next()) else {
        return Check::ok(
            NAME,
            "not checked: its launcher is on PATH only inside Claude Code",
        );
    };
    let names = [
        variable(info.program, "BIN"),
        "CARGO_HOME".to_owned(),
        "CLAUDE_PLUGIN_DATA".to_owned(),
    ];
    let shown = launcher.display();
    let help = format!(
        "install this version (cargo install --path . in a clone), or set {} to it",
        names[0]
    );
    match first_line(&launcher, "--protocol", Environment::allowing(names), root) {
        Ok(line) if line == format!("{} {protocol}", info.program) => {
            Check::ok(NAME, format!("{shown} finds this version"))
        }
        Ok(line) => Check::problem(NAME, format!("{shown} finds another program: {line}"), help),
        Err(_) => Check::problem(NAME, format!("{shown} finds no program"), help),
    }
}

/// Checks that the client is not older than the oldest version that we test with.
fn check_client(root: &Utf8Path) -> Check {
    const NAME: &str = "client";
    let this = std::env::var_os("CLAUDE_CODE_EXECPATH").map(PathBuf::from);
    let this = this.filter(|file| file.is_absolute() && file.is_file());
    let path = std::env::var_os("PATH");
    let Some(client) = this.or_else(|| find_program("claude", path.as_deref(), root)) else {
        return Check::ok(NAME, "not checked: `claude` is not on PATH");
    };
    let oldest = OLDEST_CLIENT.map(|part| part.to_string()).join(".");
    let environment = Environment::allowing(claude::variables());
    match first_line(&client, "--version", environment, root) {
        Err(why) => Check::warning(NAME, why, "install Claude Code again"),
        Ok(line) if parse_version(&line).is_some_and(|version| version < OLDEST_CLIENT) => {
            let found = format!("{line} is older than {oldest}, the oldest version that is tested");
            Check::warning(NAME, found, "run `claude update`")
        }
        Ok(line) => Check::ok(NAME, format!("{line}, {}", client.display())),
    }
}

/// Parses `2.1.330 (Claude Code)`.
fn parse_version(line: &str) -> Option<[u64; 3]> {
    let number = line.split([' ', '-']).next()?;
    let parts: Option<Vec<u64>> = number.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

/// Checks that the client runs our Stop hook.
fn check_hooks(info: &ProgramInfo, client: &ClientFiles) -> Check {
    const NAME: &str = "hooks";
    if let Some((file, key)) = client.hooks_off() {
        let found = format!("{file} has `{key}`: the client does not run our hooks");
        return Check::problem(NAME, found, format!("remove `{key}` from that file"));
    }
    if let Some(file) = client.invalid.first() {
        let found = format!("{file} is not JSON, so the client ignores it");
        return Check::warning(NAME, found, "fix that file");
    }
    match client.our_hook(info) {
        Some(place) => Check::ok(NAME, format!("our Stop hook is called by {place}")),
        None if info.plugin.is_some() => Check::ok(
            NAME,
            "enabled; our plugin is not installed (--plugin-dir cannot be seen here)",
        ),
        None => Check::warning(
            NAME,
            format!("no Stop hook calls {}, so no loop is driven", info.program),
            format!(
                "add the output of this to .claude/settings.json:\n    {} hooks",
                info.program
            ),
        ),
    }
}

/// Checks that no Stop hook of another plugin works on our state folder.
fn check_other_plugins(info: &ProgramInfo, client: &ClientFiles) -> Check {
    const NAME: &str = "other plugins";
    match client.rival(info) {
        Some(plugin) => Check::warning(
            NAME,
            format!(
                "the Stop hook of {plugin} works on {} as ours does",
                info.state.folder
            ),
            format!(
                "keep one of the two; to switch that one off:\n    claude plugin disable {plugin}"
            ),
        ),
        None => Check::ok(NAME, format!("none works on {}", info.state.folder)),
    }
}

/// Checks that files in the state folder can be replaced and locked.
fn check_state_folder(info: &'static ProgramInfo, here: &Utf8Path) -> Check {
    const NAME: &str = "state folder";
    let store = locate::stores(info.state, &[here]).into_iter().next();
    let store = store.unwrap_or_else(|| locate::for_start(info.state, here));
    let folder = store.folder();
    if let Some(refusal) = store.refusal() {
        return Check::error(NAME, &refusal, "look at what is there");
    }
    // If the folder does not exist, it will be on the file system of its nearest ancestor.
    let existing = folder.ancestors().find(|folder| folder.is_dir());
    let existing = existing.unwrap_or(here);
    let mut missing = folder.ancestors().take_while(|folder| *folder != existing);
    if let Some(file) = missing.find(|path| path.symlink_metadata().is_ok()) {
        let found = format!("{file} is not a folder, so {folder} cannot be created");
        return Check::problem(NAME, found, "move that file away");
    }
    match try_folder(existing) {
        Ok(()) if folder.is_dir() => Check::ok(NAME, folder),
        Ok(()) => Check::ok(NAME, format!("{folder} (the first start creates it)")),
        Err(why) => Check::problem(
            NAME,
            why,
            "make the project's folder writable, on a local file system",
        ),
    }
}

/// Replaces and locks a file in a temporary folder below this one.
fn try_folder(folder: &Utf8Path) -> Result<(), String> {
    let scratch = tempfile::Builder::new()
        .prefix(".loop-doctor")
        .tempdir_in(folder)
        .map_err(|error| format!("cannot write to {folder}: {error}"))?;
    let path = Utf8PathBuf::from_path_buf(scratch.path().to_owned())
        .map_err(|path| format!("{} is not UTF-8", path.display()))?;
    let scratch = Folder::open(&path).map_err(|error| format!("{path}: {error}"))?;
    scratch
        .replace("x.state", b"phase: drafting\n")
        .map_err(|error| format!("cannot replace a file in {folder}: {error}"))?;
    let lock = RunLock::try_take(&scratch).map_err(|error| error.to_string())?;
    match lock.map(|_lock| RunLock::is_held(&scratch)) {
        Some(true) => Ok(()),
        _ => Err(format!("a lock does not exclude others in {folder}")),
    }
}

/// Checks that each loop of the project can be read.
fn check_loops(info: &'static ProgramInfo, here: &Utf8Path) -> Check {
    const NAME: &str = "loops";
    let loops = locate::loops(info.state, here);
    let broken: Vec<_> = loops
        .iter()
        .filter_map(|(_, listed)| Some((listed, listed.problem.as_ref()?)))
        .collect();
    if let Some((listed, why)) = broken.first() {
        let found = format!(
            "{} of {} cannot be read, such as {}: {why}",
            broken.len(),
            loops.len(),
            listed.path
        );
        let help = format!("to move all loops aside:\n    {} rollback", info.program);
        return Check::warning(NAME, found, help);
    }
    let mut ours = loops
        .iter()
        .filter(|(_, listed)| listed.ours && !listed.terminal);
    if let Some(error) = ours.find_map(|(store, listed)| store.journal(&listed.id).err()) {
        return Check {
            result: Verdict::Warning,
            ..Check::error(NAME, &error, "look at its journal")
        };
    }
    let active = loops.iter().filter(|(_, listed)| !listed.terminal).count();
    Check::ok(
        NAME,
        format!("{} in this project, {active} active", loops.len()),
    )
}

/// Checks that the user's own folder outside of every project is closed to others and can be written.
fn check_state_home(info: &ProgramInfo) -> Check {
    const NAME: &str = "state home";
    let home = StateHome::of_user(info.program);
    let folder = match home.checked() {
        Ok(folder) => folder,
        Err(error) => return Check::error(NAME, &error, "set HOME to your home folder"),
    };
    // A folder that is not there yet is made in the nearest one above it.
    let mut ancestors = folder.ancestors();
    let there = ancestors.find(|folder| folder.exists()).unwrap_or(folder);
    if let Err(error) = tempfile::tempfile_in(there) {
        return Check::problem(
            NAME,
            format!("cannot write to {folder}: {error}"),
            "make that folder writable, or set XDG_STATE_HOME to one that is",
        );
    }
    if let Err(error) = home.check_key() {
        return Check::error(NAME, &error, "restore the key from a backup, or remove it");
    }
    if there != folder {
        return Check::ok(NAME, format!("{folder} (the first start creates it)"));
    }
    match folder.metadata() {
        Ok(found) if found.mode() & 0o077 != 0 => Check::problem(
            NAME,
            format!("{folder}: other users may look into it"),
            "close it with `chmod 700`",
        ),
        _ => Check::ok(NAME, folder),
    }
}

fn check_git(root: &Utf8Path) -> Check {
    const NAME: &str = "git";
    let path = std::env::var_os("PATH");
    let version = find_program("git", path.as_deref(), root)
        .ok_or_else(|| "git is not on PATH outside of the project".to_owned())
        .and_then(|git| first_line(&git, "--version", Environment::default(), root));
    match version {
        Ok(line) => Check::ok(NAME, line),
        Err(why) => Check::warning(
            NAME,
            why,
            "install git: it finds the top folder of a project",
        ),
    }
}

/// Checks that the configuration can be read. Returns the defaults if it cannot.
fn check_configuration(info: &'static ProgramInfo, root: &Utf8Path) -> (Check, Settings) {
    const NAME: &str = "configuration";
    match Settings::load(info, root) {
        Ok(settings) => {
            let found = format!(
                "reviewer {}, {} personas",
                settings.reviewer,
                settings.personas.all().len()
            );
            let check = match settings.ignored.is_empty() {
                true => Check::ok(NAME, found),
                false => Check::warning(
                    NAME,
                    settings.ignored.join("\n"),
                    "remove it there; your own file may have it",
                ),
            };
            (check, settings)
        }
        Err(error) => {
            let check = Check::error(NAME, &error, "fix or remove it");
            (check, Settings::usual(info))
        }
    }
}

/// Checks that each command which a phase runs is configured and installed.
fn check_commands(info: &ProgramInfo, settings: &Settings, root: &Utf8Path) -> Vec<Check> {
    let behaviours = info
        .table
        .phases
        .iter()
        .filter_map(|phase| phase.on_stop.as_ref());
    let names: BTreeSet<_> = behaviours
        .filter(|behaviour| behaviour.name == "run")
        .filter_map(|behaviour| behaviour.parameter("command"))
        .collect();
    let file = user_path().map_or_else(|_| "your configuration".to_owned(), Into::into);
    let check = |name: &str| match settings.commands.get(name) {
        Some(command) if is_installed(command, root) => {
            Check::ok("run", format!("{name} runs {}", command.program))
        }
        Some(command) => Check::problem(
            "run",
            format!(
                "{name}: {} is not on PATH outside of the project",
                command.program
            ),
            format!("install it, or name another program in [commands.{name}] of {file}"),
        ),
        None => Check::problem(
            "run",
            format!("{name} is not configured, and a loop waits at that phase"),
            format!("add [commands.{name}] with its program to {file}"),
        ),
    };
    names.into_iter().map(check).collect()
}

/// Checks the reviewer that a loop gets, and whether the programs of the others are installed.
fn check_reviewers(settings: &Settings, root: &Utf8Path) -> Vec<Check> {
    let chosen = reviewers::choose(None, None, settings, root);
    let chosen_name = match &chosen {
        Ok(chosen) => chosen.reviewer.name().to_owned(),
        Err(_) => settings.reviewer.clone(),
    };
    let variable = settings.info.variable("REVIEWER");
    let help = format!("set {variable} to another reviewer, such as lint");
    let mut checks = vec![match chosen {
        Ok(chosen) => Check::ok(
            "reviewer",
            format!("{} reviews unless told otherwise", chosen.shown),
        ),
        Err(error) => Check::error("reviewer", &error, &help),
    }];
    for (name, reviewer) in &settings.reviewers {
        let kind = reviewer.kind.to_string();
        let program = reviewer.program.as_deref().unwrap_or(&kind);
        let name_of_check = format!("reviewer {name}");
        let path = std::env::var_os("PATH");
        checks.push(match find_program(program, path.as_deref(), root) {
            _ if reviewer.kind == ReviewerKind::Lint => Check::ok(&name_of_check, "built in"),
            Some(found) => Check::ok(&name_of_check, found.to_string_lossy()),
            None if *name == chosen_name => Check::problem(
                &name_of_check,
                format!("`{program}` is not on PATH outside of the project"),
                format!("install it, or {help}"),
            ),
            None => Check::ok(&name_of_check, format!("`{program}` is not installed")),
        });
    }
    let own = settings.info.own_reviewers().into_iter();
    checks.extend(own.map(|name| Check::ok(&format!("reviewer {name}"), "built in")));
    checks
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
