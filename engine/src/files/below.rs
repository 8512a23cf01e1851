//! Files and folders by their paths, without a symlink on the way below a project's root or a state folder.

use std::io::{self, ErrorKind};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::folder::{Folder, no_name};
use super::read::MOST;

/// Opens the folder of a file, and returns it with the file's name. Below the first of the `bases` that the path lies in, no
/// symlink is followed; the folder of a path that lies in none is the caller's own choice.
///
/// # Errors
/// The folder is not there or not trusted, or the path names no file.
pub fn folder_of(bases: &[&Utf8Path], path: &Utf8Path) -> io::Result<(Folder, String)> {
    let path = without_dots(path);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(no_name(path.as_str()));
    };
    let base = bases.iter().find(|base| parent.starts_with(base));
    let folder = match base {
        Some(base) => Folder::open(base)?.below(parent.strip_prefix(base).unwrap_or(parent))?,
        None => Folder::open(parent)?,
    };
    Ok((folder, name.to_owned()))
}

/// Holds a folder that was made, by its name in the one above it.
pub type Made = (Folder, String);

/// Makes a folder where it is not there. No symlink is followed below `base`, or below the nearest folder above it that is
/// there. Returns it with the folders that were made for it, innermost last.
///
/// # Errors
/// See [`Folder::make`].
pub fn make_all(base: &Utf8Path, path: &Utf8Path) -> io::Result<(Folder, Vec<Made>)> {
    let mut at = (base.ancestors())
        .find_map(|there| Folder::open(there).ok())
        .ok_or(ErrorKind::NotFound)?;
    let below = path.strip_prefix(at.path()).unwrap_or(path).to_owned();
    let mut made = Vec::new();
    for name in below.components() {
        let is_new = !at.has(name.as_str());
        let below = at.make(name.as_str())?;
        let above = std::mem::replace(&mut at, below);
        if is_new {
            made.push((above, name.as_str().to_owned()));
        }
    }
    Ok((at, made))
}

/// Resolves `.` and `..` by name. Where no symlink is followed that is what they mean.
fn without_dots(path: &Utf8Path) -> Utf8PathBuf {
    let mut plain = Utf8PathBuf::new();
    for component in path.components() {
        match component {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Reads a file of a project or a loop: no symlink is followed below the `bases`, and the file itself is none (see
/// [`folder_of`]).
///
/// # Errors
/// It is not there, is not trusted, is larger than 64 MiB, or the system refuses.
pub fn read_in(bases: &[&Utf8Path], path: &Utf8Path) -> io::Result<Vec<u8>> {
    let (folder, name) = folder_of(bases, path)?;
    folder.read(&name, MOST)
}
