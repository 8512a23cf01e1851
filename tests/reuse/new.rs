//! `new` writes a crate that builds and runs as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::project::{fed, said};
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

    fn make(&self, name: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claudex-loop"));
        command.args(["new", name]).current_dir(&self.path);
        command.output().unwrap()
    }
}

/// Runs a program in a project, with this on its stdin.
fn run(program: &Path, project: &Path, arguments: &[&str], stdin: &str) -> String {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(project)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", project.join("home"));
    let output = fed(command, stdin);
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    said(&output)
}

#[test]
fn the_crate_that_is_written_builds_without_a_warning_and_its_loop_goes_its_way() {
    let _lock = one_at_a_time();
    let desk = Desk::new();
    let made = desk.make("first-loop");
    assert!(made.status.success(), "{}", said(&made));
    assert!(said(&made).contains("\n    cargo run --quiet -- start \"a haiku\"\n"));
    let folder = desk.path.join("first-loop");
    let lines = [
        "Cargo.toml",
        "build.rs",
        "machine.toml",
        "messages/writing.md",
        "src/main.rs",
    ]
    .map(|file| fs::read_to_string(folder.join(file)).unwrap())
    .iter()
    .flat_map(|text| text.lines())
    .filter(|line| !line.is_empty())
    .count();
    assert!(lines <= 45, "{lines} lines");
    // Offline there are the versions of our lock file, and it may be that no others are there.
    fs::copy(ours().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let built = cargo(&folder)
        .args(["build", "--offline"])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", said(&built));
    assert!(!said(&built).contains("warning"), "{}", said(&built));

    let program = target().join("debug/first-loop");
    let project = desk.path.join("project");
    fs::create_dir_all(project.join(".git")).unwrap();
    run(&program, &project, &["start", "a", "haiku"], "");
    let stop = || {
        run(
            &program,
            &project,
            &["hook", "stop"],
            "{\"session_id\": \"s\"}",
        )
    };
    let told = stop();
    assert!(
        told.contains("additionalContext") && told.contains("Write a haiku into `TEXT.md`"),
        "{told}"
    );
    fs::write(project.join("TEXT.md"), "An old silent pond.\n").unwrap();
    let told = stop();
    assert!(told.contains("is done"), "{told}");
}

#[test]
fn nothing_is_written_over() {
    let desk = Desk::new();
    fs::write(desk.path.join("file"), "mine\n").unwrap();
    fs::create_dir(desk.path.join("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere", desk.path.join("link")).unwrap();
    for name in ["file", "folder", "link"] {
        let refused = desk.make(name);
        assert_eq!(refused.status.code(), Some(1), "{name}");
        assert!(
            said(&refused).contains("is there already"),
            "{}",
            said(&refused)
        );
    }
    assert_eq!(
        fs::read_to_string(desk.path.join("file")).unwrap(),
        "mine\n"
    );
    assert_eq!(fs::read_dir(desk.path.join("folder")).unwrap().count(), 0);
    assert!(!desk.path.join("nowhere").exists());
}

#[test]
fn a_name_that_no_crate_can_have_is_refused() {
    let desk = Desk::new();
    let long = "x".repeat(65);
    for name in [
        "",
        ".",
        "..",
        "../up",
        "/tmp/x",
        "a/b",
        "9lives",
        "-x",
        "_x",
        "x-",
        "x--y",
        "x y",
        "X",
        "Ü",
        "x.y",
        "a\u{1b}[2J",
        "type",
        "self",
        "test",
        "core",
        "proc_macro",
        "claudex-loop",
        "claudex_build",
        &long,
    ] {
        let refused = desk.make(name);
        assert_eq!(refused.status.code(), Some(2), "{name}: {}", said(&refused));
        assert!(!said(&refused).contains('\u{1b}'), "{name:?}");
    }
    assert_eq!(fs::read_dir(&desk.path).unwrap().count(), 0);
}

#[test]
fn what_is_written_is_a_machine_whatever_its_name() {
    let desk = Desk::new();
    // The types of every generated module, and those of this one.
    let types = "any-loop done fields fields-in finish from from-raw in-phase into iterator loop mode mode-iter on-stop option phase \
                 phase-iter remind result start string transition transition-iter vec verb writing";
    for name in types.split(' ') {
        assert_eq!(desk.make(name).status.code(), Some(2), "{name}");
    }
    let longest = "a-b_".repeat(16) + "c";
    for name in [
        "a",
        "a1-2b",
        "some_thing",
        "text",
        "id",
        "raw",
        &longest[..63],
    ] {
        let made = desk.make(name);
        assert!(made.status.success(), "{}", said(&made));
        let machine = fs::read_to_string(desk.path.join(name).join("machine.toml")).unwrap();
        if let Err(found) = claudex_build::check_source("machine.toml", &machine) {
            panic!("{name}: {found}");
        }
    }
}
