use super::*;
use crate::review::findings::Counts;
use proptest::prelude::*;

fn counts(text: &str) -> (usize, usize, usize) {
    match parse(text.as_bytes()) {
        Ok(Verdict::Findings(findings)) => {
            let Counts { high, medium, low } = findings.counts();
            assert!(
                high + medium + low > 0,
                "findings are never empty: {text:?}"
            );
            (high, medium, low)
        }
        Ok(Verdict::Clean) => (0, 0, 0),
        Err(error) => panic!("unreadable ({error}): {text:?}"),
    }
}

fn unreadable(text: &str) -> Unreadable {
    match parse(text.as_bytes()) {
        Err(error) => error,
        Ok(verdict) => panic!("{verdict:?} from {text:?}"),
    }
}

fn found(text: &str) -> Vec<Finding> {
    match parse(text.as_bytes()) {
        Ok(Verdict::Findings(findings)) => findings.0,
        other => panic!("{other:?} from {text:?}"),
    }
}

fn one(severity: Severity, what: &str, recommendation: Option<&str>) -> Finding {
    Finding {
        recommendation: recommendation.map(str::to_owned),
        ..Finding::new(severity, what)
    }
}

#[test]
fn the_format_of_the_facts_is_written() {
    let mut with_line = one(
        Severity::High,
        "no way back",
        Some("say how step 3 is undone"),
    );
    with_line.line = Some(12);
    let findings = Findings(vec![one(Severity::Low, "typo", None), with_line]);
    assert_eq!(
        render(2, &findings),
        "# Round 2 findings\n\n## High\n\n- line 12: no way back (say how step 3 is undone)\n\n## Medium\n\n## Low\n\n- typo\n"
    );
    assert_eq!(
        render(1, &Findings::default()),
        "# Round 1 findings\n\nNo substantive findings.\n"
    );
    assert_eq!(
        parse(render(1, &Findings::default()).as_bytes()),
        Ok(Verdict::Clean)
    );
}

#[test]
fn headings_are_read_in_every_spelling() {
    for heading in [
        "## High",
        "## high",
        "## HIGH",
        "# High",
        "###### High",
        "### HIGH (2)",
        "## High:",
        "## **High**",
        "## High severity",
        "**High:**",
        "**High**",
        "__High__",
        "High",
        "High:",
        "HIGH:",
        "High severity",
        "## Critical",
        "## Blocker",
        "## Blockers",
        "## Major",
        "## High priority issues",
        "## Critical / High",
        "##High",
        "## \u{1f534} High",
        "## 1. High",
        "## High ##",
        "  ## High",
        "\u{1b}[1m## High\u{1b}[0m",
        "## High [1]",
        "## High - 1 finding",
    ] {
        assert_eq!(
            counts(&format!("# Round 1 findings\n\n{heading}\n- a\n- b\n")),
            (2, 0, 0),
            "{heading}"
        );
    }
    assert_eq!(
        counts("## Medium\n- a\n## Moderate\n- b\n## Minor\n- c\n## Nits:\n- d\n"),
        (0, 2, 2)
    );
    assert_eq!(
        counts("High\n----\n- a\n\nMedium\n======\n- b\n"),
        (1, 1, 0)
    );
}

#[test]
fn bullets_are_read_in_every_spelling() {
    assert_eq!(
        counts("## High\n* a\n+ b\n- c\n1. d\n2) e\n\u{2022} f\n"),
        (6, 0, 0)
    );
    assert_eq!(
        counts("## High\r\n- a\r\n\r\n## low\r\n1. b\r\n"),
        (1, 0, 1)
    );
    assert_eq!(counts("## High\r- a\r## Low\r- b\r"), (1, 0, 1));
    assert_eq!(counts("\u{feff}## High\n- a\n"), (1, 0, 0));
    assert_eq!(counts("## High\n  - a\n  - b\n- c\n"), (3, 0, 0));
    assert_eq!(
        counts("## High\n-no space, no bullet\n## Low\n- x\n"),
        (1, 0, 1)
    );
}

