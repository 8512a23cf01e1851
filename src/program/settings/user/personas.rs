//! The personas of the user's file: the program's own adjusted, others added, some taken out, all put in order.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::findings::Finding;
use super::super::leaf::{At, Table};
use super::super::origin::Source;
use super::super::tables::PersonaTable;
use super::super::{Settings, names};
use crate::machine::persona::Focus;
use crate::program::info::ProgramInfo;
use crate::program::suggest;
use crate::review::personas::{Persona, Personas};
use crate::text;

/// The longest label, in characters: it stands in every line of a table of rounds.
const LONGEST_LABEL: usize = 80;
/// The longest prompt, in bytes.
const LONGEST_PROMPT: usize = 16 * 1024;

/// A persona and its place: those with an order by it, the others behind them, in the order of the file.
struct Placed {
    place: (Option<i64>, usize),
    persona: Persona,
    /// Where its order stands, or its name.
    span: Option<Range<usize>>,
}

impl Placed {
    fn key(&self) -> (bool, i64, usize) {
        let (order, behind) = self.place;
        (order.is_none(), order.unwrap_or_default(), behind)
    }
}

/// Puts the tables over the personas that are there.
pub(super) fn apply(
    tables: BTreeMap<At<String>, Table<PersonaTable>>,
    source: &Source<'_>,
    settings: &mut Settings,
    found: &mut Vec<Finding>,
) {
    let mut placed: Vec<Placed> = (1..)
        .zip(settings.personas.all())
        .map(|(order, persona)| Placed {
            place: (Some(order), 0),
            persona: persona.clone(),
            span: None,
        })
        .collect();
    // The first place in the file that makes the list another than the program's.
    let mut changed: Option<usize> = None;
    let mut last = None;
    for (name, Table(table)) in tables {
        if let Some((message, help)) = names::problem(&name.value, &[]) {
            let finding = Finding::new("claudex::config::name", name.span.clone(), message);
            found.push(finding.label("not a name").help(help));
            continue;
        }
        let is_disabled = table.enabled.as_ref().is_some_and(|enabled| !enabled.value);
        let at = placed.iter().position(|one| one.persona.name == name.value);
        let mut change = |at: usize| changed = Some(changed.map_or(at, |first| first.min(at)));
        if is_disabled {
            change(name.span.start);
            last = Some(name.span.clone());
            found.extend(problems(&table));
            if let Some(at) = at {
                placed.remove(at);
            }
            continue;
        }
        let mut persona = match at {
            Some(at) => placed.remove(at),
            None => {
                change(name.span.start);
                if table.prompt.is_none() {
                    let message = format!("the persona `{}` has no `prompt`", name.value);
                    let finding =
                        Finding::new("claudex::config::persona", name.span.clone(), message);
                    found.push(
                        finding
                            .label("`prompt` is missing here")
                            .help(no_prompt(settings.info)),
                    );
                }
                Placed {
                    place: (None, name.span.start),
                    persona: Persona {
                        name: name.value.clone(),
                        label: name.value.clone(),
                        prompt: String::new(),
                        focus: Focus::Engineering,
                    },
                    span: Some(name.span.clone()),
                }
            }
        };
        found.extend(problems(&table));
        let mut note = |key: &str, span: &Range<usize>| {
            let key = format!("personas.{}.{key}", name.value);
            settings.origins.note(key, source.user(span.start));
        };
        if let Some(order) = table.order {
            change(order.span.start);
            persona.place = (Some(order.value), 0);
            persona.span = Some(order.span);
        }
        if let Some(label) = table.label {
            note("label", &label.span);
            persona.persona.label = label.value.trim().to_owned();
        }
        if let Some(prompt) = table.prompt {
            note("prompt", &prompt.span);
            persona.persona.prompt = text::plain(prompt.value.trim());
        }
        if let Some(focus) = table.focus {
            note("focus", &focus.span);
            persona.persona.focus = focus.value.0;
        }
        placed.push(persona);
    }
    placed.sort_by_key(Placed::key);
    found.extend(same_place(&placed));
    let personas = placed.into_iter().map(|placed| placed.persona).collect();
    match Personas::new(personas) {
        Some(personas) => settings.personas = personas,
        None => {
            let finding = Finding::new(
                "claudex::config::persona",
                last.unwrap_or(0..0),
                "no persona is left to review",
            );
            found.push(
                finding
                    .label("the last one")
                    .help("leave one of them enabled"),
            );
        }
    }
    if let Some(at) = changed {
        settings.origins.note("personas", source.user(at));
    }
}

/// Says what a persona without a prompt lacks.
fn no_prompt(info: &ProgramInfo) -> String {
    let own: Vec<&str> = info
        .table
        .personas
        .iter()
        .map(|persona| persona.name)
        .collect();
    let own = match own.is_empty() {
        true => String::new(),
        false => format!(
            "; those of {} that need none are {}",
            info.program,
            suggest::list(&own)
        ),
    };
    format!("say who it is and what it looks at{own}")
}

/// Two personas that want the same place.
fn same_place(placed: &[Placed]) -> Option<Finding> {
    let pair = placed
        .windows(2)
        .find(|pair| pair[0].place.0.is_some() && pair[0].place.0 == pair[1].place.0)?;
    let span = pair.iter().rev().find_map(|one| one.span.clone())?;
    let order = pair[0].place.0.unwrap_or_default();
    let message = format!(
        "the personas `{}` and `{}` both have order {order}",
        pair[0].persona.name, pair[1].persona.name
    );
    let finding = Finding::new("claudex::config::persona", span, message);
    Some(finding.label("the same order").help(
        "give one of them another order; those of the program have 1, 2 and so on by default",
    ))
}

/// Texts that cannot be shown, or say nothing.
fn problems(table: &PersonaTable) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut wrong = |span: &Range<usize>, message: String, help: &str| {
        let finding = Finding::new("claudex::config::value", span.clone(), message);
        found.push(finding.label("this text").help(help));
    };
    // The one character that a prompt may have and plain text has not.
    let is_plain = |given: &str| text::is_plain(&given.replace("\r\n", "\n"));
    if let Some(label) = &table.label {
        let given = label.value.trim();
        if given.is_empty() || given.contains(['\n', '\t']) || !is_plain(given) {
            let message = "`label` is not a line of text".to_owned();
            wrong(
                &label.span,
                message,
                "a few words, without control characters",
            );
        } else if given.chars().count() > LONGEST_LABEL {
            let message = format!("`label` is longer than {LONGEST_LABEL} characters");
            wrong(
                &label.span,
                message,
                "it stands in every line of a table; the details go into `prompt`",
            );
        }
    }
    if let Some(prompt) = &table.prompt {
        if prompt.value.trim().is_empty() || !is_plain(&prompt.value) {
            let message = "`prompt` is empty, or has control or invisible characters".to_owned();
            wrong(
                &prompt.span,
                message,
                "say in plain text who it is and what it looks at",
            );
        } else if prompt.value.len() > LONGEST_PROMPT {
            let message = format!("`prompt` is longer than {LONGEST_PROMPT} bytes");
            wrong(&prompt.span, message, "shorten it");
        }
    }
    found
}
