//! The files of a review of changes in the project: the report, and the proposed patches.
//!
//! Each patch is tried against the work tree in our own index. Nothing is applied. Both files are
//! written after each verdict.

use std::cell::LazyCell;
use std::fmt::Display;

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::files::{self, Folder};
use claudex_loop::message::{Message, Render as _};
use claudex_loop::program::{loops, rounds};
use claudex_loop::review::findings::Finding;
use claudex_loop::review::findings_file::{self, bullet};
use claudex_loop::review::runs::{self, Run};
use claudex_loop::review::worktree::{
    CHANGED_DURING_REVIEW, REPORTS, Snapshot, own_files, report_paths, visible,
};
use claudex_loop::{template, text};
use serde_json::{Value as Json, json};

use super::AnyLoop;

const REPORT: Message = template!("messages/report.md");
const FIXES: Message = template!("messages/fixes.md");
const MAX_LINE_CHARS: usize = 500;

/// Writes the report after a review of changes, and returns the lines that name its files.
pub(super) fn after_review(held: &AnyLoop) -> Vec<String> {
    if !super::reviews_changes(held.raw()) {
        return Vec::new();
    }
    write(held).unwrap_or_else(|problem| {
        vec![format!(
            "no report was written: {problem}. The review counts all the same."
        )]
    })
}

fn write(held: &AnyLoop) -> Result<Vec<String>, String> {
    let store = held.raw().store();
    let folder = Folder::open(store.root())
        .and_then(|root| root.make_subfolder(REPORTS))
        .map_err(|error| error.to_string())?;
    let [report_file, fixes_file] = report_paths(held.id());

    let verdicts = runs::verdicts(rounds::runs(held.raw()));
    // Only a patch needs it.
    let snapshot = LazyCell::new(|| Snapshot::take(store.root(), &own_files(store), None));
    let mut fixes = Vec::new();
    for (round, run) in &verdicts {
        for finding in run.findings() {
            let patch = finding.patch.as_deref().unwrap_or_default();
            if !patch.trim().is_empty() {
                fixes.push(fix_facts(*round, finding, patch, snapshot.as_ref()));
            }
        }
    }
    let tree = (!fixes.is_empty()).then(|| snapshot.as_ref().ok().map(|taken| &taken.tree));
    let applying = fixes.iter().filter(|fix| fix["problem"].is_null()).count();
    let facts = json!({
        "id": held.id().as_str(),
        "topic": plain_line(&held.fields().topic),
        "copy": plain_line(&held.fields().subject),
        "compared": compared(held),
        "rounds": verdicts.values().map(round_facts).collect::<Vec<_>>(),
        "fixes": fixes,
        "applying": applying,
        "tree": tree,
        "report_file": report_file,
        "fixes_file": fixes_file,
        "folder": plain_line(store.loop_folder(held.id()).as_str()),
    });

    put(&folder, &report_file, REPORT, &facts)?;
    let is_here = loops::current_folder().is_ok_and(|here| here == store.root());
    let root = Some(store.root()).filter(|_| !is_here).unwrap_or("".into());
    let shown = |file: &Utf8PathBuf| text::escape_hidden(root.join(file));
    let mut lines = vec![format!("report: {}", shown(&report_file))];
    if !fixes.is_empty() {
        put(&folder, &fixes_file, FIXES, &facts)?;
        lines.push(format!(
            "proposed patches, none of them applied: {} ({applying} of {} would apply)",
            shown(&fixes_file),
            fixes.len()
        ));
    }
    Ok(lines)
}

fn round_facts(run: &Run) -> Json {
    let round = run.began.round;
    let findings = findings_file::render(round, run.findings());
    let filled = findings.split("\n## ").filter(|part| part.contains("\n- "));
    let sections: String = filled.map(|part| format!("### {part}\n")).collect();
    json!({
        "round": round,
        "persona": plain_line(&run.began.persona),
        "reviewer": plain_line(&run.began.reviewer),
        "counts": run.counts().unwrap_or_default().to_string(),
        "changed": run.ended.work_tree_changed.then_some(CHANGED_DURING_REVIEW),
        "findings": sections.replace('<', "&lt;").trim(),
    })
}

fn fix_facts(
    round: u64,
    finding: &Finding,
    patch: &str,
    tried: Result<&Snapshot, impl Display>,
) -> Json {
    let problem = match tried {
        Ok(snapshot) => snapshot.applies(patch).err(),
        Err(error) => Some(format!("it could not be tried: {error}")),
    };
    let visible = visible_patch(patch);
    json!({
        "round": round,
        "what": plain_line(&bullet(finding)),
        "problem": problem.as_deref().map(plain_line),
        "altered": visible != patch.trim_end_matches('\n'),
        "fence": fence(&visible),
        "patch": visible,
    })
}

/// Returns the paths of the report and of the patches, from the project's root, if they exist.
pub(super) fn existing_files(held: &AnyLoop) -> [Option<Utf8PathBuf>; 2] {
    let root = held.raw().store().root();
    report_paths(held.id()).map(|path| root.join(&path).is_file().then_some(path))
}

fn put(folder: &Folder, path: &Utf8Path, message: Message, facts: &Json) -> Result<(), String> {
    let content = message.render(facts).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default();
    folder
        .replace(name, content.as_bytes())
        .map_err(|error| format!("{}: {error}", folder.path().join(name)))
}

/// Returns a patch with its hidden characters spelled out.
fn visible_patch(patch: &str) -> String {
    let lines = patch.split_inclusive('\n').map(visible);
    let visible = lines.collect::<String>().replace("\r\n", "\n");
    visible.trim_end_matches('\n').to_owned()
}

/// Returns a fence that no line of the text closes.
fn fence(text: &str) -> String {
    let runs = text.split(|character| character != '`');
    let longest = runs.map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

/// Returns text as one plain line without HTML, also between backquotes.
fn plain_line(line: &str) -> String {
    text::one_line(line, MAX_LINE_CHARS)
        .replace('`', "'")
        .replace('<', "&lt;")
}

/// Returns the sentence about files that the last review left out because of their size.
pub(super) fn left_out(held: &AnyLoop) -> Option<String> {
    let compared = compared(held);
    let mut files = (compared.iter()).filter_map(|line| line.strip_prefix("left out: "));
    let first = files.next()?;
    // The last line may be "and 12 more".
    let more = files.map(|line| {
        let hidden = line.strip_prefix("and ");
        let hidden = hidden.and_then(|rest| rest.strip_suffix(" more"));
        hidden.map_or(1, |hidden| hidden.parse().unwrap_or(1))
    });
    Some(match more.sum::<usize>() {
        0 => format!("The review left out {first}."),
        more => format!("The review left out {first} and {more} more."),
    })
}

/// Returns the lines about the compared commits, from the last reviewed copy of the changes.
fn compared(held: &AnyLoop) -> Vec<String> {
    let read = held.raw().read("{subject}").and_then(files::text);
    let copy = read.unwrap_or_default();
    let lines = copy.lines().map_while(|line| line.strip_prefix("# "));
    lines.map(plain_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviewer_text_is_no_markup() {
        assert_eq!(
            plain_line("a`b <img src=x>\u{202e}\n# c"),
            "a'b &lt;img src=x> # c"
        );
        assert_eq!(fence("+a\n"), "```");
        assert_eq!(fence("+````` x\n"), "``````");
        assert_eq!(
            visible_patch("+a\r\n+b\u{202e}\u{1b}c\r\n"),
            "+a\n+b<U+202E><U+001B>c"
        );
    }
}
