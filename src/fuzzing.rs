//! What holds of every reader whatever its bytes, as functions that a fuzzer calls. docs/fuzzing.md says how to run one.
//!
//! The tests replay `fuzz/corpus/`: what a fuzzer found stays found.

use std::sync::LazyLock;

use camino::Utf8Path;

use crate::hooks::input::read_from;
use crate::hooks::{Action, Decision, REASON_LIMIT, answers, prompt};
use crate::review::answer::{self, MAX_ANSWER_BYTES, MAX_FINDINGS};
use crate::review::findings::Findings;
use crate::review::findings_file;
#[cfg(fuzzing)]
use crate::store::fuzzing::{document, journal};

/// A target takes any bytes, and panics where a promise does not hold.
pub type Target = fn(&[u8]);

/// The names of the targets. That of machine.toml is `holds` in `codegen/tests/fuzz/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("findings", findings),
    ("hook-input", hook_input),
    ("prompt", stored_prompt),
    // The engine's own tests replay these.
    #[cfg(fuzzing)]
    ("document", document),
    #[cfg(fuzzing)]
    ("journal", journal),
];

/// Any input leads to one decision on one line, and what follows its object changes nothing.
fn hook_input(bytes: &[u8]) {
    let decision = match read_from(bytes) {
        Ok(input) => {
            let again = read_from(&[bytes, b"}{"].concat()[..]);
            assert_eq!(again.as_ref().ok(), Some(&input));
            let tasks = input.awaited_tasks(|command| command.contains("review"));
            let reason = format!("{tasks:?} {:?} {input:?}", answers::from_input(&input));
            Decision {
                action: Action::Block(reason),
                note: input.prompt,
            }
        }
        Err(error) => Decision::approve(Some(error.to_string())),
    };
    let line = decision.to_json("status");
    assert_eq!(line.trim_end().lines().count(), 1, "{line}");
    let answer: serde_json::Value = serde_json::from_str(&line).expect("one JSON value");
    assert!(
        matches!(answer["decision"].as_str(), Some("approve" | "block")),
        "{line}"
    );
    let reason = answer["reason"].as_str().unwrap_or_default();
    assert!(reason.encode_utf16().count() <= REASON_LIMIT);
}

/// What is stored is taken once, byte for byte.
fn stored_prompt(bytes: &[u8]) {
    static BASE: LazyLock<tempfile::TempDir> =
        LazyLock::new(|| tempfile::tempdir().expect("a folder"));
    let base = Utf8Path::from_path(BASE.path())
        .expect("a path in UTF-8")
        .join("claudex");
    let Ok(input) = read_from(bytes) else { return };
    if !prompt::store(&input, "claudex", &base).expect("a folder of ours") {
        return;
    }
    let session = input.session_id.as_deref().expect("a session");
    let (command, arguments) = prompt::command_of(&input, "claudex").expect("a command of ours");
    let take = || prompt::take(session, command, &base).expect("a folder of ours");
    assert_eq!(take().as_deref(), Some(arguments));
    assert_eq!(take(), None);
    // What is left of many would be looked through at each call.
    std::fs::remove_dir_all(&base).expect("a folder of ours");
}

/// A verdict has no more findings than anyone mends, and says the same once it was written and read again.
fn findings(bytes: &[u8]) {
    if let Ok(found) = answer::read(&String::from_utf8_lossy(bytes)) {
        assert!(found.0.len() <= MAX_FINDINGS);
        let json = serde_json::to_vec(&found).expect("JSON");
        assert_eq!(
            serde_json::from_slice::<Findings>(&json).expect("findings"),
            found
        );
        let text = findings_file::render(1, &found);
        if text.len() > MAX_ANSWER_BYTES {
            return;
        }
        let Ok(again) = answer::read(&text) else {
            panic!("no findings any more: {text:?}")
        };
        assert_eq!(again.counts(), found.counts(), "{text}");
        // Only white space may move, `LINE 7:` be `line 7:`, and what holds no letter says nothing.
        let solid = |text: &str| {
            text.split_whitespace()
                .collect::<String>()
                .to_ascii_lowercase()
        };
        if found
            .0
            .iter()
            .all(|one| one.what.contains(char::is_alphabetic))
        {
            assert_eq!(solid(&findings_file::render(1, &again)), solid(&text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_fuzzer_found_stays_found() {
        for (name, target) in TARGETS {
            let corpus = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("fuzz/corpus")
                .join(name);
            let files: Vec<_> = corpus
                .read_dir_utf8()
                .unwrap()
                .map(|entry| entry.unwrap().into_path())
                .collect();
            assert!(!files.is_empty(), "{name}");
            for file in files {
                let bytes = std::fs::read(&file).unwrap();
                assert!(
                    std::panic::catch_unwind(|| target(&bytes)).is_ok(),
                    "{file}"
                );
            }
        }
    }
}
