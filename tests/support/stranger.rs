//! A crate outside this workspace: a folder somewhere else, written anew for each case, built offline with the versions of
//! our lock file. It knows how such a crate is laid out and built, and no machine.
//!
//! All crates of all test programs share one target folder below ours, so only the first compiles the dependencies.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A crate in a temporary folder whose path has a space, a quote and a letter outside ASCII.
pub(crate) struct Crate {
    _one_at_a_time: File,
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Crate {
    /// A crate that depends on ours as they lie here, on the library without its features: `Cargo.toml`, our `Cargo.lock`,
    /// and a `build.rs` that compiles `machine.toml`. The rest is the caller's to write.
    ///
    /// It waits until no other such crate is there: cargo takes crates of one name in one target folder for the same, and
    /// tells them apart by the times of their files.
    pub(crate) fn new(name: &str) -> Self {
        let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::create_dir_all(target()).unwrap();
        let one_at_a_time = File::create(target().join("one-at-a-time.lock")).unwrap();
        one_at_a_time.lock().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a stranger's cräte");
        let made = Self {
            _one_at_a_time: one_at_a_time,
            _folder: folder,
            path,
        };
        made.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
                 claudex-loop = {{ path = {ours:?}, default-features = false }}\n\n[build-dependencies]\n\
                 claudex-build = {{ path = {:?} }}\n",
                ours.join("codegen"),
            ),
        );
        made.write(
            "build.rs",
            "fn main() {\n    claudex_build::Config::new().compile(\"machine.toml\");\n}\n",
        );
        std::fs::copy(ours.join("Cargo.lock"), made.path.join("Cargo.lock")).unwrap();
        made
    }

    /// Writes a file, and the folders above it. `name` is relative to the crate.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.path.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// Runs cargo in the crate, offline. `RUSTFLAGS` of the caller would have everything compiled anew, and do not count.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO"))
            .args(arguments)
            .arg("--offline")
            .current_dir(&self.path)
            .env("CARGO_TARGET_DIR", target())
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .unwrap()
    }
}

/// The target folder that all these crates share; `target().join("debug").join(NAME)` is a program that was built.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("stranger")
}
