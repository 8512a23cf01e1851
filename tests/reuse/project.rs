//! Programs of other machines, and a project with one loop of such a machine.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::support::{Crate, ours, target};

/// The machines of `crate/`: folders with a `machine.toml`, and `main.rs` if it has Rust code.
const MACHINES: [&str; 8] = [
    "cutting", "depot", "ferry", "kinds", "ledger", "tidy", "twice", "ways",
];

/// Returns the program of this name. The first call builds all, in one crate outside of here.
pub(crate) fn program(name: &str) -> PathBuf {
    static BUILT: OnceLock<Result<tempfile::TempDir, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let stranger = Crate::new("strangers");
        stranger.write("Cargo.toml", &manifest("strangers"));
        let build = format!(
            "fn main() {{\n    for name in {MACHINES:?} {{\n        let file = format!(\"{{name}}/machine.toml\");\n        \
             claudex_build::Config::new().compile(file);\n    }}\n}}\n"
        );
        stranger.write("build.rs", &build);
        for name in MACHINES {
            let folder = ours().join("tests/reuse/crate").join(name);
            for file in crate::packages::files(&folder) {
                let text = fs::read_to_string(folder.join(&file)).unwrap();
                stranger.write(&format!("{name}/{file}"), &text);
            }
            let main = fs::read_to_string(folder.join("main.rs"))
                .unwrap_or_else(|_| format!("claudex_loop::main!({name});\n"))
                .replace(METHOD_MARKER, &documented_method());
            stranger.write(&format!("src/bin/{name}.rs"), &main);
        }
        let output = stranger.cargo(&["build"]);
        if !output.status.success() {
            return Err(output_text(&output));
        }
        // Another crate may use the same target folder later.
        let folder = tempfile::tempdir().unwrap();
        for name in MACHINES {
            fs::copy(target().join("debug").join(name), folder.path().join(name)).unwrap();
        }
        Ok(folder)
    });
    match built {
        Ok(folder) => folder.path().join(name),
        Err(why) => panic!("the crate does not build:\n{why}"),
    }
}

/// The place of the method that docs/behaviours.md shows.
const METHOD_MARKER: &str = "// The method that docs/behaviours.md shows is inserted here.";

/// The method that docs/behaviours.md shows.
fn documented_method() -> String {
    let document = fs::read_to_string(ours().join("docs/behaviours.md")).unwrap();
    let (_, rest) = document.split_once("```rust\nfn drafting_asks").unwrap();
    format!("fn drafting_asks{}", rest.split_once("```").unwrap().0)
}

/// A project with one loop.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    program: PathBuf,
}

impl Project {
    /// Makes a project for the program of this name, with the user's configuration.
    pub(crate) fn new(name: &str, configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("a user's project");
        fs::create_dir_all(root.join(".git")).unwrap();
        let program = program(name);
        let project = Self {
            folder,
            root,
            program,
        };
        project.write(".config/claudex-loop/config.toml", configuration);
        project
    }

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

    /// Makes the project a git repository whose files are committed, and returns the commit.
    pub(crate) fn commit(&self) -> String {
        fs::remove_dir(self.root.join(".git")).unwrap();
        let script = "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm first && git rev-parse HEAD";
        let mut git = Command::new("sh");
        let output = git
            .args(["-ec", script])
            .current_dir(&self.root)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", output_text(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs the program successfully, and returns its output. Splits the line at spaces.
    #[track_caller]
    pub(crate) fn run(&self, line: &str) -> String {
        let output = feed(self.command(line), "");
        assert!(output.status.success(), "{line}: {}", output_text(&output));
        output_text(&output)
    }

    /// Runs the program, which fails with this message.
    #[track_caller]
    pub(crate) fn fails(&self, line: &str, why: &str) {
        let output = feed(self.command(line), "");
        let text = output_text(&output);
        assert!(
            !output.status.success() && text.contains(why),
            "{line}: {text}"
        );
    }

    /// Runs the program as the agent of session `s`. Returns its success and output.
    pub(crate) fn agent(&self, line: &str) -> (bool, String) {
        let mut command = self.command(line);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", "s");
        let output = feed(command, "");
        (output.status.success(), output_text(&output))
    }

    /// Returns the program's call, without stdin.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(line.split_whitespace())
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.root);
        command
    }

    /// Runs a hook on an event, and returns its output.
    pub(crate) fn hook(&self, name: &str, mut event: Value) -> String {
        event["session_id"] = json!("s");
        event["cwd"] = json!(self.root);
        let output = feed(self.command(&format!("hook {name}")), &event.to_string());
        assert!(output.status.success(), "{}", output_text(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn review(&self, reviewer: &str) -> String {
        self.run(&format!("review --reviewer {reviewer}"))
    }

    /// Stops, and returns the loop's new phase.
    pub(crate) fn stop(&self) -> String {
        self.stop_saying();
        self.status("phase")
    }

    /// Stops, and returns the hook's answer.
    pub(crate) fn stop_saying(&self) -> Value {
        serde_json::from_str(&self.hook("stop", json!({"hook_event_name": "Stop"}))).unwrap()
    }

    /// Returns the loop that `status --json` shows.
    pub(crate) fn shown_loop(&self) -> Value {
        let mut status: Value = serde_json::from_str(&self.run("status --json")).unwrap();
        status["loops"][0].take()
    }

    pub(crate) fn status(&self, key: &str) -> String {
        self.shown_loop()[key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Returns the loop's folder in a state folder.
    pub(crate) fn loop_folder(&self, state: &str) -> PathBuf {
        self.root.join(state).join(self.status("id"))
    }
}

/// Runs a command with this on its stdin.
pub(crate) fn feed(mut command: Command, stdin: &str) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stdin.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

/// Returns both outputs of a command.
pub(crate) fn output_text(output: &Output) -> String {
    String::from_utf8([&*output.stdout, &*output.stderr].concat()).unwrap()
}

/// The manifest of a crate with programs.
pub(crate) fn manifest(name: &str) -> String {
    format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         claudex-loop = {{ path = {:?}, default-features = false, features = [\"program\"] }}\n\n\
         [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
        ours(),
        ours().join("codegen"),
    )
}
