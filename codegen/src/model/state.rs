//! `[state]`: where state documents are and which form they have.

use serde::{Deserialize, Serialize};

use super::texts::{Extension, Path, Variable};
use super::{Active, At, Form, IdForm, Many};

/// `[state]`.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The folder of the documents, relative to the loop's root. Absent: `.NAME` ([`super::Machine::folder`]).
    pub folder: Option<Path>,
    /// The environment variable that overrides the folder.
    pub folder_env: Option<At<Variable>>,
    /// The path of a document that belongs to the user, relative to the loop's root, such as `plans/{id}/state.json`.
    pub file: Option<At<Path>>,
    /// The extension of documents in the folder.
    pub extension: Option<At<Extension>>,
    /// The form of a document.
    #[serde(default)]
    pub form: Form,
    /// The form of ids.
    #[serde(default)]
    pub ids: IdForm,
    /// The fields that an edit by hand may change.
    #[serde(default)]
    pub edits: Many<At<String>>,
    /// The number of loops at the same time.
    #[serde(default)]
    pub active: Active,
}

impl State {
    /// Returns the extension of a document in the folder.
    pub fn extension(&self) -> &str {
        match (&self.extension, self.form) {
            (Some(extension), _) => &extension.value,
            (None, Form::Lines) => "state",
            (None, Form::Json) => "json",
            (None, Form::Frontmatter) => "md",
        }
    }
}
