use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};

use super::super::reviewer::Trace;
use super::super::settings::ReviewerKind;
use super::*;
use crate::machine::persona::Focus;
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

    fn review(&self, settings: ReviewerSettings) -> Outcome {
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
        let name = "mine".to_owned();
        Command { name, settings }.review(&request, &mut |_| ControlFlow::Continue(()))
    }
}

#[test]
fn program_that_is_not_there_is_not_installed() {
    let bench = Bench::new("");
    for program in [None, Some(""), Some("./here"), Some("/nowhere/at all")] {
        let outcome = bench.review(ReviewerSettings {
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
        let outcome = bench.review(bench.settings());
        let repeats = Outcome::not_a_verdict("it repeats what it was asked");
        assert_eq!(outcome, repeats, "{script}");
    }
}
