use super::*;
use crate::review::answer::read;
use crate::review::findings::Counts;
use proptest::prelude::*;

fn counts(text: &str) -> (usize, usize, usize) {
    let Counts { high, medium, low } = Counts::new(&read(text).expect(text));
    (high, medium, low)
}

fn one(severity: Severity, what: &str, recommendation: Option<&str>) -> Finding {
    Finding {
        recommendation: recommendation.map(str::to_owned),
        ..Finding::new(severity, what)
    }
}

#[test]
fn format_of_facts_is_written() {
    let mut with_line = one(
        Severity::High,
        "no way back",
        Some("say how step 3 is undone"),
    );
    with_line.line = Some(12);
    let findings = vec![one(Severity::Low, "typo", None), with_line];
    assert_eq!(
        render(2, &findings),
        "# Round 2 findings\n\n## High\n\n- line 12: no way back (say how step 3 is undone)\n\n## Medium\n\n## Low\n\n- typo\n"
    );
    assert_eq!(
        render(1, &[]),
        "# Round 1 findings\n\nNo substantive findings.\n"
    );
    assert_eq!(read(&render(1, &[])), Ok(Vec::new()));
}

#[test]
fn hostile_text_stays_one_short_line() {
    let mut hostile = one(
        Severity::Medium,
        "a\n## High\n- b\r\n\u{202e}evil\u{7}\u{1b}[31m\u{2028}x",
        Some("c\n\n- d"),
    );
    hostile.detail = vec!["\n## High\n- e".to_owned(); 150];
    let text = render(1, &[hostile, one(Severity::Low, &"w".repeat(5000), None)]);
    assert_eq!(counts(&text), (0, 1, 1));
    assert!(
        text.contains("- a ## High - b evil[31mx (c - d)\n"),
        "{text}"
    );
    assert!(
        text.lines()
            .all(|line| line.chars().count() < 2 * MAX_FINDING_CHARS + 40)
    );
    assert!(!text.contains(['\u{202e}', '\u{7}', '\u{1b}']));
    assert_eq!(text.matches("  - ## High - e").count(), MAX_DETAIL_LINES);
    assert!(text.contains(&format!("{}...", "w".repeat(MAX_FINDING_CHARS - 3))));
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
        proptest::collection::vec(
            prop_oneof![text, Just("[High] x".to_owned()), Just("```".to_owned())],
            0..4,
        ),
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
        let findings = found;
        let text = render(1, &findings);
        let again = read(&text).expect(&text);
        prop_assert_eq!(Counts::new(&again), Counts::new(&findings), "{}", text);
        // Only white space beside a bracket may move.
        let solid = |text: &str| text.split_whitespace().collect::<String>();
        // A text without letters means nothing, and its quotes may change when it is written again.
        if findings.iter().all(|one| one.what.contains(char::is_alphabetic)) {
            prop_assert_eq!(solid(&render(1, &again)), solid(&text));
        }
    }

    #[test]
    fn plain_fields_survive_as_they_are(what in "[a-z][a-z]{3,20} [a-z]{1,9}", recommendation in "[a-z]{1,9} [a-z]\\([a-z]{0,4}\\)", line in 1..99_u32) {
        prop_assume!(!answer::is_none(&what));
        let mut finding = one(Severity::High, &what, Some(recommendation.trim()));
        finding.line = Some(line);
        let findings = vec![finding];
        prop_assert_eq!(read(&render(1, &findings)), Ok(findings));
    }
}
