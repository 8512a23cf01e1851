//! Parameters of behaviours that need another key, or a field of some type.

use std::ops::Range;

use super::{Index, names};
use crate::diagnostic::Diagnostic;
use crate::model::{At, Behaviour, FieldKind, Phase, Review};

pub(super) fn parameters(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    for phase in &index.machine.phases {
        match &phase.on_stop {
            Some(Behaviour::Review(review)) => self::review(review, found),
            Some(Behaviour::WaitFor { file, field, .. }) => match (file, field) {
                (None, Some(name)) => self::field(index, name, found),
                (Some(_), None) => {}
                (None, None) => found.push(no_wait(phase)),
                (Some(_), Some(field)) => found.push(two_waits(field)),
            },
            _ => {}
        }
    }
}

fn review(review: &Review, found: &mut Vec<Diagnostic>) {
    if let Some(model) = review.model.first()
        && review.reviewer.is_empty()
    {
        found.push(alone("model", &model.span, "reviewer"));
    }
    let Some(verdict) = review.verdicts.first() else {
        return;
    };
    if review.findings_file.is_none() {
        found.push(alone("verdicts", &verdict.span, "findings_file"));
    }
    if review.verdicts.len() != 2 {
        let message = format!("the number of `verdicts` is {}", review.verdicts.len());
        let one = verdict.problem("verdicts", message);
        found.push(
            one.help("write two words: for a review without findings and for one with findings"),
        );
    }
}

fn no_wait(phase: &Phase) -> Diagnostic {
    let message = format!("`wait-for` of `{}` waits for nothing", phase.name);
    let one = phase.name.problem("missing_key", message);
    one.help("add `file = \"...\"` or `field = \"...\"`")
}

fn two_waits(field: &At<String>) -> Diagnostic {
    let message = "`wait-for` has both `file` and `field`";
    let one = field.problem("either", message);
    one.help("keep one; to wait for both, use two phases")
}

/// Checks the type of a field that a phase waits for.
fn field(index: &Index<'_>, name: &At<String>, found: &mut Vec<Diagnostic>) {
    let Some(field) = index.fields.get(name.as_str()) else {
        return names::field(index, name, found);
    };
    let (message, help) = match &field.kind {
        FieldKind::OneOf(_) => (
            format!(
                "`{}` is one of some words, and none of them means yes",
                name
            ),
            "wait for a flag, or tell the words apart by a guard (`when`) on the transition",
        ),
        FieldKind::Data(_) => (
            format!("`{}` is data, which is no yes and no no", name),
            "name a flag, a count, a text, a list or a time",
        ),
        FieldKind::Held(_) => (
            format!("`{}` is the engine's, and says nothing to wait for", name),
            "wait for a field of the machine's own",
        ),
        _ => return,
    };
    found.push(name.problem("type", message).help(help));
}

/// Describes a key that has no effect without another one.
fn alone(key: &str, span: &Range<usize>, needed: &str) -> Diagnostic {
    let message = format!("`{key}` says nothing without `{needed}`");
    let one = Diagnostic::new("missing_key", span.clone(), message);
    one.help(format!("add `{needed}`, or take `{key}` out"))
}
