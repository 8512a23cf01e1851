//! The pairs proof: a crate with a call for every pair of a phase and a transition is checked by the compiler, with the
//! engine that the package depends on. Part of the whole set only, because the engine is built again for it.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;

use crate::error::Wrong;
use crate::kit::Setup;
use crate::pairs::{self, Subject};
use crate::project::put;
use crate::run::Loop;

/// Checks every pair.
pub(crate) fn run(held: &mut Loop<'_>) -> Result<Option<String>, Wrong> {
    let setup = held.setup;
    if !setup.kit.whole {
        return Ok(None);
    }
    held.path = vec!["machine.toml".to_owned()];
    let found = found(&setup.folder)?
        .ok_or_else(|| "`cargo metadata` names no `claudex-loop` or `claudex-build`".to_owned())?;
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let subject = [Subject {
        machine: &setup.machine,
        file: "machine.toml".to_owned(),
        module: format!("crate::{}", setup.machine.name),
    }];
    written(setup, &found, folder)?;
    let calls = folder.join("src/calls.rs");
    put(&calls, &pairs::calls(&subject, false))?;
    let clean = check(folder, &found, &[])?;
    if !clean.status.success() {
        let said = String::from_utf8_lossy(&clean.stderr);
        return Err(format!("not every edge compiles without a warning:\n{said}").into());
    }
    put(&calls, &pairs::calls(&subject, true))?;
    let said = check(folder, &found, &["--message-format=json"])?;
    let said = String::from_utf8_lossy(&said.stdout);
    match pairs::judge(&subject, &said, "src/calls.rs") {
        wrong if wrong.is_empty() => {
            let (legal, illegal) = pairs::count(&subject);
            let said =
                format!("{legal} pairs of a phase and a transition compile, {illegal} do not");
            Ok(Some(said))
        }
        wrong => Err(wrong.join("\n").into()),
    }
}

/// The places of the crates that the package depends on.
struct Crates {
    engine: PathBuf,
    build: PathBuf,
    lock: PathBuf,
    target: PathBuf,
}

fn found(package: &Path) -> io::Result<Option<Crates>> {
    let said = cargo(package)
        .args(["metadata", "--format-version", "1", "--offline"])
        .output()?;
    let said: Json = serde_json::from_slice(&said.stdout).unwrap_or_default();
    let of = |name: &str| {
        let mut packages = said["packages"].as_array().into_iter().flatten();
        let manifest =
            packages.find(|package| package["name"] == name)?["manifest_path"].as_str()?;
        Some(Path::new(manifest).parent()?.to_owned())
    };
    let path = |key: &str| said[key].as_str().map(PathBuf::from);
    Ok((|| {
        Some(Crates {
            engine: of("claudex-loop")?,
            build: of("claudex-build")?,
            lock: path("workspace_root")?.join("Cargo.lock"),
            target: path("target_directory")?.join("testkit"),
        })
    })())
}

/// Writes a crate that contains the machine and nothing else.
fn written(setup: &Setup, found: &Crates, folder: &Path) -> io::Result<()> {
    let manifest = format!(
        "[package]\nname = \"pairs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         claudex-loop = {{ path = {:?}, default-features = false }}\n\n[build-dependencies]\n\
         claudex-build = {{ path = {:?} }}\n",
        found.engine, found.build,
    );
    put(&folder.join("Cargo.toml"), &manifest)?;
    let build = "fn main() {\n    claudex_build::Config::new().compile(\"machine.toml\");\n}\n";
    put(&folder.join("build.rs"), build)?;
    std::fs::copy(
        setup.folder.join("machine.toml"),
        folder.join("machine.toml"),
    )?;
    if let Some(messages) = &setup.machine.messages {
        let link = folder.join(messages);
        std::fs::create_dir_all(link.parent().unwrap_or(folder))?;
        symlink(setup.folder.canonicalize()?.join(messages), link)?;
    }
    let library = format!(
        "//! Every pair of a phase and a transition.\n#![deny(warnings)]\n#![allow(missing_docs)]\n\npub mod calls;\n\
         claudex_loop::machine!({});\n",
        setup.machine.name,
    );
    put(&folder.join("src/lib.rs"), &library)?;
    std::fs::copy(&found.lock, folder.join("Cargo.lock")).map(drop)
}

fn check(folder: &Path, found: &Crates, flags: &[&str]) -> io::Result<Output> {
    let mut cargo = cargo(folder);
    let cargo = cargo.args(["check", "--lib", "--offline"]).args(flags);
    cargo.env("CARGO_TARGET_DIR", &found.target).output()
}

/// Returns the cargo that runs the tests, without the flags of their build.
fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(folder)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo
}
