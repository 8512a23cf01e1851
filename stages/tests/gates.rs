//! The gates after stages 3 and 5.

use stages::contract::Flags;
use stages::gates::{Gate, REQUIRED_SECTIONS, after_questions, after_validation};

fn questions() -> String {
    let mut text = String::from("---\nround_number: 2\n---\n\n# Questions\n\n");
    for (at, section) in REQUIRED_SECTIONS.iter().enumerate() {
        let weight = if at == 0 { "CRITICAL" } else { "HIGH" };
        text += &format!(
            "## Q-PO{at:03}: What about it? [{weight}]\n\n**Section:** {section}\n\n- [ ] One\n- [x] Two\n- [ ] Other: ___\n\n"
        );
    }
    text
}

fn requirements() -> String {
    let mut text = String::from("# PRD\n\n## Executive Summary\n\n");
    for (at, section) in REQUIRED_SECTIONS.iter().enumerate() {
        text += &format!(
            "## {}. {section}\n\n### Part\n\nPeople can do it.\n\n",
            at + 1
        );
    }
    text
}

/// Returns what is found: whether it blocks, its line, and a part of what it says.
fn found(gate: &Gate) -> Vec<(bool, usize, &str)> {
    let all = gate.findings.iter();
    all.map(|one| (one.blocking, one.line, one.message.as_str()))
        .collect()
}

fn asked(text: &str) -> Gate {
    after_questions(Some(text.as_bytes()), 2, &Flags::default())
}

fn written(text: &str) -> Gate {
    after_validation(Some(text.as_bytes()), Some(b"# Decisions\n"))
}

fn with(text: &str, part: &str, other: &str) -> String {
    assert!(text.contains(part), "{part:?}");
    text.replacen(part, other, 1)
}

#[test]
fn valid_files_pass_with_any_line_ends() {
    for text in [
        questions(),
        questions().replace('\n', "\r\n"),
        format!("\u{feff}{}", questions()),
    ] {
        assert_eq!(found(&asked(&text)), []);
    }
    for text in [
        requirements(),
        requirements().replace('\n', "\r\n"),
        format!("---\na: b\n---\n{}", requirements()),
    ] {
        assert_eq!(found(&written(&text)), []);
    }
    assert!(asked(&questions()).is_open() && written(&requirements()).is_open());
}