#[test]
fn none_is_no_finding() {
    for none in [
        "None",
        "- None",
        "- None.",
        "* none",
        "1. None",
        "N/A",
        "- n/a",
        "(none)",
        "- (None)",
        "_None_",
        "**None.**",
        "No findings",
        "- No findings.",
        "- No high findings",
        "No high-severity issues found.",
        "Nothing",
        "- -",
        "\u{2014}",
        "- None found.",
        "Not applicable",
        "- No substantive findings.",
    ] {
        assert_eq!(
            counts(&format!(
                "## High\n{none}\n## Medium\n- x\n## Low\n{none}\n"
            )),
            (0, 1, 0),
            "{none}"
        );
        assert_eq!(
            counts(&format!(
                "## High\n{none}\n\n## Medium\n{none}\n\n## Low\n{none}\n"
            )),
            (0, 0, 0),
            "{none}"
        );
    }
    let fixed = "## High\nNone. The earlier ones were fixed.\n## Medium\n- x\n";
    assert_eq!(counts(fixed), (0, 1, 0));
    for finding in [
        "- None of the retries has a limit",
        "- No rollback",
        "- N/A is written where a number belongs",
        "- None, but see above",
        "- None. However step 3 fails",
    ] {
        assert_eq!(
            counts(&format!("## High\n{finding}\n")),
            (1, 0, 0),
            "{finding}"
        );
    }
    assert_eq!(
        counts("**High:** None\n**Medium:** None\n**Low:** None\n"),
        (0, 0, 0)
    );
    assert_eq!(
        counts("## High: none\n## Medium: none\n## Low: none\n"),
        (0, 0, 0)
    );
}

#[test]
fn what_hangs_below_a_finding_belongs_to_it() {
    let text = "## High\n- no rollback\n  wrapped line\n  - nested\n    1. deeper\n\n  a paragraph\n\n  ```\n  - code\n  ```\n- second\nlazy\n";
    let found = found(text);
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[0].detail,
        ["wrapped line", "nested", "deeper", "a paragraph", "- code"]
    );
    assert_eq!(found[1].detail, ["lazy"]);
}

#[test]
fn fenced_code_is_not_bullets() {
    assert_eq!(
        counts("## High\n```\n- a\n## Low\n- b\n```\n- real\n"),
        (1, 0, 0)
    );
    assert_eq!(
        counts("## High\n~~~ yaml\n- a\n```\n- b\n~~~\n- real\n"),
        (1, 0, 0)
    );
    assert_eq!(
        unreadable("```\n## High\n- a\n```\nI have no opinion.\n"),
        Unreadable::NoVerdict
    );
    assert_eq!(
        counts("```markdown\n## High\n- a\n```\n"),
        (1, 0, 0),
        "a fence around everything is none"
    );
    assert_eq!(
        counts("## High\n```\n- a\n- b\n"),
        (2, 0, 0),
        "an open fence hides nothing"
    );
}

#[test]
fn an_absent_verdict_is_unreadable() {
    assert_eq!(unreadable(""), Unreadable::Empty);
    assert_eq!(unreadable("\u{feff} \r\n\t\n"), Unreadable::Empty);
    for text in [
        "The plan looks fine to me.",
        "# Round 1 findings\n",
        "# Summary\n\nAll good.\n",
        "- a bullet\n- another\n",
        "# Notes\n- a bullet outside of any section\n",
        "## High-level overview\n- a\n",
        "If there is nothing, write `No substantive findings.` and stop.",
        "No new findings.",
        "No high findings.",
        "> ## High\n> - quoted\n",
        "no substantive findings",
        "**No substantive findings.**",
        "## No substantive findings.\n",
        "- No substantive findings.\n",
        "No material findings.\r\n",
        "No issues found.",
        "# Verdict\n\nNo substantive findings.\n",
        "Error: stream disconnected before completion",
        "High: 2, medium: 1, low: 0\n",
    ] {
        assert_eq!(unreadable(text), Unreadable::NoVerdict, "{text:?}");
    }
    assert_eq!(
        unreadable("# Round 1 findings\n\n## High\n"),
        Unreadable::Incomplete {
            missing: Severity::High
        }
    );
    assert_eq!(
        unreadable("## High\n- None\n## Medium\n- None\n"),
        Unreadable::Incomplete {
            missing: Severity::Low
        }
    );
    assert_eq!(
        unreadable("## High\n\n## Medium\n\n## Low\n"),
        Unreadable::Incomplete {
            missing: Severity::High
        }
    );
    for none in ["", "- None\n"] {
        assert_eq!(
            unreadable(&format!(
                "## High (2)\n{none}## Medium\n{none}## Low\n{none}"
            )),
            Unreadable::Announced { line: 1 }
        );
    }
    assert_eq!(
        parse(b"## High\n- a\xff\n"),
        Err(Unreadable::NotText { offset: 11 })
    );
    assert_eq!(
        parse(b"\x89PNG\r\n\x1a\n\0\0"),
        Err(Unreadable::NotText { offset: 0 })
    );
    assert_eq!(
        parse(b"## High\n\0"),
        Err(Unreadable::NotText { offset: 8 })
    );
    let large = vec![b'x'; MAX_FILE_BYTES + 1];
    assert!(matches!(parse(&large), Err(Unreadable::TooLarge { .. })));
}

