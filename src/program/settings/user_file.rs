//! The user's own configuration file: where it is, and its text. Nothing is created here, and what it says is not known.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};
use toml_parser::lexer::TokenKind;

use crate::files::Distrust;
use crate::text;

/// The user's file, in the configuration folder.
const USER: &str = "claudex-loop/config.toml";
/// The largest user's file, in bytes.
const MOST_USER: u64 = 256 * 1024;
/// A key with more parts than any file needs. A parser bounds tables in tables and the parts of a key, but hardly the
/// product of the two, and a tree that deep is more than a stack holds.
pub(super) const MOST_PARTS: usize = 8;

/// A file that cannot be read, or may not.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum FileError {
    /// Nobody says where the user's files are.
    #[display("there is no configuration folder: {problem}")]
    #[diagnostic(
        code(claudex::config::home),
        help("set HOME, or XDG_CONFIG_HOME, to an absolute path in UTF-8")
    )]
    Home {
        /// What is wrong.
        problem: String,
    },
    /// The system refused.
    #[display("cannot read {}: {source}", shown(path))]
    #[diagnostic(
        code(claudex::config::io),
        help("let your user read it, or move it away: without it the defaults hold")
    )]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A folder, a pipe, a device.
    #[display("{} is not a regular file", shown(path))]
    #[diagnostic(
        code(claudex::config::kind),
        help("put a TOML file there, or move away what is there")
    )]
    Kind {
        /// What it is.
        path: Utf8PathBuf,
    },
    /// Larger than anyone writes.
    #[display("{} is larger than {most} bytes", shown(path))]
    #[diagnostic(
        code(claudex::config::size),
        help("shorten it, or move it away: without it the defaults hold")
    )]
    Large {
        /// The file.
        path: Utf8PathBuf,
        /// The most that is read, in bytes.
        most: u64,
    },
    /// Not text.
    #[display("{}:{line}: not UTF-8", shown(path))]
    #[diagnostic(code(claudex::config::utf8), help("save it as UTF-8"))]
    NotUtf8 {
        /// The file.
        path: Utf8PathBuf,
        /// The line with the first byte that is wrong.
        line: usize,
    },
    /// A project's file, or its folder, that is a symlink or somebody else's.
    #[display("{} is not trusted: {why}", shown(path))]
    #[diagnostic(code(claudex::config::untrusted), help("{}", why.help()))]
    Untrusted {
        /// What is in the way.
        path: Utf8PathBuf,
        /// Why it is not used.
        #[error(not(source))]
        why: Distrust,
    },
}

fn shown(path: &Utf8Path) -> String {
    text::one_line(path.as_str(), 300)
}

/// Returns the path of the user's file, which may be missing: below `XDG_CONFIG_HOME` if that is absolute, else below
/// `~/.config`.
///
/// # Errors
/// There is no home, or its path is not absolute or not UTF-8.
pub fn path() -> Result<Utf8PathBuf, FileError> {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let usual = || std::env::home_dir().map(|home| home.join(".config"));
    path_in(named, usual)
}

fn path_in(
    named: Option<PathBuf>,
    usual: impl FnOnce() -> Option<PathBuf>,
) -> Result<Utf8PathBuf, FileError> {
    let home = |problem: String| FileError::Home { problem };
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
    Ok(folder.join(USER))
}

/// Returns whether nothing is there: the file, its folder, or a folder where a file stands.
pub(super) fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Reads the user's file, through symlinks; None where there is none.
///
/// # Errors
/// See [`FileError`].
pub(super) fn text(path: &Utf8Path) -> Result<Option<String>, FileError> {
    let io = |source| FileError::Io {
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
        return Err(FileError::Kind {
            path: path.to_owned(),
        });
    }
    let mut bytes = Vec::new();
    file.take(MOST_USER + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if bytes.len() as u64 > MOST_USER {
        return Err(FileError::Large {
            path: path.to_owned(),
            most: MOST_USER,
        });
    }
    utf8(bytes, path).map(Some)
}

/// Takes the bytes of a configuration file as text.
///
/// # Errors
/// They are not UTF-8.
pub(super) fn utf8(bytes: Vec<u8>, path: &Utf8Path) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        FileError::NotUtf8 {
            path: path.to_owned(),
            line: good.iter().filter(|&&byte| byte == b'\n').count() + 1,
        }
    })
}

/// Returns a key with more than [`MOST_PARTS`] parts, if a TOML text has one: it must not be parsed then.
pub(super) fn deep_key(source: &str) -> Option<Range<usize>> {
    let mut dots = 0;
    for token in toml_parser::Source::new(source).lex() {
        match token.kind() {
            TokenKind::Dot => dots += 1,
            TokenKind::Atom
            | TokenKind::Whitespace
            | TokenKind::BasicString
            | TokenKind::LiteralString => {}
            _ => dots = 0,
        }
        if dots == MOST_PARTS {
            return Some(token.span().start()..token.span().end());
        }
    }
    None
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
