//! What is wrong with a file whatever it is written in: conflict markers, hidden characters, sheer size.

use super::hit::FileHit;
use super::patch::{PatchFile, Role};
use super::secrets::quote;
use crate::Severity;

/// From which length on a binary file is worth a word, in bytes.
pub(super) const LARGE_BINARY: u64 = 1024 * 1024;
/// From how many added lines on a file is worth a word.
const LONG_FILE: usize = 2000;
/// From how many characters on a line of code is worth a word.
const LONG_LINE: usize = 1000;

/// Markers of a merge that nobody has finished. A line of equal signs alone is a heading in some documents.
pub(super) fn conflict(file: &PatchFile) -> Option<FileHit> {
    let is = |line: &str, mark: &str| {
        line == mark
            || line
                .strip_prefix(mark)
                .is_some_and(|rest| rest.starts_with(' '))
    };
    let with = |mark: &str| file.added().any(|line| is(line.text(), mark));
    let (ours, theirs, middle) = (with("<<<<<<<"), with(">>>>>>>"), with("======="));
    let certain = match file.role {
        Role::Document => ours && theirs && middle,
        _ => ours || theirs,
    };
    if !certain {
        return None;
    }
    let marks = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];
    let places = file
        .added()
        .filter(|line| marks.iter().any(|mark| is(line.text(), mark)))
        .map(|line| (line.number, quote(line.text())))
        .collect();
    Some(FileHit {
        check: "DIFF-CONFLICT",
        severity: Severity::High,
        what: "markers of an unfinished merge are in the file".to_owned(),
        add: "resolve the conflict and remove the markers",
        places,
        patch: None,
    })
}

/// Bidirectional controls, which show a line otherwise than it is read by a compiler.
pub(super) fn hidden(file: &PatchFile) -> Option<FileHit> {
    const HIDDEN: [&str; 9] = [
        "<U+202A>", "<U+202B>", "<U+202C>", "<U+202D>", "<U+202E>", "<U+2066>", "<U+2067>",
        "<U+2068>", "<U+2069>",
    ];
    if file.role == Role::Document {
        return None;
    }
    let places: Vec<_> = file
        .added()
        .filter(|line| HIDDEN.iter().any(|hidden| line.text().contains(hidden)))
        .map(|line| (line.number, quote(line.text())))
        .collect();
    (!places.is_empty()).then(|| FileHit {
        check: "DIFF-HIDDEN",
        severity: Severity::High,
        what: "the file has bidirectional control characters: it is not what it looks like"
            .to_owned(),
        add: "remove them, or write them as escapes",
        places,
        patch: None,
    })
}

pub(super) fn long_file(file: &PatchFile) -> Option<FileHit> {
    let count = file.added().count();
    (count >= LONG_FILE && file.role == Role::Code).then(|| FileHit {
        check: "DIFF-HUGE",
        severity: Severity::Low,
        what: format!("{count} lines are added to one file"),
        add: "see whether it holds more than one subject, or is generated and need not be kept",
        places: Vec::new(),
        patch: None,
    })
}

pub(super) fn long_line(file: &PatchFile) -> Option<FileHit> {
    const DATA: [&str; 8] = [
        "json", "xml", "html", "css", "yaml", "yml", "pem", "geojson",
    ];
    if file.role != Role::Code || DATA.contains(&file.extension.as_str()) {
        return None;
    }
    let places: Vec<_> = file
        .added()
        .filter(|line| line.text().chars().count() > LONG_LINE)
        .map(|line| (line.number, quote(line.text())))
        .collect();
    (!places.is_empty()).then(|| FileHit {
        check: "DIFF-LONG-LINE",
        severity: Severity::Low,
        what: format!("a line of more than {LONG_LINE} characters is added"),
        add: "break it, or move data to a file of its own",
        places,
        patch: None,
    })
}
