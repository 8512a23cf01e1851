//! The files that a review of changes leaves in the project: the report, and the proposed patches.
//!
//! Each patch is tried against the work tree as it is when the report is written, in an index of
//! our own. Nothing is applied. Both files are written after each verdict.

mod fixes;

use std::io;

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
    let folder = open_folder(held.raw().store().root()).map_err(|error| error.to_string())?;
    let verdicts = verdicts(held);
    let fixes = Fixes::of(held, &verdicts);
    let report_file = report_path(held.id());
    let fixes_file = fixes_path(held.id());

    put(
        &folder,
        &report_file,
        REPORT,
        &report(held, &verdicts, &fixes),
    )?;
    let mut lines = vec![format!("report: {}", text::exact(report_file))];
    if !fixes.all.is_empty() {
        put(&folder, &fixes_file, FIXES, &proposed_fixes(held, &fixes))?;
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
    let folder = Folder::open(held.raw().store().root())
        .and_then(|root| root.below(REPORTS))
        .ok();
    let existing = |path: Utf8PathBuf| {
        let found = folder.as_ref()?.look(path.file_name()?).ok()??;
        found.is_file().then_some(path)
    };
    (
        existing(report_path(held.id())),
        existing(fixes_path(held.id())),
    )
}

/// Opens the folder of the reports, and makes it if it does not exist.
fn open_folder(root: &Utf8Path) -> io::Result<Folder> {
    Folder::open(root)?.make(REPORTS)
}

/// Renders a file and writes it.
fn put(folder: &Folder, path: &Utf8Path, message: Message, facts: &Json) -> Result<(), String> {
    let content = message.render(facts).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default();
    folder
        .replace(name, content.as_bytes())
        .map_err(|error| format!("{}: {error}", folder.path().join(name)))
}

fn report(held: &AnyLoop, verdicts: &[FindingsJson], fixes: &Fixes) -> Json {
    let copy = held.raw().read("{subject}").and_then(files::text);
    let compared: Vec<String> = copy
        .unwrap_or_default()
        .lines()
        .map_while(|line| line.strip_prefix("# "))
        .map(|line| prose(line, 400))
        .collect();
    let runs = rounds::runs(held.raw());
    let rounds: Vec<Json> = verdicts
        .iter()
        .map(|verdict| round(verdict, &runs, fixes))
        .collect();
    json!({
        "id": held.id().as_str(),
        "topic": code(&held.fields().topic, 300),
        "compared": compared,
        "copy": code(&held.fields().subject, 300),
        "rounds": rounds,
        "patches": fixes.all.len(),
        "fixes": fixes_path(held.id()),
    })
}

fn round(verdict: &FindingsJson, runs: &[Run], fixes: &Fixes) -> Json {
    let mut of_verdict = runs.iter().filter(|run| run.began.run == verdict.run);
    let has_changed = of_verdict.any(|run| run.work_tree_changed);
    let findings: Vec<Json> = verdict
        .findings
        .0
        .iter()
        .enumerate()
        .map(|(index, finding)| {
            let recommendation = finding.recommendation.as_deref().unwrap_or_default();
            let detail = finding.detail.iter().take(10);
            json!({
                "severity": finding.severity.to_string(),
                "id": code(finding.id.as_deref().unwrap_or_default(), 20),
                "place": place(finding),
                "what": prose(&finding.what, 1000),
                "recommendation": prose(recommendation, 1000),
                "detail": detail.map(|line| prose(line, 300)).collect::<Vec<_>>(),
                "patch": fixes.number(verdict.round, index),
            })
        })
        .collect();
    json!({
        "round": verdict.round,
        "persona": prose(&verdict.persona, 100),
        "reviewer": code(&verdict.reviewer, 100),
        "counts": verdict.findings.counts().to_string(),
        "changed": has_changed.then_some(CHANGED_DURING_REVIEW),
        "findings": findings,
    })
}

fn proposed_fixes(held: &AnyLoop, fixes: &Fixes) -> Json {
    let findings = held.raw().store().loop_folder(held.id());
    json!({
        "id": held.id().as_str(),
        "topic": code(&held.fields().topic, 300),
        "tree": fixes.tree,
        "applying": fixes.applying(),
        "fixes": fixes.all,
        "report": report_path(held.id()),
        "findings_json": code(findings.join("findings-round-<N>.json").as_str(), 500),
    })
}

/// Returns the last verdict of each round, oldest first, from files that are as the journal noted
/// them.
fn verdicts(held: &AnyLoop) -> Vec<FindingsJson> {
    let store = held.raw().store();
    let mut verdicts: Vec<FindingsJson> = Vec::new();
    for run in rounds::runs(held.raw()).iter().rev() {
        let round = run.began.round;
        let is_known = verdicts.iter().any(|verdict| verdict.round == round);
        if !is_known
            && let Ok(Some(verdict)) = FindingsJson::of_run(store, held.id(), run)
            && verdict.run == run.began.run
        {
            verdicts.push(verdict);
        }
    }
    verdicts.sort_by_key(|verdict| verdict.round);
    verdicts
}

/// Returns the place of a finding, such as `src/x.rs:12`, or nothing.
fn place(finding: &Finding) -> String {
    let file = finding.file.as_deref().map(|file| code(file, 300));
    match (file, finding.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file,
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
