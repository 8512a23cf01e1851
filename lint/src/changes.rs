//! The checks of a change. Those that look for statements are in `change_checks.txt`.

use crate::finding::value;
use crate::patch::{self, PatchFile};
use crate::{Finding, Severity};

const CHECKS: &str = include_str!("change_checks.txt");
/// The most findings of one review about files. The lightest are left out first.
const MAX_FINDINGS: usize = 40;
/// The most further lines that a finding names.
const MAX_LINES: usize = 5;

/// Reviews a unified diff, such as git writes it. Only added lines count.
///
/// Returns the findings, the heaviest first, then by file and line, at most 40. Two more may follow:
/// one says that findings are not listed, and one that text was left out of the diff.
pub fn review_changes(text: &str) -> Vec<Finding> {
    let (files, unread) = patch::read(text);
    let mut findings: Vec<Finding> = files
        .iter()
        .flat_map(|file| CHECKS.split("\n\n").filter_map(|check| run(check, file)))
        .collect();
    findings.sort_by_key(|found| (found.severity, found.file.clone(), found.line));
    let total = findings.len();
    findings.truncate(MAX_FINDINGS);
    if total > MAX_FINDINGS {
        let what = format!("{} more findings are not listed", total - MAX_FINDINGS);
        findings.push(note(
            "DIFF-MORE",
            what,
            "fix these, and review again to see the others",
        ));
    }
    if !unread.is_empty() {
        findings.push(Finding {
            evidence: unread.into_iter().take(MAX_LINES).collect(),
            ..note(
                "DIFF-UNREAD",
                "some changes were not reviewed: they were left out, or cannot be read".into(),
                "look at them yourself, or commit in smaller parts and review each",
            )
        });
    }
    findings
}

/// Makes a finding about the review itself.
fn note(check: &'static str, what: String, recommendation: &'static str) -> Finding {
    Finding {
        check,
        severity: Severity::Low,
        what,
        recommendation,
        file: None,
        line: None,
        evidence: Vec::new(),
    }
}

/// Returns one finding for all lines of a file that a check finds, or `None` if there are none.
fn run(check: &'static str, file: &PatchFile) -> Option<Finding> {
    let mut head = check.lines().next()?.split(' ');
    let id = head.next()?;
    let severity = Severity::parse(head.nth(file.role as usize)?)?;
    let statements = check
        .lines()
        .skip(3)
        .filter_map(|line| line.split_once(": "));
    let is_for_file = |extensions: &str| extensions.split(' ').any(|one| one == file.extension);
    let statements: Vec<&str> = statements
        .filter(|(extensions, _)| is_for_file(extensions))
        .flat_map(|(_, statements)| statements.split(' '))
        .collect();
    let is_match = |(_, line): &&(u32, String)| match id {
        "DIFF-CONFLICT" => line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "),
        "DIFF-TODO" => is_note(line),
        _ => statements.iter().any(|one| begins_with(line, one)),
    };
    let lines = file.lines.iter().filter(is_match);
    let mut numbers = lines.map(|(number, _)| *number);
    let first = numbers.next()?;
    let further: Vec<u32> = numbers.collect();
    let named = further.iter().take(MAX_LINES);
    let mut evidence: Vec<String> = named.map(|line| format!("also line {line}")).collect();
    if further.len() > MAX_LINES {
        evidence.push(format!("and {} more lines", further.len() - MAX_LINES));
    }
    Some(Finding {
        check: id,
        severity,
        what: value(check, "finds: ").to_owned(),
        recommendation: value(check, "advice: "),
        file: Some(file.path.clone()),
        line: Some(first),
        evidence,
    })
}

/// Returns whether a line, or the text after its last `; `, begins with a statement: `import pdb;
/// pdb.set_trace()` is one line.
fn begins_with(line: &str, statement: &str) -> bool {
    let line = line.trim_start();
    let mut rests = [line, line.rsplit("; ").next().unwrap_or(line)].into_iter();
    // "debuggerTools" is another word.
    let is_whole =
        |rest: &str| statement.ends_with('(') || !rest.starts_with(char::is_alphanumeric);
    rests.any(|text| text.strip_prefix(statement).is_some_and(is_whole))
}

/// Returns whether a comment begins with a mark such as `TODO`, and names no issue.
fn is_note(line: &str) -> bool {
    const COMMENTS: [&str; 5] = ["//", "#", "/*", "* ", "<!--"];
    const MARKS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];
    let line = line.trim_start();
    let comment = COMMENTS.iter().find_map(|mark| {
        let behind = || {
            line.split_once(&format!(" {mark} "))
                .map(|(_, comment)| comment)
        };
        line.strip_prefix(mark).or_else(behind)
    });
    comment.is_some_and(|comment| {
        let comment = comment.trim_start_matches(['/', '!', '*', ' ']);
        let is_marked = MARKS.iter().any(|mark| {
            let rest = comment.strip_prefix(mark);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '(', ' ']))
        });
        is_marked && !comment.contains('#') && !comment.contains("://")
    })
}
