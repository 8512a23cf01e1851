use super::super::read;
use super::*;
use crate::review::findings::Counts;

fn counts(text: &str) -> (usize, usize, usize) {
    let Counts { high, medium, low } = Findings(found(text)).counts();
    (high, medium, low)
}

fn error(text: &str) -> Cause {
    read(text).expect_err(text)
}

fn found(text: &str) -> Vec<Finding> {
    read(text).expect(text).0
}

#[test]
fn heading_in_any_spelling_opens_section() {
    for heading in include_str!("headings.md").lines() {
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
fn bullet_in_any_spelling_is_finding() {
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
fn word_for_none_is_no_finding() {
    for none in include_str!("none.md").lines() {
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
    for finding in [
        "- None of the retries has a limit",
        "- No rollback",
        "- N/A is written where a number belongs",
        "- None, but see above",
        "- None. However step 3 fails",
        "- None. Step 3 fails",
    ] {
        assert_eq!(
            counts(&format!("## High\n{finding}\n")),
            (1, 0, 0),
            "{finding}"
        );
    }
}

#[test]
fn line_below_finding_is_its_detail() {
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
fn bullet_in_code_is_no_finding() {
    assert_eq!(
        counts("## High\n```\n- a\n## Low\n- b\n```\n- real\n"),
        (1, 0, 0)
    );
    assert_eq!(
        counts("## High\n~~~ yaml\n- a\n```\n- b\n~~~\n- real\n"),
        (1, 0, 0)
    );
    error("```\n## High\n- a\n```\nI have no opinion.\n");
    assert_eq!(
        counts("```markdown\n## High\n- a\n```\n"),
        (1, 0, 0),
        "a fence around everything is none"
    );
    error("## High\n```\n- a\n- b\n");
}

#[test]
fn answer_without_verdict_is_unreadable() {
    for text in [
        "# Round 1 findings\n",
        "# Summary\n\nAll good.\n",
        "- a bullet\n- another\n",
        "# Notes\n- a bullet outside of any section\n",
        "## High-level overview\n- a\n",
        "> ## High\n> - quoted\n",
        "# Verdict\n\nNo substantive findings.\n",
        "High: 2, medium: 1, low: 0\n",
    ] {
        error(text);
    }
    insta::assert_snapshot!(counted(&[
        "# Round 1 findings\n\n## High\n",
        "## High\n- None\n## Medium\n- None\n",
        "## High\n\n## Medium\n\n## Low\n",
        "## High (2)\n## Medium\n## Low\n",
        "## High (2)\n- None\n## Medium\n- None\n## Low\n- None\n",
    ]), @r"
    it names no finding and says nothing of High: it may have been cut off
    it names no finding and says nothing of Low: it may have been cut off
    it names no finding and says nothing of High: it may have been cut off
    line 1 announces findings that do not follow
    line 1 announces findings that do not follow
    ");
}

#[test]
fn clean_line_beside_findings_is_outweighed() {
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
fn prose_in_section_is_counted() {
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
    error("## Low\n- None.\n\nAltogether a good plan.\n## High\n- None\n## Medium\n- None\n");
}

#[test]
fn item_with_label_has_its_severity() {
    assert_eq!(
        counts(
            "# Findings\n1. **[High]** no way back\n   - detail\n2. [Low] typo\n- Medium: no tests\n"
        ),
        (1, 1, 1)
    );
    error("- High load is expected\n");
}

#[test]
fn item_is_split_into_place_and_recommendation() {
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

/// Returns what each answer counts, or why it is unreadable.
fn counted(answers: &[&str]) -> String {
    let line = |answer: &&str| match read(answer) {
        Ok(findings) => format!("{}\n", findings.counts()),
        Err(cause) => format!("{}\n", cause.detail),
    };
    answers.iter().map(line).collect()
}

#[test]
fn severity_word_of_reviewers_is_known() {
    let high = ["Critical", "Blocker", "Must fix", "Major", "P0", "P1"];
    let medium = [
        "Important",
        "Should fix",
        "Should-Fix",
        "Warning",
        "Warnings",
        "P2",
    ];
    let low = ["Minor", "Nit", "Nits", "Suggestions", "Info", "P3"];
    for (words, expected) in [(high, (2, 0, 0)), (medium, (0, 2, 0)), (low, (0, 0, 2))] {
        for word in words {
            assert_eq!(
                counts(&format!("## {word}\n- a\n- b\n")),
                expected,
                "{word}"
            );
            assert_eq!(
                counts(&format!("- [{word}] a\n- **{word}**: b\n")),
                expected,
                "{word}"
            );
            let headings = format!("### 1. [{word}] a\n\n### 2. {word}: b\n");
            assert_eq!(counts(&headings), expected, "{word}");
        }
    }
}

#[test]
fn section_under_unknown_word_makes_answer_unreadable() {
    let answers = include_str!("unknown-words.md").split("=====\n");
    insta::assert_snapshot!(counted(&answers.collect::<Vec<_>>()), @r"
    high=1 medium=1 low=1
    line 1 is not counted: no severity is known for ‘Before the release’
    line 4 is not counted: no severity is known for ‘Before the release’
    line 2 is not counted: no severity is known for ‘orders are lost’
    line 5 is not counted: no severity is known for ‘orders are lost’
    line 5 is not counted: no severity is known for ‘orders are lost’
    line 4 is not counted: no severity is known for ‘orders are lost’
    line 1 is not counted: no severity is known for ‘orders are lost’
    line 2 is not counted: no severity is known for ‘orders are lost’
    line 4 is not counted: no severity is known for ‘Though orders are lost.’
    line 1 is not counted: no severity is known for ‘<details>’
    line 1 is not counted: no severity is known for ‘``` ## High - orders are lost ```’
    line 4 announces findings that do not follow
    line 2 is not counted: no severity is known for ‘``` orders are lost ```’
    line 3 is not counted: no severity is known for ‘step 2 — orders are lost’
    ");
}

#[test]
fn item_with_unknown_severity_is_high() {
    assert_eq!(counts("- [P2] a\n- [Cosmic] b\n- c\n"), (2, 1, 0));
    assert_eq!(counts("### [Low] a\n\n### [Cosmic] b\n"), (1, 0, 1));
    assert_eq!(
        counts("| Severity | What |\n|---|---|\n| Cosmic | a |\n| low | b |\n"),
        (1, 0, 1)
    );
    assert_eq!(counts("## Findings\n- a\n- [Low] b\n"), (1, 0, 1));
}

#[test]
fn label_heavier_than_section_wins() {
    assert_eq!(counts("## Low\n- [High] a\n- b\n"), (1, 0, 1));
    assert_eq!(counts("## High\n- [Low] a\n"), (1, 0, 0));
}

#[test]
fn heading_per_finding_takes_text_below() {
    let text = "# Review\n\nI read it all.\n\n### 1. [High] The export goes too early\nKeep it.\n\n\
                - step 2\n- step 3\n\n```sh\nrm out\n```\n\n### 2. [Low] No zone\nAdd one.\n\n\
                ## Summary\n\n- High: 1\n- drop step 2 (#1)\n";
    let found = found(text);
    assert_eq!(counts(text), (1, 0, 1));
    assert_eq!(found[0].what, "The export goes too early");
    assert_eq!(found[0].detail, ["Keep it.", "step 2", "step 3", "rm out"]);
}

#[test]
fn severity_line_below_heading_counts() {
    let text = "## Orders are lost\n**Severity:** High\n\nThe export goes too early.\n\n\
                ## 2. No zone\n\n- Severity: P3\n- Where: step 2\n";
    assert_eq!(counts(text), (1, 0, 1));
    let found = found(text);
    assert_eq!(
        found[0].detail,
        ["**Severity:** High", "The export goes too early."]
    );
    assert_eq!(found[1].what, "No zone");
    assert_eq!(counts("# Review\n\n### a\nSeverity: medium\n"), (0, 1, 0));
    assert_eq!(counts("## Low\n### a\nSeverity: high\n"), (1, 0, 0));
    for unclear in [
        "## Before the release\n- Severity: high\n- Severity: low\n",
        "## Before the release\nSeverity: cosmic\n",
        "## Issues\n\n## Before the release\n> Severity: high\n",
    ] {
        error(unclear);
    }
}

#[test]
fn numbered_issues_without_severity_are_high() {
    // The form of an earlier tool's reviews.
    assert_eq!(counts(include_str!("numbered-issues.md")), (8, 0, 0));
}

#[test]
fn table_row_with_severity_is_finding() {
    let text = "Here:\n\n| # | Severity | What | Fix |\n|---|---|---|---|\n\
                | 1 | High | no way back | write one |\n| 2 | P3 | typo | |\n\n\
                | Severity | Count |\n|---|---|\n| High | 1 |\n";
    assert_eq!(counts(text), (1, 0, 1));
    assert_eq!(found(text)[0].what, "no way back \u{2014} write one");
    let text = "## Medium\n\n| Where | What |\n|---|---|\n| step 2 | no test |\n";
    assert_eq!(counts(text), (0, 1, 0));
}

#[test]
fn sentence_around_findings_is_no_finding() {
    let text = "Full review comments:\n\n- [P1] Keep the export \u{2014} PLAN.md:6-6\n  It goes too early.\n\n\
                - [P2] Rotate the log\n\nLet me know.\n";
    assert_eq!(counts(text), (1, 1, 0));
    let text = "## High\n- a\n\n## Medium\n- None\n\n## Low\n- None\n\nLet me know.\n";
    assert_eq!(counts(text), (1, 0, 0));
}

#[test]
fn link_definition_in_answer_is_counted() {
    assert_eq!(
        counts("[High]: /orders-are-lost\n\n## Low\n- x\n"),
        (1, 0, 1)
    );
}

#[test]
fn detail_over_limit_says_so() {
    let text = format!("## High\n- a\n{}", "  - b\n".repeat(30));
    let detail = found(&text).remove(0).detail;
    assert_eq!((detail.len(), detail[19].as_str()), (20, "(shortened)"));
}
