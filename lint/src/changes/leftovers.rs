//! What was meant to go before anybody saw it: backup files, commented-out code, notes to oneself.

use super::hit::FileHit;
use super::patch::{PatchFile, PatchLine, Role};
use super::secrets::quote;
use crate::Severity;

/// Finds a new file whose name says that a program left it.
pub(super) fn file(file: &PatchFile) -> Option<FileHit> {
    const ENDS: [(&str, &str); 9] = [
        (".orig", "what a merge or a patch tool left"),
        (".rej", "what a patch tool could not apply"),
        ("~", "an editor's backup"),
        (".swp", "an editor's swap file"),
        (".swo", "an editor's swap file"),
        (".bak", "a backup"),
        (".pyc", "compiled Python"),
        (".DS_Store", "a file manager's"),
        ("Thumbs.db", "a file manager's"),
    ];
    if !file.is_new || file.role == Role::Test {
        return None;
    }
    let name = file.name();
    let what = ENDS
        .iter()
        .find(|(end, _)| name.ends_with(end))
        .map(|(_, what)| *what)
        .or_else(|| {
            (name.starts_with(".#") || (name.starts_with('#') && name.ends_with('#')))
                .then_some("an editor's lock or save file")
        })?;
    Some(FileHit {
        check: "DIFF-LEFTOVER",
        severity: Severity::Medium,
        what: format!("a file is added that looks like {what}"),
        add: "remove it, and name its kind in .gitignore",
        places: Vec::new(),
        patch: None,
    })
}

/// New notes to oneself. One that names an issue is a record, and is left alone.
pub(super) fn todo(file: &PatchFile) -> Option<FileHit> {
    if file.role != Role::Code && file.role != Role::Test {
        return None;
    }
    let places: Vec<_> = file
        .added()
        .filter(|line| notes(line.text()))
        .map(|line| (line.number, quote(line.text())))
        .collect();
    (!places.is_empty()).then(|| FileHit {
        check: "DIFF-TODO",
        severity: Severity::Low,
        what: match places.len() {
            1 => "a new note to oneself (TODO, FIXME, XXX or HACK) is added".to_owned(),
            count => format!("{count} new notes to oneself (TODO, FIXME, XXX or HACK) are added"),
        },
        add: "do it, or name the issue in it that keeps it from being forgotten",
        places,
        patch: None,
    })
}

fn notes(line: &str) -> bool {
    const NOTES: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];
    let Some(comment) = comment(line) else {
        return false;
    };
    let words = |found: &str| {
        comment.match_indices(found).any(|(at, _)| {
            let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            let before = comment[..at].bytes().next_back();
            let after = comment[at + found.len()..].bytes().next();
            before.is_none_or(|byte| !word(byte) && byte != b'"' && byte != b'\'' && byte != b'`')
                && after.is_none_or(|byte| !word(byte) && byte != b'"')
        })
    };
    let names_an_issue = comment.contains("http")
        || comment.match_indices('#').any(|(at, _)| {
            comment[at + 1..]
                .bytes()
                .next()
                .is_some_and(|byte| byte.is_ascii_digit())
        });
    NOTES.iter().any(|found| words(found)) && !names_an_issue
}

/// Returns what follows the first mark of a comment.
fn comment(line: &str) -> Option<&str> {
    let trimmed = line.trim_start();
    if let Some(rest) = trimmed.strip_prefix('*') {
        return Some(rest);
    }
    ["//", "#", "/*", "<!--", "--", ";;", "%%"]
        .iter()
        .filter_map(|mark| {
            let at = line.find(mark)?;
            // A mark in the middle of a word or a string is none: a URL, a colour, an option.
            let before = line[..at].chars().next_back();
            (before.is_none_or(char::is_whitespace)
                && line[..at].matches('"').count().is_multiple_of(2))
            .then(|| &line[at + mark.len()..])
        })
        .max_by_key(|rest| rest.len())
}

/// At least this many lines of commented-out code in a row are certain to be no prose.
const BLOCK: usize = 4;

/// Code in comments: a run of `//` lines that nearly all end as statements do.
pub(super) fn commented_out(file: &PatchFile) -> Option<FileHit> {
    const C_LIKE: [&str; 15] = [
        "rs", "js", "jsx", "ts", "tsx", "mjs", "cjs", "java", "kt", "c", "h", "cc", "cpp", "cs",
        "go",
    ];
    if file.role != Role::Code || !C_LIKE.contains(&file.extension.as_str()) {
        return None;
    }
    let mut places = Vec::new();
    for hunk in &file.hunks {
        let is_comment = |line: &&PatchLine| {
            let text = line.text().trim_start();
            line.added
                && text.starts_with("//")
                && !text.starts_with("///")
                && !text.starts_with("//!")
        };
        for run in hunk
            .lines
            .iter()
            .collect::<Vec<_>>()
            .chunk_by(|one, two| is_comment(one) == is_comment(two))
        {
            if !run.first().is_some_and(is_comment) {
                continue;
            }
            let bodies: Vec<&str> = run
                .iter()
                .map(|line| line.text().trim_start().trim_start_matches('/').trim())
                .filter(|body| !body.is_empty())
                .collect();
            let code = bodies
                .iter()
                .filter(|body| body.ends_with([';', '{', '}']))
                .count();
            let statements = bodies.iter().filter(|body| body.ends_with(';')).count();
            if code >= BLOCK && statements >= 2 && code * 4 >= bodies.len() * 3 {
                places.extend(run.first().map(|line| (line.number, quote(line.text()))));
            }
        }
    }
    (!places.is_empty()).then(|| FileHit {
        check: "DIFF-COMMENTED-OUT",
        severity: Severity::Low,
        what: "code is added as a comment".to_owned(),
        add: "remove it: git keeps what was there",
        places,
        patch: None,
    })
}
