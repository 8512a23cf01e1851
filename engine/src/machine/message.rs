//! Message templates: what a machine says, filled with what a loop knows of itself.
//!
//! A template is minijinja's; a name that there is not is an error. Whatever came from outside goes in as one plain, short line.

use std::fmt;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

/// A message template, compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The file's name, for errors.
    pub name: &'static str,
    /// The template.
    pub text: &'static str,
}

/// A template that does not render.
#[derive(Debug)]
pub struct MessageError {
    /// The template, as machine.toml names it.
    name: &'static str,
    /// The reason.
    source: minijinja::Error,
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, source) = (self.name, &self.source);
        write!(f, "the message template {name} does not render: {source}")
    }
}

impl std::error::Error for MessageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl miette::Diagnostic for MessageError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("claudex::message"))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = "mend the template: docs/behaviours.md lists what it can name; then build the program anew";
        Some(Box::new(help))
    }
}

impl Message {
    /// Renders the template.
    ///
    /// # Errors
    /// It names what `facts` does not have.
    pub fn render(self, facts: &impl Serialize) -> Result<String, MessageError> {
        self.render_with(&[], facts)
    }

    /// Renders the template, which may `include` these parts by their names.
    ///
    /// # Errors
    /// It, or a part that it includes, names what `facts` does not have.
    pub fn render_with(
        self,
        parts: &[Message],
        facts: &impl Serialize,
    ) -> Result<String, MessageError> {
        self.render_in(
            |environment| {
                parts
                    .iter()
                    .try_for_each(|part| environment.add_template(part.name, part.text))
            },
            facts,
        )
    }

    /// Renders the template where an environment has besides what this gives it.
    ///
    /// # Errors
    /// It names what `facts` does not have.
    pub fn render_in(
        self,
        with: impl FnOnce(&mut Environment<'static>) -> Result<(), minijinja::Error>,
        facts: &impl Serialize,
    ) -> Result<String, MessageError> {
        let rendered = || {
            let mut environment = environment()?;
            with(&mut environment)?;
            environment.render_named_str(self.name, self.text, Serde(facts))
        };
        rendered().map_err(|source| MessageError {
            name: self.name,
            source,
        })
    }
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    Ok(environment)
}
