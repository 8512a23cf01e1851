use camino::Utf8Path;

use super::*;
use crate::machine::persona::Focus;
use crate::process::Watch;
use crate::process::environment::Environment;
use crate::process::limits::Limits;
use crate::review::opened::Opened;
use crate::review::scratch::Place;

/// A reviewer that is a program, or built in.
struct Anyone {
    is_program: bool,
}

impl Reviewer for Anyone {
    fn name(&self) -> &str {
        "anyone"
    }

    fn review(&self, _: &Request<'_>, _: &mut Watch<'_>) -> Outcome {
        Outcome::Clean
    }

    fn runs_a_program(&self) -> bool {
        self.is_program
    }
}

/// Reviews a document. Each answer has a finding at the third line, and one without a line.
fn review(is_program: bool, document: &str) -> Vec<Finding> {
    let render = |text: &str, _: Option<&Portion<'_>>| Ok(format!("> {text}"));
    let portions = Portions::new(document, &Anyone { is_program }, render).unwrap();
    assert!(portions.are_shown());
    let root = Utf8Path::new("/");
    let request = Request {
        prompt: "",
        subject: document,
        parts: &[],
        subject_name: "PLAN.md",
        opened: &Opened::default(),
        repaired: &std::cell::Cell::new(false),
        round: 1,
        focus: Focus::Engineering,
        run: "r1-0",
        root,
        scratch: &Place::new(root, root),
        limits: Limits::default(),
        environment: &Environment::default(),
        output: None,
    };
    let outcome = portions.review(&request, &mut |request| {
        assert!(request.prompt.starts_with("> "));
        let third = Finding {
            line: Some(3),
            ..Finding::new(Severity::Low, "third")
        };
        let general = Finding::new(Severity::Low, "general");
        Outcome::Findings(Findings(vec![third, general]))
    });
    match outcome {
        Outcome::Findings(findings) => findings.0,
        other => panic!("{other:?}"),
    }
}

/// A section of a heading and lines of 100 bytes.
fn section(lines: usize) -> String {
    "## Section\n".to_owned() + &format!("{}\n", "x".repeat(99)).repeat(lines)
}

fn lines(portions: &[Portion<'_>]) -> Vec<(usize, usize)> {
    portions.iter().map(|one| (one.first, one.last)).collect()
}

#[test]
fn short_document_is_one_portion() {
    for text in ["", "# Plan\nno line end", &"x".repeat(MAX_PORTION_BYTES)] {
        let portions = split(text);
        assert_eq!((portions.len(), portions[0].text), (1, text));
    }
}

#[test]
fn long_document_is_cut_at_headings() {
    let text = section(2000).repeat(3);
    assert_eq!(
        lines(&split(&text)),
        [(1, 2001), (2002, 4002), (4003, 6003)]
    );
    // A title alone is no portion.
    let text = "# Plan\n".to_owned() + &"line\n".repeat(60_000);
    assert_eq!(lines(&split(&text)), [(1, 52428), (52429, 60001)]);
}

#[test]
fn document_without_headings_is_cut_at_lines() {
    let portions = "ä line\n".repeat(60_000);
    let portions = split(&portions);
    assert_eq!(portions.len(), 2);
    assert!(portions[0].text.ends_with("ä line\n"));
    assert_eq!(split(&"ä".repeat(MAX_PORTION_BYTES)).len(), 2);
}

#[test]
fn four_full_portions_are_not_cut_short_for_headings() {
    let text = section(1400).repeat(7);
    assert!(text.len() < MAX_PORTIONS * MAX_PORTION_BYTES);
    assert_eq!(split(&text).len(), MAX_PORTIONS);
}

#[test]
fn findings_of_portions_are_merged() {
    let found = review(true, &section(2000).repeat(2));
    let lines: Vec<_> = found.iter().map(|one| one.line).collect();
    assert_eq!(lines, [Some(3), None, Some(2004)]);
}

#[test]
fn lines_beyond_four_portions_are_a_medium_finding() {
    let found = review(true, &section(2600).repeat(5));
    assert_eq!(found.len(), 6);
    insta::assert_snapshot!(format!("{}: {}", found[0].severity, found[0].what), @"Medium: lines 10490 to 13005 of PLAN.md were not reviewed: a review takes 4 parts of 256 KiB at most");
    assert_eq!(found[0].check.as_deref(), Some(UNREVIEWED));
}

#[test]
fn built_in_reviewer_is_asked_once() {
    assert_eq!(review(false, &section(2600).repeat(5)).len(), 2);
}
