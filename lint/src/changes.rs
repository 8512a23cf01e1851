//! The checks of a change.

use crate::patch::{self, PatchFile};
use crate::{Finding, Severity};

/// The most findings of one review. The lightest are left out first.
const MAX_FINDINGS: usize = 40;
/// The most further lines that a finding names.
const MAX_LINES: usize = 5;

/// Reviews a unified diff, such as git writes it. Only added lines count.
///
/// Returns the findings, the heaviest first, then by file and line, at most 40. Text that was left out
/// of the diff gets a finding, too.
pub fn review_changes(text: &str) -> Vec<Finding> {
    let (files, unread) = patch::read(text);
    let mut findings: Vec<Finding> = files
        .iter()
        .flat_map(|file| CHECKS.iter().filter_map(|check| check.run(file)))
        .collect();
    if !unread.is_empty() {
        findings.push(Finding {
            check: "DIFF-UNREAD",
            severity: Severity::Low,
            what: "some changes were not reviewed: they were left out, or cannot be read".into(),
            recommendation: "look at them yourself, or commit in smaller parts and review each",
            file: None,
            line: None,
            evidence: unread.into_iter().take(MAX_LINES).collect(),
        });
    }
    findings.sort_by_key(|found| (found.severity, found.file.clone(), found.line));
    findings.truncate(MAX_FINDINGS);
    findings
}

/// A check of the added lines of a file.
struct Check {
    id: &'static str,
    /// The severity by [`Role`](patch::Role): code, tests, others. `None` if it is no finding.
    severities: [Option<Severity>; 3],
    finds: Finds,
    what: &'static str,
    recommendation: &'static str,
}

/// The lines that a check finds.
enum Finds {
    /// The lines that a function knows, in any file.
    Line(fn(&str) -> bool),
    /// The lines that begin with one of some statements, by the extensions of files.
    Statement(&'static [(&'static str, &'static str)]),
}

const HIGH: Option<Severity> = Some(Severity::High);
const MEDIUM: Option<Severity> = Some(Severity::Medium);
const LOW: Option<Severity> = Some(Severity::Low);
const SCRIPT: &str = "cjs js jsx mjs svelte ts tsx vue";
const CHECKS: &[Check] = &[
    Check {
        id: "DIFF-CONFLICT",
        severities: [HIGH, HIGH, MEDIUM],
        finds: Finds::Line(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ")),
        what: "markers of an unfinished merge are in the file",
        recommendation: "resolve the conflict and remove the markers",
    },
    Check {
        id: "DIFF-DEBUG",
        severities: [HIGH, MEDIUM, None],
        finds: Finds::Statement(&[
            (SCRIPT, "debugger"),
            ("py", "breakpoint( ipdb.set_trace( pdb.set_trace("),
            ("rb", "binding.irb binding.pry byebug"),
        ]),
        what: "a breakpoint is left in the code",
        recommendation: "remove it",
    },
    Check {
        id: "DIFF-DEBUG",
        severities: [LOW, None, None],
        finds: Finds::Statement(&[
            (SCRIPT, "console.debug( console.log("),
            ("go", "spew.Dump("),
            ("rs", "dbg!("),
        ]),
        what: "debug output is left in the code",
        recommendation: "remove it, or use the project's logging",
    },
    Check {
        id: "DIFF-TESTS",
        severities: [MEDIUM, MEDIUM, None],
        finds: Finds::Statement(&[(SCRIPT, "context.only( describe.only( it.only( test.only(")]),
        what: "a test is marked as the only one: the others do not run",
        recommendation: "remove the mark",
    },
    Check {
        id: "DIFF-TESTS",
        severities: [LOW, LOW, None],
        finds: Finds::Statement(&[
            (SCRIPT, "describe.skip( it.skip( test.skip( xit("),
            ("go", "t.Skip("),
            ("py", "@pytest.mark.skip @unittest.skip"),
            ("rs", "#[ignore"),
        ]),
        what: "a test is switched off",
        recommendation: "make it pass, or say beside it why it is off and until when",
    },
    Check {
        id: "DIFF-TODO",
        severities: [LOW, LOW, None],
        finds: Finds::Line(is_note),
        what: "a note such as TODO is added",
        recommendation: "do it now, or name the issue that will",
    },
];

impl Check {
    /// Returns one finding for all lines that match, or `None` if there are none.
    fn run(&self, file: &PatchFile) -> Option<Finding> {
        let severity = self.severities[file.role as usize]?;
        let is_match = |(_, text): &&(u32, String)| self.finds.has(&file.extension, text);
        let lines: Vec<u32> = file
            .lines
            .iter()
            .filter(is_match)
            .map(|(number, _)| *number)
            .collect();
        let (first, further) = lines.split_first()?;
        let named = further.iter().take(MAX_LINES);
        let mut evidence: Vec<String> = named.map(|line| format!("also line {line}")).collect();
        if further.len() > MAX_LINES {
            evidence.push(format!("and {} more lines", further.len() - MAX_LINES));
        }
        Some(Finding {
            check: self.id,
            severity,
            what: self.what.to_owned(),
            recommendation: self.recommendation,
            file: Some(file.path.clone()),
            line: Some(*first),
            evidence,
        })
    }
}

impl Finds {
    fn has(&self, extension: &str, line: &str) -> bool {
        match self {
            Self::Line(is_match) => is_match(line),
            Self::Statement(statements) => statements.iter().any(|(extensions, statements)| {
                extensions.split(' ').any(|one| one == extension)
                    && statements.split(' ').any(|one| begins_with(line, one))
            }),
        }
    }
}

/// Returns whether a line, or the text after its last `; `, begins with a statement: `import pdb;
/// pdb.set_trace()` is one line.
fn begins_with(line: &str, statement: &str) -> bool {
    let line = line.trim_start();
    let last = line.rsplit("; ").next().unwrap_or(line);
    let mut rests = [line, last].into_iter();
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
