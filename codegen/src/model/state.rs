//! `[state]`: where state documents are and which form they have.

use serde::{Deserialize, Serialize};

use super::texts::{Extension, Path, Variable};
use super::{Active, At, Form, IdForm, Many};

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct State {
    /// The folder of the documents, relative to the loop's root. Absent: `.NAME` ([`super::Machine::folder`]).
    pub(crate) folder: Option<Path>,
    pub(crate) folder_env: Option<At<Variable>>,
    /// The path of a document that belongs to the user, relative to the loop's root, such as `plans/{id}/state.json`.
    pub(crate) file: Option<At<Path>>,
    pub(crate) extension: Option<At<Extension>>,
    pub(crate) form: Form,
    pub(crate) ids: IdForm,
    pub(crate) edits: Many<At<String>>,
    pub(crate) active: Active,
}

impl State {
    pub(crate) fn extension(&self) -> &str {
        match (&self.extension, self.form) {
            (Some(extension), _) => extension,
            (None, Form::Lines) => "state",
            (None, Form::Json) => "json",
            (None, Form::Frontmatter) => "md",
        }
    }
}
