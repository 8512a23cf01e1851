//! The two configuration files: their paths and their text. Nothing is created here.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};

use super::SettingsError;
use crate::files::{self, Distrust, Folder, UntrustedError};
use crate::program::info::ProgramInfo;
use crate::text;

/// The user's file, in the configuration folder.
const USER_FILE: &str = "claudex-loop/config.toml";
/// The folder of the project's file, in the loop's root.
const PROJECT_FOLDER: &str = ".claude";
/// The largest project's file, in bytes.
const MAX_PROJECT_BYTES: u64 = 64 * 1024;

/// Returns the path of the user's file, which may be missing: below `XDG_CONFIG_HOME` if that is absolute, else below
/// `~/.config`.
///
/// # Errors
/// Returns an error if there is no home, or its path is not absolute or not UTF-8.
pub fn user_path() -> Result<Utf8PathBuf, SettingsError> {
    // The XDG specification has a relative path ignored.
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = match named.filter(|path| path.is_absolute()) {
        Some(folder) => Some(folder),
        None => std::env::home_dir().map(|home| home.join(".config")),
    };
    folder
        .and_then(|folder| Utf8PathBuf::from_path_buf(folder).ok())
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(USER_FILE))
        .ok_or_else(|| SettingsError {
            message: "there is no configuration folder".to_owned(),
            help: "set HOME, or XDG_CONFIG_HOME, to an absolute path in UTF-8".to_owned(),
        })
}

/// Returns the path of a project's file, which may be missing.
pub fn project_path(info: &ProgramInfo, root: &Utf8Path) -> Utf8PathBuf {
    root.join(PROJECT_FOLDER)
        .join(format!("{}.toml", info.name))
}

/// Reads the user's file, through symlinks; `None` if there is none.
pub(super) fn read_user(path: &Utf8Path) -> Result<Option<String>, SettingsError> {
    if_there(files::read(path).and_then(files::text), path)
}

/// Reads a project's file; `None` if there is none. No symlink is followed below the root.
pub(super) fn read_project(
    root: &Utf8Path,
    path: &Utf8Path,
) -> Result<Option<String>, SettingsError> {
    let name = path.file_name().unwrap_or_default();
    let folder = Folder::open(root).and_then(|root| root.below(PROJECT_FOLDER));
    let bytes = folder.and_then(|folder| folder.read(name, MAX_PROJECT_BYTES));
    if_there(bytes.and_then(files::text), path)
}

fn if_there(read: io::Result<String>, path: &Utf8Path) -> Result<Option<String>, SettingsError> {
    let is_missing = |error: &io::Error| {
        UntrustedError::in_error(error).is_some_and(|it| it.why == Distrust::NotAFolder)
            || matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    };
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(SettingsError {
            message: format!("cannot read {}: {error}", text::exact(path)),
            help: "put a TOML file there, or move it away".to_owned(),
        }),
    }
}
