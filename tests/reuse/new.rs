//! `new` writes a crate that builds and runs as it is.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use claudex_testkit::has;

use crate::project::{fed, printed};
use crate::support::stranger::{cargo, one_at_a_time, ours, target};

/// A folder in which crates are made, whose path has a space, a quote and a letter outside ASCII.
struct Desk {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a beginner's désk");
        fs::create_dir(&path).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    /// Has a crate of this name made, and checks the exit code.
    #[track_caller]
    fn make(&self, name: &str, code: i32) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claudex-loop"));
        let output = command
            .args(["new", name])
            .current_dir(&self.path)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{name}: {}",
            printed(&output)
        );
        printed(&output)
    }
}

#[test]
fn new_crate_builds_without_warning_and_runs() {
    let _lock = one_at_a_time();
    let desk = Desk::new();
    let made = desk.make("first-loop", 0);
    has(&made, "\n    cargo run --quiet -- start \"a haiku\"\n");
    let folder = desk.path.join("first-loop");
    let files = [
        "Cargo.toml",
        "build.rs",
        "machine.toml",
        "messages/writing.md",
        "src/main.rs",
    ];
    let text = files
        .map(|file| fs::read_to_string(folder.join(file)).unwrap())
        .concat();
    let lines = text.lines().filter(|line| !line.is_empty()).count();
    assert!(lines <= 45, "{lines} lines");
    // Offline there are the versions of our lock file, and it may be that no others are there.
    fs::copy(ours().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let built = cargo(&folder)
        .args(["build", "--offline"])
        .output()
        .unwrap();
    assert!(
        built.status.success() && !printed(&built).contains("warning"),
        "{}",
        printed(&built)
    );

    let project = desk.path.join("project");
    fs::create_dir_all(project.join(".git")).unwrap();
    let run = |line: &str, stdin: &str| {
        let mut command = Command::new(target().join("debug/first-loop"));
        command
            .args(line.split(' '))
            .current_dir(&project)
            .env_clear();
        command
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", project.join("home"));
        let output: Output = fed(command, stdin);
        assert!(output.status.success(), "{line}: {}", printed(&output));
        printed(&output)
    };
    run("start a haiku", "");
    let stop = || run("hook stop", "{\"session_id\": \"s\"}");
    let message = stop();
    has(&message, "additionalContext");
    has(&message, "Write a haiku into `TEXT.md`");
    fs::write(project.join("TEXT.md"), "An old silent pond.\n").unwrap();
    has(&stop(), "is done");
}

#[test]
fn new_crate_replaces_nothing() {
    let desk = Desk::new();
    fs::write(desk.path.join("file"), "mine\n").unwrap();
    fs::create_dir(desk.path.join("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere", desk.path.join("link")).unwrap();
    for name in ["file", "folder", "link"] {
        has(&desk.make(name, 1), "is there already");
    }
    assert_eq!(
        fs::read_to_string(desk.path.join("file")).unwrap(),
        "mine\n"
    );
    assert_eq!(fs::read_dir(desk.path.join("folder")).unwrap().count(), 0);
    assert!(!desk.path.join("nowhere").exists());
}

#[test]
fn new_crate_has_a_name_that_compiles() {
    let desk = Desk::new();
    let long = "x".repeat(65);
    // Names that no crate can have, that Rust keeps for itself, and those of the types of every generated module.
    let wrong = ["", "x y", "a\u{1b}[2J", &long];
    let reserved = ". .. ../up /tmp/x a/b 9lives -x _x x- x--y X Ü x.y type self test core proc_macro claudex-loop claudex_build \
                    any-loop done fields fields-in finish from from-raw in-phase into iterator loop mode mode-iter on-stop option \
                    phase phase-iter remind result start string transition transition-iter vec verb writing";
    for name in reserved.split(' ').chain(wrong) {
        assert!(!desk.make(name, 2).contains('\u{1b}'), "{name:?}");
    }
    assert_eq!(fs::read_dir(&desk.path).unwrap().count(), 0);

    let longest = "a-b_".repeat(16);
    for name in [
        "a",
        "a1-2b",
        "some_thing",
        "text",
        "id",
        "raw",
        &longest[..63],
    ] {
        desk.make(name, 0);
        let machine = fs::read_to_string(desk.path.join(name).join("machine.toml")).unwrap();
        if let Err(found) = claudex_build::check_source("machine.toml", &machine) {
            panic!("{name}: {found}");
        }
    }
}
