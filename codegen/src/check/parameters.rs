//! Parameters of behaviours: names of fields and of commands of the user's configuration, words, and names of files.

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
                ParameterKind::Commands => commands(parameter.name, value, found),
                ParameterKind::Choice(words) => choice(parameter.name, words, value, found),
                ParameterKind::Pair => behaviour
                    .list(parameter.name)
                    .for_each(|word| plain(word, found)),
                // Looked at with the types, and where `{field}` is read.
                ParameterKind::Count
                | ParameterKind::Template
                | ParameterKind::Templates
                | ParameterKind::Words
                | ParameterKind::Message => {}
            }
        }
        behaviour
            .list("subject")
            .for_each(|file| subject(file, found));
        if let Some(file) = behaviour.parameter("findings_file") {
            findings_file(file, found);
        }
        for (key, needed) in [("model", "reviewer"), ("verdicts", "findings_file")] {
            if let Some(value) = behaviour
                .parameter(key)
                .filter(|_| behaviour.parameter(needed).is_none())
            {
                found.push(alone(key, value, needed));
            }
        }
    }
}

/// A field that can say yes.
fn field(index: &Index<'_>, name: &At<String>, found: &mut Vec<Diagnostic>) {
    let finding = |code, message: String| Diagnostic::new(code, name.span.clone(), message);
    let Some(field) = index.fields.get(name.value.as_str()) else {
        let names = index
            .machine
            .fields
            .iter()
            .map(|field| field.name.value.as_str());
        let hint = suggest(&name.value, names);
        let hint = hint
            .unwrap_or_else(|| format!("add `{} = {{ type = \"flag\" }}` to [fields]", name.value));
        let one = finding(
            "claudex::machine::unknown_field",
            format!("no field is named `{}`", name.value),
        );
        found.push(one.help(hint));
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
        FieldKind::Data(_) => (
            format!("`{}` is data, which is no yes and no no", name.value),
            "name a flag, a count, a text, a list or a time",
        ),
        FieldKind::Held(_) => (
            format!(
                "`{}` is the engine's, and says nothing to wait for",
                name.value
            ),
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

/// A key that says nothing without another one.
fn alone(key: &str, value: &At<String>, needed: &str) -> Diagnostic {
    let message = format!("`{key}` says nothing without `{needed}`");
    let one = Diagnostic::new("claudex::machine::missing_key", value.span.clone(), message);
    one.help(format!("add `{needed}`, or take `{key}` out"))
}

/// A word of a verdict stands on a line for people and programs.
fn plain(word: &At<String>, found: &mut Vec<Diagnostic>) {
    let text = &word.value;
    if text.is_empty() || text.len() > 40 || !text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        let message = format!("a verdict cannot be {text:?}");
        let one = Diagnostic::new("claudex::machine::bad_name", word.span.clone(), message);
        found.push(one.help("write one word of ASCII letters, at most 40"));
    }
}

/// The place of a number in a file's name.
const NUMBER: &str = "{n}";

/// A file's name in which the engine's names and `*` stand.
fn subject(file: &At<String>, found: &mut Vec<Diagnostic>) {
    let (folder, name) = file.value.rsplit_once('/').unwrap_or(("", &file.value));
    let numbers = name.matches(NUMBER).count();
    let problem = if folder.contains('*') {
        "`*` stands in a folder's name"
    } else if folder.contains(NUMBER) || numbers > 1 || (numbers == 1 && name.contains('*')) {
        "`{n}` stands in a folder's name, twice, or beside `*`"
    } else if file.value.contains("{changes}") && file.value != "{changes}" {
        "`{changes}` is no part of a path"
    } else if file.value.contains(catalogue::PROGRAM) && file.value != catalogue::PROGRAM {
        "`{program}` is no part of a path"
    } else {
        return;
    };
    let one = Diagnostic::new("claudex::machine::path", file.span.clone(), problem);
    found.push(one.help(
        "`*` or one `{n}` may stand in the name of a file, and `{changes}` or `{program}` is one of the subjects by itself",
    ));
}

/// Without a number of its own, a findings file would be written over.
fn findings_file(file: &At<String>, found: &mut Vec<Diagnostic>) {
    let (folder, name) = file.value.rsplit_once('/').unwrap_or(("", &file.value));
    if folder.contains(NUMBER) || name.matches(NUMBER).count() != 1 {
        let message = "`findings_file` has no `{n}` in the file's name, or more than one";
        let one = Diagnostic::new("claudex::machine::path", file.span.clone(), message);
        found.push(
            one.help(
                "write it once, such as `reviews/plan-review-{n}.md`: each review has a file of its own",
            ),
        );
    }
}

/// The commands that verify the work are the program's.
fn commands(key: &str, value: &At<String>, found: &mut Vec<Diagnostic>) {
    if value.value != catalogue::PROGRAM {
        let message = format!("`{key}` cannot be {:?}", value.value);
        let one = Diagnostic::new("claudex::machine::bad_name", value.span.clone(), message);
        found.push(one.help("write `\"{program}\"`: the program gives the commands, in Rust"));
    }
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