#[test]
fn more_findings_than_anyone_mends_are_no_verdict() {
    let text = |count: usize| format!("## High\n{}", "- x\n".repeat(count));
    let Ok(Verdict::Findings(most)) = parse(text(MOST_FINDINGS).as_bytes()) else {
        panic!("as many as that are read")
    };
    assert_eq!(most.0.len(), MOST_FINDINGS);
    for found in [MOST_FINDINGS + 1, 200_000] {
        assert_eq!(
            parse(text(found).as_bytes()),
            Err(Unreadable::TooMany { found })
        );
    }
}

#[test]
fn the_clean_line_is_read_and_findings_outweigh_it() {
    for text in [
        "No substantive findings.",
        "# Round 3 findings\n\nNo substantive findings.\n",
        "# Findings\r\n\r\nNo substantive findings.  \r\n",
        "# Round 1 findings\n\n## High\n\n## Medium\n\n## Low\n\nNo substantive findings.\n",
    ] {
        assert_eq!(parse(text.as_bytes()), Ok(Verdict::Clean), "{text:?}");
    }
    assert_eq!(
        counts("No substantive findings.\n\n## High\n- a\n"),
        (1, 0, 0)
    );
    assert_eq!(
        counts("## Low\n- a\n\n# Verdict\n\nNo substantive findings.\n"),
        (0, 0, 1)
    );
}

#[test]
fn prose_in_a_section_is_not_lost() {
    assert_eq!(
        counts("## High\n\nThe plan has no way back.\nNone at all.\n\nNor a test.\n\n## Low\n"),
        (2, 0, 0)
    );
    assert_eq!(
        counts("## High\n### No way back\nText.\n### No tests\nText.\n## Low\n- x\n"),
        (2, 0, 1)
    );
    assert_eq!(
        counts("## High\nThese block the merge:\n- a\n- b\n"),
        (2, 0, 0)
    );
    assert_eq!(
        counts("**High:** no way back\n**Medium:** none\n"),
        (1, 0, 0)
    );
    assert_eq!(
        unreadable(
            "## Low\n- None.\n\nAltogether a good plan.\n## High\n- None\n## Medium\n- None\n"
        ),
        Unreadable::NoVerdict
    );
}

#[test]
fn labels_are_severities_outside_of_sections() {
    assert_eq!(
        counts(
            "# Findings\n1. **[High]** no way back\n   - detail\n2. [Low] typo\n- Medium: no tests\n"
        ),
        (1, 1, 1)
    );
    assert_eq!(
        unreadable("- High load is expected\n"),
        Unreadable::NoVerdict
    );
}

#[test]
fn line_and_recommendation_are_taken_apart() {
    let found = found(
        "## High\n- line 7: call `retry()` twice (limit it (to 3))\n- Line 0: x\n- just `f(x)`\n",
    );
    assert_eq!(
        (found[0].line, found[0].what.as_str()),
        (Some(7), "call `retry()` twice")
    );
    assert_eq!(found[0].recommendation.as_deref(), Some("limit it (to 3)"));
    assert_eq!((found[1].line, found[1].what.as_str()), (None, "Line 0: x"));
    assert_eq!(
        (found[2].what.as_str(), found[2].recommendation.as_deref()),
        ("just `f(x)`", None)
    );
}

