//! The forms of an answer that state that nothing was found, and those that only look so.

use super::super::{Verdict, read, read_value};

const CLEAN: &str = r#"{"verdict": "clean", "findings": []}"#;

/// Answers that state that nothing was found.
const ACCEPTED: [&str; 20] = [
    "No substantive findings.",
    "  No substantive findings.  \n",
    "\u{feff}No substantive findings.\r\n",
    "# Round 1 findings\n\nNo substantive findings.\n",
    "# Round 12 findings\r\n\r\nNo substantive findings.\r\n",
    "# Findings\n\nNo substantive findings.\n",
    "```markdown\n# Round 1 findings\n\nNo substantive findings.\n```\n",
    "# Round 1 findings\n\n## High\n\n## Medium\n\n## Low\n\nNo substantive findings.\n",
    "## High\n- None\n\n## Medium\n- None\n\n## Low\n- None\n",
    "## HIGH\r\n- None\r\n\r\n## medium\r\n* none.\r\n\r\n## Low\r\n1. N/A\r\n",
    "## High\nNo findings.\n## Medium\n(none)\n## Low\nNothing\n",
    "**High:** None\n**Medium:** None\n**Low:** None\n",
    "## High: none\n## Medium: none\n## Low: none\n",
    "## High (0)\n## Medium (0)\n## Low (0)\n",
    "# Round 2 findings\n\n### High severity\n- No high findings\n\n### Medium severity\n- None found.\n\n### Low severity\n_None_\n",
    CLEAN,
    "{\"findings\": [], \"verdict\": \"clean\"}\r\n",
    "\u{feff} {\"verdict\":\"clean\",\"findings\":[]}",
    "```json\n{\"verdict\": \"clean\", \"findings\": []}\n```",
    "```\r\n{\"verdict\": \"clean\", \"findings\": []}\r\n```\r\n",
];

/// Answers that look so and are not.
const NEAR_MISSES: [&str; 55] = [
    // The line, quoted, questioned, denied or dressed up.
    "> No substantive findings.",
    "# Round 1 findings\n\n> No substantive findings.\n",
    "It is not true that there are\nNo substantive findings.",
    "I cannot say:\n\nNo substantive findings.\n",
    "No substantive findings.\n\nThat is what I was told to answer.\n",
    "No substantive findings.\nStep 3 loses data.",
    "No substantive findings?",
    "No substantive findings",
    "No substantive findings!",
    "no substantive findings.",
    "NO SUBSTANTIVE FINDINGS.",
    "\"No substantive findings.\"",
    "`No substantive findings.`",
    "**No substantive findings.**",
    "~~No substantive findings.~~",
    "<!-- No substantive findings. -->",
    "- No substantive findings.",
    "1. No substantive findings.",
    "- [ ] No substantive findings.",
    "| No substantive findings. |",
    "## No substantive findings.",
    "    No substantive findings.",
    "No substantive findings. But step 3 loses data.",
    "There are no substantive findings.",
    "No material findings.",
    "No issues found.",
    "No findings.",
    "The plan says:\n```\nNo substantive findings.\n```\n",
    "```\nNo substantive findings.\n```\nThat is its text.\n",
    "# Verdict of others\n\nNo substantive findings.\n",
    "## Round 1 findings\n\nNo substantive findings.\n",
    "No substantive findings.\n\n# Round 1 findings\n\n## High\n",
    "No substantive findings.\n\n## High\n\n## Medium\n\n## Low\n",
    // Sections that say too little, or more.
    "# Round 1 findings\n\n## High\n\n## Medium\n\n## Low\n",
    "## High\n- None\n\n## Medium\n- None\n\n## Low\n",
    "## High\n- None\n\n## Medium\n- None\n",
    "## High\n> None\n\n## Medium\n> None\n\n## Low\n> None\n",
    "## High\n- None?\n\n## Medium\n- None\n\n## Low\n- None\n",
    "## High (1)\n- None\n\n## Medium\n- None\n\n## Low\n- None\n",
    "## High\n- None\n\nThough step 3 loses data.\n\n## Medium\n- None\n\n## Low\n- None\n",
    "My answer would be:\n\n## High\n- None\n\n## Medium\n- None\n\n## Low\n- None\n",
    // JSON that is not the schema's object.
    r#"{"verdict": "clean"}"#,
    r#"{"findings": []}"#,
    r#"{"verdict": "clean", "findings": null}"#,
    r#"{"verdict": "clean", "findings": {}}"#,
    r#"{"verdict": "Clean", "findings": []}"#,
    r#"{"verdict": ["clean"], "findings": []}"#,
    r#"{"verdict": "clean", "findings": [], "confidence": 0.1}"#,
    r#"{"verdict": "clean", "findings": [], "findings": []}"#,
    r#"[{"verdict": "clean", "findings": []}]"#,
    r#"{"result": {"verdict": "clean", "findings": []}}"#,
    // The schema's object with something around it.
    "It is not true that\n\n```json\n{\"verdict\": \"clean\", \"findings\": []}\n```\n",
    "```json\n{\"verdict\": \"clean\", \"findings\": []}\n```\nwould be wrong.\n",
    "{\"verdict\": \"clean\", \"findings\": []}\n{\"verdict\": \"clean\", \"findings\": []}\n",
    "> {\"verdict\": \"clean\", \"findings\": []}",
];

#[test]
fn form_that_was_asked_for_is_clean() {
    for text in ACCEPTED {
        assert_eq!(read(text), Ok(Verdict::Clean), "{text}");
    }
    let value = serde_json::from_str(CLEAN).unwrap();
    assert_eq!(read_value(&value), Ok(Verdict::Clean));
}

#[test]
fn form_that_looks_clean_is_unreadable() {
    for text in NEAR_MISSES {
        assert!(read(text).is_err(), "{:?} from {text}", read(text));
        let crlf = text.replace('\n', "\r\n");
        assert!(read(&crlf).is_err(), "{:?} from {crlf}", read(&crlf));
    }
    for text in ["[]", "true", "\"clean\"", "{\"verdict\": \"clean\"}"] {
        let value = serde_json::from_str(text).unwrap();
        assert!(read_value(&value).is_err(), "{text}");
    }
}

#[test]
fn line_around_clean_answer_is_not_clean() {
    for text in ACCEPTED {
        let text = text.trim_start_matches('\u{feff}');
        for line in ["It is not true that", "> quoted", "```"] {
            let around = format!("{line}\n{text}");
            assert_ne!(read(&around), Ok(Verdict::Clean), "{around}");
        }
        let after = format!("{text}\nSo it says.");
        assert_ne!(read(&after), Ok(Verdict::Clean), "{after}");
    }
}
