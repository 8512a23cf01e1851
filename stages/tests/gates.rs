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

/// Returns the findings: whether each blocks, its line, and its problem without the fix.
fn checks(gate: &Gate) -> Vec<(bool, usize, &str)> {
    let all = [(true, &gate.blocking), (false, &gate.warnings)].into_iter();
    let lines = all.flat_map(|(blocks, lines)| lines.iter().map(move |line| (blocks, line)));
    lines
        .map(|(blocks, line)| {
            let (place, message) = line.split_once(": ").unwrap();
            let number = place.rsplit(':').next().unwrap().parse().unwrap();
            (blocks, number, message.split(';').next().unwrap())
        })
        .collect()
}

fn check_questions(text: &str) -> Gate {
    after_questions(Some(text.as_bytes()), 2, &Flags::default())
}

fn check_requirements(text: &str) -> Gate {
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
        assert_eq!(checks(&check_questions(&text)), []);
    }
    for text in [
        requirements(),
        requirements().replace('\n', "\r\n"),
        format!("---\na: b\n---\n{}", requirements()),
    ] {
        assert_eq!(checks(&check_requirements(&text)), []);
    }
    assert!(
        check_questions(&questions()).is_open() && check_requirements(&requirements()).is_open()
    );
}

/// Replacements in the file of questions, with the line and the message of the blocking finding.
const BROKEN: &str = r"
---\nround_number: 2\n---\n =>  => 1: the file has no frontmatter that can be read
round_number: 2 => round_number: [ => 1: the file has no frontmatter that can be read
round_number: 2 => round: 2 => 1: the frontmatter has no `round_number`
round_number: 2 => round_number: 0 => 1: the frontmatter has no `round_number`
Q-PO001 => Q-PO000 => 15: the question Q-PO000 appears twice
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
        let gate = check_questions(&with(&text, parts[0], parts[1]));
        let [(blocks, number, problem)] = checks(&gate)[..] else {
            panic!("{line}: {gate:?}")
        };
        assert_eq!(format!("{number}: {problem}"), parts[2]);
        assert!(blocks && !gate.is_open());
    }
    let none = check_questions("---\nround_number: 1\n---\n# Questions\n\n- [ ] a\n");
    assert_eq!(checks(&none), [(true, 1, "the file has no question")]);
    let large = vec![b' '; 262_145];
    for (file, problem) in [
        (None, "is missing"),
        (Some(&b"\xe9"[..]), "is not UTF-8"),
        (Some(&large), "has more than 256 KiB"),
    ] {
        let gate = after_questions(file, 12, &Flags::default());
        let problem = format!("the file {problem}");
        assert_eq!(checks(&gate), [(true, 1, &*problem)]);
    }
    for more in [
        "- [see](a.md)\n- [that one] is [x]\n- [1]: no\n",
        "\n```\n## Q-PO000: no\n- []\n```\n",
    ] {
        let text = with(&text, "- [ ] One\n", &format!("- [ ] One\n{more}"));
        assert_eq!(checks(&check_questions(&text)), []);
    }
}

#[test]
fn weak_questions_are_reported_without_blocking() {
    let section = "Section:** Assumptions & Risks";
    let about = "no question is about Assumptions & Risks";
    for (part, other, problem) in [
        ("[CRITICAL]", "[MEDIUM]", Some("no question is CRITICAL")),
        (section, "Section:** Other", Some(about)),
        (section, "Section:** assumptions and risks", None),
    ] {
        let problem = problem.map(|problem| (false, 1, problem));
        let gate = check_questions(&with(&questions(), part, other));
        assert_eq!(checks(&gate), Vec::from_iter(problem));
    }
    // The heading above the questions also names their section.
    let below = with(
        &questions(),
        "## Q-PO007",
        "# Assumptions & Risks\n\n## Q-PO007",
    );
    let below = with(&below, section, "Section:** Other");
    assert_eq!(checks(&check_questions(&below)), []);
    let share = |expected, share| {
        let flags = Flags {
            thinkdeep_expected: Some(expected),
            thinkdeep_completion_pct: Some(share),
            ..Flags::default()
        };
        let gate = after_questions(Some(questions().as_bytes()), 2, &flags);
        assert!(gate.is_open());
        gate.warnings.len()
    };
    assert_eq!([share(27, 59.9), share(27, 60.0), share(0, 0.0)], [1, 0, 0]);
}

#[test]
fn requirements_without_section_block() {
    for section in REQUIRED_SECTIONS {
        let gone = requirements().replace(section, "Other");
        assert_eq!(
            checks(&check_requirements(&gone)),
            [(
                true,
                1,
                format!("the file has no section {section}").as_str()
            )]
        );
    }
    let text = "### Part\n\nPeople can do it.";
    let last = "Assumptions & Risks\n\n### Part\n\n";
    for (part, other, line, section) in [
        (
            format!("{last}People can do it."),
            format!("{last}<!-- later -->"),
            47,
            "Assumptions & Risks",
        ),
        (text.to_owned(), String::new(), 5, "Product Definition"),
    ] {
        let gate = check_requirements(&with(&requirements(), &part, &other));
        let problem = format!("the section {section} has no text");
        assert_eq!(checks(&gate), [(true, line, &*problem)]);
    }
    let missing = after_validation(None, Some(b"x"));
    assert_eq!(checks(&missing), [(true, 1, "the file is missing")]);
}

#[test]
fn technical_words_and_missing_log_are_reported() {
    let text = with(
        &requirements(),
        "People can do it.",
        "The API has an API key, `sql` and rapid capital.",
    );
    let message = [
        (false, 9, "“API” is a technical word"),
        (false, 9, "“sql” is a technical word"),
    ];
    assert_eq!(checks(&check_requirements(&text)), message);
    for (log, is) in [(None, "missing"), (Some(&b" \n"[..]), "empty")] {
        let gate = after_validation(Some(requirements().as_bytes()), log);
        assert_eq!(
            checks(&gate),
            [(false, 1, format!("the file is {is}").as_str())]
        );
        assert!(gate.is_open());
    }
}
