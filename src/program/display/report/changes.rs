//! The changes of the reviewed text from verdict to verdict.

use diffy::DiffOptions;
use serde::Serialize;

use crate::machine::Raw;
use crate::program::display::past::Past;
use crate::program::rounds;
use crate::review::runs::Run;
use crate::review::{Digest, subject};
use crate::text;

/// The most lines of a comparison.
const MAX_DIFF_LINES: usize = 1000;
/// The most bytes of two texts that are compared: the time of a comparison grows with their product.
const MAX_COMPARED_BYTES: usize = 512 * 1024;

/// A change of the reviewed text from one verdict to the next, or since the last one.
#[derive(Serialize)]
pub(super) struct TextChange {
    subject: String,
    from: String,
    to: String,
    added: usize,
    removed: usize,
    /// The hunks of a unified diff; `None` if the texts are too long to be compared.
    diff: Option<String>,
    /// The number of lines of the diff that are left out.
    cut: usize,
}

/// Returns the changes of the reviewed text from verdict to verdict, and since the last one.
///
/// A text is compared with the one before it of the same subject. Of a work tree's changes, only those that the last
/// review read are kept.
pub(super) fn changes(raw: &Raw, past: &Past) -> Vec<TextChange> {
    let mut texts: Vec<(String, String, String)> = Vec::new();
    let mut changes = Vec::new();
    let round = |run: &Run| format!("round {}", run.began.round);
    let reviewed = past
        .runs
        .iter()
        .filter(|run| run.ended.as_ref().is_some_and(|how| how.digest().is_some()));
    let kept = reviewed.clone().filter_map(|run| {
        let (subject, text) = subject::kept(raw, run)?;
        Some((subject, round(run), text))
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
    if let Some(spec) = rounds::spec(raw)
        && let Ok(Some(text)) = subject::now(raw, spec)
    {
        let subject = subject::shown(raw, spec);
        if !subject::has_changes(raw, spec) {
            add(subject, "now".to_owned(), text, false);
        } else if let Some(run) = reviewed
            .rev()
            .find(|run| run.began.subject == Digest::of(text.as_bytes()))
        {
            let mut change = TextChange::new(&subject, "before", &round(run));
            change.show(&text::plain(&text).lines().collect::<Vec<_>>());
            changes.push(change);
        }
    }
    changes
}

impl TextChange {
    fn new(subject: &str, from: &str, to: &str) -> Self {
        Self {
            subject: text::one_line(subject, 300),
            from: from.to_owned(),
            to: to.to_owned(),
            added: 0,
            removed: 0,
            diff: None,
            cut: 0,
        }
    }

    /// Takes a unified diff, of one file or of many.
    fn show(&mut self, lines: &[&str]) {
        let mut in_hunk = false;
        for line in lines {
            match line.as_bytes() {
                [b'@', b'@', ..] => in_hunk = true,
                [b'd', ..] => in_hunk = false,
                [b'+', ..] if in_hunk => self.added += 1,
                [b'-', ..] if in_hunk => self.removed += 1,
                _ => {}
            }
        }
        self.cut = lines.len().saturating_sub(MAX_DIFF_LINES);
        self.diff = Some(lines[..lines.len() - self.cut].join("\n"));
    }
}

fn compare(subject: &str, (from, before): (&str, &str), (to, after): (&str, &str)) -> TextChange {
    let mut change = TextChange::new(subject, from, to);
    if before.len() + after.len() <= MAX_COMPARED_BYTES {
        let (before, after) = (text::plain(before), text::plain(after));
        let text = DiffOptions::new().create_patch(&before, &after).to_string();
        // The two lines before the first hunk name files, and there are none.
        change.show(&text.lines().skip(2).collect::<Vec<_>>());
    }
    change
}
