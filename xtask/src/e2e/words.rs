//! The words that the templates of scenarios and agents may use, and how they are rendered: `{{ id }}`, `{{ project }}`,
//! `{{ file("examples/plans/thin.md") }}`. A word that is not there is an error, never an empty text.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::{Diagnostic, miette};
use minijinja::{Environment, UndefinedBehavior};

/// Words for templates.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    /// The repository; `file` reads below it.
    root: PathBuf,
    words: BTreeMap<String, String>,
}

impl Words {
    /// No words yet.
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            words: BTreeMap::new(),
        }
    }

    /// These words and the others; of the same name, the other.
    pub(super) fn with(&self, others: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut words = self.clone();
        words.words.extend(others);
        words
    }

    /// One word more.
    pub(super) fn set(&mut self, name: &str, word: impl Into<String>) {
        self.words.insert(name.to_owned(), word.into());
    }

    /// Returns the template with its words in place.
    ///
    /// # Errors
    /// A template that is none, a word that is not there, a file that cannot be read.
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
                let there: Vec<_> = self.words.keys().map(String::as_str).collect();
                miette!(
                    help = format!("the words here: {}", there.join(", ")),
                    "cannot render {template:?}: {error:#}"
                )
            })
    }
}

/// Returns an error as one text, with its help.
pub(super) fn told(error: &miette::Report) -> String {
    let mut text = format!("{error:#}");
    if let Some(help) = (error.as_ref() as &dyn Diagnostic).help() {
        text.push_str(&format!(" ({help})"));
    }
    text
}
