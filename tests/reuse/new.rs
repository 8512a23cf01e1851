//! `new` refuses names and places. `own_loop` builds and runs its output.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use claudex_testkit::has;

use crate::project::output_text;

/// A folder for new crates, whose path has a space, a quote and a letter outside ASCII.
struct Temp {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Temp {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a beginner's désk");
        fs::create_dir(&path).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    /// Creates a crate with this name, and checks the exit code.
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
            output_text(&output)
        );
        output_text(&output)
    }
}

#[test]
fn new_crate_replaces_nothing() {
    let temp = Temp::new();
    fs::write(temp.path.join("file"), "mine\n").unwrap();
    fs::create_dir(temp.path.join("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere", temp.path.join("link")).unwrap();
    for name in ["file", "folder", "link"] {
        has(&temp.make(name, 1), "already exists");
    }
    assert_eq!(
        fs::read_to_string(temp.path.join("file")).unwrap(),
        "mine\n"
    );
    assert_eq!(fs::read_dir(temp.path.join("folder")).unwrap().count(), 0);
    assert!(!temp.path.join("nowhere").exists());
}

#[test]
fn new_crate_has_a_name_that_compiles() {
    let temp = Temp::new();
    let long = "x".repeat(65);
    // Names that crates, Rust or the types of generated modules cannot have.
    let wrong = ["", "x y", "a\u{1b}[2J", &long];
    let reserved = ". .. ../up /tmp/x a/b 9lives -x _x x- x--y X Ü x.y type self test core proc_macro claudex-loop claudex_build \
                    any-loop done fields finish from in-phase into iterator loop mode on-stop option phase remind result start string \
                    transition vec verb writing";
    for name in reserved.split(' ').chain(wrong) {
        assert!(!temp.make(name, 2).contains('\u{1b}'), "{name:?}");
    }
    assert_eq!(fs::read_dir(&temp.path).unwrap().count(), 0);

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
        temp.make(name, 0);
        let machine = fs::read_to_string(temp.path.join(name).join("machine.toml")).unwrap();
        if let Err(found) = claudex_build::check_source("machine.toml", &machine) {
            panic!("{name}: {found}");
        }
    }
}
