//! The checks of a change.

use std::collections::BTreeSet;

use crate::patch::{self, AddedLine, PatchFile};
use crate::{Finding, Severity};

/// The most findings of one review. The lightest are left out first.
const MAX_FINDINGS: usize = 40;
/// The most further lines that a finding names.
const MAX_LINES: usize = 5;

/// Reviews a unified diff, such as git writes it. Only added lines count.
///
/// Returns the findings, the heaviest first, then by file and line, at most 40. What was left out
/// of the diff gets a finding, too. No line is quoted, because it may hold a secret.
pub fn review_changes(text: &str) -> Vec<Finding> {
    let patch = patch::read(text);
    let files = patch.files.iter();
    let mut findings: Vec<Finding> = files
        .flat_map(|file| CHECKS.iter().filter_map(|check| check.run(file)))
        .collect();
    if !patch.unread.is_empty() {
        findings.push(Finding {
            check: "DIFF-UNREAD",
            severity: Severity::Low,
            what: "some changes were not reviewed: they were left out, or cannot be read".into(),
            recommendation: "look at them yourself, or commit in smaller parts and review each",
            file: None,
            line: None,
            evidence: patch.unread.into_iter().take(MAX_LINES).collect(),
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
    is_match: fn(&PatchFile, &AddedLine) -> bool,
    what: &'static str,
    recommendation: &'static str,
}

const HIGH: Option<Severity> = Some(Severity::High);
const MEDIUM: Option<Severity> = Some(Severity::Medium);
const LOW: Option<Severity> = Some(Severity::Low);
const CHECKS: &[Check] = &[
    Check {
        id: "DIFF-CONFLICT",
        severities: [HIGH, HIGH, MEDIUM],
        is_match: |_, line| {
            ["<<<<<<< ", ">>>>>>> "]
                .iter()
                .any(|mark| line.text.starts_with(mark))
        },
        what: "markers of an unfinished merge are in the file",
        recommendation: "resolve the conflict and remove the markers",
    },
    Check {
        id: "DIFF-SECRET",
        severities: [HIGH, LOW, LOW],
        is_match: |file, line| is_private_key(file, line) || has_token(&line.text),
        what: "a private key or an access token is added",
        recommendation: "remove it, and revoke it if it was ever in use: git keeps what was committed",
    },
    Check {
        id: "DIFF-DEBUG",
        severities: [HIGH, MEDIUM, None],
        is_match: |file, line| is_leftover(file, line, Leftover::Breakpoint),
        what: "a breakpoint is left in the code",
        recommendation: "remove it",
    },
    Check {
        id: "DIFF-DEBUG",
        severities: [LOW, None, None],
        is_match: |file, line| is_leftover(file, line, Leftover::Output),
        what: "debug output is left in the code",
        recommendation: "remove it, or use the project's logging",
    },
    Check {
        id: "DIFF-TESTS",
        severities: [MEDIUM, MEDIUM, None],
        is_match: |file, line| is_leftover(file, line, Leftover::Focus),
        what: "a test is marked as the only one: the others do not run",
        recommendation: "remove the mark",
    },
    Check {
        id: "DIFF-TESTS",
        severities: [LOW, LOW, None],
        is_match: |file, line| is_leftover(file, line, Leftover::Skip),
        what: "a test is switched off",
        recommendation: "make it pass, or say beside it why it is off and until when",
    },
    Check {
        id: "DIFF-TODO",
        severities: [LOW, LOW, None],
        is_match: |_, line| is_note(&line.text),
        what: "a note such as TODO is added",
        recommendation: "do it now, or name the issue that will",
    },
];

impl Check {
    /// Returns one finding for all lines that match, or `None` if there are none.
    fn run(&self, file: &PatchFile) -> Option<Finding> {
        let severity = self.severities[file.role as usize]?;
        let lines = file.lines.iter().filter(|line| (self.is_match)(file, line));
        let lines: Vec<u32> = lines.map(|line| line.number).collect();
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

/// Returns whether a private key begins on a line, with its body below. Code that looks for keys
/// names only the first line.
fn is_private_key(file: &PatchFile, line: &AddedLine) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let text = line.text.trim();
    let next = file
        .lines
        .binary_search_by_key(&(line.number + 1), |line| line.number);
    text.starts_with("-----BEGIN ")
        && text.ends_with("PRIVATE KEY-----")
        && next.is_ok_and(|next| {
            let body = file.lines[next].text.trim();
            body.starts_with("Proc-Type:") || body.len() >= 32 && body.bytes().all(is_base64)
        })
}

/// Returns whether a line has a token of known form.
fn has_token(line: &str) -> bool {
    const MAX_BYTES: usize = 64;
    /// How tokens begin, and how many letters, digits, `_` and `-` follow at least.
    const FORMS: [(&str, usize); 8] = [
        ("AKIA", 16),
        ("AIza", 35),
        ("ghp_", 36),
        ("github_pat_", 40),
        ("glpat-", 20),
        ("sk-ant-", 24),
        ("sk_live_", 16),
        ("xoxb-", 20),
    ];
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    FORMS.iter().any(|(start, min_length)| {
        line.match_indices(start).any(|(at, _)| {
            let is_whole = !line[..at]
                .bytes()
                .next_back()
                .is_some_and(|byte| is_inner(&byte));
            let rest = line[at + start.len()..].bytes();
            let token: Vec<u8> = rest.take_while(is_inner).take(MAX_BYTES).collect();
            is_whole && token.len() >= *min_length && is_random(&token)
        })
    })
}

/// Returns whether a token looks random: "EXAMPLE" and "xxxx" do not.
fn is_random(token: &[u8]) -> bool {
    let different: BTreeSet<&u8> = token.iter().collect();
    let text = String::from_utf8_lossy(token).to_ascii_lowercase();
    let examples = ["example", "xxxx", "fake", "dummy", "test", "123456"];
    different.len() >= 8
        && token.iter().any(u8::is_ascii_digit)
        && !examples.iter().any(|word| text.contains(word))
}

/// What a leftover statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leftover {
    /// It stops the program and waits for somebody at a terminal.
    Breakpoint,
    /// It prints for the author.
    Output,
    /// It keeps the other tests from running.
    Focus,
    /// It switches a test off.
    Skip,
}

/// File extensions, and how leftover statements begin in such files.
const LEFTOVERS: &[(&str, Leftover, &str)] = &[
    (SCRIPT, Leftover::Breakpoint, "debugger"),
    (SCRIPT, Leftover::Output, "console.debug( console.log("),
    (
        SCRIPT,
        Leftover::Focus,
        "context.only( describe.only( it.only( test.only(",
    ),
    (
        SCRIPT,
        Leftover::Skip,
        "describe.skip( it.skip( test.skip( xit(",
    ),
    ("go", Leftover::Output, "spew.Dump("),
    ("go", Leftover::Skip, "t.Skip("),
    (
        "py",
        Leftover::Breakpoint,
        "breakpoint( ipdb.set_trace( pdb.set_trace(",
    ),
    ("py", Leftover::Skip, "@pytest.mark.skip @unittest.skip"),
    ("rb", Leftover::Breakpoint, "binding.irb binding.pry byebug"),
    ("rs", Leftover::Output, "dbg!("),
    ("rs", Leftover::Skip, "#[ignore"),
];
const SCRIPT: &str = "cjs js jsx mjs svelte ts tsx vue";

fn is_leftover(file: &PatchFile, line: &AddedLine, leftover: Leftover) -> bool {
    // `import pdb; pdb.set_trace()` is one line.
    let text = line.text.trim_start();
    let last = text.rsplit("; ").next().unwrap_or(text);
    let begins_with = |statement: &str| {
        let rest = text
            .strip_prefix(statement)
            .or_else(|| last.strip_prefix(statement));
        // "debuggerTools" is another word.
        rest.is_some_and(|rest| {
            statement.ends_with('(') || !rest.starts_with(char::is_alphanumeric)
        })
    };
    LEFTOVERS.iter().any(|(extensions, kind, statements)| {
        *kind == leftover
            && extensions
                .split(' ')
                .any(|extension| extension == file.extension)
            && statements.split(' ').any(begins_with)
    })
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
