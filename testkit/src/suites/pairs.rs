//! The pairs proof: a crate with a call for every pair of a phase and a transition is checked by the compiler, with the
//! engine that the package depends on. Part of the whole set only, because the engine is built again for it.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::kit::Setup;
use crate::pairs::{self, Subject};
use crate::project::put;
use crate::report::Wrong;

/// Checks every pair.
pub(super) fn run(setup: &Setup) -> Result<String, Wrong> {
    if std::env::var_os("CLAUDEX_TESTKIT").is_none_or(|much| much != "whole") {
        return Ok("left out: CLAUDEX_TESTKIT is not `whole`".to_owned());
    }
    let metadata = cargo(&setup.folder)
        .args(["metadata", "--format-version", "1", "--offline"])
        .output()?;
    let metadata: Json = serde_json::from_slice(&metadata.stdout)?;
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    write_crate(setup, &metadata, folder)?;
    let subject = Subject {
        machine: &setup.machine,
        file: "machine.toml".to_owned(),
        module: format!("crate::{}", setup.machine.name),
    };
    let target = path_in(&metadata, "target_directory").join("testkit");
    let (legal, illegal) = pairs::prove(&[subject], |calls, flags| {
        put(&folder.join("src/calls.rs"), calls)?;
        let mut cargo = cargo(folder);
        cargo.args(["check", "--lib", "--offline"]).args(flags);
        cargo.env("CARGO_TARGET_DIR", &target).output()
    })?;
    Ok(format!(
        "{legal} pairs of a phase and a transition compile, {illegal} do not"
    ))
}

/// Writes a crate that contains the machine and nothing else, with the package's dependencies.
fn write_crate(setup: &Setup, metadata: &Json, folder: &Path) -> Result<(), Wrong> {
    let manifest = |name: &str| -> Result<PathBuf, Wrong> {
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.find(|package| package["name"] == name);
        let package = package.ok_or_else(|| format!("`cargo metadata` names no `{name}`"))?;
        Ok(path_in(package, "manifest_path").with_file_name(""))
    };
    let manifest = format!(
        "[package]\nname = \"pairs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         claudex-loop = {{ path = {:?}, default-features = false }}\n\n[build-dependencies]\n\
         claudex-build = {{ path = {:?} }}\n",
        manifest("claudex-loop")?,
        manifest("claudex-build")?,
    );
    put(&folder.join("Cargo.toml"), &manifest)?;
    let lock = path_in(metadata, "workspace_root").join("Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock"))?;
    let build = "fn main() {\n    claudex_build::Config::new().compile(\"machine.toml\");\n}\n";
    put(&folder.join("build.rs"), build)?;
    let library = format!(
        "//! Every pair of a phase and a transition.\n#![deny(warnings)]\n#![allow(missing_docs)]\n\npub mod calls;\n\
         claudex_loop::machine!({});\n",
        setup.machine.name,
    );
    put(&folder.join("src/lib.rs"), &library)?;
    link_machine(setup, folder)?;
    Ok(())
}

/// Links the machine file and its messages.
fn link_machine(setup: &Setup, folder: &Path) -> io::Result<()> {
    let package = setup.folder.canonicalize()?;
    let messages = setup.machine.messages.as_deref();
    for path in ["machine.toml"].into_iter().chain(messages) {
        let link = folder.join(path);
        std::fs::create_dir_all(link.parent().unwrap_or(folder))?;
        symlink(package.join(path), link)?;
    }
    Ok(())
}

fn path_in(json: &Json, key: &str) -> PathBuf {
    json[key].as_str().unwrap_or_default().into()
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
