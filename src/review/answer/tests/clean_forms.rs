//! The forms of an answer that state that nothing was found, and those that only look so.

use super::super::{Findings, read};

/// Returns the answers in a file, which stand between lines of `=====`.
fn answers(file: &str) -> impl Iterator<Item = &str> {
    file.trim_end_matches('\n').split("\n=====\n")
}

const CLEAN: &str = include_str!("clean.md");

#[test]
fn form_that_was_asked_for_is_clean() {
    for text in answers(CLEAN) {
        let crlf = text.replace('\n', "\r\n") + "\r\n";
        for text in [text, &crlf, &format!("\u{feff}{text}\n")] {
            assert_eq!(read(text), Ok(Findings::default()), "{text}");
        }
    }
}

#[test]
fn form_that_looks_clean_is_unreadable() {
    for text in answers(include_str!("near-misses.md")) {
        assert!(read(text).is_err(), "{:?} from {text}", read(text));
        let crlf = text.replace('\n', "\r\n");
        assert!(read(&crlf).is_err(), "{:?} from {crlf}", read(&crlf));
    }
    for text in ["[]", "true", "\"clean\"", "{\"verdict\": \"clean\"}"] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn line_around_clean_answer_is_not_clean() {
    for text in answers(CLEAN) {
        for line in ["It is not true that", "> quoted", "```"] {
            let around = format!("{line}\n{text}");
            assert_ne!(read(&around), Ok(Findings::default()), "{around}");
        }
        let after = format!("{text}\nSo it says.");
        assert_ne!(read(&after), Ok(Findings::default()), "{after}");
    }
}
