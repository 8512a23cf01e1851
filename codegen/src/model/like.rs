//! `like`: a phase that takes the `on_stop` of another phase.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, suggest};

/// Adds to the `on_stop` of each phase with `like` the missing keys of the phase that it names.
/// Values of a wrong type are left to serde.
pub(super) fn complete_phases(file: &mut DeTable<'_>) -> Result<(), Diagnostic> {
    let Some(DeValue::Table(phases)) = file.get_mut("phases").map(Spanned::get_mut) else {
        return Ok(());
    };
    let known = phases.clone();
    for (_, phase) in phases.iter_mut() {
        let DeValue::Table(phase) = phase.get_mut() else {
            continue;
        };
        let like = phase.get("like");
        let Some((like, name)) = like.and_then(|like| Some((like, like.get_ref().as_str()?)))
        else {
            continue;
        };
        let phase_named = known.get(name).ok_or_else(|| {
            let names = known.keys().map(|name| name.get_ref().as_ref());
            let help = suggest(name, names).unwrap_or_else(|| format!("add `[phases.{name}]`"));
            let message = format!("no phase is named `{name}`");
            Diagnostic::new("unknown_phase", like.span(), message).help(help)
        })?;
        let on_stop = phase_named
            .get_ref()
            .as_table()
            .filter(|other| !other.contains_key("like"))
            .and_then(|other| other.get_key_value("on_stop"));
        let Some((key, on_stop)) = on_stop else {
            let message = format!("`like` names `{name}`, which has no whole `on_stop` itself");
            let problem = Diagnostic::new("like", like.span(), message);
            return Err(problem.help("name a phase that has one, or remove `like`"));
        };
        let completed = phase.entry(key.clone()).or_insert_with(|| on_stop.clone());
        merge(completed, on_stop, 2);
    }
    Ok(())
}

/// Adds the keys that a table lacks, down to `levels` levels.
fn merge<'i>(own: &mut Spanned<DeValue<'i>>, other: &Spanned<DeValue<'i>>, levels: usize) {
    if let (DeValue::Table(own), DeValue::Table(other), 1..) =
        (own.get_mut(), other.get_ref(), levels)
    {
        for (key, value) in other {
            let entry = own.entry(key.clone()).or_insert_with(|| value.clone());
            merge(entry, value, levels - 1);
        }
    }
}
