//! The templates of scenarios and agents: `{{ id }}`, `{{ project }}`,
//! `{{ file("examples/plans/thin.md") }}`. An unknown word is an error.

use std::collections::BTreeMap;
use std::path::Path;

use miette::{IntoDiagnostic as _, miette};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The words for templates. The function `file` reads below the word `repository`.
#[derive(Debug, Clone, Default)]
pub(super) struct Words(BTreeMap<String, String>);

impl Words {
    /// Returns these words and `others`, which replace words of the same name.
    pub(super) fn with(&self, others: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut words = self.0.clone();
        words.extend(others);
        Self(words)
    }

    /// Returns a value with each of its texts rendered.
    pub(super) fn render<T: Serialize + DeserializeOwned>(&self, value: &T) -> miette::Result<T> {
        let mut json = serde_json::to_value(value).into_diagnostic()?;
        self.render_json(&mut json)?;
        serde_json::from_value(json).into_diagnostic()
    }

    fn render_json(&self, value: &mut Value) -> miette::Result<()> {
        match value {
            Value::String(text) if text.contains("{{") || text.contains("{%") => {
                *text = self.render_text(text)?;
                Ok(())
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.render_json(item)),
            Value::Object(entries) => {
                let mut values = entries.values_mut();
                values.try_for_each(|item| self.render_json(item))
            }
            _ => Ok(()),
        }
    }

    fn render_text(&self, template: &str) -> miette::Result<String> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let root = self.0.get("repository").cloned().unwrap_or_default();
        environment.add_function("file", move |path: String| {
            fs_err::read_to_string(Path::new(&root).join(path))
                .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
        });
        environment.render_str(template, &self.0).map_err(|error| {
            let names: Vec<_> = self.0.keys().map(String::as_str).collect();
            let known = names.join(", ");
            miette!("cannot render {template:?}: {error:#} (known words: {known})")
        })
    }
}
