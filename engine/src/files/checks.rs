//! Why a file or folder is not used, though it is there.

use std::io;

use camino::Utf8PathBuf;

/// Why a file or folder is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub enum Distrust {
    /// A symlink.
    #[display("it is a symlink")]
    Symlink,
    /// A folder, a pipe, a socket or a device where a file should be.
    #[display("it is no regular file")]
    NoFile,
    /// Something else where a folder should be.
    #[display("it is no folder")]
    NoFolder,
    /// Another user's.
    #[display("it belongs to user {uid}, and you are user {own}")]
    OtherOwner {
        /// Whose it is.
        uid: u32,
        /// Who asks.
        own: u32,
    },
    /// Other users may look into it.
    #[display("other users may look into it")]
    OpenToOthers,
    /// In the repository.
    #[display("git tracks it, so it came with the repository or will go into it")]
    Tracked,
}

impl Distrust {
    /// Returns what to do about it.
    pub fn help(self) -> &'static str {
        match self {
            Self::Symlink => "remove it, or put what it leads to in its place",
            Self::NoFile => "a file of yours has to be there",
            Self::NoFolder => "a folder of yours has to be there",
            Self::OtherOwner { .. } => "run as that user, or have one of your own there",
            Self::OpenToOthers => "close it with `chmod 700`",
            Self::Tracked => "take it out of the repository with `git rm --cached`, or remove it",
        }
    }
}

/// Something is in the way that is not trusted: the cause inside an [`io::Error`] of a [`Folder`](super::Folder).
#[derive(Debug, Clone, derive_more::Display, derive_more::Error)]
#[display("{path} is not trusted: {why}; {}", why.help())]
pub struct UntrustedError {
    /// What is in the way: a file or a folder above it.
    pub path: Utf8PathBuf,
    /// Why it is not used.
    #[error(not(source))]
    pub why: Distrust,
}

impl UntrustedError {
    /// Finds the cause of this kind in an error, if there is one.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<UntrustedError> for io::Error {
    fn from(error: UntrustedError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}
