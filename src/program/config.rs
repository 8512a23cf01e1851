//! `config`: where the configuration is, what holds, and what is wrong with it.

use std::io::{ErrorKind, Write as _};

use camino::Utf8Path;
use serde_json::json;

use super::arguments::Config;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::settings::{EXAMPLE, Settings, SettingsError, own_environment, project_path, user_path};
use super::{locate, loops, out};
use crate::hooks::seen::Seen;
use crate::text;

/// The most characters of a value that are shown on its line.
const MAX_VALUE_CHARS: usize = 60;

/// Runs a configuration command.
pub(super) fn config(info: &'static ProgramInfo, command: &Config) -> Result<Exit, Failure> {
    match command {
        Config::Path(format) => show_paths(info, format.json),
        Config::Show(format) => show(info, format.json),
        Config::Check => check(info),
        Config::Init => init(info),
    }
}

/// Prints the paths of both files, and whether there is one.
fn show_paths(info: &ProgramInfo, json: bool) -> Result<Exit, Failure> {
    let user = user_path().map_err(unusable)?;
    let project = project_path(info, &locate::root(info.state, &loops::here()?));
    let exists = |path: &Utf8Path| path.symlink_metadata().is_ok();
    if json {
        let value = |path: &Utf8Path| json!({ "path": path, "exists": exists(path) });
        out::json(&json!({ "user": value(&user), "project": value(&project) }));
        return Ok(Exit::Complete);
    }
    for (whose, path) in [("user:    ", user), ("project: ", project)] {
        let missing = if exists(&path) { "" } else { " (not there)" };
        out::exact(&format!("{whose}{}{missing}", text::exact(&path)));
    }
    Ok(Exit::Complete)
}

/// Prints every setting that holds here, with its source.
fn show(info: &'static ProgramInfo, json: bool) -> Result<Exit, Failure> {
    let rows = loops::settings_here(info)?.rows();
    if json {
        out::json(&rows);
        return Ok(Exit::Complete);
    }
    let lines = rows.iter().map(|row| {
        let value = text::one_line(&row.value.to_string(), MAX_VALUE_CHARS);
        (format!("{} = {value}", row.key), &row.source)
    });
    let lines: Vec<_> = lines.collect();
    let width = lines.iter().map(|(line, _)| line.chars().count()).max();
    let width = width.unwrap_or_default();
    for (line, source) in lines {
        out::text(&format!("{line:width$}  {source}\n"));
    }
    Ok(Exit::Complete)
}

/// Checks each file and the environment on its own, so that one problem does not hide the others. Prints a line for
/// each, and the first problem of each.
fn check(info: &'static ProgramInfo) -> Result<Exit, Failure> {
    let root = locate::root(info.state, &loops::here()?);
    let user = user_path().map_err(unusable)?;
    let project = project_path(info, &root);
    let none = Seen::default();
    let of_user = Settings::load_layers(info, Some(&user), None, &none);
    // A project's limits are compared with the user's.
    let below = Some(user.as_path()).filter(|_| of_user.is_ok());
    let of_project = Settings::load_layers(info, below, Some(&root), &none);
    let of_environment = Settings::load_layers(info, None, None, &own_environment(info));

    let mut exit = Exit::Complete;
    let mut ignored = Vec::new();
    for (whose, path, settings) in [
        ("user", Some(&user), of_user),
        ("project", Some(&project), of_project),
        ("environment", None, of_environment),
    ] {
        match (settings, path) {
            (Ok(settings), Some(path)) => {
                let exists = path.symlink_metadata().is_ok();
                let result = if exists { "well-formed" } else { "not there" };
                out::exact(&format!("{whose}: {}: {result}", text::exact(path)));
                ignored = settings.ignored;
            }
            (Ok(_), None) => {}
            (Err(problem), _) => {
                exit = Exit::Usage;
                unusable(problem).print(info);
            }
        }
    }
    for line in ignored {
        out::note(&line);
    }
    Ok(exit)
}

/// Writes the example with every setting commented out, if there is no file yet.
fn init(info: &ProgramInfo) -> Result<Exit, Failure> {
    let path = user_path().map_err(unusable)?;
    let shown = text::exact(&path);
    let folder = path.parent().unwrap_or(&path);
    let created = std::fs::create_dir_all(folder).and_then(|()| std::fs::File::create_new(&path));
    let written = created.and_then(|mut file| file.write_all(example_to_edit(info).as_bytes()));
    if let Err(error) = written {
        let (exit, help) = match error.kind() {
            ErrorKind::AlreadyExists => (
                Exit::Refused,
                "it is left as it is; edit it, or move it away first",
            ),
            _ => (
                Exit::Internal,
                "find out who owns the folder and whether the disk is full",
            ),
        };
        let message = format!("cannot create {shown}: {error}");
        return Err(Failure::plain(exit, "claudex::config::init", message, help));
    }
    out::exact(&format!(
        "{shown}: written, with every setting commented out"
    ));
    Ok(Exit::Complete)
}

/// Returns the example with every setting in it commented out by a bare `#`.
pub(super) fn example_to_edit(info: &ProgramInfo) -> String {
    let example = EXAMPLE.replace("claudex-loop", info.program);
    let lines = example.lines().map(|line| match line {
        line if line.is_empty() || line.starts_with('#') => format!("{line}\n"),
        line => format!("#{line}\n"),
    });
    lines.collect()
}

fn unusable(error: SettingsError) -> Failure {
    Failure::new(Exit::Usage, error)
}
