//! The clients that `tests/e2e/clients.toml` pins. npm installs each version once, into a folder of
//! its own below `target/e2e/clients`.

use std::path::{Path, PathBuf};
use std::process::Command;

use miette::{Context as _, IntoDiagnostic as _, miette};
use serde::Deserialize;

use super::report;
use super::scenario::Age;

/// The pinned versions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Pins {
    claude_code: ClaudeCode,
    pub(super) codex: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaudeCode {
    oldest: String,
    newest: String,
}

impl Pins {
    /// Reads the pins from the suite's folder.
    pub(super) fn read(suite: &Path) -> miette::Result<Self> {
        let path = suite.join("clients.toml");
        let text = fs_err::read_to_string(&path).into_diagnostic()?;
        toml::from_str(&text).map_err(|error| miette!("{}: {error}", path.display()))
    }

    /// Returns the version of Claude Code.
    pub(super) fn claude_code(&self, age: Age) -> &str {
        match age {
            Age::Oldest => &self.claude_code.oldest,
            Age::Newest => &self.claude_code.newest,
        }
    }
}

/// Returns Claude Code of this version, and installs it if it is missing.
pub(super) fn claude_code(target: &Path, version: &str) -> miette::Result<PathBuf> {
    let modules = install(target, "@anthropic-ai/claude-code", version)?;
    Ok(modules.join(".bin/claude"))
}

/// Returns the native program of Codex, without npm's wrapper, and installs it if it is missing.
pub(super) fn codex(target: &Path, version: &str) -> miette::Result<PathBuf> {
    let scope = install(target, "@openai/codex", version)?.join("@openai");
    for platform in fs_err::read_dir(&scope).into_diagnostic()?.flatten() {
        let vendor = fs_err::read_dir(platform.path().join("vendor"));
        for target in vendor.into_iter().flatten().flatten() {
            let program = target.path().join("bin/codex");
            if program.is_file() {
                return Ok(program);
            }
        }
    }
    Err(miette!("no native codex below {}", scope.display()))
}

/// Returns the `node_modules` of a package. They are moved to their place when they are complete.
fn install(target: &Path, package: &str, version: &str) -> miette::Result<PathBuf> {
    let clients = target.join("e2e/clients");
    let name = package.rsplit('/').next().unwrap_or(package);
    let folder = clients.join(format!("{name}-{version}"));
    let modules = folder.join("node_modules");
    if modules.is_dir() {
        return Ok(modules);
    }
    let unfinished = clients.join(format!(".{name}-{version}"));
    fs_err::create_dir_all(&unfinished).into_diagnostic()?;
    report::print_note(&format!(
        "installing {package} {version} (a few hundred MB)"
    ));
    let output = Command::new("npm")
        .args("install --no-save --no-audit --no-fund --prefix".split(' '))
        .arg(&unfinished)
        .arg(format!("{package}@{version}"))
        .output()
        .into_diagnostic()
        .wrap_err("cannot run npm")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(miette!("npm cannot install {package} {version}: {message}"));
    }
    fs_err::rename(&unfinished, &folder).into_diagnostic()?;
    Ok(modules)
}
