//! The two configuration files: their paths and their text. Nothing is created here.

use std::io;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};

use super::SettingsError;
use crate::files::{self, Folder};
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
pub(in crate::program) fn user_path() -> Result<Utf8PathBuf, SettingsError> {
    // The XDG specification has a relative path ignored.
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    named
        .filter(|path| path.is_absolute())
        .or_else(|| Some(std::env::home_dir()?.join(".config")))
        .and_then(|folder| Utf8PathBuf::from_path_buf(folder).ok())
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(USER_FILE))
        .ok_or_else(|| {
            let help = "set HOME, or XDG_CONFIG_HOME, to an absolute path in UTF-8";
            SettingsError::new("cannot find the configuration folder", help)
        })
}

/// Reads the project's file, and returns it with its path; `None` if there is none. No symlink is followed below the root.
pub(super) fn read_project(
    info: &ProgramInfo,
    root: &Utf8Path,
) -> Result<Option<(Utf8PathBuf, String)>, SettingsError> {
    let name = format!("{}.toml", info.name);
    let path = root.join(PROJECT_FOLDER).join(&name);
    let folder = Folder::open(root).and_then(|root| root.subfolder(PROJECT_FOLDER));
    let bytes = folder.and_then(|folder| folder.read(&name, MAX_PROJECT_BYTES));
    let text = if_there(bytes, &path)?;
    Ok(text.map(|text| (path, text)))
}

/// Returns the text of a file that was read, or `None` if it is not there.
pub(super) fn if_there(
    read: io::Result<Vec<u8>>,
    path: &Utf8Path,
) -> Result<Option<String>, SettingsError> {
    files::if_there(read.and_then(files::text)).map_err(|error| {
        let message = format!("cannot read {}: {error}", text::exact(path));
        SettingsError::new(message, "put a TOML file there, or move it away")
    })
}
