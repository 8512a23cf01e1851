//! `like`: a phase that takes the `on_stop` of another phase.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::At;
use crate::diagnostic::{Diagnostic, suggest};

/// The `on_stop` of a phase with `like`.
pub(super) struct Copied<'i> {
    /// The name of the phase.
    pub(super) phase: String,
    /// The keys of the phase and those of the phase that `like` names.
    pub(super) on_stop: Spanned<DeValue<'i>>,
}

/// Takes the `on_stop` of each phase with `like` out of a machine file and completes it. The model reads them after the
/// other phases, so that a mistake in an `on_stop` is reported where it is written.
///
/// # Errors
/// Returns each `like` that cannot be followed.
pub(super) fn take_copies<'i>(file: &mut DeTable<'i>) -> Result<Vec<Copied<'i>>, Vec<Diagnostic>> {
    let Some(DeValue::Table(phases)) = file.get_mut("phases").map(Spanned::get_mut) else {
        return Ok(Vec::new());
    };
    let known = phases.clone();
    let mut copies = Vec::new();
    let mut found = Vec::new();
    for (phase, table) in phases.iter_mut() {
        let DeValue::Table(table) = table.get_mut() else {
            continue;
        };
        let Some(like) = table.get("like") else {
            continue;
        };
        let Some(name) = like.get_ref().as_str() else {
            continue;
        };
        let like = At::new(name.to_owned(), like.span());
        match complete(&like, table.remove("on_stop"), &known) {
            Ok(Some(on_stop)) => copies.push(Copied {
                phase: phase.get_ref().to_string(),
                on_stop,
            }),
            Ok(None) => {}
            Err(problem) => found.push(problem),
        }
    }
    if found.is_empty() {
        Ok(copies)
    } else {
        Err(found)
    }
}

/// Adds the keys of the phase that `like` names to an `on_stop`. Returns `None` if serde refuses that phase.
fn complete<'i>(
    like: &At<String>,
    own: Option<Spanned<DeValue<'i>>>,
    phases: &DeTable<'i>,
) -> Result<Option<Spanned<DeValue<'i>>>, Diagnostic> {
    let Some(phase) = phases.get(like.as_str()) else {
        let known = phases.keys().map(|name| name.get_ref().as_ref());
        let help = suggest(like, known).unwrap_or_else(|| format!("add `[phases.{like}]`"));
        let problem = like.problem("unknown_phase", format!("no phase is named `{like}`"));
        return Err(problem.help(help));
    };
    let Some(phase) = phase.get_ref().as_table() else {
        return Ok(None);
    };
    if phase.contains_key("like") {
        let message = format!("`like` names `{like}`, which has `like` itself");
        return Err(like
            .problem("like", message)
            .help("name the phase that has the whole `on_stop`"));
    }
    let Some(on_stop) = phase.get("on_stop") else {
        let message = format!("`like` names `{like}`, which has no `on_stop`");
        return Err(like
            .problem("like", message)
            .help("name a phase that has one, or remove `like`"));
    };
    let Some((behaviour, keys)) = on_stop
        .get_ref()
        .as_table()
        .and_then(|table| table.iter().next())
    else {
        return Ok(None);
    };

    let mut own =
        own.unwrap_or_else(|| Spanned::new(like.span.clone(), DeValue::Table(DeTable::new())));
    let DeValue::Table(table) = own.get_mut() else {
        return Ok(Some(own));
    };
    if let Some(other) = table.keys().find(|key| *key != behaviour) {
        let own = other.get_ref();
        let known = behaviour.get_ref();
        let message = format!("`on_stop` has `{own}`, but that of `{like}` has `{known}`");
        return Err(Diagnostic::new("like", other.span(), message)
            .help(format!("use `{known}`, or remove `like`")));
    }
    let own_keys = table
        .entry(behaviour.clone())
        .or_insert_with(|| Spanned::new(like.span.clone(), DeValue::Table(DeTable::new())));
    if let (DeValue::Table(own_keys), DeValue::Table(keys)) = (own_keys.get_mut(), keys.get_ref()) {
        for (key, value) in keys {
            own_keys.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    Ok(Some(own))
}
