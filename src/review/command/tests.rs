use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};

use super::super::reviewer::Trace;
use super::super::settings::ReviewerKind;
use super::*;
use crate::machine::persona::Focus;
use crate::process::Event;
use crate::process::environment::Environment;
use crate::process::limits::Limits;

/// A folder with one program in it.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a reviewer's \"program\" \u{fc}");
        std::fs::write(&file, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    fn program(&self) -> Utf8PathBuf {
        self.root().join("a reviewer's \"program\" \u{fc}")
    }

    fn settings(&self) -> ReviewerSettings {
        ReviewerSettings {
            program: Some(self.program().to_string()),
            ..ReviewerSettings::of(ReviewerKind::Command)
        }
    }

    fn review(&self, settings: ReviewerSettings) -> (Outcome, Vec<String>) {
        let mut told = Vec::new();
        let request = Request {
            prompt: "the prompt's text",
            parts: &[],
            subject_name: "PLAN.md",
            trace: &Trace::default(),
            focus: Focus::Engineering,
            root: self.root(),
            limits: Limits::default(),
            environment: &Environment::default(),
            output: None,
        };
        let command = Command {
            name: "mine".to_owned(),
            settings,
        };
        let outcome = command.review(&request, &mut |event| {
            if let Event::Line { text, .. } = event {
                told.push(text.to_owned());
            }
            ControlFlow::Continue(())
        });
        (outcome, told)
    }
}

#[test]
fn stdout_is_the_answer_and_stderr_the_progress() {
    let bench = Bench::new(
        "echo looking >&2\nread -r line\nprintf '## High\\n- %s: %s (do it)\\n' \"$1\" \"$line\"\n",
    );
    let settings = ReviewerSettings {
        arguments: vec!["a b; $(c) 'd'".to_owned()],
        ..bench.settings()
    };
    let (outcome, told) = bench.review(settings);
    let Outcome::Findings(findings) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(findings.0[0].what, "a b; $(c) 'd': the prompt's text");
    assert_eq!(told, ["looking"]);
}

#[test]
fn it_gets_the_variables_that_were_named_and_no_others_of_ours() {
    let bench = Bench::new("cat >/dev/null; env | sort >&2; echo 'No substantive findings.'\n");
    let (outcome, told) = bench.review(ReviewerSettings {
        environment: vec!["CARGO_MANIFEST_DIR".to_owned()],
        ..bench.settings()
    });
    assert_eq!(outcome, Outcome::Clean);
    let has = |name: &str| {
        told.iter()
            .any(|line| line.starts_with(&format!("{name}=")))
    };
    assert!(
        has("CARGO_MANIFEST_DIR") && has("CLAUDEX_REVIEWER_CHILD"),
        "{told:?}"
    );
    assert!(!has("CARGO_PKG_NAME"), "{told:?}");
}

#[test]
fn program_that_is_not_there_is_not_installed() {
    let bench = Bench::new("");
    for program in [None, Some(""), Some("./here"), Some("/nowhere/at all")] {
        let (outcome, _) = bench.review(ReviewerSettings {
            program: program.map(str::to_owned),
            ..bench.settings()
        });
        assert!(matches!(outcome, Outcome::CouldNotRun(_)), "{program:?}");
        assert_eq!(outcome.cause().unwrap().kind, CauseKind::NotInstalled);
    }
}

#[test]
fn prompt_given_back_is_no_verdict() {
    for script in [
        "cat\n",
        "echo 'asked:'; cat; echo; echo 'No substantive findings.'\n",
        "cat; echo; echo '{\"verdict\":\"clean\",\"findings\":[]}'\n",
    ] {
        let bench = Bench::new(script);
        let (outcome, _) = bench.review(bench.settings());
        let repeats = Outcome::not_a_verdict("it repeats what it was asked");
        assert_eq!(outcome, repeats, "{script}");
    }
}
