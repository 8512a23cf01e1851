//! Checks of message templates at build time: their syntax, and names that no loop has.
//!
//! `docs/behaviours.md` lists the names of each template; the lists here are the names that the
//! engine gives at run time. `tests/behaviours/` renders all that a message can name.

use std::collections::HashSet;
use std::ops::Range;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, UndefinedBehavior};

use crate::diagnostic::{Diagnostic, Diagnostics, suggest};
use crate::model::Machine;

/// The kind of a template, which decides the names that it can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TemplateKind {
    /// The text that a start prints.
    Start,
    /// The text of a block.
    Message,
    /// The prompt of a reviewer.
    Prompt,
    /// A text that is not rendered.
    Plain,
}

/// The names for every template, in addition to the fields. `a.b` is a part of `a`.
pub const ANY: &str = "id phase machine root";
/// The names of a message.
pub const MESSAGE: &str = "violations question question.question question.header \
                           question.options question.calls question.more question.line last_run last_run.command \
                           last_run.exit last_run.passed last_run.tail last_run.log";
/// The names of a mode's message in addition to those.
pub const START: &str = "notes from_prompt flags state";
/// The names of a prompt.
pub const PROMPT: &str = "round persona who kind subject earlier known verified marker document part part.first part.last";
/// The parts that a prompt can include (`src/review/prompt.rs`).
const PARTS: [&str; 4] = [
    "review/answer.md",
    "review/earlier.md",
    "review/verified.md",
    "review/document.md",
];
const FUNCTIONS: &str = "range dict namespace debug";
/// The help for a name that is not similar to any other.
const HELP: &str = "it can name the machine's fields, the template variables of docs/behaviours.md, and what `context` \
                    declares";

/// Checks a template. `path` is the file's name in messages.
pub(crate) fn check(machine: &Machine, kind: TemplateKind, path: &str, text: &str) -> Diagnostics {
    let engine_names: &[&str] = match kind {
        TemplateKind::Start => &[ANY, MESSAGE, START, FUNCTIONS],
        TemplateKind::Message => &[ANY, MESSAGE, FUNCTIONS],
        TemplateKind::Prompt => &[ANY, PROMPT, FUNCTIONS],
        TemplateKind::Plain => return Diagnostics::new(path, text, Vec::new()),
    };
    let fields = machine.fields.iter().map(|field| field.name.as_str());
    let engine_names = engine_names.iter().flat_map(|names| names.split(' '));
    let known: Vec<&str> = fields.chain(engine_names).collect();
    // Only the program knows the parts of its names.
    let context: Vec<&str> = machine.context.iter().map(|name| name.as_str()).collect();
    let is_unknown = |name: &String| {
        let first = name.split('.').next().unwrap_or(name);
        !known.contains(&name.as_str()) && !context.contains(&first)
    };
    let unknown = |name: String| {
        let near = suggest(&name, known.iter().chain(&context).copied());
        let message = format!("the template names `{name}`, which no loop has");
        let found = Diagnostic::new("variable", place(text, &name), message);
        found.help(near.unwrap_or_else(|| HELP.to_owned()))
    };
    let found = match names(text) {
        Ok(names) => {
            let mut found: Vec<_> = names.into_iter().filter(is_unknown).map(unknown).collect();
            if let Some(error) = missing_part(kind, text) {
                let reason = error.detail().unwrap_or("it cannot be rendered").to_owned();
                let span = error.range().unwrap_or(0..0);
                found.push(Diagnostic::new("template", span, reason));
            }
            found
        }
        Err(error) => {
            let reason = error.detail().unwrap_or("it cannot be read");
            let message = format!("not a template: {reason}");
            let span = error.range().unwrap_or(0..0);
            vec![Diagnostic::new("template", span, message)]
        }
    };
    Diagnostics::new(path, text, found)
}

/// Returns an environment that reads templates as the program reads them.
pub(crate) fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    environment.set_syntax(syntax.trim_blocks(true).lstrip_blocks(true).build()?);
    Ok(environment)
}

/// Returns the error of a template that names a filter, a test or a template that does not exist.
/// A branch that empty values do not take is not checked.
fn missing_part(kind: TemplateKind, text: &str) -> Option<minijinja::Error> {
    let mut environment = environment().ok()?;
    environment.set_debug(true);
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.add_filter("one_line", |text: String, _max: usize| text);
    if kind == TemplateKind::Prompt {
        for part in PARTS {
            environment.add_template(part, "").ok()?;
        }
    }
    let error = environment.render_str(text, ()).err()?;
    let kinds = [
        ErrorKind::UnknownFilter,
        ErrorKind::UnknownTest,
        ErrorKind::TemplateNotFound,
    ];
    kinds.contains(&error.kind()).then_some(error)
}

/// Returns the names that a template looks up, with the parts of each.
fn names(text: &str) -> Result<HashSet<String>, minijinja::Error> {
    let mut environment = environment()?;
    environment.set_debug(true);
    let template = environment.template_from_str(text)?;
    Ok(template.undeclared_variables(true))
}

/// Returns the first place of a name inside a tag.
fn place(text: &str, name: &str) -> Range<usize> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_.".contains(character);
    let found = text.match_indices(name).find(|(at, _)| {
        let before = &text[..*at];
        let after = &text[at + name.len()..];
        let last = |marks: [&str; 2]| marks.map(|mark| before.rfind(mark)).into_iter().max();
        let is_in_tag = last(["{{", "{%"]) > last(["}}", "%}"]);
        is_in_tag && !before.ends_with(is_part) && !after.starts_with(is_part)
    });
    found.map_or(0..0, |(at, _)| at..at + name.len())
}
