//! The npm packages: a thin one that people name, with the marketplace and a script for each program, and one a platform with the programs. npm
//! installs of those the one that fits (`os`, `cpu`); nothing is run or loaded at installation.

use std::path::Path;

use miette::IntoDiagnostic as _;
use minijinja::{Environment, context};
use serde_json::{Value, json};

use super::VERSION;
use super::layout::Marketplace;
use super::platform::{PLATFORMS, Platform};
use super::tree::Tree;

/// The scope of the packages with the programs.
const SCOPE: &str = "@claudex-loop";
/// What stands for a program in the thin package.
const SCRIPT: &str = include_str!("npm-program.sh");

/// Returns the thin package and that of this platform, each with the name that `npm pack` would give it.
pub(super) fn packages(
    root: &Path,
    marketplace: &Marketplace,
    platform: Platform,
    programs: &Path,
    licences: String,
) -> miette::Result<[(String, Tree); 2]> {
    let names = marketplace.programs();
    let bin: Value = names
        .iter()
        .map(|name| (name.clone(), json!(format!("bin/{name}"))))
        .collect();

    let mut thin = Tree::new("package");
    marketplace.put(root, &mut thin)?;
    thin.copy(&root.join("docs/install.md"), "README.md")?;
    let all: Vec<_> = PLATFORMS
        .iter()
        .map(|one| context! { uname => one.uname.replace('-', " "), package => one.package() })
        .collect();
    let script = Environment::new()
        .render_str(SCRIPT, context! { platforms => all, scope => SCOPE })
        .into_diagnostic()?;
    for name in &names {
        thin.put(
            &format!("bin/{name}"),
            format!("{script}\n").into_bytes(),
            true,
        );
    }
    let mut about = about(
        "claudex-loop",
        "A loop engine for coding agents, and its plugins for Claude Code",
    );
    about["bin"] = bin;
    about["os"] = json!(["linux", "darwin"]);
    about["optionalDependencies"] = PLATFORMS
        .iter()
        .map(|one| (format!("{SCOPE}/{}", one.package()), json!(VERSION)))
        .collect();
    thin.text("package.json", format!("{about:#}\n"));

    let mut native = Tree::new("package");
    let package = platform.package();
    for name in &names {
        native.copy(&programs.join(name), &format!("bin/{name}"))?;
    }
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        native.copy(&root.join(file), file)?;
    }
    native.text("THIRD-PARTY.txt", licences);
    let description = format!("The programs of claudex-loop for {package}");
    native.text(
        "README.md",
        format!("{description}. Install `claudex-loop`.\n"),
    );
    let mut about = self::about(&format!("{SCOPE}/{package}"), &description);
    about["os"] = json!([platform.npm.0]);
    about["cpu"] = json!([platform.npm.1]);
    native.text("package.json", format!("{about:#}\n"));

    Ok([
        (format!("claudex-loop-{VERSION}.tgz"), thin),
        (format!("claudex-loop-{package}-{VERSION}.tgz"), native),
    ])
}

/// What every package says of itself.
fn about(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "version": VERSION,
        "description": description,
        "license": env!("CARGO_PKG_LICENSE"),
        "repository": { "type": "git", "url": concat!("git+", env!("CARGO_PKG_REPOSITORY"), ".git") },
    })
}
