//! The reviewers of the user's file: the program's own adjusted, others added.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::Settings;
use super::super::error::Problem;
use super::super::origin::Source;
use super::super::tables::ReviewerTable;
use super::super::values::{AUTO, Name, texts};
use crate::program::suggest;
use crate::review::settings::{ReviewerKind, ReviewerSettings};

/// Adjusts and adds the reviewers of the tables.
///
/// # Errors
/// Returns the first table that cannot be a reviewer.
pub(super) fn apply(
    tables: BTreeMap<Spanned<Name>, ReviewerTable>,
    source: &Source<'_>,
    settings: &mut Settings,
) -> Result<(), Problem> {
    for (name, table) in tables {
        let kind = kind_of(&name, &table, settings)?;
        check_keys(&name, kind, &table)?;
        let name = name.into_inner().0;
        if let Some(sandbox) = &table.sandbox {
            let what = "`sandbox`: it is retired; Codex and Claude run read-only";
            settings
                .ignored
                .push(source.ignored(sandbox.span().start, what));
        }
        let prefix = format!("reviewers.{name}.");
        let mut taker = source.taker(&mut settings.origins, &prefix);
        let reviewer = settings
            .reviewers
            .entry(name)
            .or_insert_with(|| ReviewerSettings::of(kind));
        taker.take("kind", table.kind, |_| {});
        taker.take("program", table.program, |it| reviewer.program = Some(it.0));
        taker.take("arguments", table.arguments, |it| {
            reviewer.arguments = texts(it)
        });
        taker.take("model", table.model, |it| reviewer.model = Some(it.0));
        taker.take("environment", table.environment, |it| {
            reviewer.environment = texts(it);
        });
        taker.take("timeout", table.timeout, |it| reviewer.timeout = Some(it.0));
        taker.take("idle-timeout", table.idle_timeout, |it| {
            reviewer.idle_timeout = Some(it.0)
        });
    }
    Ok(())
}

/// Returns the kind of the reviewer of a table.
fn kind_of(
    spanned: &Spanned<Name>,
    table: &ReviewerTable,
    settings: &Settings,
) -> Result<ReviewerKind, Problem> {
    let name = &spanned.get_ref().0;
    if name == AUTO {
        return Err(Problem::new(
            spanned.span(),
            "the name `auto` is reserved",
            "`auto` means whichever reviewer is there; give yours another name",
        ));
    }
    if settings.info.own_reviewers().contains(name) {
        return Err(Problem::new(
            spanned.span(),
            format!("the reviewer `{name}` is the program's own"),
            "it has no settings: leave this out",
        ));
    }
    let own = settings.reviewers.get(name).map(|own| own.kind);
    match (own, &table.kind) {
        (Some(own), Some(kind)) if *kind.get_ref() != own => Err(Problem::new(
            kind.span(),
            format!("the reviewer `{name}` is the program's own, of kind `{own}`"),
            "leave `kind` out here, or choose another name for a reviewer of another kind",
        )),
        (Some(own), _) => Ok(own),
        (None, Some(kind)) => Ok(*kind.get_ref()),
        (None, None) => {
            let known = settings.reviewers.keys().map(String::as_str);
            let help = suggest::help(
                suggest::word(name, known),
                "say which program speaks: kind = \"codex\", \"claude\" or \"command\"",
            );
            let message = format!("the reviewer `{name}` has no `kind`");
            Err(Problem::new(spanned.span(), message, help))
        }
    }
}

/// Checks that a table has the keys that its kind needs, and no others.
fn check_keys(
    name: &Spanned<Name>,
    kind: ReviewerKind,
    table: &ReviewerTable,
) -> Result<(), Problem> {
    if kind == ReviewerKind::Command && table.program.is_none() {
        return Err(Problem::new(
            name.span(),
            format!(
                "the reviewer `{}` is a command, and has no `program`",
                name.get_ref().0
            ),
            "say which one: program = \"/absolute/path\", or a name that is found in PATH",
        ));
    }
    if kind != ReviewerKind::Lint {
        return Ok(());
    }
    let keys = [
        ("program", table.program.as_ref().map(Spanned::span)),
        ("arguments", table.arguments.as_ref().map(Spanned::span)),
        ("model", table.model.as_ref().map(Spanned::span)),
        ("environment", table.environment.as_ref().map(Spanned::span)),
    ];
    match keys.into_iter().find_map(|(key, span)| Some((key, span?))) {
        Some((key, span)) => Err(Problem::new(
            span,
            format!("`{key}` means nothing for a reviewer of kind `lint`"),
            "`lint` is built in and starts no program; leave this out",
        )),
        None => Ok(()),
    }
}
