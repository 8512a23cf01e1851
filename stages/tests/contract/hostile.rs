//! Bytes that no coordinator should write: they are read or refused, soon, and nothing is half read.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use stages::contract::{Outcome, Rule};

use crate::given::{EXAMPLE, found, of, taken, with};
use crate::holds::holds;

#[test]
fn bom_crlf_and_unicode_are_valid() {
    for text in [
        EXAMPLE.replace('\n', "\r\n"),
        format!("\u{feff}{EXAMPLE}"),
        with(EXAMPLE, "---\nstage:", "---  \nstage:"),
        EXAMPLE.trim_end().to_owned(),
        with(EXAMPLE, "product-focused)", "für 中文 👩‍👩‍👧)"),
    ] {
        assert_eq!(found(&text), [], "{text}");
        assert_eq!(taken(&text).flags, taken(EXAMPLE).flags);
    }
    let shifted = with(
        &of(1),
        "summary: Done",
        "summary: \"é\" # ü\nmore: [\"中\", {ß: *a}]",
    );
    assert_eq!(found(&shifted), [(Rule::BadYaml, 8, 17)]);
}

#[test]
fn fences_in_the_body_are_body() {
    let text = format!(
        "{}\n---\n\nstage: other\n---\n\n```\n## Context for Next Stage\n```\n",
        of(1)
    );
    assert_eq!(found(&text), []);
    let context = taken(&text).context.unwrap();
    assert!(
        context.contains("stage: other") && context.ends_with("```"),
        "{context}"
    );
    let inside = with(
        &of(1),
        "## Context for Next Stage",
        "```\n## Context for Next Stage\n```",
    );
    assert_eq!(
        found(&inside),
        [(Rule::NoContext, 16, 1)],
        "a heading in code is none"
    );
    let next = format!("{}\n### Part\nmore\n\n## Other\nno\n", of(1));
    assert_eq!(
        taken(&next).context.as_deref(),
        Some("Nothing.\n\n### Part\nmore")
    );
}

#[test]
fn deep_and_large_input_is_refused_soon() {
    for part in [
        "[", "{a: ", "- ", "&a ", "x\n", "k: v\n", "*a,", "\"", "a: |\n ", "\t", "\r", "{N} ",
    ] {
        for begin in ["", "a: [", "flags:\n  "] {
            let room = 256 * 1024 - 20 - begin.len();
            let text = format!("---\n{begin}{}\n---\n", part.repeat(room / part.len()));
            let begun = Instant::now();
            assert_eq!(holds(text.as_bytes()), Outcome::Crash, "{begin}{part}");
            // A debug build on a busy machine.
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(20), "{begin}{part}: {took:?}");
        }
    }
    let deep: String = (0..600).map(|at| format!("{:at$}a:\n", "")).collect();
    assert_eq!(
        found(&with(
            &of(1),
            "summary: Done\n",
            &format!("summary: Done\n{deep}")
        ))
        .len(),
        1
    );
    let nested = |depth: usize| {
        with(
            &of(1),
            "round_number: 1\n",
            &format!(
                "round_number: 1\n  x: {}{}\n",
                "[".repeat(depth),
                "]".repeat(depth)
            ),
        )
    };
    assert_eq!(found(&nested(60)), []);
    assert_eq!(found(&nested(65))[0].0, Rule::BadYaml);
}

#[test]
fn aliases_are_not_followed() {
    let bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n";
    assert_eq!(
        found(&with(
            &of(1),
            "summary: Done\n",
            &format!("{bomb}summary: Done\n")
        )),
        [(Rule::BadYaml, 8, 8)]
    );
    let merged = with(
        &of(1),
        "round_number: 1\n",
        "round_number: 1\n  <<: {questions_count: 3}\n",
    );
    assert!(taken(&merged).flags.other.contains_key("<<"));
}

#[test]
fn findings_are_limited() {
    let many: String = (0..1000).map(|_| "  - ../a\n").collect();
    let text = with(
        &of(1),
        "artifacts_written: []\n",
        &format!("artifacts_written:\n{many}"),
    );
    assert_eq!(found(&text).len(), 100);
    let findings = crate::given::reading(&text).findings;
    assert_eq!(findings.more, 900);
    let last = findings.lines("summary").pop();
    assert_eq!(
        last.as_deref(),
        Some("summary: 900 more findings are not shown; fix these first")
    );
}

#[test]
fn fuzzer_finds_stay_fixed() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/stages_summary");
    let files: Vec<_> = std::fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() > 20, "{corpus}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        assert!(
            std::panic::catch_unwind(|| holds(&bytes)).is_ok(),
            "{}",
            file.display()
        );
    }
}

proptest! {
    #[test]
    fn any_text_in_the_frontmatter_is_read(
        lines in "((stage|stage_number|status|flags|artifacts_written|  pause_type|  question_context|    options|      - label|  next_action_map)?:? ?[a-z0-9\"'#|>\\-{}\\[\\]&*!:é ]{0,10}(\n|\r\n)){0,12}",
        body in any::<String>(),
    ) {
        holds(format!("---\n{lines}---\n{body}").as_bytes());
    }

    #[test]
    fn an_example_with_a_few_bytes_changed_is_read(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for text in [EXAMPLE, crate::given::ASKS] {
            let mut bytes = text.as_bytes().to_vec();
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            holds(&bytes);
        }
    }
}
