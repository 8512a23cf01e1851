//! A folder of the user's own, outside every project: readable by its owner only, and reached through no link.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};

use camino::{Utf8Path, Utf8PathBuf};

/// The user's own folder below the state home.
pub(crate) const OWN: &str = "claudex-loop";

/// Why a folder cannot be used.
#[derive(Debug)]
pub(crate) enum PrivateError {
    /// The system refused.
    Io {
        /// With which folder.
        path: Utf8PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// It is a link, no folder, or belongs to another user.
    Refused {
        /// Which folder.
        path: Utf8PathBuf,
    },
}

/// Makes `claudex-loop/<name>` below a state home where it is missing, and checks it.
pub(crate) fn make(base: &Utf8Path, name: &str) -> Result<Utf8PathBuf, PrivateError> {
    let path = base.join(OWN).join(name);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
    match made {
        Ok(()) => check(path),
        Err(source) => Err(PrivateError::Io { path, source }),
    }
}

/// Checks that the last two components of a path are folders of this user's, and closes them to others.
pub(crate) fn check(path: Utf8PathBuf) -> Result<Utf8PathBuf, PrivateError> {
    for folder in path.ancestors().take(2) {
        let failed = |source| PrivateError::Io {
            path: folder.to_owned(),
            source,
        };
        let found = folder.symlink_metadata().map_err(failed)?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
            return Err(PrivateError::Refused {
                path: folder.to_owned(),
            });
        }
        if found.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        }
    }
    Ok(path)
}
