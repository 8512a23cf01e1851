//! The crate of the pairs proof: the machine and nothing else, with the engine that the package depends on. Part of the
//! whole set only, because the engine is built again for it.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::machine::text;
use crate::pairs::{CALLS, Subject, prove};
use crate::project::put;
use crate::report::Wrong;
use crate::scratch::Scratch;
use crate::walk::Walk;

const BUILD: &str = "fn main() {
    claudex_build::Config::new().compile(\"machine.toml\");
}
";
const LIBRARY: &str = "//! Every pair of a phase and a transition.
#![deny(warnings)]
#![allow(missing_docs)]

pub mod calls;
claudex_loop::machine!(MACHINE);
";
const MANIFEST: &str = "[package]
name = \"pairs\"
version = \"0.1.0\"
edition = \"2024\"

[workspace]

[dependencies]
claudex-loop = { path = LOOP, default-features = false }

[build-dependencies]
claudex-build = { path = BUILD }
";

/// Checks every pair.
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    if std::env::var_os("CLAUDEX_TESTKIT").is_none_or(|much| much != "whole") {
        return Ok("left out: CLAUDEX_TESTKIT is not `whole`".to_owned());
    }
    let machine = &walk.scratch.machine;
    let package = walk.scratch.kit.file.with_file_name(".").canonicalize()?;
    let metadata = cargo(&package)
        .args(["metadata", "--format-version", "1", "--offline"])
        .output()?;
    let metadata: Json = serde_json::from_slice(&metadata.stdout)?;
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    write_crate(&walk.scratch, &package, &metadata, folder)?;
    let subject = Subject {
        machine,
        file: "machine.toml".to_owned(),
        module: format!("crate::{}", machine.name()),
    };
    let target = Path::new(text(&metadata["target_directory"])).join("testkit");
    let (legal, illegal) = prove(&[subject], |calls, flags| {
        put(&folder.join(CALLS), calls)?;
        let mut cargo = cargo(folder);
        cargo.args(["check", "--lib", "--offline"]).args(flags);
        cargo.env("CARGO_TARGET_DIR", &target).output()
    })?;
    Ok(format!(
        "{legal} pairs of a phase and a transition compile, {illegal} do not"
    ))
}

fn write_crate(
    scratch: &Scratch,
    package: &Path,
    metadata: &Json,
    folder: &Path,
) -> Result<(), Wrong> {
    let path_of = |name: &str| -> Result<String, Wrong> {
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let found = packages.find(|package| package["name"] == name);
        let found = found.ok_or_else(|| format!("`cargo metadata` names no `{name}`"))?;
        let path = PathBuf::from(text(&found["manifest_path"])).with_file_name("");
        Ok(format!("{path:?}"))
    };
    let manifest = MANIFEST
        .replace("LOOP", &path_of("claudex-loop")?)
        .replace("BUILD", &path_of("claudex-build")?);
    put(&folder.join("Cargo.toml"), &manifest)?;
    let lock = Path::new(text(&metadata["workspace_root"])).join("Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock"))?;
    put(&folder.join("build.rs"), BUILD)?;
    let library = LIBRARY.replace("MACHINE", scratch.machine.name());
    put(&folder.join("src/lib.rs"), &library)?;

    let messages = scratch.machine.file["messages"].as_str();
    for path in ["machine.toml"].into_iter().chain(messages) {
        link(&package.join(path), &folder.join(path))?;
    }
    Ok(())
}

fn link(target: &Path, link: &Path) -> io::Result<()> {
    std::fs::create_dir_all(link.parent().unwrap_or(link))?;
    symlink(target, link)
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
