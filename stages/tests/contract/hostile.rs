//! Bytes that no coordinator should write: they are read completely or refused.

use proptest::prelude::*;
use stages::contract::Rule;

use crate::invariants::holds;
use crate::support::{EXAMPLE, completed, find_rules, read_summary, with};

#[test]
fn bom_crlf_and_unicode_are_valid() {
    for text in [
        EXAMPLE.replace('\n', "\r\n"),
        format!("\u{feff}{EXAMPLE}"),
        with(EXAMPLE, "---\nstage:", "---  \nstage:"),
        EXAMPLE.trim_end().to_owned(),
        with(EXAMPLE, "product-focused)", "für 中文 👩‍👩‍👧)"),
    ] {
        assert_eq!(find_rules(&text), [], "{text}");
        assert_eq!(read_summary(&text).flags, read_summary(EXAMPLE).flags);
    }
}

#[test]
fn deep_and_large_input_is_refused() {
    for part in [
        "[", "{a: ", "- ", "&a ", "x\n", "k: v\n", "*a,", "\"", "a: |\n ", "\t", "\r", "{N} ",
    ] {
        for begin in ["", "a: [", "flags:\n  "] {
            let room = 256 * 1024 - 20 - begin.len();
            let text = format!("---\n{begin}{}\n---\n", part.repeat(room / part.len()));
            let reading = holds(text.as_bytes());
            assert_eq!(reading.summary, None, "{begin}{part}");
        }
    }
    let deep: String = (0..600).map(|at| format!("{:at$}a:\n", "")).collect();
    assert_eq!(
        find_rules(&with(
            &completed(1),
            "summary: Done\n",
            &format!("summary: Done\n{deep}")
        ))
        .len(),
        1
    );
    let nested = |depth: usize| {
        with(
            &completed(1),
            "round_number: 1\n",
            &format!(
                "round_number: 1\n  x: {}{}\n",
                "[".repeat(depth),
                "]".repeat(depth)
            ),
        )
    };
    assert_eq!(find_rules(&nested(60)), []);
    assert_eq!(find_rules(&nested(130))[0].0, Rule::BadYaml);
}

#[test]
fn findings_are_limited() {
    let many = "  - ../a\n".repeat(1000);
    let artifacts = format!("artifacts_written:\n{many}");
    let text = with(&completed(1), "artifacts_written: []\n", &artifacts);
    assert_eq!(find_rules(&text).len(), 100);
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
    fn example_with_changed_bytes_is_read(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for text in [EXAMPLE, crate::support::ASKS] {
            let mut bytes = text.as_bytes().to_vec();
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            holds(&bytes);
        }
    }
}
