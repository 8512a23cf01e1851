use super::super::read;
use crate::review::findings::{Counts, Finding};

fn counts(text: &str) -> (usize, usize, usize) {
    let Counts { high, medium, low } = Counts::new(&findings(text));
    (high, medium, low)
}

fn findings(text: &str) -> Vec<Finding> {
    read(text).expect(text)
}

#[test]
fn heading_in_any_spelling_opens_section() {
    for heading in include_str!("headings.md").lines() {
        let text = format!("# Round 1 findings\n\n{heading}\n- a\n- b\n");
        assert_eq!(counts(&text), (2, 0, 0), "{heading}");
    }
}

#[test]
fn line_ends_of_any_kind_separate_items() {
    for text in [
        "## High\r\n- a\r\n\r\n## low\r\n1. b\r\n",
        "## High\r- a\r## Low\r- b\r",
        "\u{feff}## High\n- a\n## Low\n- b\n",
    ] {
        assert_eq!(counts(text), (1, 0, 1), "{text:?}");
    }
}

#[test]
fn word_for_none_is_no_finding() {
    for none in include_str!("none.md").lines() {
        let text = format!("## High\n{none}\n## Medium\n- x\n## Low\n{none}\n");
        assert_eq!(counts(&text), (0, 1, 0), "{none}");
        let text = format!("## High\n{none}\n\n## Medium\n{none}\n\n## Low\n{none}\n");
        assert_eq!(counts(&text), (0, 0, 0), "{none}");
    }
}

#[test]
fn line_below_finding_is_its_detail() {
    let text = "## High\n- no rollback\n  wrapped line\n  - nested\n    1. deeper\n\n  a paragraph\n\n  ```\n    - code\n  ```\n- second\nlazy\n";
    let found = findings(text);
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[0].detail,
        [
            "wrapped line",
            "nested",
            "deeper",
            "a paragraph",
            "```",
            "  - code",
            "```"
        ]
    );
    assert_eq!(found[1].detail, ["lazy"]);
}

#[test]
fn detail_over_limit_says_so() {
    let text = format!("## High\n- a\n{}", "  - b\n".repeat(130));
    let detail = findings(&text).remove(0).detail;
    assert_eq!((detail.len(), detail[99].as_str()), (100, "(shortened)"));
}

#[test]
fn item_is_split_into_place_and_recommendation() {
    let found = findings(
        "## `a.rs`\n### High\n- line 7:** call `retry()` twice (limit it (to 3))\n- Line 0: x\n- just `f(x)`\n",
    );
    assert_eq!(
        (found[0].file.as_deref(), found[0].line, &*found[0].what),
        (Some("a.rs"), Some(7), "call `retry()` twice")
    );
    assert_eq!(found[0].recommendation.as_deref(), Some("limit it (to 3)"));
    assert_eq!((found[1].line, found[1].what.as_str()), (None, "Line 0: x"));
    assert_eq!(
        (found[2].what.as_str(), found[2].recommendation.as_deref()),
        ("just `f(x)`", None)
    );
}

#[test]
fn severity_word_of_reviewers_is_known() {
    let high = "Critical|Blocker|Must fix|Major|P0|P1";
    let medium = "Important|Should fix|Should-Fix|Warning|Warnings|P2";
    let low = "Minor|Nit|Nits|Suggestions|Info|P3";
    for (words, expected) in [(high, (2, 0, 0)), (medium, (0, 2, 0)), (low, (0, 0, 2))] {
        for word in words.split('|') {
            for text in [
                format!("## {word}\n- a\n- b\n"),
                format!("- [{word}] a\n- **{word}**: b\n"),
                format!("### 1. [{word}] a\n\n### 2. {word}: b\n"),
            ] {
                assert_eq!(counts(&text), expected, "{text}");
            }
        }
    }
}

#[test]
fn heading_per_finding_takes_text_below() {
    let text = "# Review\n\nI read it all.\n\n### 1. [High] The export goes too early\nKeep it.\n\n\
                - step 2\n- step 3\n\n```sh\nrm out\n```\n\n### 2. [Low] No zone\nAdd one.\n\n\
                ## Summary\n\n- High: 1\n- drop step 2 (#1)\n";
    let found = findings(text);
    assert_eq!(counts(text), (1, 0, 1));
    assert_eq!(found[0].what, "The export goes too early");
    assert_eq!(
        found[0].detail,
        ["Keep it.", "step 2", "step 3", "```sh", "rm out", "```"]
    );
}

#[test]
fn severity_line_below_heading_counts() {
    let text = "## Orders are lost\n**Severity:** High\n\nThe export goes too early.\n\n\
                ## 2. No zone\n\n- Severity: P3\n- Where: step 2\n";
    assert_eq!(counts(text), (1, 0, 1));
    let found = findings(text);
    let detail = ["**Severity:** High", "The export goes too early."];
    assert_eq!(found[0].detail, detail);
    assert_eq!(found[1].what, "No zone");
}

#[test]
fn table_row_with_severity_is_finding() {
    let text = "Here:\n\n| # | Severity | What | Fix |\n|---|---|---|---|\n\
                | 1 | High | no way back | write one |\n| 2 | P3 | typo | |\n\n\
                | Severity | Count |\n|---|---|\n| High | 1 |\n";
    assert_eq!(counts(text), (1, 0, 1));
    assert_eq!(findings(text)[0].what, "no way back \u{2014} write one");
}
