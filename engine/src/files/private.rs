//! A folder of the user's own, outside every project: readable by its owner only, and reached through no link.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;

use camino::Utf8Path;

use super::folder::{Folder, if_there};

/// Makes `<own>/<name>` where it is missing, and closes both to other users.
///
/// # Errors
/// One of them is not trusted, or the system refuses.
pub fn make(own: &Utf8Path, name: &str) -> io::Result<Folder> {
    let (home, last) = split(own)?;
    DirBuilder::new().recursive(true).mode(0o700).create(home)?;
    Folder::open(home)?.make_private(Utf8Path::new(last).join(name))
}

fn split(own: &Utf8Path) -> io::Result<(&Utf8Path, &str)> {
    Option::zip(own.parent(), own.file_name()).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Opens `<own>/<name>`. Both are closed to other users then.
///
/// # Errors
/// See [`make`]; or it is not there.
pub fn existing(own: &Utf8Path, name: &str) -> io::Result<Folder> {
    let (home, last) = split(own)?;
    Folder::open(home)?.below_private(Utf8Path::new(last).join(name))
}

/// Tries whether the folder can be used, and gives whether it is there. Nothing is made or changed.
///
/// # Errors
/// It, or a folder in it, is not trusted or open to others, or cannot be written.
pub fn try_out(own: &Utf8Path) -> io::Result<bool> {
    let (home, last) = split(own)?;
    let Some(own) = if_there(Folder::open(home).and_then(|home| home.below(last)))? else {
        // The first folder above that is there lies on the same file system.
        let there = home.ancestors().find(|folder| folder.is_dir());
        let there = there.ok_or(io::ErrorKind::NotFound)?;
        return Folder::open(there)?.try_out().map(|()| false);
    };
    let inside = own
        .list()?
        .into_iter()
        .filter(|(_, found)| !found.is_file());
    let inside: Vec<Folder> = inside
        .map(|(name, _)| own.below(name))
        .collect::<Result<_, _>>()?;
    for folder in inside.iter().chain([&own]) {
        folder.check_closed()?;
        folder.try_out()?;
    }
    Ok(true)
}
