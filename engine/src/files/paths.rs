//! Opens and makes folders by path, without following symlinks below a root or state folder.

use std::io::{self, ErrorKind};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::folder::{Folder, check_name};

/// Opens the folder of a file, and returns it with the file's name. Follows no symlink below the
/// first of the `bases` that contains the path. A path outside of them is the user's choice.
pub fn folder_of(bases: &[&Utf8Path], path: &Utf8Path) -> io::Result<(Folder, String)> {
    let path = without_dots(path);
    let name = check_name(path.file_name().unwrap_or_default())?;
    let parent = path.parent().unwrap_or(&path);
    let folder = match bases.iter().find(|base| parent.starts_with(base)) {
        Some(base) => Folder::open(base)?.subfolder(parent.strip_prefix(base).unwrap_or(parent))?,
        None => Folder::open(parent)?,
    };
    Ok((folder, name.to_owned()))
}

/// Opens or makes a folder. Follows no symlink below `base` or its nearest existing ancestor.
pub fn make_all(base: &Utf8Path, path: &Utf8Path) -> io::Result<Folder> {
    let there = nearest(base)?;
    there.make_subfolder(path.strip_prefix(there.path()).unwrap_or(path))
}

/// Opens or makes `<own>/<name>`, closed to other users. `own` is outside every project.
pub fn make_private(own: &Utf8Path, name: &str) -> io::Result<Folder> {
    let there = nearest(own.parent().unwrap_or(own))?;
    let path = own.join(name);
    there.make_private(path.strip_prefix(there.path()).unwrap_or(&path))
}

/// Opens a folder, or its nearest existing ancestor.
fn nearest(path: &Utf8Path) -> io::Result<Folder> {
    path.ancestors()
        .find_map(|above| Folder::open(above).ok())
        .ok_or_else(|| ErrorKind::NotFound.into())
}

/// Resolves `.` and `..` by name, which is their meaning without symlinks.
pub fn without_dots(path: &Utf8Path) -> Utf8PathBuf {
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
