//! The changes of the reviewed text from verdict to verdict, and since the last one.

use diffy::create_patch;
use serde_json::{Value as Json, json};

use super::history::Past;
use crate::machine::Raw;
use crate::program::rounds;
use crate::review::subject;
use crate::text;

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

/// Returns the changes of the reviewed document from verdict to verdict, and since the last one. A text is compared with
/// the one before it of the same subject.
pub(super) fn changes(raw: &Raw, past: &Past) -> Vec<Json> {
    let mut versions = Vec::new();
    for run in &past.runs {
        if run.verdict().is_some()
            && let Some((subject, text)) = subject::text_of_run(raw, run)
        {
            versions.push(Version {
                subject,
                label: format!("round {}", run.began.round),
                text,
            });
        }
    }
    if let Some(spec) = rounds::spec(raw)
        && !subject::has_changes(raw, spec)
        && let Ok(Some(bytes)) = subject::now(raw, spec)
    {
        versions.push(Version {
            subject: subject::title(raw, spec),
            label: NOW.to_owned(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        });
    }

    let mut changes = Vec::new();
    for (index, after) in versions.iter().enumerate() {
        let mut earlier = versions[..index].iter();
        let before = earlier.rfind(|before| before.subject == after.subject);
        let is_shown = |before: &&Version| after.label != NOW || before.text != after.text;
        changes.extend(before.filter(is_shown).map(|before| change(before, after)));
    }
    changes
}

/// Returns the facts of a change. Its diff is `null` if the texts are too long to be compared.
fn change(before: &Version, after: &Version) -> Json {
    let is_short = before.text.len() + after.text.len() <= MAX_COMPARED_BYTES;
    let diff = is_short.then(|| {
        let old = text::plain(&before.text);
        let patch = create_patch(&old, &text::plain(&after.text)).to_string();
        // The two lines before the first hunk name files, and there are none.
        let hunks: Vec<&str> = patch.lines().skip(2).collect();
        hunks.join("\n")
    });
    let lines = || diff.iter().flat_map(|diff| diff.lines());
    json!({
        "subject": text::one_line(&after.subject, 300),
        "from": before.label,
        "to": after.label,
        "added": lines().filter(|line| line.starts_with('+')).count(),
        "removed": lines().filter(|line| line.starts_with('-')).count(),
        "diff": diff,
    })
}
