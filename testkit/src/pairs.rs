//! The pairs proof: for every pair of a phase and a transition, an edge compiles, and any other pair does not. The
//! compiler's message then names the phase, and the phases in which the transition is legal.
//!
//! The calls are written as a module with a function of one line for each pair.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, io};

use claudex_build::model::Machine;
use serde_json::Value as Json;

use crate::project::put;
use crate::report::{Wrong, ensure};
use crate::walk::{Walk, list, text};

/// The file with the calls, in the crate's folder.
const CALLS: &str = "src/calls.rs";
const HEAD: &str =
    "//! One call per line.\n#[allow(dead_code)]\nfn any<T>() -> T { std::process::abort() }\n";
const BUILD: &str = "fn main() {
    claudex_build::Config::new().compile(\"machine.toml\");
}
";

/// A machine whose generated code is a module of some crate.
#[derive(Debug)]
pub struct Subject<'m> {
    /// The machine.
    pub machine: &'m Machine,
    /// The path of the module: `crate::release_train`.
    pub module: String,
}

/// A phase and a transition.
struct Pair {
    is_edge: bool,
    /// The function that makes the call, without its name.
    call: String,
    transition: String,
    /// The type of the phase.
    phase: String,
}

/// Checks every pair in a crate. `check` writes the first text as its `src/calls.rs`, and runs `cargo check --lib` with these
/// flags. Returns how many pairs compile, and how many do not.
///
/// # Errors
/// Returns an error if cargo cannot run, or else the errors of the compiler that are missing or too many.
pub fn prove(
    subjects: &[Subject<'_>],
    check: impl Fn(&str, &[&str]) -> io::Result<Output>,
) -> Result<(usize, usize), Wrong> {
    let pairs = subjects.iter().flat_map(Subject::pairs);
    let (edges, others): (Vec<_>, Vec<_>) = pairs.partition(|pair| pair.is_edge);
    let calls = |pairs: &[Pair]| {
        let mut text = HEAD.to_owned();
        for (at, pair) in pairs.iter().enumerate() {
            text += &format!("pub fn pair_{at}{}\n", pair.call);
        }
        text
    };
    let clean = check(&calls(&edges), &[])?;
    ensure!(
        clean.status.success(),
        "not every edge compiles without a warning:\n{}",
        String::from_utf8_lossy(&clean.stderr)
    );

    let checked = check(&calls(&others), &["--message-format=json"])?;
    let mut errors = errors(&String::from_utf8_lossy(&checked.stdout));
    let mut wrong = Vec::new();
    for (pair, line) in others.iter().zip(HEAD.lines().count() as u64 + 1..) {
        let found = errors.remove(&Some(line)).unwrap_or_default();
        if found.len() != 1 || !pair.is_refused_by(&found[0]) {
            wrong.push(format!(
                "expected `{}` not to be legal in `{}`, found {found:?}",
                pair.transition, pair.phase
            ));
        }
    }
    for error in errors.values().flatten() {
        wrong.push(format!("an error that belongs to no pair: {error}"));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok((edges.len(), others.len()))
}

impl Subject<'_> {
    fn pairs(&self) -> Vec<Pair> {
        let module = &self.module;
        let edges = self.machine.edges();
        let mut pairs = Vec::new();
        for entry in self.machine.first_entries() {
            let name = entry.name.as_str();
            let parameters = entry.args.len() + usize::from(entry.requires.is_some());
            let any = vec!["any()"; parameters].join(", ");
            for (at, phase) in self.machine.phases.iter().enumerate() {
                let phase = type_of(&phase.name);
                pairs.push(Pair {
                    is_edge: edges
                        .iter()
                        .any(|edge| edge.from == at && edge.declared.name == entry.name),
                    call: format!(
                        "(held: {module}::Loop<{module}::r#{phase}>) {{ let _ = held.r#{name}({any}); }}"
                    ),
                    transition: name.to_owned(),
                    phase,
                });
            }
        }
        pairs
    }
}

impl Pair {
    fn is_refused_by(&self, error: &Json) -> bool {
        let start = format!("`{}` is not legal in phase `", self.transition);
        let path = text(&error["message"]).strip_prefix(&start);
        let phase = path.and_then(|path| path.trim_end_matches('`').rsplit([':', '#']).next());
        error["code"]["code"] == "E0277"
            && phase == Some(&self.phase)
            && list(&error["children"]).any(|note| text(&note["message"]).starts_with("legal in: "))
    }
}

/// Returns the errors in cargo's messages by their line of the calls; `None`: of another file.
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
            let line = span["line_start"]
                .as_u64()
                .filter(|_| span["file_name"] == CALLS);
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

/// Checks every pair in a crate of the machine and nothing else, with the engine that the package depends on. Part of the
/// whole set only, because the engine is built again for it.
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    if std::env::var_os("CLAUDEX_TESTKIT").is_none_or(|much| much != "whole") {
        return Ok("left out: CLAUDEX_TESTKIT is not `whole`".to_owned());
    }
    let name = &*walk.machine.name;
    let package = walk.kit.file.with_file_name(".").canonicalize()?;
    let metadata = cargo(&package)
        .args(["metadata", "--format-version", "1", "--offline"])
        .output()?;
    let metadata: Json = serde_json::from_slice(&metadata.stdout)?;
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path();
    let path_of = |name: &str| -> Result<PathBuf, Wrong> {
        let found = list(&metadata["packages"])
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
