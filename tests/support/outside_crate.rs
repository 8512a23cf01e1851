//! A crate outside this workspace, in a new folder for each case, built offline with the versions
//! of our lock file.
//!
//! All test programs share one target folder for these crates, so only differences are compiled.

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
    /// Creates `Cargo.toml` with our crates by path, our `Cargo.lock`, and a `build.rs` that
    /// compiles `machine.toml`. The caller writes the rest.
    ///
    /// Waits until no other such crate exists ([`one_at_a_time`]).
    pub(crate) fn new(name: &str) -> Self {
        let one_at_a_time = one_at_a_time();
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
                 claudex-loop = {{ path = {:?}, default-features = false }}\n\n[build-dependencies]\n\
                 claudex-build = {{ path = {:?} }}\n",
                ours(),
                ours().join("codegen"),
            ),
        );
        made.write(
            "build.rs",
            "fn main() {\n    claudex_build::Config::new().compile(\"machine.toml\");\n}\n",
        );
        std::fs::copy(ours().join("Cargo.lock"), made.path.join("Cargo.lock")).unwrap();
        made
    }

    /// Writes a file, and the folders above it. `name` is relative to the crate.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.path.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// Runs cargo in the crate, offline.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Output {
        cargo(&self.path)
            .args(arguments)
            .arg("--offline")
            .output()
            .unwrap()
    }
}

/// Locks the target folder for all test programs while a crate is written, built and run: cargo
/// tells crates of one name apart only by file times. Dropping the file frees the lock.
pub(crate) fn one_at_a_time() -> File {
    std::fs::create_dir_all(target()).unwrap();
    let lock = File::create(target().join("one-at-a-time.lock")).unwrap();
    lock.lock().unwrap();
    lock
}

/// Returns cargo in a folder, with the shared target folder. Without the caller's flags, nothing is
/// compiled again. Without debug information, a build is a third faster.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_BUILD_BUILD_DIR", build_dir())
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo
}

/// Returns the shared target folder. `target().join("debug").join(NAME)` is a built program.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("stranger")
}

/// Returns our build folder, so that the dependencies are not compiled again.
pub(crate) fn build_dir() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    folder.unwrap().to_owned()
}

pub(crate) fn ours() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
