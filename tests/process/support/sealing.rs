//! Journals as another version of the program would have written them.

use super::Project;
use super::seal::rewrite_journal;

impl Project {
    /// Changes every line in a loop's journal, sealed again with the user's key, and the state file.
    pub(crate) fn rewrite(&self, id: &str, edit: impl Fn(&str) -> String) {
        rewrite_journal(&self.folder(), &self.state_home(), id, &edit).unwrap();
        let state = edit(&self.state(id));
        std::fs::write(self.state_path(id), state).unwrap();
    }

    /// Returns the folder with the user's state.
    pub(crate) fn state_home(&self) -> std::path::PathBuf {
        self.home.join("state/claudex-loop")
    }
}
