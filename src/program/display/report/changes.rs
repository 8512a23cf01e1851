//! The changes of the reviewed text from verdict to verdict, and since the last one.

use diffy::DiffOptions;
use serde_json::{Value as Json, json};

use crate::machine::Raw;
use crate::program::display::history::Past;
use crate::program::rounds;
use crate::review::runs::Run;
use crate::review::{Digest, subject};
use crate::text;

/// The most lines of a comparison.
const MAX_DIFF_LINES: usize = 1000;
/// The most bytes of two texts that are compared: the time of a comparison grows with their product.
const MAX_COMPARED_BYTES: usize = 512 * 1024;
/// The label of a text that no review has read.
const NOW: &str = "now";

/// A text, as a review read it or as it is now.
struct Version {
    subject: String,
    label: String,
    text: String,
}

/// Returns the changes of the reviewed text from verdict to verdict, and since the last one.
///
/// A text is compared with the one before it of the same subject. Of a work tree's changes, only those that the last
/// review read are kept.
pub(super) fn changes(raw: &Raw, past: &Past) -> Vec<Json> {
    let label = |run: &Run| format!("round {}", run.began.round);
    let has_verdict = |run: &&Run| run.ended.as_ref().is_some_and(|how| how.digest().is_some());
    let reviewed: Vec<&Run> = past.runs.iter().filter(has_verdict).collect();
    let kept = reviewed.iter().filter_map(|run| {
        let (subject, text) = subject::kept(raw, run)?;
        let label = label(run);
        Some(Version {
            subject,
            label,
            text,
        })
    });
    let mut versions: Vec<Version> = kept.collect();
    let mut work_tree = None;
    if let Some(spec) = rounds::spec(raw)
        && let Ok(Some(text)) = subject::now(raw, spec)
    {
        let subject = subject::shown(raw, spec);
        if subject::has_changes(raw, spec) {
            let digest = Digest::of(text.as_bytes());
            let run = reviewed.iter().rfind(|run| run.began.subject == digest);
            let diff = text::plain(&text);
            work_tree = run.map(|run| change(&subject, "before", &label(run), Some(&diff)));
        } else {
            let label = NOW.to_owned();
            versions.push(Version {
                subject,
                label,
                text,
            });
        }
    }

    let mut changes = Vec::new();
    for (index, after) in versions.iter().enumerate() {
        let mut earlier = versions[..index].iter();
        let before = earlier.rfind(|before| before.subject == after.subject);
        let is_shown = |before: &&Version| after.label != NOW || before.text != after.text;
        if let Some(before) = before.filter(is_shown) {
            let diff = compare(&before.text, &after.text);
            let diff = diff.as_deref();
            changes.push(change(&after.subject, &before.label, &after.label, diff));
        }
    }
    changes.extend(work_tree);
    changes
}

/// Returns the hunks between two texts, or `None` if they are too long to be compared.
fn compare(before: &str, after: &str) -> Option<String> {
    if before.len() + after.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let (before, after) = (text::plain(before), text::plain(after));
    let patch = DiffOptions::new().create_patch(&before, &after).to_string();
    // The two lines before the first hunk name files, and there are none.
    let hunks: Vec<&str> = patch.lines().skip(2).collect();
    Some(hunks.join("\n"))
}

/// Returns the facts of a change, with a unified diff of one file or of many.
fn change(subject: &str, from: &str, to: &str, diff: Option<&str>) -> Json {
    let lines: Vec<&str> = diff.unwrap_or_default().lines().collect();
    let mut added = 0;
    let mut removed = 0;
    let mut in_hunk = false;
    for line in &lines {
        match line.as_bytes() {
            [b'@', b'@', ..] => in_hunk = true,
            [b'd', ..] => in_hunk = false,
            [b'+', ..] if in_hunk => added += 1,
            [b'-', ..] if in_hunk => removed += 1,
            _ => {}
        }
    }
    let cut = lines.len().saturating_sub(MAX_DIFF_LINES);
    json!({
        "subject": text::one_line(subject, 300),
        "from": from,
        "to": to,
        "added": added,
        "removed": removed,
        "diff": diff.map(|_| lines[..lines.len() - cut].join("\n")),
        "cut": cut,
    })
}
