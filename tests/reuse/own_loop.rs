//! docs/your-own-loop.md, followed from its first command to its last: outside the workspace, in a folder with a space and a
//! letter outside ASCII, with our crates as they were packed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::document::{Reader, blocks, written};
use crate::packages::{packages, sources};
use crate::support::stranger::{one_at_a_time, ours};
use crate::support::target;

/// A shell in which `cargo` is the one that runs these tests, and takes our crates from where they were unpacked.
fn shell(home: &Path) -> Command {
    let real_home = std::env::var("HOME").unwrap_or_default();
    let tools = Path::new(env!("CARGO")).parent().unwrap().display();
    let path = format!(
        "{tools}:{}/tools:/usr/local/bin:/usr/bin:/bin",
        home.display()
    );
    let mut shell = Command::new("sh");
    shell.env_clear().env("PATH", path);
    for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let value = std::env::var(name).unwrap_or_else(|_| format!("{real_home}/{folder}"));
        shell.env(name, value);
    }
    for (name, value) in [
        ("LANG", "C.UTF-8"),
        ("CARGO_TERM_COLOR", "never"),
        ("CARGO_PROFILE_DEV_DEBUG", "0"),
        ("CARGO_INCREMENTAL", "0"),
    ] {
        shell.env(name, value);
    }
    let patch = packages().patch();
    let config = format!(
        "{patch}\n[net]\noffline = true\n\n[build]\nbuild-dir = {:?}\n",
        target()
    );
    fs::create_dir(home.join(".cargo")).unwrap();
    fs::write(home.join(".cargo/config.toml"), config).unwrap();
    shell
}

fn document() -> String {
    fs::read_to_string(ours().join("docs/your-own-loop.md")).unwrap()
}

#[test]
fn walk_through_works_from_first_to_last_command() {
    // Packed before the lock is taken, since packing takes it, too.
    packages();
    let _lock = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let home = folder
        .path()
        .canonicalize()
        .unwrap()
        .join("a reäder's home");
    let tools = home.join("tools");
    fs::create_dir_all(&tools).unwrap();
    let program = env!("CARGO_BIN_EXE_claudex-loop");
    symlink(program, tools.join("claudex-loop")).unwrap();
    let work = home.join("release-train");
    let mut reader = Reader::new(shell(&home), &home, &work);
    for block in blocks(&document()) {
        reader.follow(&block);
        for made in [&home.join("haiku"), &work] {
            if made.is_dir() && !made.join("Cargo.lock").exists() {
                // Offline there are the versions of our lock file, and it may be that no others are there.
                fs::copy(ours().join("Cargo.lock"), made.join("Cargo.lock")).unwrap();
            }
        }
    }
}

#[test]
fn walk_through_writes_the_example() {
    let document = document();
    let before = document
        .lines()
        .position(|line| line == "## One phase more");
    let mut written = written(&blocks(&document), before.unwrap());
    // The example is in the repository, and depends on what is beside it.
    assert!(written.remove("Cargo.toml").is_some());
    let example = ours().join("examples/release-train");
    for (path, text) in &written {
        let there = fs::read_to_string(example.join(path)).unwrap();
        assert_eq!(*text, there, "{path}");
    }
    // The plugin is written by the program itself.
    let mut there = sources(&example);
    there.retain(|path| {
        let is_apart = path.starts_with("tests/") || path.starts_with("plugin/");
        !is_apart && !["Cargo.toml", "README.md"].contains(&path.as_str())
    });
    assert!(written.keys().eq(there.iter()), "{there:?}");
}
