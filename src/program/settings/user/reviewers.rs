//! The reviewers of the user's file: the program's own adjusted, others added.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::findings::Finding;
use super::super::leaf::{At, Table};
use super::super::origin::Source;
use super::super::tables::ReviewerTable;
use super::super::{Settings, names, programs};
use crate::review::settings::{ReviewerKind, ReviewerSettings};
use crate::text;

/// Puts the tables over the reviewers that are there.
pub(super) fn apply(
    tables: BTreeMap<At<String>, Table<ReviewerTable>>,
    source: &Source<'_>,
    settings: &mut Settings,
    found: &mut Vec<Finding>,
) {
    for (name, Table(table)) in tables {
        if let Some((message, help)) = names::problem(&name.value, names::RESERVED) {
            let finding = Finding::new("claudex::config::name", name.span.clone(), message);
            found.push(finding.label("not a name").help(help));
            continue;
        }
        if settings.info.own_reviewers().contains(&name.value) {
            let message = format!("the reviewer `{}` is the program's own", name.value);
            let finding = Finding::new("claudex::config::name", name.span.clone(), message);
            found.push(
                finding
                    .label("built in")
                    .help("it has no settings: leave this out"),
            );
            continue;
        }
        let own = settings.reviewers.get(&name.value);
        let kind = match (own.map(|own| own.kind), &table.kind) {
            (Some(own), Some(given)) if given.value.0 != own => {
                let message = format!(
                    "the reviewer `{}` is the program's own, of kind `{own}`",
                    name.value
                );
                let finding = Finding::new("claudex::config::kind", given.span.clone(), message);
                found.push(finding.label("another kind").help(
                    "leave `kind` out here, or choose another name for a reviewer of another kind",
                ));
                continue;
            }
            (Some(own), _) => own,
            (None, Some(given)) => given.value.0,
            (None, None) => {
                found.push(no_kind(&name, settings));
                continue;
            }
        };
        found.extend(problems(&name, kind, &table));
        let mut reviewer = own.cloned().unwrap_or_else(|| ReviewerSettings::of(kind));
        let mut note = |key: &str, span: &Range<usize>| {
            settings.origins.note(
                format!("reviewers.{}.{key}", name.value),
                source.user(span.start),
            );
        };
        if let Some(given) = &table.kind {
            note("kind", &given.span);
        }
        if let Some(given) = table.program {
            note("program", &given.span);
            reviewer.program = Some(given.value);
        }
        if let Some(given) = table.arguments {
            note("arguments", &given.span);
            reviewer.arguments = given.value;
        }
        if let Some(given) = table.model {
            note("model", &given.span);
            reviewer.model = Some(given.value);
        }
        if let Some(given) = table.environment {
            note("environment", &given.span);
            reviewer.environment = given.value;
        }
        if let Some(given) = table.timeout {
            note("timeout", &given.span);
            reviewer.timeout = Some(given.value.0);
        }
        if let Some(given) = table.idle_timeout {
            note("idle-timeout", &given.span);
            reviewer.idle_timeout = Some(given.value.0);
        }
        settings.reviewers.insert(name.value, reviewer);
    }
}

/// A name of one's own without `kind` may be one of the program's, misspelt.
fn no_kind(name: &At<String>, settings: &Settings) -> Finding {
    let message = format!("the reviewer `{}` has no `kind`", name.value);
    let known = settings.reviewers.keys().map(String::as_str);
    let help = match crate::program::suggest::word(&name.value, known) {
        Some(near) => {
            format!("did you mean `{near}`? Else say which program speaks: kind = \"command\"")
        }
        None => "say which program speaks: kind = \"codex\", \"claude\" or \"command\"".to_owned(),
    };
    let finding = Finding::new("claudex::config::kind", name.span.clone(), message);
    finding.label("`kind` is missing here").help(help)
}

/// What in a table cannot be, for its kind.
fn problems(name: &At<String>, kind: ReviewerKind, table: &ReviewerTable) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut wrong = |span: &Range<usize>, message: String, help: &str| {
        let finding = Finding::new("claudex::config::value", span.clone(), message);
        found.push(finding.label("here").help(help));
    };
    if kind == ReviewerKind::Lint {
        let spans = [
            ("program", table.program.as_ref().map(|given| &given.span)),
            (
                "arguments",
                table.arguments.as_ref().map(|given| &given.span),
            ),
            ("model", table.model.as_ref().map(|given| &given.span)),
            (
                "environment",
                table.environment.as_ref().map(|given| &given.span),
            ),
        ];
        for (key, span) in spans {
            if let Some(span) = span {
                let message = format!("`{key}` means nothing for a reviewer of kind `lint`");
                wrong(
                    span,
                    message,
                    "`lint` is built in and starts no program; leave this out",
                );
            }
        }
        return found;
    }
    match &table.program {
        None if kind == ReviewerKind::Command => {
            let message = format!(
                "the reviewer `{}` is a command, and has no `program`",
                name.value
            );
            let help =
                "say which one: program = \"/absolute/path\", or a name that is found in PATH";
            wrong(&name.span, message, help);
        }
        None => {}
        Some(program) => {
            if let Some((message, help)) = programs::program_problem(&program.value) {
                wrong(&program.span, message, help);
            }
        }
    }
    if let Some(model) = &table.model
        && (model.value.trim().is_empty()
            || text::plain(&model.value) != model.value
            || model.value.starts_with('-'))
    {
        let message = "`model` is not the name of a model".to_owned();
        wrong(
            &model.span,
            message,
            "leave it out for the program's own default",
        );
    }
    if let Some(arguments) = &table.arguments
        && let Some((message, help)) = programs::argument_problem(&arguments.value)
    {
        wrong(&arguments.span, message, help);
    }
    if let Some(variables) = &table.environment {
        let problems = variables
            .value
            .iter()
            .filter_map(|name| programs::variable_problem(name));
        for (message, help) in problems {
            wrong(&variables.span, message, help);
        }
    }
    found
}
