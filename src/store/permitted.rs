//! This user's own record of the commands that a person permitted: beside the record of loops, outside every project.
//!
//! One file for each list, `<program>/permitted/<sha256 of state folder, machine, root and commands>.json`, mode 0600. Neither a repository
//! nor a journal brings one along. What it holds is compared with what is asked for, so a file that was copied or renamed permits nothing.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::ownership::{VERSION, refused};
use super::store::Store;
use crate::digest::sha256;
use crate::files::{if_there, private};

/// Names the folder of the records, in the user's own.
const FOLDER: &str = "permitted";
/// Limits the record that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Holds what a person permitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Permitted {
    version: u32,
    machine: String,
    folder: Utf8PathBuf,
    root: Utf8PathBuf,
    commands: Vec<String>,
    at: Timestamp,
}

impl Store {
    /// Returns whether a person permitted exactly these commands for loops of this root.
    ///
    /// # Errors
    /// The record is there and cannot be read, or no variable says where it is.
    pub fn has_permitted(&self, root: &Utf8Path, commands: &[String]) -> Result<bool, StoreError> {
        let home = self.home().checked()?;
        let Some(folder) =
            if_there(private::existing(home, FOLDER)).map_err(refused("read", home))?
        else {
            return Ok(false);
        };
        let name = self.permitted(root, commands).name();
        let path = folder.path().join(&name);
        let bytes = if_there(folder.read(&name, LARGEST)).map_err(refused("read", &path))?;
        let found: Option<Permitted> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(found.is_some_and(|found| found.version == VERSION && found.name() == name))
    }

    /// Records that a person permitted exactly these commands for loops of this root.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn permit_commands(&self, root: &Utf8Path, commands: &[String]) -> Result<(), StoreError> {
        let home = self.home().checked()?;
        let folder = private::make(home, FOLDER).map_err(refused("write", home))?;
        let permitted = self.permitted(root, commands);
        let written = serde_json::to_vec(&permitted)
            .map_err(Into::into)
            .and_then(|bytes| folder.replace(&permitted.name(), &bytes));
        written.map_err(refused("write", folder.path()))
    }

    fn permitted(&self, root: &Utf8Path, commands: &[String]) -> Permitted {
        Permitted {
            version: VERSION,
            machine: self.spec().machine.to_owned(),
            folder: self.top().to_owned(),
            root: root.to_owned(),
            commands: commands.to_vec(),
            at: Timestamp::now(),
        }
    }
}

impl Permitted {
    /// Returns the name of its file.
    fn name(&self) -> String {
        let parts = [self.folder.as_str(), &self.machine, self.root.as_str()];
        let parts = parts
            .into_iter()
            .chain(self.commands.iter().map(String::as_str));
        let all: String = parts.map(|part| format!("{part}\0")).collect();
        format!("{}.json", sha256(all))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::store::testing::{SPEC, folder, home};

    fn list(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn what_is_permitted_is_one_list_of_one_project() {
        let (_kept, root) = folder();
        let other = root.join("other");
        let store = |folder: &str| Store::at(root.join(folder), root.clone(), &SPEC, home(&root));
        let one = store(".state");
        let permitted = list(&["a b", "c"]);
        assert!(!one.has_permitted(&root, &permitted).unwrap());
        one.permit_commands(&root, &permitted).unwrap();
        assert!(one.has_permitted(&root, &permitted).unwrap());
        // Nothing of it is in the project.
        assert!(!root.join(".state").exists());
        for lines in [
            &["a b"][..],
            &["a", "b", "c"],
            &["a b c"],
            &["c", "a b"],
            &["a b", "c", ""],
            &[],
        ] {
            assert!(
                !one.has_permitted(&root, &list(lines)).unwrap(),
                "{lines:?}"
            );
        }
        assert!(
            !one.has_permitted(&other, &permitted).unwrap(),
            "another root"
        );
        assert!(
            !store(".moved").has_permitted(&root, &permitted).unwrap(),
            "another state folder"
        );
    }

    #[test]
    fn a_record_of_another_list_or_with_another_text_permits_nothing() {
        let (_kept, root) = folder();
        let store = Store::at(root.join(".state"), root.clone(), &SPEC, home(&root));
        let (one, two) = (list(&["one"]), list(&["two"]));
        store.permit_commands(&root, &one).unwrap();
        let folder = root.join("state-home").join(FOLDER);
        let file = |lines: &[String]| folder.join(store.permitted(&root, lines).name());
        let mode = std::fs::metadata(file(&one)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
        std::fs::copy(file(&one), file(&two)).unwrap();
        assert!(!store.has_permitted(&root, &two).unwrap(), "a copy");
        for text in ["", "{}", "[", "null"] {
            std::fs::write(file(&one), text).unwrap();
            assert!(!store.has_permitted(&root, &one).unwrap(), "{text}");
        }
        std::fs::remove_file(file(&one)).unwrap();
        std::os::unix::fs::symlink(file(&two), file(&one)).unwrap();
        assert!(store.has_permitted(&root, &one).is_err(), "a link");
    }
}
