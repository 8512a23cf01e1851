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
    let kept = |variable: &str, default: &str| {
        std::env::var(variable).unwrap_or_else(|_| format!("{real_home}/{default}"))
    };
    let tools = Path::new(env!("CARGO")).parent().unwrap();
    let mut shell = Command::new("sh");
    shell
        .env_clear()
        .env(
            "PATH",
            format!(
                "{}:{}/tools:/usr/local/bin:/usr/bin:/bin",
                tools.display(),
                home.display()
            ),
        )
        .env("CARGO_HOME", kept("CARGO_HOME", ".cargo"))
        .env("RUSTUP_HOME", kept("RUSTUP_HOME", ".rustup"))
        .env("LANG", "C.UTF-8")
        .env("CARGO_TERM_COLOR", "never")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    let packages = packages();
    let config = format!(
        "[patch.crates-io]\nclaudex-loop = {{ path = {:?} }}\nclaudex-build = {{ path = {:?} }}\nclaudex-lint = {{ path = {:?} }}\nclaudex-loop-engine = {{ path = {:?} }}\nclaudex-testkit = {{ path = {:?} }}\n\n[net]\noffline = true\n\n\
         [build]\nbuild-dir = {:?}\n",
        packages.runtime,
        packages.build,
        packages.lint,
        packages.engine,
        packages.testkit,
        target(),
    );
    fs::create_dir(home.join(".cargo")).unwrap();
    fs::write(home.join(".cargo/config.toml"), config).unwrap();
    shell
}

#[test]
fn the_walk_through_is_what_happens_to_who_follows_it() {
    // Packed before the lock is taken, since packing takes it, too.
    packages();
    let _lock = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let home = folder
        .path()
        .canonicalize()
        .unwrap()
        .join("a reäder's home");
    fs::create_dir(&home).unwrap();
    let tools = home.join("tools");
    fs::create_dir(&tools).unwrap();
    symlink(
        env!("CARGO_BIN_EXE_claudex-loop"),
        tools.join("claudex-loop"),
    )
    .unwrap();
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

fn document() -> String {
    fs::read_to_string(ours().join("docs/your-own-loop.md")).unwrap()
}

#[test]
fn the_walk_through_writes_the_example_file_by_file() {
    let document = document();
    let before = document
        .lines()
        .position(|line| line == "## One phase more");
    let mut written = written(&blocks(&document), before.unwrap());
    // The example is in the repository, and depends on what lies beside it.
    assert!(written.remove("Cargo.toml").is_some());
    let example = ours().join("examples/release-train");
    for (path, text) in &written {
        assert_eq!(
            *text,
            fs::read_to_string(example.join(path)).unwrap(),
            "{path}"
        );
    }
    // The plugin is written by the program itself.
    let its_own = |path: &String| {
        let apart = ["tests/", "plugin/"]
            .iter()
            .any(|folder| path.starts_with(folder));
        !["Cargo.toml", "README.md"].contains(&path.as_str()) && !apart
    };
    let there: Vec<String> = sources(&example).into_iter().filter(its_own).collect();
    assert!(written.keys().eq(there.iter()), "{there:?}");
}
