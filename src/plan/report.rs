//! What a review of changes leaves in the project: the findings by round, and the patches that were proposed.
//!
//! Each patch is tried against the work tree as it is when the report is written, in an index of our own. Nothing is
//! applied. Both files are written whole, after each verdict.

mod fixes;

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};
use miette::Diagnostic as _;
use serde::Serialize;

use self::fixes::{Fix, Fixes};
use super::AnyLoop;
use claudex_loop::files::{Distrust, Folder, Found, TEMPORARY, UntrustedError};
use claudex_loop::message::{Message, MessageError, Render as _};
use claudex_loop::program::rounds;
use claudex_loop::review::findings::{Finding, Severity};
use claudex_loop::review::findings_json::FindingsJson;
use claudex_loop::review::runs::{Run, RunOutcome};
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

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The report, from the project's root.
    pub report: Utf8PathBuf,
    /// The proposed patches, where there are any.
    pub fixes: Option<Utf8PathBuf>,
    /// How many of the patches apply, and how many there are.
    pub applying: (usize, usize),
}

/// A report that could not be written. The review counts all the same.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum ReportError {
    /// The folder is a link: what is written there would land elsewhere.
    #[display("{folder} is a symbolic link, so no report was written there", folder = claudex_loop::text::shown(folder))]
    #[diagnostic(
        code(claudex::report::link),
        help("put a folder there, then run the same command again")
    )]
    Link {
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// Something else stands where the folder should be.
    #[display("{folder} is not a folder, so no report was written there", folder = claudex_loop::text::shown(folder))]
    #[diagnostic(
        code(claudex::report::folder),
        help("move it aside, then run the same command again")
    )]
    NoFolder {
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// The system refused.
    #[display("could not write {path}: {source}", path = claudex_loop::text::shown(path), source = claudex_loop::text::shown(source.to_string()))]
    #[diagnostic(code(claudex::report::io))]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A template does not render.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Render(MessageError),
}

#[derive(Serialize)]
struct ReportFacts {
    id: String,
    topic: String,
    compared: Vec<String>,
    copy: String,
    rounds: Vec<RoundFacts>,
    patches: usize,
    fixes: String,
}

#[derive(Serialize)]
struct RoundFacts {
    round: u64,
    persona: String,
    reviewer: String,
    counts: String,
    sections: Vec<Section>,
    changed: Option<&'static str>,
}

#[derive(Serialize)]
struct Section {
    severity: String,
    findings: Vec<FindingFacts>,
}

#[derive(Serialize)]
struct FindingFacts {
    id: String,
    place: String,
    what: String,
    recommendation: String,
    detail: Vec<String>,
    patch: Option<usize>,
}

#[derive(Serialize)]
struct FixesFacts {
    id: String,
    topic: String,
    tree: String,
    applying: usize,
    fixes: Vec<Fix>,
    report: String,
    /// Where the patches are as they came.
    findings_json: String,
}

/// Writes the report after a review of changes, and returns the lines that say so. That it could not be written is said, and takes
/// nothing away from the review.
pub fn after_review(held: &AnyLoop) -> Vec<String> {
    if !super::reviews_changes(held) {
        return Vec::new();
    }
    match write(held) {
        Ok(written) => {
            let mut lines = vec![format!("report: {}", text::exact(written.report))];
            if let Some(fixes) = written.fixes {
                let (applying, all) = written.applying;
                lines.push(format!(
                    "proposed patches, none of them applied: {} ({applying} of {all} would apply)",
                    text::exact(fixes)
                ));
            }
            lines
        }
        Err(error) => {
            let help = error
                .help()
                .map(|help| format!(" ({help})"))
                .unwrap_or_default();
            vec![format!("{error}{help}. The review counts all the same.")]
        }
    }
}

/// Writes the report of a loop that reviews changes, and the proposed patches where there are any.
///
/// # Errors
/// See [`ReportError`]; a file that could not be written is as it was.
pub fn write(held: &AnyLoop) -> Result<Written, ReportError> {
    let folder = folder(held.raw().store().root())?;
    let report = report_path(held.id());
    let fixes = fixes_path(held.id());
    let rounds = verdicts(held);
    let proposed = Fixes::of(held, &rounds);
    let put = |path: &Utf8Path, text: &str| {
        let name = path.file_name().unwrap_or_default();
        let path = folder.path().join(name);
        (folder.replace(name, text.as_bytes())).map_err(|source| ReportError::Io { path, source })
    };
    let topic = code(&held.fields().topic, 300);
    let copy = held.raw().read("{subject}");
    let compared = (copy.and_then(claudex_loop::files::text))
        .unwrap_or_default()
        .lines()
        .map_while(|line| line.strip_prefix("# "))
        .map(|line| prose(line, 400))
        .collect();
    let facts = ReportFacts {
        id: held.id().to_string(),
        topic: topic.clone(),
        compared,
        copy: code(&held.fields().subject, 300),
        rounds: round_facts(&rounds, &rounds::runs(held.raw()), &proposed),
        patches: proposed.all.len(),
        fixes: fixes.to_string(),
    };
    remove_temporary(&folder);
    put(
        &report,
        &REPORT.render(&facts).map_err(ReportError::Render)?,
    )?;

    let written = Written {
        report: report.clone(),
        applying: (proposed.applying(), proposed.all.len()),
        fixes: (!proposed.all.is_empty()).then(|| fixes.clone()),
    };
    if !proposed.all.is_empty() {
        let facts = FixesFacts {
            id: held.id().to_string(),
            topic,
            applying: proposed.applying(),
            tree: proposed.tree,
            fixes: proposed.all,
            report: report.to_string(),
            findings_json: code(
                held.raw()
                    .store()
                    .loop_folder(held.id())
                    .join("findings-round-<N>.json")
                    .as_str(),
                500,
            ),
        };
        put(&fixes, &FIXES.render(&facts).map_err(ReportError::Render)?)?;
    }
    Ok(written)
}

