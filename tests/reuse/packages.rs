//! Our crates as a registry gets them: packed by `cargo package` and unpacked.
//!
//! Other tests build them: `packed_plan_loop` our program, and `own_loop` another one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::project::output_text;
use crate::support::{cargo, one_at_a_time, ours, target};

/// The folders that our crates were unpacked into.
pub(crate) struct Packages {
    /// claudex-loop.
    pub(crate) runtime: PathBuf,
    /// claudex-build.
    pub(crate) build: PathBuf,
    /// claudex-loop-engine, claudex-lint and claudex-testkit.
    others: [PathBuf; 3],
}

impl Packages {
    /// Returns a section of a manifest or cargo configuration that uses the unpacked crates.
    pub(crate) fn patch(&self) -> String {
        let [engine, lint, testkit] = &self.others;
        format!(
            "[patch.crates-io]\nclaudex-loop = {{ path = {:?} }}\nclaudex-build = {{ path = {:?} }}\n\
             claudex-loop-engine = {{ path = {engine:?} }}\nclaudex-lint = {{ path = {lint:?} }}\nclaudex-testkit = {{ path = {testkit:?} }}\n",
            self.runtime, self.build
        )
    }
}

/// Packs and unpacks the crates once per test program.
pub(crate) fn packages() -> &'static Packages {
    static PACKED: OnceLock<Packages> = OnceLock::new();
    PACKED.get_or_init(|| {
        let _lock = one_at_a_time();
        // One crate alone fails until the other is in a registry.
        let crates = "-p claudex-build -p claudex-lint -p claudex-loop-engine -p claudex-loop -p claudex-testkit";
        let mut package = cargo(&ours());
        package.arg("package").args(crates.split(' '));
        let packed = package.args(["--allow-dirty", "--offline", "--no-verify"]).output().unwrap();
        assert!(packed.status.success(), "{}", output_text(&packed));
        Packages {
            runtime: unpacked("claudex-loop"),
            build: unpacked("claudex-build"),
            others: ["claudex-loop-engine", "claudex-lint", "claudex-testkit"].map(unpacked),
        }
    })
}

/// Returns the folder with an unpacked crate.
///
/// Files get the current time, because cargo uses it to decide on a new build. They stay if the
/// crate is the same as before.
fn unpacked(name: &str) -> PathBuf {
    let folder = target().join(format!("package/{name}-{}", env!("CARGO_PKG_VERSION")));
    let [archive, last] = ["crate", "last"].map(|end| format!("{}.{end}", folder.display()));
    if fs::read(&last).ok() != fs::read(&archive).ok() {
        let _ = fs::remove_dir_all(&folder);
        let mut tar = Command::new("tar");
        tar.args(["-x", "-m", "-z", "-f", &archive])
            .current_dir(folder.parent().unwrap());
        assert!(tar.status().unwrap().success());
        fs::copy(&archive, &last).unwrap();
    }
    folder
}

/// Returns the files below a folder, by relative path.
pub(crate) fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                found.insert(name.to_owned());
            }
        }
    }
    found
}

/// Returns the files in `folder` that git tracks or would add.
pub(crate) fn sources(folder: &Path) -> BTreeSet<String> {
    let mut git = Command::new("git");
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let listed = git.current_dir(folder).output().unwrap();
    assert!(listed.status.success(), "{}", output_text(&listed));
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names = listed
        .split('\0')
        .filter(|name| folder.join(name).is_file());
    names.map(str::to_owned).collect()
}
