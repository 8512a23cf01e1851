//! Journals as another version of the program writes them.

use super::Project;
use super::seal::rewrite_journal;

impl Project {
    /// Changes every line of the journal and the state file of a loop. Seals with the user's key.
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
