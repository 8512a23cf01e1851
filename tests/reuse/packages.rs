//! Our crates as a registry would get them: packed by `cargo package` and unpacked.
//!
//! Everything that is packed is checked here. That it builds is shown by other tests: `approving` builds our program from it, and
//! `own_loop` a stranger's.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::stranger::{cargo, one_at_a_time, ours};
use crate::support::target;

/// The folders that our crates were unpacked into.
pub(crate) struct Packages {
    /// claudex-loop.
    pub(crate) runtime: PathBuf,
    /// claudex-build.
    pub(crate) build: PathBuf,
    /// claudex-loop-engine.
    pub(crate) engine: PathBuf,
    /// claudex-lint.
    pub(crate) lint: PathBuf,
    /// claudex-testkit.
    pub(crate) testkit: PathBuf,
}

/// Packs and unpacks them, once in a test program.
pub(crate) fn packages() -> &'static Packages {
    static PACKED: OnceLock<Packages> = OnceLock::new();
    PACKED.get_or_init(|| {
        let _lock = one_at_a_time();
        // One alone fails as long as the other is in no registry.
        let packed = cargo(&ours())
            .args([
                "package",
                "-p",
                "claudex-build",
                "-p",
                "claudex-lint",
                "-p",
                "claudex-loop-engine",
                "-p",
                "claudex-loop",
                "-p",
                "claudex-testkit",
            ])
            .args(["--allow-dirty", "--offline", "--no-verify"])
            .output()
            .unwrap();
        assert!(
            packed.status.success(),
            "{}",
            String::from_utf8_lossy(&packed.stderr)
        );
        Packages {
            runtime: unpacked("claudex-loop"),
            build: unpacked("claudex-build"),
            engine: unpacked("claudex-loop-engine"),
            lint: unpacked("claudex-lint"),
            testkit: unpacked("claudex-testkit"),
        }
    })
}

/// Returns the folder with what was packed of a crate.
///
/// The files get the time at which they are unpacked, since cargo tells by it what to build again. Where nothing else was
/// packed than the last time, they stay.
fn unpacked(name: &str) -> PathBuf {
    let folder = target().join(format!("package/{name}-{}", env!("CARGO_PKG_VERSION")));
    let (archive, last) = (with_end(&folder, "crate"), with_end(&folder, "last"));
    if fs::read(&last).ok() != fs::read(&archive).ok() {
        let _ = fs::remove_dir_all(&folder);
        let unpacked = Command::new("tar")
            .args(["-x", "-m", "-z", "-f"])
            .arg(&archive)
            .current_dir(folder.parent().unwrap())
            .status();
        assert!(unpacked.unwrap().success());
        fs::copy(&archive, &last).unwrap();
    }
    folder
}

/// Returns the path of a file beside a folder that is named after it.
fn with_end(folder: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}.{end}", folder.display()))
}

/// The files below a folder, by their paths from there.
pub(crate) fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                let path = entry.path();
                found.insert(
                    path.strip_prefix(folder)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    found
}

/// The files of the repository that git knows or would take, from `folder`.
pub(crate) fn sources(folder: &Path) -> BTreeSet<String> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        listed.status.success(),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let listed = String::from_utf8(listed.stdout).unwrap();
    let there = listed
        .split('\0')
        .filter(|name| folder.join(name).is_file());
    there.map(str::to_owned).collect()
}