/// Replacements in the file of questions, with the line and the message of what blocks.
const BROKEN: &str = r"
---\nround_number: 2\n---\n =>  => 1: the file has no frontmatter that can be read
round_number: 2 => round_number: [ => 1: the file has no frontmatter that can be read
round_number: 2 => round: 2 => 1: the frontmatter has no `round_number`
round_number: 2 => round_number: 0 => 1: the frontmatter has no `round_number`
Q-PO001 => Q-PO000 => 15: the question Q-PO000 is there twice, first in line 7
- [ ] One\n =>  => 7: the question Q-PO000 has 2 of 3 boxes
- [ ] One\n => # More\n\n- [ ] One\n => 7: the question Q-PO000 has 0 of 3 boxes
- [ ] One\n => - [ ] One\n- [] More\n => 12: a box of the question Q-PO000 is broken
- [ ] One\n => - [ ] One\n- [y] More\n => 12: a box of the question Q-PO000 is broken
**Section:** => -[ ] More\n\n**Section:** => 9: a box of the question Q-PO000 is broken
";

#[test]
fn broken_questions_block() {
    let text = questions();
    for line in BROKEN.lines().filter(|line| !line.is_empty()) {
        let line = line.replace("\\n", "\n");
        let parts: Vec<&str> = line.split(" => ").collect();
        let gate = asked(&with(&text, parts[0], parts[1]));
        let [finding] = &gate.findings[..] else {
            panic!("{line}: {gate:?}")
        };
        assert_eq!(format!("{}: {}", finding.line, finding.message), parts[2]);
        assert!(finding.blocking && !gate.is_open());
    }
    let none = asked("---\nround_number: 1\n---\n# Questions\n\n- [ ] a\n");
    assert_eq!(found(&none), [(true, 1, "the file has no question")]);
    let round = 12;
    let missing = after_questions(None, round, &Flags::default());
    assert_eq!(found(&missing), [(true, 1, "QUESTIONS-012.md is missing")]);
    let latin = after_questions(Some(b"\xe9"), round, &Flags::default());
    assert_eq!(found(&latin), [(true, 1, "QUESTIONS-012.md is not UTF-8")]);
    let large = after_questions(Some(&vec![b' '; 262_145]), round, &Flags::default());
    assert_eq!(
        found(&large),
        [(true, 1, "QUESTIONS-012.md has more than 256 KiB")]
    );
    let links = with(
        &text,
        "- [ ] One\n",
        "- [ ] One\n- [see](a.md)\n- [that one] is [x]\n- [1]: no\n",
    );
    assert_eq!(found(&asked(&links)), []);
    let code = with(
        &text,
        "- [ ] One\n",
        "- [ ] One\n\n```\n## Q-PO000: no\n- []\n```\n",
    );
    assert_eq!(found(&asked(&code)), []);
}

#[test]
fn weak_questions_are_reported_without_blocking() {
    let text = with(&questions(), "[CRITICAL]", "[MEDIUM]");
    assert_eq!(
        found(&asked(&text)),
        [(false, 1, "no question is CRITICAL")]
    );
    let text = with(
        &questions(),
        "Section:** Assumptions & Risks",
        "Section:** Other",
    );
    assert_eq!(
        found(&asked(&text)),
        [(false, 1, "no question is about Assumptions & Risks")]
    );
    let named = with(
        &questions(),
        "Section:** Assumptions & Risks",
        "Section:** assumptions and risks",
    );
    assert_eq!(found(&asked(&named)), []);
    let below = with(
        &questions(),
        "## Q-PO007",
        "# Assumptions & Risks\n\n## Q-PO007",
    );
    let below = with(&below, "Section:** Assumptions & Risks", "Section:** Other");
    assert_eq!(found(&asked(&below)), []);
    let share = |expected, share| {
        let flags = Flags {
            thinkdeep_expected: Some(expected),
            thinkdeep_completion_pct: Some(share),
            ..Flags::default()
        };
        let gate = after_questions(Some(questions().as_bytes()), 2, &flags);
        assert!(gate.is_open());
        gate.findings.len()
    };
    assert_eq!([share(27, 59.9), share(27, 60.0), share(0, 0.0)], [1, 0, 0]);
}

#[test]
fn requirements_without_section_block() {
    for section in REQUIRED_SECTIONS {
        let gone = requirements().replace(section, "Other");
        assert_eq!(
            found(&written(&gone)),
            [(true, 1, format!("PRD.md has no section {section}").as_str())]
        );
    }
    let last = with(
        &requirements(),
        "Assumptions & Risks\n\n### Part\n\nPeople can do it.",
        "Assumptions & Risks\n\n### Part\n\n<!-- later -->",
    );
    assert_eq!(
        found(&written(&last)),
        [(true, 47, "the section Assumptions & Risks has no text")]
    );
    let first = with(&requirements(), "### Part\n\nPeople can do it.\n", "");
    assert_eq!(
        found(&written(&first)),
        [(true, 5, "the section Product Definition has no text")]
    );
    assert_eq!(
        found(&after_validation(None, Some(b"x"))),
        [(true, 1, "PRD.md is missing")]
    );
}

#[test]
fn technical_words_and_missing_log_are_reported() {
    let text = with(
        &requirements(),
        "People can do it.",
        "The API has an API key, `sql` and rapid capital.",
    );
    let said = [
        (false, 9, "“API” is a technical word"),
        (false, 9, "“sql” is a technical word"),
    ];
    assert_eq!(found(&written(&text)), said);
    for (log, is) in [(None, "missing"), (Some(&b" \n"[..]), "empty")] {
        let gate = after_validation(Some(requirements().as_bytes()), log);
        assert_eq!(
            found(&gate),
            [(false, 1, format!("decision-log.md is {is}").as_str())]
        );
        assert!(gate.is_open());
    }
}

#[test]
fn gate_time_is_linear_in_size() {
    let begun = std::time::Instant::now();
    for part in ["## Q-A: b\n", "- [] a\n", "[", "> ", "<!--"] {
        let begin = "---\nround_number: 1\n---\n## Q-A: b\n";
        let text = format!(
            "{begin}{}",
            part.repeat((262_144 - begin.len()) / part.len())
        );
        assert!(!asked(&text).is_open());
        assert!(!written(&text).is_open());
    }
    // A debug build on a busy machine.
    assert!(begun.elapsed().as_secs() < 120, "{:?}", begun.elapsed());
}
