//! The files below a folder, to be read or counted.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The files below a folder: the path, whether it is a program, its text.
pub(crate) type Files = BTreeMap<String, (bool, String)>;

/// Reads every file below a folder.
pub(crate) fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap_or_else(|error| panic!("{}: {error}", at.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let is_program = path.metadata().unwrap().permissions().mode() & 0o111 != 0;
            found.insert(name, (is_program, fs::read_to_string(&path).unwrap()));
        }
    }
    found
}
