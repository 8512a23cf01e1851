//! A project with one loop of a stranger's machine: built once, run by the path of its program.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::stranger::{Crate, ours, target};

/// The fields that the engine holds, each of which a machine has to name.
const HELD: &str = r#"phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }
"#;

/// Returns a machine file whose line `HELD` says what the engine holds.
pub(crate) fn whole(machine: &str) -> String {
    machine.replace("HELD\n", HELD)
}

/// A project with one loop.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) program: PathBuf,
}

impl Project {
    /// Builds a program of this name from its machine file ([`whole`]) and its messages, and makes a project with a configuration.
    pub(crate) fn new(
        name: &str,
        machine: &str,
        messages: &[(&str, &str)],
        configuration: &str,
    ) -> Self {
        let main = format!("claudex_loop::main!({name});\n");
        Self::with_main(name, machine, messages, configuration, &main)
    }

    /// The same with Rust of its own.
    pub(crate) fn with_main(
        name: &str,
        machine: &str,
        messages: &[(&str, &str)],
        configuration: &str,
        main: &str,
    ) -> Self {
        let stranger = Crate::new(name);
        stranger.write("Cargo.toml", &manifest(name));
        stranger.write("machine.toml", &whole(machine));
        for (file, text) in messages {
            stranger.write(&format!("messages/{file}"), text);
        }
        stranger.write("src/main.rs", main);
        let (folder, program) = built(&stranger, name);
        let project = Self::at(folder, program);
        project.write(".config/claudex-loop/config.toml", configuration);
        project
    }

    /// Makes a project beside this program.
    pub(crate) fn at(folder: tempfile::TempDir, program: PathBuf) -> Self {
        let root = folder.path().join("a person's project");
        fs::create_dir_all(root.join(".git")).unwrap();
        Self {
            folder,
            root,
            program,
        }
    }

    /// A folder outside of the project.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs the program, which succeeds, and gives what it says.
    pub(crate) fn run(&self, arguments: &[&str], stdin: &str) -> String {
        let (succeeded, said) = self.try_run(arguments, stdin);
        assert!(succeeded, "{arguments:?}: {said}");
        said
    }

    /// Runs the program, and gives whether it succeeded and what it says.
    pub(crate) fn try_run(&self, arguments: &[&str], stdin: &str) -> (bool, String) {
        let output = fed(self.command(arguments), stdin);
        (output.status.success(), said(&output))
    }

    /// The same as the agent of session `s`.
    pub(crate) fn agent(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = self.command(arguments);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", "s");
        let output = fed(command, "");
        (output.status.success(), said(&output))
    }

    /// The program's call, without what it is given on stdin.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.root);
        command
    }

    pub(crate) fn review(&self, reviewer: &str) {
        self.run(&["review", "--reviewer", reviewer], "");
    }

    /// Stops, and gives the phase that the loop is in then.
    pub(crate) fn stop(&self) -> String {
        self.stop_saying();
        self.status("phase")
    }

    /// Stops, and gives what the hook answers.
    pub(crate) fn stop_saying(&self) -> Value {
        let event = json!({"session_id": "s", "cwd": self.root, "hook_event_name": "Stop"});
        serde_json::from_str(&self.run(&["hook", "stop"], &event.to_string())).unwrap()
    }

    pub(crate) fn status(&self, key: &str) -> String {
        let shown: Value = serde_json::from_str(&self.run(&["status", "--json"], "")).unwrap();
        shown["loops"][0][key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

/// Builds a crate, and returns its program in a folder of its own: another crate may be built meanwhile.
pub(crate) fn built(stranger: &Crate, name: &str) -> (tempfile::TempDir, PathBuf) {
    let output = stranger.cargo(&["build"]);
    assert!(output.status.success(), "{}", said(&output));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(name);
    fs::copy(target().join("debug").join(name), &program).unwrap();
    (folder, program)
}

/// Runs a command with this on its stdin.
pub(crate) fn fed(mut command: Command, stdin: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stdin.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

/// All that a command printed.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8([&*output.stdout, &*output.stderr].concat()).unwrap()
}

pub(crate) fn manifest(name: &str) -> String {
    let path = |below: &str| ours().join(Path::new(below));
    format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         claudex-loop = {{ path = {:?}, default-features = false, features = [\"program\"] }}\n\n\
         [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
        path(""),
        path("codegen"),
    )
}
