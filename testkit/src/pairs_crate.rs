//! The crate of the pairs proof: the machine and nothing else, with the engine that the package depends on. Part of the
//! whole set only, because the engine is built again for it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::pairs::{CALLS, Subject, prove};
use crate::project::put;
use crate::report::Wrong;
use crate::walk::{Walk, text};

const BUILD: &str = "fn main() {
    claudex_build::Config::new().compile(\"machine.toml\");
}
";

/// Checks every pair.
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    if std::env::var_os("CLAUDEX_TESTKIT").is_none_or(|much| much != "whole") {
        return Ok("left out: CLAUDEX_TESTKIT is not `whole`".to_owned());
    }
    let name = &walk.machine.name.value;
    let package = walk.kit.file.with_file_name(".").canonicalize()?;
    let metadata = cargo(&package)
        .args(["metadata", "--format-version", "1", "--offline"])
        .output()?;
    let metadata: Json = serde_json::from_slice(&metadata.stdout)?;
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path();
    let path_of = |name: &str| -> Result<PathBuf, Wrong> {
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let found = packages
            .find(|package| package["name"] == name)
            .ok_or_else(|| format!("`cargo metadata` names no `{name}`"))?;
        Ok(Path::new(text(&found["manifest_path"])).with_file_name(""))
    };
    let manifest = format!(
        "[package]\nname = \"pairs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nclaudex-loop = {{ path = {:?}, default-features = false }}\n\n\
         [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
        path_of("claudex-loop")?,
        path_of("claudex-build")?
    );
    let library = format!(
        "//! Every pair.\n#![deny(warnings)]\n#![allow(missing_docs)]\n\npub mod calls;\nclaudex_loop::machine!({name});\n"
    );
    put(&folder.join("Cargo.toml"), &manifest)?;
    put(&folder.join("build.rs"), BUILD)?;
    put(&folder.join("src/lib.rs"), &library)?;
    let lock = Path::new(text(&metadata["workspace_root"])).join("Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock"))?;
    let messages = walk.json["messages"].as_str();
    for path in ["machine.toml"].into_iter().chain(messages) {
        let link = folder.join(path.trim_matches('/'));
        fs::create_dir_all(link.with_file_name(""))?;
        symlink(package.join(path), link)?;
    }

    let subject = Subject {
        machine: &walk.machine,
        source: &walk.source,
        file: "machine.toml".to_owned(),
        module: format!("crate::{name}"),
    };
    let target = Path::new(text(&metadata["target_directory"])).join("testkit");
    let (edges, others) = prove(&[subject], |calls, flags| {
        put(&folder.join(CALLS), calls)?;
        let mut cargo = cargo(folder);
        cargo.args(["check", "--lib", "--offline"]).args(flags);
        cargo.env("CARGO_TARGET_DIR", &target).output()
    })?;
    Ok(format!(
        "{edges} pairs of a phase and a transition compile, {others} do not"
    ))
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
