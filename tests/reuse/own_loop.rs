//! The four pages about a loop of your own, from the first command to the last, in a folder with a
//! space and a letter outside ASCII.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::document::{Reader, blocks};
use crate::support::{build_dir, one_at_a_time, ours};

/// Returns a shell whose `cargo` is offline.
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
    let config = format!(
        "[net]\noffline = true\n\n[build]\nbuild-dir = {:?}\n",
        build_dir()
    );
    fs::create_dir(home.join(".cargo")).unwrap();
    fs::write(home.join(".cargo/config.toml"), config).unwrap();
    shell
}

/// The pages in the order of reading, with the folders of their files.
const PAGES: [(&str, &str); 4] = [
    ("your-own-loop.md", "haiku"),
    ("release-train.md", "release-train"),
    ("changing-a-machine.md", "release-train"),
    ("testing-a-machine.md", "release-train"),
];

#[test]
fn walk_through_works_from_first_to_last_command() {
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
    symlink(ours(), home.join("claudex-loop")).unwrap();
    let mut reader = Reader::new(shell(&home), &home);
    for (page, work) in PAGES {
        let document = fs::read_to_string(ours().join("docs").join(page)).unwrap();
        reader.work = home.join(work);
        for block in blocks(&document) {
            reader.follow(&block);
            let is_crate = reader.work.is_dir();
            if is_crate && !reader.work.join("Cargo.lock").exists() {
                // Offline, only the versions of our lock file may be available.
                fs::copy(ours().join("Cargo.lock"), reader.work.join("Cargo.lock")).unwrap();
            }
        }
    }
}
