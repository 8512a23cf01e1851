//! Which program answers: this one, what PATH has under our name, and what the plugin's launcher finds.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::process::environment::{clean_path, find_program};
use crate::text;
use camino::Utf8Path;

use super::{Check, Problem, child};
use crate::program::info::ProgramInfo;
use crate::program::plugin::variable;

/// Returns the variable that says that a launcher is asked which one it is: it then answers that it is one.
fn probe(info: &ProgramInfo) -> String {
    variable(info.program, "PROBE")
}

/// Returns the variable with the program that the launcher takes without looking further.
pub fn named(info: &ProgramInfo) -> String {
    variable(info.program, "BIN")
}

/// What a file of our name turned out to be.
enum Found {
    Program(String),
    Launcher,
    Other(String),
}

/// The program itself, the first one on PATH, and the plugin's launcher.
pub(super) fn checks(info: &ProgramInfo, protocol: &str, root: &Utf8Path) -> Vec<Check> {
    let own = std::env::current_exe();
    let shown = own.as_ref().map_or_else(
        |_| "an unknown path".to_owned(),
        |own| own.display().to_string(),
    );
    let program = format!("{} {protocol}, {shown}", info.program);
    let own = own.ok();
    let on_path = on_path(info, root);
    let mut checks = vec![
        Check::required("program", Ok(program)),
        Check::useful("path", first(info, protocol, own.as_deref(), &on_path)),
    ];
    checks.push(match launchers(info, &on_path).first() {
        Some(launcher) => Check::required("launcher", launched(info, protocol, launcher, root)),
        None => Check::useful(
            "launcher",
            Ok("not looked at: the plugin's bin/ is on PATH inside Claude Code only".to_owned()),
        ),
    });
    checks
}

/// Returns the files of our name in PATH, in its order, and what each is. Relative folders and those of the project
/// are passed over, as the launcher does.
fn on_path(info: &ProgramInfo, root: &Utf8Path) -> Vec<(PathBuf, Found)> {
    let path = clean_path(&std::env::var_os("PATH").unwrap_or_default(), root);
    let mut seen = Vec::new();
    std::env::split_paths(&path)
        .filter_map(|folder| find_program(info.program, Some(folder.as_os_str()), root))
        .filter(|file| {
            let inode = file.metadata().map(|found| (found.dev(), found.ino())).ok();
            let is_new = !seen.contains(&inode);
            seen.push(inode);
            is_new
        })
        .map(|file| {
            let found = ask(info, &file, true, root);
            (file, found)
        })
        .collect()
}

/// Asks a file which protocol it speaks.
fn ask(info: &ProgramInfo, file: &Path, as_probe: bool, root: &Utf8Path) -> Found {
    let mut command = child::command(file, &["--protocol"], Path::new("/"), root);
    if as_probe {
        command.env(probe(info), "1");
    } else if let Some(named) = std::env::var_os(named(info)) {
        command.env(self::named(info), named);
    }
    match child::run(command, "") {
        Ok(output) if output.status.code() == Some(127) => Found::Launcher,
        Ok(output) => match output.out.trim().strip_prefix(info.program) {
            Some(version) if output.status.success() => {
                Found::Program(text::one_line(version, 100))
            }
            _ => Found::Other("gives no answer to --protocol".to_owned()),
        },
        Err(problem) => Found::Other(problem),
    }
}

/// The first program on PATH is the one that agents and people call.
fn first(
    info: &ProgramInfo,
    protocol: &str,
    own: Option<&Path>,
    on_path: &[(PathBuf, Found)],
) -> Result<String, Problem> {
    const REMEDY: &str =
        "install this one (cargo install --path . in a clone), or put its folder first on PATH";
    let name = info.program;
    let is_own = |file: &Path| {
        let inode = |file: &Path| file.metadata().map(|found| (found.dev(), found.ino())).ok();
        own.is_some_and(|own| inode(own).is_some() && inode(own) == inode(file))
    };
    let programs: Vec<_> = on_path
        .iter()
        .filter(|(_, found)| !matches!(found, Found::Launcher))
        .collect();
    let Some((file, found)) = programs.first() else {
        let Some((launcher, _)) = on_path.first() else {
            return Err(Problem::new(format!("no {name} is on PATH"), REMEDY));
        };
        return Ok(format!(
            "only the plugin's launcher is on PATH: {}",
            launcher.display()
        ));
    };
    let others = match programs.len() {
        1 => String::new(),
        count => format!("; {} more of that name on PATH", count - 1),
    };
    match found {
        _ if is_own(file) => Ok(format!("this program is the first on PATH{others}")),
        Found::Program(version) if version == protocol => Ok(format!(
            "the first on PATH is {}, the same version{others}",
            file.display()
        )),
        Found::Program(version) => Err(Problem::new(
            format!(
                "the first on PATH is {} with {version}, and this is {}{others}",
                file.display(),
                protocol
            ),
            REMEDY,
        )),
        Found::Other(problem) => Err(Problem::new(
            format!(
                "the first on PATH is {}, which {problem}{others}",
                file.display()
            ),
            REMEDY,
        )),
        Found::Launcher => Ok(format!("{}{others}", file.display())),
    }
}

/// The plugin's launchers: the one of the client's plugin folder, and those on PATH.
fn launchers(info: &ProgramInfo, on_path: &[(PathBuf, Found)]) -> Vec<PathBuf> {
    let plugin = std::env::var_os("CLAUDE_PLUGIN_ROOT").map(PathBuf::from);
    let of_plugin = plugin
        .map(|root| root.join("bin").join(info.program))
        .filter(|file| file.is_absolute() && file.is_file());
    let found = on_path
        .iter()
        .filter(|(_, found)| matches!(found, Found::Launcher));
    of_plugin
        .into_iter()
        .chain(found.map(|(file, _)| file.clone()))
        .collect()
}

/// What the plugin's hooks and scripts get.
fn launched(
    info: &ProgramInfo,
    protocol: &str,
    launcher: &Path,
    root: &Utf8Path,
) -> Result<String, Problem> {
    let shown = launcher.display();
    match ask(info, launcher, false, root) {
        Found::Program(version) if version == protocol => Ok(format!("{shown} finds this version")),
        Found::Program(version) => Err(Problem::new(
            format!("{shown} finds {version}, and this is {}", protocol),
            "install one version only: cargo install --path . in a clone, and remove the other",
        )),
        Found::Launcher => Err(Problem::new(
            format!("{shown} finds no program that it can take"),
            format!(
                "install it where the launcher looks: cargo install --path . in a clone, or set {}",
                named(info)
            ),
        )),
        Found::Other(problem) => Err(Problem::new(
            format!("{shown}: {problem}"),
            "install the plugin again",
        )),
    }
}

/// The Stop hook's script of the plugin that is there, as the client calls it.
pub fn stop_script(info: &ProgramInfo, root: &Utf8Path) -> Option<PathBuf> {
    let launcher = launchers(info, &on_path(info, root)).into_iter().next()?;
    let script = launcher.parent()?.parent()?.join("hooks/stop-hook.sh");
    script.is_file().then_some(script)
}