#[test]
fn hostile_text_stays_one_short_line() {
    let mut hostile = one(
        Severity::Medium,
        "a\n## High\n- b\r\n\u{202e}evil\u{7}\u{1b}[31m\u{2028}x",
        Some("c\n\n- d"),
    );
    hostile.detail = vec!["\n## High\n- e".to_owned(); 50];
    let text = render(
        1,
        &Findings(vec![hostile, one(Severity::Low, &"w".repeat(5000), None)]),
    );
    assert_eq!(counts(&text), (0, 1, 1));
    assert!(text.contains("- a ## High - b evil x (c - d)\n"), "{text}");
    assert!(
        text.lines()
            .all(|line| line.chars().count() < 2 * MAX_FINDING_CHARS + 40)
    );
    assert!(!text.contains(['\u{202e}', '\u{7}', '\u{1b}']));
    assert_eq!(text.matches("  - ## High - e").count(), MAX_DETAIL_LINES);
    assert!(text.contains(&format!("{}...", "w".repeat(MAX_FINDING_CHARS - 3))));
}

#[test]
fn a_text_that_reads_as_a_place_and_none_stays_as_it_was_written() {
    let text = render(
        1,
        &Findings(vec![one(Severity::High, "(:1:", Some("None"))]),
    );
    let Ok(Verdict::Findings(again)) = parse(text.as_bytes()) else {
        panic!("unreadable: {text:?}")
    };
    assert_eq!(render(1, &again), text);
}

fn any_finding() -> impl Strategy<Value = Finding> {
    let text = prop_oneof![
        "[a-z ]{0,20}",
        "\\PC{0,40}",
        Just("None".to_owned()),
        Just("- ---".to_owned()),
        "[-# \n()*`:1.]{0,12}"
    ];
    (
        0..3_u8,
        text.clone(),
        proptest::option::of(text.clone()),
        // A file without a line is read back as part of the text.
        prop_oneof![
            proptest::option::of(1..900_u32).prop_map(|line| (None, line)),
            ("[a-z ./\\-]{1,12}\\.rs", 1..900_u32)
                .prop_map(|(file, line)| (Some(file), Some(line))),
        ],
        proptest::collection::vec(text, 0..3),
    )
        .prop_map(|(severity, what, recommendation, (file, line), detail)| {
            let severity = [Severity::High, Severity::Medium, Severity::Low][usize::from(severity)];
            Finding {
                recommendation,
                file,
                line,
                detail,
                ..Finding::new(severity, what)
            }
        })
}

proptest! {
    #[test]
    fn writing_and_reading_keeps_severity_count_and_text(found in proptest::collection::vec(any_finding(), 1..6)) {
        let findings = Findings(found);
        let text = render(1, &findings);
        let Ok(Verdict::Findings(again)) = parse(text.as_bytes()) else { panic!("unreadable: {text:?}") };
        prop_assert_eq!(again.counts(), findings.counts(), "{}", text);
        // Only white space beside a bracket may move.
        let solid = |text: &str| text.split_whitespace().collect::<String>();
        // What holds no letter says nothing; how it is quoted may change from one writing to the next.
        if findings.0.iter().all(|one| one.what.contains(char::is_alphabetic)) {
            prop_assert_eq!(solid(&render(1, &again)), solid(&text));
        }
    }

    #[test]
    fn plain_fields_survive_as_they_are(what in "[a-z][a-z]{3,20} [a-z]{1,9}", recommendation in "[a-z]{1,9} [a-z]\\([a-z]{0,4}\\)", line in 1..99_u32) {
        prop_assume!(!words::is_none(&what));
        let mut finding = one(Severity::High, &what, Some(recommendation.trim()));
        finding.line = Some(line);
        let findings = Findings(vec![finding]);
        prop_assert_eq!(parse(render(1, &findings).as_bytes()), Ok(Verdict::Findings(findings)));
    }

    #[test]
    fn no_input_panics(text in "(\\PC|\n|\r|#|-|```|High|None| ){0,60}") {
        let _ = parse(text.as_bytes());
    }
}
