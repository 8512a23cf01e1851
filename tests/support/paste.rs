//! Messages as an agent may use them: pasted between a shell's quotes. Nothing that changes a loop may run then, and in an
//! error or a note such a command stands on a line of its own.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// The commands that change nothing: a message may name them in a sentence.
pub(crate) const READ_ONLY: [&str; 9] = [
    "status",
    "list",
    "journal",
    "personas",
    "doctor",
    "config",
    "machine",
    "completions",
    "man",
];

/// The programs whose commands are looked for.
const PROGRAMS: [&str; 2] = ["claudex-loop", "release-train"];

/// Names that are run where a message is pasted, each telling that it was called.
pub(crate) struct Shell {
    kept: tempfile::TempDir,
    verbs: BTreeSet<String>,
    pub(crate) pasted: BTreeSet<String>,
}

impl Shell {
    pub(crate) fn new(verbs: impl IntoIterator<Item = String>) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let verbs: BTreeSet<String> = verbs.into_iter().chain(["abort".to_owned()]).collect();
        for name in PROGRAMS
            .iter()
            .copied()
            .chain(verbs.iter().map(String::as_str))
        {
            let stub = kept.path().join(name);
            let log = kept.path().join(".called");
            let script = format!("#!/bin/sh\necho \"${{0##*/}} $*\" >>'{}'\n", log.display());
            std::fs::write(&stub, script).unwrap();
            std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self {
            kept,
            verbs,
            pasted: BTreeSet::new(),
        }
    }

    /// Checks an error or a note: no command that changes a loop stands in a sentence, and none runs.
    #[track_caller]
    pub(crate) fn check_message(&mut self, what: &str, message: &str) {
        self.check_commands(what, message);
        self.paste(what, message);
    }

    /// Checks that no command that changes a loop stands in a sentence.
    #[track_caller]
    pub(crate) fn check_commands(&self, what: &str, message: &str) {
        for line in message.lines() {
            // What clap calls a usage is no command to run.
            for at in self
                .commands_in(line)
                .filter(|_| !line.trim_start().starts_with("Usage: "))
            {
                // The bar is miette's, below the first line of a message; `next:` is a row of `status`.
                let before = line[..at]
                    .trim_start_matches(['│', ' '])
                    .trim_end_matches("next:      ");
                assert!(
                    before.is_empty() && at >= 4 && !line.contains('`'),
                    "{what}: a command in a sentence: {line}\n{message}"
                );
            }
        }
    }

    /// Checks what an agent is to do: outside of its fences no command that changes a loop stands in backquotes.
    #[track_caller]
    pub(crate) fn check_block(&self, what: &str, block: &str) {
        let mut fenced = false;
        for line in block.lines() {
            fenced ^= line.trim_start().starts_with("```");
            for span in line.split('`').skip(1).step_by(2).filter(|_| !fenced) {
                let found = self.commands_in(span).next();
                assert_eq!(found, None, "{what}: `{span}` in\n{block}");
            }
        }
    }

    /// Returns where in a line commands begin that change a loop.
    fn commands_in<'a>(&'a self, line: &'a str) -> impl Iterator<Item = usize> + 'a {
        let is_changing = |rest: &str| {
            let verb = rest.trim_start_matches(' ').split([' ', '\n']).next();
            verb.is_some_and(|verb| self.verbs.contains(verb) && !READ_ONLY.contains(&verb))
        };
        PROGRAMS.iter().flat_map(move |program| {
            let found = line.match_indices(program);
            found
                .filter(move |(at, _)| {
                    let rest = &line[at + program.len()..];
                    rest.starts_with(' ') && is_changing(rest)
                })
                .map(|(at, _)| at)
        })
    }

    /// Pastes a text between quotes of both kinds. A picture of a file's lines is left out: it shows them as they are.
    #[track_caller]
    pub(crate) fn paste(&mut self, what: &str, message: &str) {
        let is_picture = |line: &str| {
            line.trim_start()
                .split_once(" │ ")
                .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
        };
        let lines = message.lines().filter(|line| !is_picture(line));
        let message = &lines.collect::<Vec<_>>().join("\n");
        if !self.pasted.insert(message.to_owned()) {
            return;
        }
        for quote in ['"', '\''] {
            let log = self.kept.path().join(".called");
            let _ = std::fs::remove_file(&log);
            let _ = Command::new("/bin/sh")
                .args(["-c", &format!("printf %s {quote}{message}{quote}")])
                .env_clear()
                .env("PATH", self.kept.path())
                .current_dir(self.kept.path())
                .output()
                .unwrap();
            let called = std::fs::read_to_string(&log).unwrap_or_default();
            let changes = called.lines().find(|line| {
                let verb = line.trim_start_matches("claudex-loop ").split(' ').next();
                !verb.is_some_and(|verb| READ_ONLY.contains(&verb))
            });
            assert_eq!(changes, None, "{what}: run between {quote}:\n{message}");
        }
    }
}
