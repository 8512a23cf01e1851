//! Parameters of behaviours that are names: of a field, of a command of the user's configuration.

use super::Index;
use crate::catalogue::{self, ParameterKind};
use crate::diagnostic::{Diagnostic, suggest};
use crate::model::{At, FieldKind};

/// The longest name of a command, in bytes: a file is named after it.
const LONGEST: usize = 64;

pub(super) fn parameters(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    for behaviour in index
        .machine
        .phases
        .iter()
        .filter_map(|phase| phase.on_stop.as_ref())
    {
        let Some(entry) = catalogue::find(&behaviour.name.value) else {
            continue;
        };
        for parameter in entry.parameters() {
            let Some(value) = behaviour.parameter(parameter.name) else {
                continue;
            };
            match parameter.kind {
                ParameterKind::Field => field(index, value, found),
                ParameterKind::Command => command(value, found),
                ParameterKind::Choice(words) => choice(parameter.name, words, value, found),
                // Looked at with the types, and where `{field}` is read.
                ParameterKind::Count
                | ParameterKind::Template
                | ParameterKind::Words
                | ParameterKind::Message => {}
            }
        }
    }
}

/// A field that can say yes.
fn field(index: &Index<'_>, name: &At<String>, found: &mut Vec<Diagnostic>) {
    let finding = |code, message: String| Diagnostic::new(code, name.span.clone(), message);
    let Some(field) = index.fields.get(name.value.as_str()) else {
        let names = index.machine.fields.iter().map(|field| field.name.value.as_str());
        let hint = suggest(&name.value, names);
        let hint =
            hint.unwrap_or_else(|| format!("add `{} = {{ type = \"flag\" }}` to [fields]", name.value));
        let one = finding(
            "claudex::machine::unknown_field",
            format!("no field is named `{}`", name.value),
        );
        found.push(one.label("not a field").help(hint));
        return;
    };
    let (message, help) = match &field.kind {
        FieldKind::OneOf(_) => (
            format!(
                "`{}` is one of some words, and none of them means yes",
                name.value
            ),
            "wait for a flag, or tell the words apart by a guard (`when`) on the transition",
        ),
        FieldKind::Held(_) => (
            format!("`{}` is the engine's, and says nothing to wait for", name.value),
            "wait for a field of the machine's own",
        ),
        _ => return,
    };
    found.push(finding("claudex::machine::type", message).help(help));
}

fn choice(key: &str, words: &[&str], word: &At<String>, found: &mut Vec<Diagnostic>) {
    if words.contains(&word.value.as_str()) {
        return;
    }
    let message = format!("`{key}` cannot be {:?}", word.value);
    let one = Diagnostic::new("claudex::machine::unknown_word", word.span.clone(), message);
    let hint = suggest(&word.value, words.iter().copied());
    found.push(one.help(hint.unwrap_or_default()));
}

fn command(name: &At<String>, found: &mut Vec<Diagnostic>) {
    let text = &name.value;
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let fits = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.len() <= LONGEST
        && text.bytes().all(inner);
    if !fits {
        let message = format!("`command` cannot be {text:?}");
        let one = Diagnostic::new("claudex::machine::bad_name", name.span.clone(), message);
        let help = "it is the name of a `[commands.NAME]` table in the user's configuration, which alone says what runs: a \
                    letter or digit, then letters, digits, `-`, `_` and `.`, at most 64 characters";
        found.push(one.help(help));
    }
}
