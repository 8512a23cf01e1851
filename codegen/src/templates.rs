//! Message templates at build time: whether each can be read as one, and names nothing that a loop does not have.
//!
//! `docs/behaviours.md` says what a template can name; the lists here are what the engine gives at run time. `tests/behaviours/` renders
//! all that a message can name.

use std::fmt;

use minijinja::Environment;
use minijinja::syntax::SyntaxConfig;

use crate::diagnostic::{Diagnostic, Diagnostics, suggest};
use crate::model::Machine;

/// Says what a template is for, which decides what it can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// Holds what a start prints.
    Start,
    /// Holds the text of a block.
    Message,
    /// Holds the prompt of a reviewer.
    Prompt,
    /// Holds text that is not rendered.
    Plain,
}

impl TemplateKind {
    pub(crate) const ALL: [Self; 4] = [Self::Start, Self::Message, Self::Prompt, Self::Plain];
}

impl fmt::Display for TemplateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start | Self::Message | Self::Prompt => "template",
            Self::Plain => "file",
        })
    }
}

/// Lists what every template can name besides the machine's fields; a name after a dot is a part of the one before it.
pub const ANY: [&str; 4] = ["id", "phase", "machine", "root"];
/// Lists what a message can name besides.
pub const MESSAGE: [&str; 18] = [
    "violations",
    "verbs",
    "verbs.agent",
    "verbs.person",
    "question",
    "question.question",
    "question.header",
    "question.options",
    "question.calls",
    "question.more",
    "question.line",
    "last_run",
    "last_run.command",
    "last_run.exit",
    "last_run.passed",
    "last_run.tail",
    "last_run.log",
    "verified",
];
/// Lists what a mode's message can name besides those.
pub const START: [&str; 4] = ["notes", "from_prompt", "flags", "state"];
/// Lists what a prompt can name besides.
pub const PROMPT: [&str; 11] = [
    "round", "persona", "who", "kind", "subject", "earlier", "known", "verified", "marker",
    "document", "cut",
];
/// Lists the template language's own functions.
const FUNCTIONS: [&str; 4] = ["range", "dict", "namespace", "debug"];

/// Returns what is wrong with a template. `path` is the file's name in messages.
pub(crate) fn check(
    machine: &Machine,
    kind: TemplateKind,
    path: &str,
    text: &str,
) -> Option<Diagnostics> {
    // What the parts of the program's own are, only the program knows.
    let context: Vec<&str> = machine.context.iter().map(|name| &*name.value).collect();
    let (engine, context) = match kind {
        TemplateKind::Start => ([&ANY[..], &MESSAGE, &START].concat(), context),
        TemplateKind::Message => ([&ANY[..], &MESSAGE].concat(), context),
        TemplateKind::Prompt => ([&ANY[..], &PROMPT].concat(), context),
        TemplateKind::Plain => return None,
    };
    let fields = machine.field_names();
    let known: Vec<&str> = fields.chain(engine).chain(FUNCTIONS).collect();
    let found = match names(text) {
        Ok(names) => names
            .iter()
            .filter_map(|name| unknown(&known, &context, text, name))
            .collect(),
        Err(error) => vec![*error],
    };
    (!found.is_empty()).then(|| Diagnostics::new(path, text, found))
}

/// Returns the names that a template looks up, with the parts of each.
fn names(text: &str) -> Result<Vec<String>, Box<Diagnostic>> {
    let wrong = |error: minijinja::Error| {
        let span = error.range().unwrap_or(0..0);
        let message = format!(
            "not a template: {}",
            error.detail().unwrap_or("it cannot be read")
        );
        Box::new(Diagnostic::new("template", span, message))
    };
    let mut environment = Environment::new();
    environment.set_debug(true);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(wrong)?;
    environment.set_syntax(syntax);
    let template = environment.template_from_str(text).map_err(wrong)?;
    Ok(template.undeclared_variables(true).into_iter().collect())
}

fn unknown(known: &[&str], context: &[&str], text: &str, name: &str) -> Option<Diagnostic> {
    let first = name.split('.').next().unwrap_or(name);
    if context.contains(&first) || known.contains(&name) {
        return None;
    }
    let message = format!("the template names `{name}`, which no loop has");
    let found = Diagnostic::new("variable", place(text, name), message);
    let near = suggest(name, known.iter().chain(context).copied());
    Some(found.help(near.unwrap_or_else(|| {
        "it can name the machine's fields, what docs/behaviours.md lists under Words, and what `context` declares".to_owned()
    })))
}

/// Returns where a template first names it, inside a tag.
fn place(text: &str, name: &str) -> std::ops::Range<usize> {
    let word = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte))
    };
    let bytes = text.as_bytes();
    let found = text.match_indices(name).find(|(at, _)| {
        let before = &text[..*at];
        let in_tag =
            before.rfind("{{").max(before.rfind("{%")) > before.rfind("}}").max(before.rfind("%}"));
        let alone = at.checked_sub(1).is_none_or(|last| !word(bytes.get(last)));
        in_tag && alone && !word(bytes.get(at + name.len()))
    });
    found.map_or(0..0, |(at, _)| at..at + name.len())
}
