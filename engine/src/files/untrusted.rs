//! The error for a file or folder that is there and not used.

use std::io;

use camino::Utf8PathBuf;

/// The reason for not using a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub enum Distrust {
    /// A symlink.
    #[display("it is a symlink")]
    Symlink,
    /// A folder, a pipe, a socket or a device instead of a file.
    #[display("it is no regular file")]
    NotAFile,
    /// Something else instead of a folder.
    #[display("it is no folder")]
    NotAFolder,
}

impl Distrust {
    /// Returns what to do about it.
    pub fn help(self) -> &'static str {
        match self {
            Self::Symlink => "remove it, or put what it leads to in its place",
            Self::NotAFile => "a file of yours has to be there",
            Self::NotAFolder => "a folder of yours has to be there",
        }
    }
}

/// The cause inside an [`io::Error`] of a [`Folder`](super::Folder): something in the way is not trusted.
#[derive(Debug, Clone, derive_more::Display, derive_more::Error)]
#[display("{path} is not trusted: {why}; {}", why.help())]
pub struct UntrustedError {
    /// The file, or a folder above it.
    pub path: Utf8PathBuf,
    /// The reason.
    #[error(not(source))]
    pub why: Distrust,
}

impl UntrustedError {
    /// Returns the cause of this kind, if an error has one.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<UntrustedError> for io::Error {
    fn from(error: UntrustedError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}
