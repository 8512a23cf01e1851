//! The templates of scenarios and agents: `{{ id }}`, `{{ project }}`,
//! `{{ file("examples/plans/thin.md") }}`. An unknown word is an error.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::miette;
use minijinja::{Environment, UndefinedBehavior};

/// Words for templates.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    /// The repository that `file` reads from.
    root: PathBuf,
    words: BTreeMap<String, String>,
}

impl Words {
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            words: BTreeMap::new(),
        }
    }

    /// Returns these words and `others`, which replace words of the same name.
    pub(super) fn with(&self, others: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut words = self.clone();
        words.words.extend(others);
        words
    }

    pub(super) fn set(&mut self, name: &str, word: impl Into<String>) {
        self.words.insert(name.to_owned(), word.into());
    }

    /// Renders a template.
    pub(super) fn render(&self, template: &str) -> miette::Result<String> {
        if !template.contains("{{") && !template.contains("{%") {
            return Ok(template.to_owned());
        }
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let root = self.root.clone();
        environment.add_function("file", move |path: String| {
            fs_err::read_to_string(root.join(&path)).map_err(|error| {
                minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, error.to_string())
            })
        });
        environment
            .render_str(template, &self.words)
            .map_err(|error| {
                let names: Vec<_> = self.words.keys().map(String::as_str).collect();
                let known = names.join(", ");
                miette!("cannot render {template:?}: {error:#} (known words: {known})")
            })
    }
}
