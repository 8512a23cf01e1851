//! The files that a review of changes leaves in the project: the report, and the proposed patches.
//!
//! Each patch is tried against the work tree as it is when the report is written, in an index of
//! our own. Nothing is applied. Both files are written after each verdict. Their templates clean
//! the text of reviewers by the filters `prose` and `code`.

mod fixes;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value as Json, json};

use self::fixes::Fixes;
use super::AnyLoop;
use claudex_loop::files::{self, Folder};
use claudex_loop::message::{Message, Render as _};
use claudex_loop::program::rounds;
use claudex_loop::review::findings::Finding;
use claudex_loop::review::findings_json::FindingsJson;
use claudex_loop::review::runs::Run;
use claudex_loop::review::worktree::CHANGED_DURING_REVIEW;
use claudex_loop::review::worktree::own_files::{REPORTS, fixes_path, report_path};
use claudex_loop::text;

const REPORT: Message = Message {
    name: "report.md",
    text: include_str!("messages/report.md"),
};
const FIXES: Message = Message {
    name: "fixes.md",
    text: include_str!("messages/fixes.md"),
};

/// Writes the report after a review of changes. Returns the lines that name its files, or the line
/// that says why it could not be written. The review counts in any case.
pub fn after_review(held: &AnyLoop) -> Vec<String> {
    if !super::reviews_changes(held) {
        return Vec::new();
    }
    match write(held) {
        Ok(lines) => lines,
        Err(problem) => vec![format!(
            "no report was written: {problem}. The review counts all the same."
        )],
    }
}

fn write(held: &AnyLoop) -> Result<Vec<String>, String> {
    let store = held.raw().store();
    let folder = Folder::open(store.root())
        .and_then(|root| root.make(REPORTS))
        .map_err(|error| error.to_string())?;
    let report_file = report_path(held.id());
    let fixes_file = fixes_path(held.id());

    let mut rounds = rounds(held);
    let fixes = Fixes::try_all(store, &mut rounds);
    let copy = held.raw().read("{subject}").and_then(files::text);
    let copy = copy.unwrap_or_default();
    let compared = copy.lines().map_while(|line| line.strip_prefix("# "));
    let findings_json = store.loop_folder(held.id()).join("findings-round-<N>.json");
    let facts = json!({
        "id": held.id().as_str(),
        "topic": held.fields().topic,
        "copy": held.fields().subject,
        "compared": compared.collect::<Vec<_>>(),
        "rounds": rounds,
        "fixes": fixes.all,
        "applying": fixes.applying(),
        "tree": fixes.tree,
        "report_file": report_file,
        "fixes_file": fixes_file,
        "findings_json": findings_json,
    });

    put(&folder, &report_file, REPORT, &facts)?;
    let mut lines = vec![format!("report: {}", text::exact(report_file))];
    if !fixes.all.is_empty() {
        put(&folder, &fixes_file, FIXES, &facts)?;
        lines.push(format!(
            "proposed patches, none of them applied: {} ({} of {} would apply)",
            text::exact(fixes_file),
            fixes.applying(),
            fixes.all.len()
        ));
    }
    Ok(lines)
}

/// Returns the paths of the report and of the proposed patches, from the project's root, if the
/// files exist.
pub fn existing_files(held: &AnyLoop) -> (Option<Utf8PathBuf>, Option<Utf8PathBuf>) {
    let root = held.raw().store().root();
    let existing = |path: Utf8PathBuf| root.join(&path).is_file().then_some(path);
    (
        existing(report_path(held.id())),
        existing(fixes_path(held.id())),
    )
}

/// Renders a file and writes it.
fn put(folder: &Folder, path: &Utf8Path, message: Message, facts: &Json) -> Result<(), String> {
    let rendered = message.render_in(
        |environment| {
            environment.add_filter("code", |text: String, max_chars| code(&text, max_chars));
            environment.add_filter("prose", |text: String, max_chars| prose(&text, max_chars));
            Ok(())
        },
        facts,
    );
    let content = rendered.map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default();
    folder
        .replace(name, content.as_bytes())
        .map_err(|error| format!("{}: {error}", folder.path().join(name)))
}

/// Returns the last verdict of each round, oldest first, from files that are as the journal noted
/// them.
fn rounds(held: &AnyLoop) -> Vec<Json> {
    let mut rounds = BTreeMap::new();
    for run in rounds::runs(held.raw()) {
        let round = run.began.round;
        if let Ok(Some(verdict)) = FindingsJson::of_run(held.raw().store(), held.id(), &run) {
            rounds.insert(round, facts_of(&verdict, &run));
        }
    }
    rounds.into_values().collect()
}

fn facts_of(verdict: &FindingsJson, run: &Run) -> Json {
    let mut facts = json!(verdict);
    facts["counts"] = json!(verdict.findings.counts().to_string());
    facts["changed"] = json!(run.work_tree_changed.then_some(CHANGED_DURING_REVIEW));
    let findings = facts["findings"].as_array_mut().into_iter().flatten();
    for (facts, finding) in findings.zip(&verdict.findings.0) {
        facts["place"] = json!(place(finding));
    }
    facts
}

/// Returns the place of a finding, such as `src/x.rs:12`, or nothing.
fn place(finding: &Finding) -> String {
    match (&finding.file, finding.line) {
        (Some(file), Some(line)) => format!("{}:{line}", code(file, 300)),
        (Some(file), None) => code(file, 300),
        (None, Some(line)) => format!("line {line}"),
        (None, None) => String::new(),
    }
}

/// Returns text as one plain line that can stand between backquotes.
fn code(text: &str, max_chars: usize) -> String {
    text::one_line(text, max_chars).replace('`', "'")
}

/// Returns text as one plain line without HTML.
fn prose(text: &str, max_chars: usize) -> String {
    text::one_line(text, max_chars).replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviewer_text_is_no_markup() {
        assert_eq!(prose("a <img src=x>\n# b", 80), "a &lt;img src=x> # b");
        assert_eq!(code("a`b\u{202e}\nc", 80), "a'b c");
    }
}
