//! `config`: where the configuration is, what holds, and what is wrong with it.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use serde_json::{Value, json};

use super::arguments::Config;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::settings::{self, SettingsError, check, example_to_edit, shown};
use super::{locate, loops, out};
use crate::text;

/// The most characters of a value that are shown on its line.
const SHOWN: usize = 60;

/// Runs a configuration command.
pub(super) fn config(info: &'static ProgramInfo, command: &Config) -> Result<Exit, Failure> {
    match command {
        Config::Path(format) => path(info, format.json),
        Config::Show(format) => show(info, format.json),
        Config::Check => checked(info),
        Config::Init => init(info),
    }
}

fn failed(error: SettingsError) -> Failure {
    Failure::new(Exit::Usage, error)
}

/// The paths of both files, and whether there is one.
fn path(info: &ProgramInfo, json: bool) -> Result<Exit, Failure> {
    let root = locate::root(info.state, &loops::here()?);
    let user = settings::user_path().map_err(failed)?;
    let files = [
        ("user", user),
        ("project", settings::project_path(info, &root)),
    ];
    if json {
        let object = |(whose, path): &(&str, camino::Utf8PathBuf)| {
            let value = json!({ "path": path, "exists": path.symlink_metadata().is_ok() });
            ((*whose).to_owned(), value)
        };
        out::json(&Value::Object(files.iter().map(object).collect()));
        return Ok(Exit::Complete);
    }
    for (whose, path) in &files {
        let there = match path.symlink_metadata() {
            Ok(_) => "",
            Err(_) => " (not there)",
        };
        out::exact(&format!(
            "{:<8} {}{there}",
            format!("{whose}:"),
            plain(path.as_str())
        ));
    }
    Ok(Exit::Complete)
}

/// Every setting that holds here, with where it comes from.
fn show(info: &'static ProgramInfo, json: bool) -> Result<Exit, Failure> {
    let settings = loops::settings_here(info)?;
    let all = shown(&settings);
    if json {
        out::json(&all);
        return Ok(Exit::Complete);
    }
    let lines: Vec<(String, String)> = all
        .iter()
        .map(|one| {
            let value = text::one_line(&one.value.to_string(), SHOWN);
            (
                format!("{} = {value}", one.key),
                plain(&one.origin.to_string()),
            )
        })
        .collect();
    let width = |line: &str| line.chars().count();
    let widest = lines.iter().map(|(line, _)| width(line)).max().unwrap_or(0);
    for (line, origin) in &lines {
        let space = " ".repeat(widest - width(line));
        out::text(&format!("{line}{space}  {origin}\n"));
    }
    Ok(Exit::Complete)
}

/// Prints a line for each file, and the first problem of each.
fn checked(info: &'static ProgramInfo) -> Result<Exit, Failure> {
    let mut exit = Exit::Complete;
    for checked in check(info, &locate::root(info.state, &loops::here()?)) {
        let path = checked.path.as_ref().map(|path| plain(path.as_str()));
        let called = match &path {
            Some(path) => format!("{}: {path}", checked.whose),
            None => checked.whose.to_owned(),
        };
        match checked.found {
            Ok(true) if path.is_none() => {}
            Ok(true) => out::exact(&format!("{called}: well-formed")),
            Ok(false) => out::exact(&format!("{called}: not there")),
            Err(error) => {
                exit = Exit::Usage;
                Failure::new(Exit::Usage, error).print(info);
            }
        }
        for line in &checked.ignored {
            out::note(line);
        }
    }
    Ok(exit)
}

/// Writes the example, with every setting in it commented out, where there is no file yet.
fn init(info: &ProgramInfo) -> Result<Exit, Failure> {
    let path = settings::user_path().map_err(failed)?;
    let problem = |error: std::io::Error| {
        let there = error.kind() == std::io::ErrorKind::AlreadyExists;
        let (exit, help) = if there {
            (
                Exit::Refused,
                "it is left as it is; edit it, or move it away first",
            )
        } else {
            (
                Exit::Internal,
                "see who owns the folder and whether the disk is full",
            )
        };
        let message = format!("cannot make {}: {error}", plain(path.as_str()));
        Failure::plain(exit, "claudex::config::init", message, help)
    };
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(problem)?;
    }
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .map_err(problem)?;
    file.write_all(example_to_edit(info).as_bytes())
        .map_err(problem)?;
    out::exact(&format!(
        "{}: written, with every setting commented out",
        plain(path.as_str())
    ));
    Ok(Exit::Complete)
}

/// A path or origin on one line, whatever is in it.
fn plain(text: &str) -> String {
    text::one_line(text, 4096)
}
