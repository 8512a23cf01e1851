//! The npm packages: `claudex-loop` with the marketplace and a script for each program, and one
//! package per platform with the programs, of which npm installs the one that fits.

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

/// The script that starts a program.
const SCRIPT: &str = include_str!("npm-program.sh");

/// Returns `claudex-loop` and the package of this platform, with the names of their files.
pub(super) fn packages(
    root: &Path,
    marketplace: &Marketplace,
    platform: Platform,
    programs: &Path,
    licences: String,
) -> miette::Result<[(String, Tree); 2]> {
    let names = marketplace.programs();
    let mut main = Tree::new("package");
    marketplace.add_to(root, &mut main)?;
    let platforms = PLATFORMS.map(|it| {
        context! { uname => it.uname.replace('-', " "), package => it.package() }
    });
    let script = Environment::new()
        .render_str(
            SCRIPT,
            context! { platforms => platforms.to_vec(), scope => SCOPE },
        )
        .into_diagnostic()?;
    let mut manifest = manifest("claudex-loop", "A loop engine for coding agents");
    for name in &names {
        let path = format!("bin/{name}");
        main.put(&path, format!("{script}\n").into_bytes(), true);
        manifest["bin"][name] = json!(path);
    }
    manifest["os"] = json!(["linux", "darwin"]);
    for platform in PLATFORMS {
        let package = format!("{SCOPE}/{}", platform.package());
        manifest["optionalDependencies"][package] = json!(VERSION);
    }
    main.text("package.json", format!("{manifest:#}\n"));

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
    let mut manifest = self::manifest(&format!("{SCOPE}/{package}"), &description);
    manifest["os"] = json!([platform.npm.0]);
    manifest["cpu"] = json!([platform.npm.1]);
    native.text("package.json", format!("{manifest:#}\n"));

    Ok([
        (format!("claudex-loop-{VERSION}.tgz"), main),
        (format!("claudex-loop-{package}-{VERSION}.tgz"), native),
    ])
}

/// Returns the keys of every package.json.
fn manifest(name: &str, description: &str) -> Value {
    let repository = concat!("git+", env!("CARGO_PKG_REPOSITORY"), ".git");
    json!({
        "name": name,
        "version": VERSION,
        "description": description,
        "license": env!("CARGO_PKG_LICENSE"),
        "repository": { "type": "git", "url": repository },
    })
}
