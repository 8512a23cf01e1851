//! The pinned clients: `tests/e2e/clients.toml` names them, npm installs each version once, into a folder of its own below
//! `target/e2e/clients`.

use std::path::{Path, PathBuf};
use std::process::Command;

use miette::{Context as _, IntoDiagnostic as _, miette};
use serde::Deserialize;

use super::report;
use super::scenario::Age;

const CLAUDE_CODE: &str = "@anthropic-ai/claude-code";
const CODEX: &str = "@openai/codex";

/// The versions that the suite is played with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Pins {
    claude_code: ClaudeCode,
    codex: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaudeCode {
    oldest: String,
    newest: String,
}

/// Where the installed programs are.
#[derive(Debug, Clone)]
pub(super) struct Clients {
    folder: PathBuf,
}

impl Pins {
    /// Reads them from the suite's folder.
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

    /// Returns the version of Codex.
    pub(super) fn codex(&self) -> &str {
        &self.codex
    }
}

impl Clients {
    /// Returns the clients below `target`, the folder that cargo builds in.
    pub(super) fn below(target: &Path) -> Self {
        Self {
            folder: target.join("e2e/clients"),
        }
    }

    /// Claude Code of this version, installed first where it is not there.
    pub(super) fn claude_code(&self, version: &str) -> miette::Result<PathBuf> {
        let modules = self.installed(CLAUDE_CODE, version)?;
        // Its own installation script puts the native program here; older versions have a script for node.
        Ok(modules.join(".bin/claude"))
    }

    /// Codex of this version: the native program, since npm's wrapper around it needs node.
    pub(super) fn codex(&self, version: &str) -> miette::Result<PathBuf> {
        let modules = self.installed(CODEX, version)?;
        let scope = modules.join("@openai");
        for platform in fs_err::read_dir(&scope).into_diagnostic()?.flatten() {
            let Ok(targets) = fs_err::read_dir(platform.path().join("vendor")) else {
                continue;
            };
            for target in targets.flatten() {
                let program = target.path().join("bin/codex");
                if program.is_file() {
                    return Ok(program);
                }
            }
        }
        Err(miette!(
            help = "the package is laid out in another way than it was: look there, and mend xtask/src/e2e/clients.rs",
            "no native codex below {}",
            scope.display()
        ))
    }

    /// Returns the `node_modules` of one package of one version. It is made beside its place and moved there whole, so that
    /// what is there is complete.
    fn installed(&self, package: &str, version: &str) -> miette::Result<PathBuf> {
        let name = package.rsplit('/').next().unwrap_or(package);
        let folder = self.folder.join(format!("{name}-{version}"));
        let modules = folder.join("node_modules");
        if modules.is_dir() {
            return Ok(modules);
        }
        let unfinished = self
            .folder
            .join(format!(".{name}-{version}.{}", std::process::id()));
        fs_err::create_dir_all(&unfinished).into_diagnostic()?;
        report::note(&format!(
            "installing {package} {version} (once, a few hundred MB)"
        ));
        let output = Command::new("npm")
            .args([
                "install",
                "--no-save",
                "--no-audit",
                "--no-fund",
                "--prefix",
            ])
            .arg(&unfinished)
            .arg(format!("{package}@{version}"))
            .output()
            .into_diagnostic()
            .wrap_err("cannot run npm; install it (Debian: apt-get install npm) and try again")?;
        if !output.status.success() {
            // What an interrupted download left is of no use to the next try.
            let _ = fs_err::remove_dir_all(&unfinished);
            return Err(miette!(
                help = "is the npm registry reachable? `npm ping` says",
                "npm could not install {package} {version} ({}):\n{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        match fs_err::rename(&unfinished, &folder) {
            Ok(()) => {}
            // Another run was faster; its installation is the same.
            Err(_) if modules.is_dir() => {
                let _ = fs_err::remove_dir_all(&unfinished);
            }
            Err(error) => return Err(error).into_diagnostic(),
        }
        Ok(modules)
    }
}
