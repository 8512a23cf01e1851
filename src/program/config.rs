//! `config`: the settings that hold with their sources, the first problem, and an example.

use std::io::{ErrorKind, Write as _};

use serde_json::json;

use super::arguments::Config;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::settings::{EXAMPLE, Settings, SettingsError, project_path, user_path};
use super::{locate, loops, out};
use crate::text;

/// The most characters of a value that are shown on its line.
const MAX_VALUE_CHARS: usize = 60;

/// Runs a configuration command.
pub(super) fn config(info: &'static ProgramInfo, command: &Config) -> Result<Exit, Failure> {
    match command {
        Config::Show(format) => show(info, format.json),
        Config::Check => check(info),
        Config::Init => init(info),
    }
}

/// Prints every setting that holds here, with its source.
fn show(info: &'static ProgramInfo, json: bool) -> Result<Exit, Failure> {
    let settings = loops::settings_here(info)?;
    if json {
        let rows = settings
            .rows
            .iter()
            .map(|row| json!({ "key": row.key(), "value": row.value, "source": row.source }));
        out::json(&rows.collect::<Vec<_>>());
        return Ok(Exit::Complete);
    }
    let rows = settings.rows.iter().map(|row| {
        let value = text::one_line(&row.value.to_string(), MAX_VALUE_CHARS);
        vec![format!("{} = {value}", row.key()), row.source.clone()]
    });
    for line in out::table(&rows.collect::<Vec<_>>()) {
        out::line(&line);
    }
    Ok(Exit::Complete)
}

/// Prints the paths of both files, and the settings that are ignored in them.
fn check(info: &'static ProgramInfo) -> Result<Exit, Failure> {
    let root = locate::root(info.state, &loops::here()?);
    let settings = Settings::load(info, &root).map_err(unusable)?;
    let user = user_path().map_err(unusable)?;
    for (owner, path) in [("user", user), ("project", project_path(info, &root))] {
        let is_there = path.symlink_metadata().is_ok();
        let result = if is_there { "valid" } else { "not there" };
        out::exact(&format!("{owner}: {}: {result}", text::exact(path)));
    }
    settings.ignored.iter().for_each(|line| out::note(line));
    Ok(Exit::Complete)
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
            ErrorKind::AlreadyExists => (Exit::Refused, "edit it, or move it away first"),
            _ => (Exit::Internal, "make its folder writable"),
        };
        let message = format!("cannot create {shown}: {error}");
        return Err(Failure::plain(exit, message, help));
    }
    out::exact(&format!("Wrote {shown} with every setting commented out"));
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
