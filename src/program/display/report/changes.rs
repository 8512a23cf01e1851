//! How what is reviewed changed, from verdict to verdict.

use diffy::{DiffOptions, Line};
use serde::Serialize;

use crate::machine::Raw;
use crate::program::display::past::Past;
use crate::program::rounds;
use crate::review::subject;
use crate::text;

/// Most lines of a comparison.
const LINES: usize = 1000;
/// Most bytes of two texts that are compared: the time of a comparison grows with their product.
const COMPARED: usize = 512 * 1024;

/// Holds what changed in the reviewed text from one verdict to the next, or since the last one.
#[derive(Serialize)]
pub(super) struct TextChange {
    subject: String,
    from: String,
    to: String,
    added: usize,
    removed: usize,
    /// Hunks of a unified diff; `None`: the texts are too long to be compared.
    diff: Option<String>,
    /// Counts the lines of the diff that are left out.
    cut: usize,
}

/// Returns how what is reviewed changed from verdict to verdict, and since the last one. A text is compared with the one before it of
/// the same subject; what an earlier version of the engine did not keep, and changes of a work tree, are left out.
pub(super) fn changes(raw: &Raw, past: &Past) -> Vec<TextChange> {
    let mut texts: Vec<(String, String, String)> = Vec::new();
    let mut changes = Vec::new();
    let reviewed = past
        .runs
        .iter()
        .filter(|run| run.ended.as_ref().is_some_and(|how| how.digest().is_some()));
    let kept = reviewed.filter_map(|run| {
        let (subject, text) = subject::kept(raw, run)?;
        Some((subject, format!("round {}", run.began.round), text))
    });
    let mut add = |subject: String, label: String, text: String, even_where_same: bool| {
        let before = texts.iter().rfind(|(known, ..)| *known == subject);
        if let Some((_, from, before)) = before
            && (even_where_same || *before != text)
        {
            changes.push(compare(&subject, (from, before), (&label, &text)));
        }
        texts.push((subject, label, text));
    };
    for (subject, label, text) in kept {
        add(subject, label, text, true);
    }
    let now = rounds::spec(raw).filter(|spec| !subject::has_changes(raw, spec));
    if let Some(spec) = now
        && let Ok(Some(text)) = subject::now(raw, spec)
    {
        add(subject::shown(raw, spec), "now".to_owned(), text, false);
    }
    changes
}

fn compare(subject: &str, (from, before): (&str, &str), (to, after): (&str, &str)) -> TextChange {
    let mut change = TextChange {
        subject: text::one_line(subject, 300),
        from: from.to_owned(),
        to: to.to_owned(),
        added: 0,
        removed: 0,
        diff: None,
        cut: 0,
    };
    if before.len() + after.len() > COMPARED {
        return change;
    }
    let (before, after) = (text::plain(before), text::plain(after));
    let patch = DiffOptions::new().create_patch(&before, &after);
    for line in patch.hunks().iter().flat_map(|hunk| hunk.lines()) {
        match line {
            Line::Insert(_) => change.added += 1,
            Line::Delete(_) => change.removed += 1,
            Line::Context(_) => {}
        }
    }
    let text = patch.to_string();
    // The two lines before the first hunk name files, and there are none.
    let lines: Vec<&str> = text.lines().skip(2).collect();
    change.cut = lines.len().saturating_sub(LINES);
    change.diff = Some(lines[..lines.len() - change.cut].join("\n"));
    change
}
