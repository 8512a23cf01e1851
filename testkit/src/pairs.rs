//! The pairs proof: every edge of a phase and a transition compiles, and no other pair does. The
//! compiler's message then names the phase, and the phases in which the transition is legal.
//!
//! The calls are written as a module with a function of one line for each pair.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, io};

use anyhow::{Context as _, Result, ensure};
use claudex_build::model::Machine;
use serde_json::Value as Json;

use crate::project::put;
use crate::walk::{Walk, list, text};

const CALLS: &str = "src/calls.rs";
const HEAD: &str =
    "//! One call per line.\n#[allow(dead_code)]\nfn any<T>() -> T { std::process::abort() }\n";

/// Checks every pair of some machines, each with the path of its module, such as
/// `crate::release_train`. `check` writes the text as `src/calls.rs` of a crate, and runs
/// `cargo check --lib` with these flags. Returns how many pairs compile, and how many do not.
///
/// # Errors
/// Returns an error if cargo cannot run, or if a compiler error is missing or belongs to no pair.
pub fn prove(
    machines: &[(&Machine, String)],
    check: impl Fn(&str, &[&str]) -> io::Result<Output>,
) -> Result<(usize, usize)> {
    let mut legal_calls = HEAD.to_owned();
    let mut other_calls = HEAD.to_owned();
    // The transition and the type of the phase, in the order of the calls.
    let mut others = Vec::new();
    let mut edge_count = 0;
    for (machine, module) in machines {
        let edges = machine.edges();
        for entry in machine.first_entries() {
            let name = entry.name.as_str();
            let parameters = entry.args.len() + usize::from(entry.requires.is_some());
            let any = vec!["any()"; parameters].join(", ");
            for (at, phase) in machine.phases.iter().enumerate() {
                let phase = type_of(&phase.name);
                let number = edge_count + others.len();
                let call = format!(
                    "pub fn pair_{number}(held: {module}::Loop<{module}::r#{phase}>) {{ let _ = held.r#{name}({any}); }}\n"
                );
                let mut edges = edges.iter().filter(|edge| edge.from == at);
                if edges.any(|edge| edge.declared.name == entry.name) {
                    legal_calls += &call;
                    edge_count += 1;
                } else {
                    other_calls += &call;
                    others.push((name, phase));
                }
            }
        }
    }
    let clean = check(&legal_calls, &[])?;
    ensure!(
        clean.status.success(),
        "not every edge compiles without a warning:\n{}",
        String::from_utf8_lossy(&clean.stderr)
    );

    let checked = check(&other_calls, &["--message-format=json"])?;
    let mut errors = errors(&String::from_utf8_lossy(&checked.stdout));
    for ((transition, phase), line) in others.iter().zip(HEAD.lines().count() as u64 + 1..) {
        let found = errors.remove(&Some(line)).unwrap_or_default();
        ensure!(
            found.len() == 1 && is_refusal(&found[0], transition, phase),
            "expected `{transition}` not to be legal in `{phase}`, found {found:?}"
        );
    }
    ensure!(
        errors.is_empty(),
        "errors that belong to no pair: {errors:?}"
    );
    Ok((edge_count, others.len()))
}

/// Returns whether a compiler error names the transition, the phase, and the legal phases.
fn is_refusal(error: &Json, transition: &str, phase: &str) -> bool {
    let start = format!("`{transition}` is not legal in phase `");
    let path = text(&error["message"]).strip_prefix(&start);
    let found = path.and_then(|path| path.trim_end_matches('`').rsplit([':', '#']).next());
    error["code"]["code"] == "E0277"
        && found == Some(phase)
        && list(&error["children"]).any(|note| text(&note["message"]).starts_with("legal in: "))
}

/// Returns the errors in cargo's messages by their line of the calls, or `None` for another file.
fn errors(output: &str) -> BTreeMap<Option<u64>, Vec<Json>> {
    let mut errors: BTreeMap<_, Vec<Json>> = BTreeMap::new();
    for line in output.lines() {
        let mut event: Json = serde_json::from_str(line).unwrap_or_default();
        let message = event["message"].take();
        if event["reason"] != "compiler-message" || message["level"] != "error" {
            continue;
        }
        // "aborting due to 1160 previous errors" has no place.
        let span = list(&message["spans"]).find(|span| span["is_primary"] == true);
        if let Some(span) = span {
            let is_call = span["file_name"] == CALLS;
            let line = span["line_start"].as_u64().filter(|_| is_call);
            errors.entry(line).or_default().push(message);
        }
    }
    errors
}

/// Returns the name of the type that is generated for a phase: `MarkDone` for `mark_done`.
fn type_of(name: &str) -> String {
    let upper = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('_').map(upper).collect()
}

/// Checks every pair in a crate of the machine and nothing else, with the package's engine. Part of
/// the whole set only, because the engine is built again for it.
pub(crate) fn run(walk: &Walk) -> Result<String> {
    if std::env::var_os("CLAUDEX_TESTKIT").is_none_or(|much| much != "whole") {
        return Ok("left out: set CLAUDEX_TESTKIT=whole to run it".to_owned());
    }
    let name = &*walk.machine.name;
    let package = walk.kit.file.with_file_name(".").canonicalize()?;
    let mut rustc = Command::new("rustc");
    let host = String::from_utf8(rustc.args(["--print", "host-tuple"]).output()?.stdout)?;
    // Packages of other platforms may not be there.
    let metadata = cargo(&package)
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(["--filter-platform", host.trim()])
        .output()?;
    let complaint = String::from_utf8_lossy(&metadata.stderr);
    ensure!(metadata.status.success(), "cargo metadata: {complaint}");
    let metadata: Json = serde_json::from_slice(&metadata.stdout)?;
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path();
    let path_of = |name: &str| -> Result<PathBuf> {
        let found = list(&metadata["packages"])
            .find(|package| package["name"] == name)
            .with_context(|| format!("`cargo metadata` names no `{name}`"))?;
        Ok(Path::new(text(&found["manifest_path"])).with_file_name(""))
    };
    let manifest = format!(
        "[package]\nname = \"pairs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nclaudex-loop = {{ path = {:?}, default-features = false }}\n\n\
         [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
        path_of("claudex-loop")?,
        path_of("claudex-build")?
    );
    let file = walk.kit.file.file_name().unwrap_or_default();
    let build = format!(
        "fn main() {{\n    claudex_build::Config::new().root({package:?}).compile({file:?});\n}}\n"
    );
    let library = format!(
        "//! Every pair.\n#![deny(warnings)]\n#![allow(missing_docs)]\n\npub mod calls;\nclaudex_loop::machine!({name});\n"
    );
    put(&folder.join("Cargo.toml"), &manifest)?;
    put(&folder.join("build.rs"), &build)?;
    put(&folder.join("src/lib.rs"), &library)?;
    // The code includes the templates from the folder of its crate.
    if let Some(messages) = walk.json["messages"].as_str() {
        let link = folder.join(messages.trim_matches('/'));
        fs::create_dir_all(link.with_file_name(""))?;
        symlink(package.join(messages), link)?;
    }
    let lock = Path::new(text(&metadata["workspace_root"])).join("Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock"))?;

    let machine = (&walk.machine, format!("crate::{name}"));
    let target = Path::new(text(&metadata["target_directory"])).join("testkit");
    let (edges, others) = prove(&[machine], |calls, flags| {
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
