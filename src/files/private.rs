//! A folder of the user's own, outside every project: readable by its owner only, and reached through no link.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;

use camino::Utf8Path;

use super::folder::{Folder, if_there};

/// The user's own folder below the state home.
const OWN: &str = "claudex-loop";

/// Makes `claudex-loop/<name>` below a state home where it is missing, and closes both to other users.
///
/// # Errors
/// One of them is not trusted, or the system refuses.
pub(crate) fn make(home: &Utf8Path, name: &str) -> io::Result<Folder> {
    DirBuilder::new().recursive(true).mode(0o700).create(home)?;
    Folder::open(home)?.make_private(OWN)?.make_private(name)
}

/// Opens `claudex-loop/<name>` below a state home, where it is there. Both are closed to other users then.
///
/// # Errors
/// See [`make`].
pub(crate) fn existing(home: &Utf8Path, name: &str) -> io::Result<Option<Folder>> {
    let mut folder = Folder::open(home);
    for name in [OWN, name] {
        folder = folder.and_then(|above| above.below(name));
        folder = folder.and_then(|folder| folder.close_to_others().map(|()| folder));
    }
    if_there(folder)
}

/// Tries whether `claudex-loop` below a state home can be used, and gives whether it is there. Nothing is made or changed.
///
/// # Errors
/// It, or a folder in it, is not trusted or open to others, or cannot be written.
pub(crate) fn try_out(home: &Utf8Path) -> io::Result<bool> {
    let Some(own) = if_there(Folder::open(home).and_then(|home| home.below(OWN)))? else {
        // The first folder above that is there lies on the same file system.
        let there = home.ancestors().find(|folder| folder.is_dir());
        let there = there.ok_or(io::ErrorKind::NotFound)?;
        return Folder::open(there)?.try_out().map(|()| false);
    };
    let inside = own.list()?.into_iter().filter(|(_, found)| !found.is_file());
    let inside: Vec<Folder> = inside
        .map(|(name, _)| own.below(name))
        .collect::<Result<_, _>>()?;
    for folder in inside.iter().chain([&own]) {
        folder.check_closed()?;
        folder.try_out()?;
    }
    Ok(true)
}
