//! The personas of the user's file: the program's own adjusted, others added, some removed, all put in order.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use super::super::Settings;
use super::super::error::Problem;
use super::super::origin::Source;
use super::super::tables::PersonaTable;
use super::super::values::Name;
use crate::machine::persona::Focus;
use crate::program::info::ProgramInfo;
use crate::program::suggest;
use crate::review::personas::{Persona, Personas};

/// A persona and its place among the others.
struct Placed {
    persona: Persona,
    order: Option<i64>,
    /// Where its order or its name stands in the file; the program's own are at 0.
    span: Range<usize>,
}

/// Applies the tables to the personas of the program.
///
/// # Errors
/// Returns a problem if a new persona has no prompt, two have one order, or none is left.
pub(super) fn apply(
    tables: BTreeMap<Spanned<Name>, PersonaTable>,
    source: &Source<'_>,
    settings: &mut Settings,
) -> Result<(), Problem> {
    let Some(first) = tables.keys().map(|name| name.span().start).min() else {
        return Ok(());
    };
    let list_changes = tables.values().any(|table| table.order.is_some())
        || tables.iter().any(|(name, table)| {
            let mut own = settings.personas.all().iter();
            table.enabled == Some(false) || !own.any(|own| own.name == name.get_ref().0)
        });

    let mut tables: Vec<(Spanned<Name>, PersonaTable)> = tables.into_iter().collect();
    let mut placed = Vec::new();
    for (order, persona) in (1..).zip(settings.personas.all().to_vec()) {
        let at = tables
            .iter()
            .position(|(name, _)| name.get_ref().0 == persona.name);
        let table = at.map(|at| tables.remove(at).1);
        let own = Placed {
            persona,
            order: Some(order),
            span: 0..0,
        };
        placed.extend(adjust(own, table.unwrap_or_default(), source, settings));
    }
    for (name, table) in tables {
        let added = new_persona(&name, &table, settings.info)?;
        placed.extend(adjust(added, table, source, settings));
    }

    placed.sort_by_key(|one| (one.order.is_none(), one.order, one.span.start));
    check_orders(&placed)?;
    let personas = placed.into_iter().map(|placed| placed.persona).collect();
    settings.personas = Personas::new(personas).ok_or_else(|| {
        Problem::new(
            first..first,
            "no persona is left to review",
            "leave one of them enabled",
        )
    })?;
    if list_changes {
        settings.origins.note("personas", source.origin(first));
    }
    Ok(())
}

/// Applies a table to a persona; returns `None` if the table disables it.
fn adjust(
    mut placed: Placed,
    table: PersonaTable,
    source: &Source<'_>,
    settings: &mut Settings,
) -> Option<Placed> {
    if table.enabled == Some(false) {
        return None;
    }
    let prefix = format!("personas.{}.", placed.persona.name);
    let mut taker = source.taker(&mut settings.origins, &prefix);
    let persona = &mut placed.persona;
    taker.take("label", table.label, |label| persona.label = label.0);
    taker.take("prompt", table.prompt, |prompt| persona.prompt = prompt.0);
    taker.take("focus", table.focus, |focus| persona.focus = focus);
    if let Some(order) = &table.order {
        placed.span = order.span();
        placed.order = Some(*order.get_ref());
    }
    Some(placed)
}

/// Returns a persona that the program does not have, with the defaults.
fn new_persona(
    name: &Spanned<Name>,
    table: &PersonaTable,
    info: &ProgramInfo,
) -> Result<Placed, Problem> {
    let text = &name.get_ref().0;
    if table.prompt.is_none() && table.enabled != Some(false) {
        let message = format!("the persona `{text}` has no `prompt`");
        let own = info.table.personas.iter().map(|persona| persona.name);
        let near = suggest::word(text, own);
        let help = suggest::help(near, "say who it is and what it looks at");
        return Err(Problem::new(name.span(), message, help));
    }
    Ok(Placed {
        persona: Persona {
            name: text.clone(),
            label: text.clone(),
            prompt: String::new(),
            focus: Focus::Engineering,
        },
        order: None,
        span: name.span(),
    })
}

/// Checks that no two personas have the same order.
fn check_orders(placed: &[Placed]) -> Result<(), Problem> {
    for pair in placed.windows(2) {
        if pair[0].order.is_some() && pair[0].order == pair[1].order {
            let message = format!(
                "the personas `{}` and `{}` both have order {}",
                pair[0].persona.name,
                pair[1].persona.name,
                pair[1].order.unwrap_or_default()
            );
            return Err(Problem::new(
                pair[1].span.clone(),
                message,
                "give one of them another order; those of the program have 1, 2 and so on by default",
            ));
        }
    }
    Ok(())
}
