//! The changes of the reviewed text from verdict to verdict, and since the last one.

use diffy::{DiffOptions, Line};
use serde_json::{Value as Json, json};

use crate::machine::Raw;
use crate::program::display::history::Past;
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
        let verdict = run.digest();
        if let Some((subject, text)) = verdict.and_then(|_| subject::text_of_run(raw, run)) {
            versions.push(Version {
                subject,
                label: format!("round {}", run.began.round),
                text,
            });
        }
    }
    let spec = rounds::spec(raw).filter(|spec| !subject::has_changes(raw, spec));
    if let Some(spec) = spec
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
    let mut facts = json!({
        "subject": text::one_line(&after.subject, 300),
        "from": before.label,
        "to": after.label,
        "added": 0,
        "removed": 0,
        "diff": null,
    });
    if before.text.len() + after.text.len() <= MAX_COMPARED_BYTES {
        let before = text::plain(&before.text);
        let after = text::plain(&after.text);
        let patch = DiffOptions::new().create_patch(&before, &after);
        let lines = || patch.hunks().iter().flat_map(|hunk| hunk.lines());
        facts["added"] = lines()
            .filter(|line| matches!(line, Line::Insert(_)))
            .count()
            .into();
        facts["removed"] = lines()
            .filter(|line| matches!(line, Line::Delete(_)))
            .count()
            .into();
        // The two lines before the first hunk name files, and there are none.
        let diff = patch.to_string();
        let hunks: Vec<&str> = diff.lines().skip(2).collect();
        facts["diff"] = hunks.join("\n").into();
    }
    facts
}