/// The reports of a loop that are there, from the project's root: for who sums up.
pub fn there(held: &AnyLoop) -> (Option<Utf8PathBuf>, Option<Utf8PathBuf>) {
    let folder = Folder::open(held.raw().store().root())
        .and_then(|root| root.below(REPORTS))
        .ok();
    let is = |path: Utf8PathBuf| {
        let found = folder.as_ref()?.look(path.file_name()?).ok()??;
        found.is_file().then_some(path)
    };
    (is(report_path(held.id())), is(fixes_path(held.id())))
}

/// Removes what a crash left of a report. What is younger than this may be somebody's who is writing.
fn remove_temporary(folder: &Folder) {
    const AGE: Duration = Duration::from_secs(60);
    let is_left =
        |found: &Found| found.is_file() && found.modified().elapsed().is_ok_and(|age| age > AGE);
    for (name, found) in folder.list().unwrap_or_default() {
        if name.starts_with(TEMPORARY) && is_left(&found) {
            let _ = folder.remove(&name);
        }
    }
}

/// Opens the folder of the reports, and makes it where it is not there.
fn folder(root: &Utf8Path) -> Result<Folder, ReportError> {
    let folder = root.join(REPORTS);
    let made = Folder::open(root).and_then(|root| root.make(REPORTS));
    made.map_err(
        |source| match UntrustedError::of(&source).map(|found| found.why) {
            Some(Distrust::Symlink) => ReportError::Link { folder },
            Some(Distrust::NotAFolder) => ReportError::NoFolder { folder },
            _ => ReportError::Io {
                path: folder,
                source,
            },
        },
    )
}

/// The last verdict of each round, oldest first, from files that are as the journal noted them.
fn verdicts(held: &AnyLoop) -> Vec<FindingsJson> {
    let (store, id) = (held.raw().store(), held.id());
    let runs = rounds::runs(held.raw());
    let mut found: Vec<FindingsJson> = Vec::new();
    for run in runs.iter().rev() {
        let round = run.began.round;
        if found.iter().any(|verdict| verdict.round == round) {
            continue;
        }
        let Some(digest) = run.ended.as_ref().and_then(RunOutcome::digest) else {
            continue;
        };
        if let Ok(Some(verdict)) = FindingsJson::read(store, id, round, digest)
            && verdict.run == run.began.run
        {
            found.push(verdict);
        }
    }
    found.sort_by_key(|verdict| verdict.round);
    found
}

fn round_facts(rounds: &[FindingsJson], runs: &[Run], proposed: &Fixes) -> Vec<RoundFacts> {
    let severities = [Severity::High, Severity::Medium, Severity::Low];
    rounds
        .iter()
        .map(|verdict| RoundFacts {
            round: verdict.round,
            persona: prose(&verdict.persona, 100),
            reviewer: code(&verdict.reviewer, 100),
            counts: verdict.findings.counts().to_string(),
            changed: (runs.iter())
                .any(|run| run.began.run == verdict.run && run.work_tree_changed)
                .then_some(CHANGED_DURING_REVIEW),
            sections: severities
                .into_iter()
                .map(|severity| Section {
                    severity: severity.to_string(),
                    findings: verdict
                        .findings
                        .0
                        .iter()
                        .enumerate()
                        .filter(|(_, finding)| finding.severity == severity)
                        .map(|(index, finding)| FindingFacts {
                            id: code(finding.id.as_deref().unwrap_or_default(), 20),
                            place: place(finding),
                            what: prose(&finding.what, 1000),
                            recommendation: prose(
                                finding.recommendation.as_deref().unwrap_or_default(),
                                1000,
                            ),
                            detail: finding
                                .detail
                                .iter()
                                .take(10)
                                .map(|line| prose(line, 300))
                                .collect(),
                            patch: proposed.number(verdict.round, index),
                        })
                        .collect(),
                })
                .filter(|section| !section.findings.is_empty())
                .collect(),
        })
        .collect()
}

/// `src/x.rs:12`, `src/x.rs`, or nothing.
fn place(finding: &Finding) -> String {
    let file = finding.file.as_deref().map(|file| code(file, 300));
    match (file, finding.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file,
        (None, Some(line)) => format!("line {line}"),
        (None, None) => String::new(),
    }
}

/// One plain line, to stand between backquotes.
fn code(text: &str, limit: usize) -> String {
    text::one_line(text, limit).replace('`', "'")
}

/// One plain line of somebody else's words, in which no HTML can be.
fn prose(text: &str, limit: usize) -> String {
    text::one_line(text, limit).replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobodys_words_are_markup() {
        assert_eq!(prose("a <img src=x>\n# b", 80), "a &lt;img src=x> # b");
        assert_eq!(code("a`b\u{202e}\nc", 80), "a'b c");
    }

    #[test]
    fn the_folder_is_a_folder_or_nothing_is_written() {
        let kept = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(kept.path()).unwrap();
        assert_eq!(folder(root).unwrap().path(), root.join("reviews"));
        std::fs::remove_dir(root.join("reviews")).unwrap();
        std::os::unix::fs::symlink("/tmp", root.join("reviews")).unwrap();
        assert!(matches!(folder(root), Err(ReportError::Link { .. })));
        std::fs::remove_file(root.join("reviews")).unwrap();
        std::fs::write(root.join("reviews"), "mine").unwrap();
        assert!(matches!(folder(root), Err(ReportError::NoFolder { .. })));
    }
}
