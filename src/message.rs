//! Message templates: how they are rendered, and the facts of a loop that each can name.
//!
//! Templates are minijinja's. A name that is not among the facts is an error.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::machine::Raw;
pub use crate::machine::table::Message;
use crate::text;

/// A template of a file beside the source file, compiled in.
#[macro_export]
macro_rules! template {
    ($file:literal) => {
        $crate::message::Message {
            name: $file,
            text: include_str!($file),
        }
    };
}

/// A template that does not render.
#[derive(Debug, thiserror::Error)]
#[error("the message template {name} does not render: {source}")]
pub struct MessageError {
    /// The template, as machine.toml names it.
    name: &'static str,
    /// The reason.
    source: minijinja::Error,
}

claudex_loop_engine::impl_diagnostic!(MessageError, |_| {
    let help = "fix the template (docs/behaviours.md lists what it can name), then build the program again";
    Some(help.to_owned())
});

/// Renders message templates.
pub trait Render {
    /// Renders the template.
    ///
    /// # Errors
    /// Returns an error if it names a fact that is not in `facts`.
    fn render(self, facts: &impl Serialize) -> Result<String, MessageError>;
}

impl Render for Message {
    fn render(self, facts: &impl Serialize) -> Result<String, MessageError> {
        render_in(self, |_| Ok(()), facts)
    }
}

/// Renders a template in an environment that `prepare` has added to.
pub(crate) fn render_in(
    Message { name, text }: Message,
    prepare: impl FnOnce(&mut Environment<'static>) -> Result<(), minijinja::Error>,
    facts: &impl Serialize,
) -> Result<String, MessageError> {
    let rendered = || {
        let mut environment = environment()?;
        prepare(&mut environment)?;
        environment.render_named_str(name, text, Serde(facts))
    };
    rendered().map_err(|source| MessageError { name, source })
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
    environment.add_filter("one_line", text::one_line);
    Ok(environment)
}

/// Returns the facts for every template: each field of the machine, `id`, `phase`, `machine` and
/// `root`. Texts are cut to `most` characters.
pub fn facts(raw: &Raw, most: usize) -> Map<String, Json> {
    let table = raw.table();
    let mut facts = Map::new();
    for field in table.state.declared {
        let value = match raw.value(field.name) {
            Json::Null => json!(""),
            value => short(value, most),
        };
        facts.insert(field.name.to_owned(), value);
    }
    let engine_facts = [
        ("id", raw.id().as_str().to_owned()),
        ("phase", table.phases[raw.phase()].name.to_owned()),
        ("machine", table.name.to_owned()),
        ("root", text::one_line(raw.root().as_str(), most)),
    ];
    facts.extend(engine_facts.map(|(name, value)| (name.to_owned(), json!(value))));
    facts
}

/// Returns JSON with each of its texts on one line.
pub fn short(json: Json, most: usize) -> Json {
    match json {
        Json::String(text) => text::one_line(&text, most).into(),
        Json::Array(items) => items.into_iter().map(|item| short(item, most)).collect(),
        Json::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, short(value, most)))
            .collect(),
        other => other,
    }
}
