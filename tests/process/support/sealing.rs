//! Journals as another version of the program would have written them.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::Project;

impl Project {
    /// Changes every line of a loop's journal, sealed again with the user's key, and the state file.
    pub(crate) fn rewrite(&self, id: &str, edit: impl Fn(&str) -> String) {
        let journal = self.folder().join(id).join("journal.jsonl");
        let text = std::fs::read_to_string(&journal).unwrap();
        let (mut sealed, mut seal) = (String::new(), String::new());
        for line in text.lines() {
            let (json, _) = line.rsplit_once('\t').unwrap();
            let json = edit(json);
            seal = self.seal(id, &seal, &json);
            sealed += &format!("{json}\t{seal}\n");
        }
        std::fs::write(journal, sealed).unwrap();
        let state = edit(&self.state(id));
        std::fs::write(self.state_path(id), state).unwrap();

        let mark = format!("marks/{}-{id}", self.project_id());
        std::fs::remove_file(self.state_home().join(mark)).unwrap();
    }

    /// Returns the folder of the user's own state.
    pub(crate) fn state_home(&self) -> std::path::PathBuf {
        self.home.join("state/claudex-loop")
    }

    fn project_id(&self) -> String {
        let id = std::fs::read_to_string(self.folder().join("project")).unwrap();
        id.trim_end().to_owned()
    }

    fn seal(&self, id: &str, before: &str, json: &str) -> String {
        let digits = std::fs::read_to_string(self.state_home().join("key")).unwrap();
        let digits = digits.trim_end();
        let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        let key: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();

        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        for part in [&self.project_id(), id, before] {
            mac.update(part.as_bytes());
            mac.update(b"\0");
        }
        mac.update(json.as_bytes());
        let bytes = mac.finalize().into_bytes();
        bytes[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}
