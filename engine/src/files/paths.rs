//! Opening and making folders by path, without following a symlink below a project's root or a state folder.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::folder::{Folder, single};

/// Opens the folder of a file, and returns it with the file's name. Below the first of the `bases` that the path is in, no
/// symlink is followed. A path that is in none of them is the user's own choice.
pub fn folder_of(bases: &[&Utf8Path], path: &Utf8Path) -> io::Result<(Folder, String)> {
    let path = without_dots(path);
    let name = single(path.file_name().unwrap_or_default())?;
    let parent = path.parent().unwrap_or(&path);
    let folder = match bases.iter().find(|base| parent.starts_with(base)) {
        Some(base) => Folder::open(base)?.subfolder(parent.strip_prefix(base).unwrap_or(parent))?,
        None => Folder::open(parent)?,
    };
    Ok((folder, name.to_owned()))
}

/// Opens or makes a folder. No symlink is followed below `base`, or below the nearest folder above it that is there.
pub fn make_all(base: &Utf8Path, path: &Utf8Path) -> io::Result<Folder> {
    let there = (base.ancestors())
        .find_map(|above| Folder::open(above).ok())
        .ok_or(ErrorKind::NotFound)?;
    let below = path.strip_prefix(there.path()).unwrap_or(path);
    there.make(below)
}

/// Opens or makes `<own>/<name>`, closed to other users, where `own` is the user's own folder outside every project.
pub fn make_private(own: &Utf8Path, name: &str) -> io::Result<Folder> {
    let above = own.parent().unwrap_or(own);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(above)?;
    let below = Utf8Path::new(own.file_name().unwrap_or_default()).join(name);
    Folder::open(above)?.make_private(below)
}

/// Resolves `.` and `..` by name, which is their meaning without symlinks.
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
