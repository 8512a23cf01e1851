//! The two configuration files: their paths and their text. Nothing is created here.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};

use super::SettingsError;
use crate::files::{Distrust, Folder, UntrustedError};
use crate::program::info::ProgramInfo;
use crate::text;

/// The user's file, in the configuration folder.
const USER_FILE: &str = "claudex-loop/config.toml";
/// The largest user's file, in bytes.
const MAX_USER_BYTES: u64 = 256 * 1024;
/// The folder of the project's file, in the loop's root.
const PROJECT_FOLDER: &str = ".claude";
/// The largest project's file, in bytes.
const MAX_PROJECT_BYTES: u64 = 64 * 1024;

/// Returns the path of the user's file, which may be missing: below `XDG_CONFIG_HOME` if that is absolute, else below
/// `~/.config`.
///
/// # Errors
/// There is no home, or its path is not absolute or not UTF-8.
pub fn user_path() -> Result<Utf8PathBuf, SettingsError> {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let usual = || std::env::home_dir().map(|home| home.join(".config"));
    path_in(named, usual)
}

fn path_in(
    named: Option<PathBuf>,
    usual: impl FnOnce() -> Option<PathBuf>,
) -> Result<Utf8PathBuf, SettingsError> {
    let home = |problem: String| SettingsError::Home { problem };
    // The XDG specification has a relative path ignored.
    let folder = match named.filter(|path| path.is_absolute()) {
        Some(folder) => folder,
        None => usual().ok_or_else(|| home("no HOME is set".to_owned()))?,
    };
    let folder = Utf8PathBuf::from_path_buf(folder)
        .map_err(|path| home(format!("the path {} is not UTF-8", path.display())))?;
    if !folder.is_absolute() {
        return Err(home(format!(
            "the path {} is not absolute",
            text::one_line(folder.as_str(), 200)
        )));
    }
    Ok(folder.join(USER_FILE))
}

/// Returns whether nothing is there: the file, its folder, or a folder where a file stands.
fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Reads the user's file, through symlinks; `None` if there is none.
///
/// # Errors
/// Returns an error if it cannot be read, or must not be.
pub(super) fn read_user(path: &Utf8Path) -> Result<Option<String>, SettingsError> {
    let io = |source| SettingsError::Read {
        path: path.to_owned(),
        source,
    };
    // A pipe that nobody writes to would hold an open for ever.
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    if !file.metadata().map_err(io)?.is_file() {
        return Err(not_a_file(path));
    }
    let mut bytes = Vec::new();
    file.take(MAX_USER_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if bytes.len() as u64 > MAX_USER_BYTES {
        return Err(too_large(path, MAX_USER_BYTES));
    }
    utf8(bytes, path).map(Some)
}

/// Takes the bytes of a configuration file as text.
///
/// # Errors
/// They are not UTF-8.
fn utf8(bytes: Vec<u8>, path: &Utf8Path) -> Result<String, SettingsError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|&&byte| byte == b'\n').count() + 1;
        unusable(path, format!(":{line}: not UTF-8"), "save it as UTF-8")
    })
}

fn unusable(path: &Utf8Path, problem: impl Into<String>, help: impl Into<String>) -> SettingsError {
    SettingsError::File {
        path: path.to_owned(),
        problem: problem.into(),
        help: help.into(),
    }
}

fn not_a_file(path: &Utf8Path) -> SettingsError {
    unusable(
        path,
        " is not a regular file",
        "put a TOML file there, or move away what is there",
    )
}

fn too_large(path: &Utf8Path, max: u64) -> SettingsError {
    unusable(
        path,
        format!(" is larger than {max} bytes"),
        "shorten it, or move it away: without it the defaults hold",
    )
}

/// Returns the path of a project's file, which may be missing.
pub fn project_path(info: &ProgramInfo, root: &Utf8Path) -> Utf8PathBuf {
    root.join(PROJECT_FOLDER).join(project_file(info))
}

/// Returns the name of a project's file, such as `claudex.toml`.
fn project_file(info: &ProgramInfo) -> String {
    format!("{}.toml", info.name)
}

/// Reads a project's file; `None` if there is none. No symlink is followed below the root.
///
/// # Errors
/// Returns an error if it cannot be read, or must not be.
pub(super) fn read_project(
    info: &ProgramInfo,
    root: &Utf8Path,
) -> Result<Option<String>, SettingsError> {
    let path = project_path(info, root);
    let folder = Folder::open(root).and_then(|root| root.below(PROJECT_FOLDER));
    let source = match folder.and_then(|folder| folder.read(&project_file(info), MAX_PROJECT_BYTES))
    {
        Ok(bytes) => return utf8(bytes, &path).map(Some),
        Err(source) => source,
    };
    match UntrustedError::of(&source) {
        Some(UntrustedError { why, .. }) if *why == Distrust::NotAFolder => Ok(None),
        Some(UntrustedError { why, .. }) if *why == Distrust::NotAFile => Err(not_a_file(&path)),
        Some(UntrustedError { path, why }) => Err(unusable(
            path,
            format!(" is not trusted: {why}"),
            why.help().to_string(),
        )),
        None if is_missing(&source) => Ok(None),
        None if source.kind() == ErrorKind::FileTooLarge => {
            Err(too_large(&path, MAX_PROJECT_BYTES))
        }
        None => Err(SettingsError::Read { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_folder_is_ignored_where_xdg_says_so_and_refused_where_it_is_the_home() {
        let path = |named: Option<&str>, usual: Option<&str>| {
            path_in(named.map(PathBuf::from), || usual.map(PathBuf::from))
                .map(Utf8PathBuf::into_string)
                .map_err(|error| error.to_string())
        };
        let usual = Some("/home/a b/.config");
        assert_eq!(
            path(Some("/x"), usual).unwrap(),
            "/x/claudex-loop/config.toml"
        );
        for ignored in [None, Some(""), Some("relative/x"), Some("~/x")] {
            assert_eq!(
                path(ignored, usual).unwrap(),
                "/home/a b/.config/claudex-loop/config.toml"
            );
        }
        assert!(path(None, None).unwrap_err().contains("no HOME is set"));
        assert!(
            path(None, Some("x"))
                .unwrap_err()
                .contains("is not absolute")
        );
        assert_eq!(
            path(Some("/x"), None).unwrap(),
            "/x/claudex-loop/config.toml"
        );
        let bytes: std::ffi::OsString =
            std::os::unix::ffi::OsStringExt::from_vec(b"/\xff".to_vec());
        let error = path_in(Some(bytes.into()), || None).unwrap_err();
        assert!(error.to_string().contains("is not UTF-8"), "{error}");
    }
}
