//! Journals as another version of the program would have written them.

use std::fs;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::Project;

/// The length of a seal, which is written in hexadecimal digits.
const SEAL_BYTES: usize = 16;

impl Project {
    /// Changes every line of a loop's journal, sealed again with the user's key, and the state file.
    pub(crate) fn rewrite(&self, id: &str, edit: impl Fn(&str) -> String) {
        let home = self.state_home();
        let key = fs::read_to_string(home.join("key")).unwrap();
        let key = Hmac::<Sha256>::new_from_slice(key.trim_end().as_bytes()).unwrap();
        let project_file = fs::read_to_string(self.folder().join("project")).unwrap();
        let project = project_file.trim_end();
        let path = self.folder().join(id).join("journal.jsonl");

        let mut journal = String::new();
        let mut seal = String::new();
        for line in fs::read_to_string(&path).unwrap().lines() {
            let json = edit(line.split('\t').next().unwrap());
            let place = format!("{project}\0{id}\0{seal}\0{}\0{json}", journal.len());
            let mac = key.clone().chain_update(place).finalize();
            let bytes = &mac.into_bytes()[..SEAL_BYTES];
            seal = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            journal += &format!("{json}\t{seal}\n");
        }
        fs::write(path, journal).unwrap();
        // The user's mark says how long the journal was.
        let _ = fs::remove_file(home.join(format!("marks/{project}-{id}")));
        fs::write(self.state_path(id), edit(&self.state(id))).unwrap();
    }

    /// Returns the folder of the user's own state.
    pub(crate) fn state_home(&self) -> std::path::PathBuf {
        self.home.join("state/claudex-loop")
    }
}
