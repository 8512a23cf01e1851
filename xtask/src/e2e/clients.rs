//! The clients that `tests/e2e/clients.toml` pins. npm installs each version once, into a folder of
//! its own below `target/e2e/clients`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use miette::{IntoDiagnostic as _, miette};
use serde::Deserialize;

use super::scenario::{self, Age};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Pins {
    pub(super) claude_code: BTreeMap<Age, String>,
    pub(super) codex: String,
}

impl Pins {
    pub(super) fn read(suite: &Path) -> miette::Result<Self> {
        scenario::parse(&suite.join("clients.toml"))
    }
}

/// Returns Claude Code of this version, and installs it if it is missing.
pub(super) fn claude_code(target: &Path, version: &str) -> miette::Result<PathBuf> {
    Ok(install(target, "@anthropic-ai/claude-code", version)?.join(".bin/claude"))
}

/// Returns the native program of Codex, without npm's wrapper, and installs it if it is missing.
pub(super) fn codex(target: &Path, version: &str) -> miette::Result<PathBuf> {
    let scope = install(target, "@openai/codex", version)?.join("@openai");
    let mut find = Command::new("find");
    find.arg(&scope).args(["-path", "*/vendor/*/bin/codex"]);
    let found = crate::output(&mut find)?;
    let program = found.lines().next().map(PathBuf::from);
    program.ok_or_else(|| miette!("no native codex below {}", scope.display()))
}

/// Returns the `node_modules` of a package. They are moved to their place when they are complete.
fn install(target: &Path, package: &str, version: &str) -> miette::Result<PathBuf> {
    let clients = target.join("e2e/clients");
    let name = package.rsplit('/').next().unwrap_or(package);
    let folder = clients.join(format!("{name}-{version}"));
    if !folder.is_dir() {
        let unfinished = clients.join(format!(".{name}-{version}"));
        fs_err::create_dir_all(&unfinished).into_diagnostic()?;
        super::print_note(&format!(
            "installing {package} {version} (a few hundred MB)"
        ));
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund"])
            .arg("--prefix")
            .arg(&unfinished)
            .arg(format!("{package}@{version}"));
        crate::output(&mut npm)?;
        fs_err::rename(&unfinished, &folder).into_diagnostic()?;
    }
    Ok(folder.join("node_modules"))
}
