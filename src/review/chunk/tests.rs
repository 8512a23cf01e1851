use camino::Utf8Path;

use super::*;
use crate::machine::persona::Focus;
use crate::process::Watch;
use crate::process::environment::Environment;
use crate::process::limits::Limits;
use crate::review::reviewer::Trace;

/// A reviewer that is a program, or built in.
struct Anyone {
    is_program: bool,
}

impl Reviewer for Anyone {
    fn name(&self) -> &str {
        "anyone"
    }

    fn review(&self, _: &Request<'_>, _: &mut Watch<'_>) -> Result<Findings, Cause> {
        Ok(Findings::default())
    }

    fn runs_a_program(&self) -> bool {
        self.is_program
    }
}

/// Reviews a document. Each answer has a finding at the third line, and one without a line.
fn review(is_program: bool, document: &str) -> Vec<Finding> {
    let render = |text: &str, _: Option<&Chunk<'_>>| Ok(format!("> {text}"));
    let chunks = Chunks::new(document, &Anyone { is_program }, render).unwrap();
    assert!(chunks.are_shown());
    let root = Utf8Path::new("/");
    let request = Request {
        prompt: "",
        parts: &[],
        subject_name: "PLAN.md",
        trace: &Trace::default(),
        focus: Focus::Engineering,
        root,
        limits: Limits::default(),
        environment: &Environment::default(),
        output: None,
    };
    let outcome = chunks.review(&request, &mut |request| {
        assert!(request.prompt.starts_with("> "));
        let third = Finding {
            line: Some(3),
            ..Finding::new(Severity::Low, "third")
        };
        let general = Finding::new(Severity::Low, "general");
        Ok(Findings(vec![third, general]))
    });
    outcome.unwrap().0
}

/// A section of a heading and lines of 100 bytes.
fn section(lines: usize) -> String {
    "## Section\n".to_owned() + &format!("{}\n", "x".repeat(99)).repeat(lines)
}

#[test]
fn short_document_is_one_chunk() {
    for text in ["", "# Plan\nno line end", &"x".repeat(MAX_CHUNK_BYTES)] {
        let chunks = split(text);
        assert_eq!((chunks.len(), chunks[0].text), (1, text));
    }
}

#[test]
fn long_document_without_headings_is_cut_at_lines() {
    let chunks = "ä line\n".repeat(60_000);
    let chunks = split(&chunks);
    assert_eq!(chunks.len(), 2);
    assert!(chunks[0].text.ends_with("ä line\n"));
    assert_eq!(split(&"ä".repeat(MAX_CHUNK_BYTES)).len(), 2);
}

#[test]
fn findings_of_chunks_are_merged() {
    let found = review(true, &section(2000).repeat(2));
    let lines: Vec<_> = found.iter().map(|one| one.line).collect();
    assert_eq!(lines, [Some(3), None, Some(2004)]);
}

#[test]
fn lines_beyond_four_chunks_are_a_medium_finding() {
    let found = review(true, &section(2600).repeat(5));
    assert_eq!(found.len(), 6);
    insta::assert_snapshot!(format!("{}: {}", found[0].severity, found[0].what), @"Medium: lines 10405 to 13005 of PLAN.md were not reviewed: a review takes 4 parts of 256 KiB at most");
    assert_eq!(found[0].check.as_deref(), Some(UNREVIEWED));
}

#[test]
fn built_in_reviewer_is_asked_once() {
    assert_eq!(review(false, &section(2600).repeat(5)).len(), 2);
}
