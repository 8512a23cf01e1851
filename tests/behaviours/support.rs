//! The program of `crate/`, built once, and a project for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::outside_crate::{Crate, ours, target};

/// Returns the program, which the first test builds.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<Result<(tempfile::TempDir, PathBuf), String>> = OnceLock::new();
    let built = PROGRAM.get_or_init(|| {
        let stranger = Crate::new("every");
        write_below(&stranger, Path::new(""));
        stranger.write("messages/all.md", &all_names());
        let built = stranger.cargo(&["build"]);
        if !built.status.success() {
            return Err(String::from_utf8_lossy(&built.stderr).into_owned());
        }
        // Another test's crate may use the same target folder later.
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("every");
        fs::copy(target().join("debug/every"), &program).unwrap();
        Ok((folder, program))
    });
    match built {
        Ok((_, program)) => program,
        Err(why) => panic!("the crate does not build:\n{why}"),
    }
}

/// Returns a template with all variables of a message without a question.
fn all_names() -> String {
    use claudex_build::templates::{ANY, MESSAGE};
    let names = ANY.split(' ').chain(MESSAGE.split(' '));
    names
        .filter(|name| !name.starts_with("question."))
        .map(|name| format!("{name}: {{{{ {name} }}}}\n"))
        .collect()
}

/// Writes the files in a folder of `crate/`.
fn write_below(stranger: &Crate, folder: &Path) {
    let from = ours().join("tests/behaviours/crate");
    for entry in fs::read_dir(from.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = folder.join(entry.file_name());
        if entry.path().is_dir() {
            write_below(stranger, &name);
        } else {
            let text = fs::read_to_string(entry.path()).unwrap();
            stranger.write(name.to_str().unwrap(), &text);
        }
    }
}

/// A folder with one loop of a machine.
pub(crate) struct Project {
    machine: &'static str,
    folder: tempfile::TempDir,
}

impl Project {
    /// Starts a loop. `given` is the field that the machine's start takes.
    pub(crate) fn start(machine: &'static str, given: &str) -> Self {
        let project = Self {
            machine,
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(project.root()).unwrap();
        let started = project.say(&["start", given]);
        assert!(started.starts_with("started "), "{started}");
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("a project's \"röot\"")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let file = self.file(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// Returns the path of the file that permits commands, which may be missing.
    pub(crate) fn configuration(&self) -> PathBuf {
        self.folder.path().join("permitted")
    }

    /// Permits one command. `words`: name, program, variable, time limit in seconds, arguments.
    pub(crate) fn permit(&self, words: &[&str]) {
        fs::write(self.configuration(), words.join("\0")).unwrap();
    }

    pub(crate) fn permit_script(&self, text: &str) {
        self.permit(&["build", "/bin/sh", "", "50", "-c", text]);
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .arg(self.machine)
            .arg(self.root())
            .args(arguments)
            .env("EVERY_PERMITTED", self.configuration())
            .env_remove("CLAUDEX_REVIEWER_CHILD")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn say(&self, arguments: &[&str]) -> String {
        stdout(self.command(arguments).output().unwrap())
    }

    pub(crate) fn stop(&self) -> String {
        self.say(&["stop"])
    }

    pub(crate) fn id(&self) -> String {
        let names = fs::read_dir(self.file(".loops"))
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        let state = names
            .into_iter()
            .find_map(|name| Some(name.strip_suffix(".state")?.to_owned()));
        state.unwrap()
    }

    pub(crate) fn loop_file(&self, name: &str) -> PathBuf {
        self.file(".loops").join(self.id()).join(name)
    }

    pub(crate) fn journal(&self) -> String {
        fs::read_to_string(self.loop_file("journal.jsonl")).unwrap()
    }
}

pub(crate) fn stdout(output: Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    assert_eq!(error, "");
    String::from_utf8(output.stdout).unwrap()
}
