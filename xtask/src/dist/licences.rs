//! What the crates that are linked into the programs are licensed under, with the texts that their packages hold.
//!
//! cargo says which crates those are, and where their packages lie; `.ci/run` lists the licences that are accepted.

use std::collections::BTreeMap;
use std::path::Path;

use miette::{IntoDiagnostic as _, miette};
use serde::Deserialize;

use super::build::cargo;
use super::platform::Platform;

const HEAD: &str = "\
The programs of this release contain the crates below, each under the licence that is named with it. On Linux they contain the GNU C
Library, too (LGPL-2.1-or-later, https://www.gnu.org/software/libc/); `cargo xtask dist` in the sources of this version links
them anew with another one.
";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    repository: Option<String>,
    source: Option<String>,
    manifest_path: String,
}

/// Returns the text for a release of these programs.
pub(super) fn of_linked_crates(
    root: &Path,
    platform: Platform,
    programs: &[String],
) -> miette::Result<String> {
    let target = platform.target;
    let metadata = said(
        root,
        &[
            "metadata",
            "--format-version=1",
            "--filter-platform",
            target,
        ],
    )?;
    let metadata: Metadata = serde_json::from_str(&metadata).into_diagnostic()?;
    let mut tree = vec![
        "tree",
        "--edges=normal,no-proc-macro",
        "--prefix=none",
        "--format={p}",
        "--target",
        target,
    ];
    tree.extend(programs.iter().flat_map(|name| ["--package", name]));
    let tree = said(root, &tree)?;
    let linked: std::collections::BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?.strip_prefix('v')?))
        })
        .collect();

    let mut text = HEAD.to_owned();
    // One text of several packages stands here once.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let packages = metadata.packages.iter().filter(|package| {
        package.source.is_some()
            && linked.contains(&(package.name.as_str(), package.version.as_str()))
    });
    for package in packages {
        let name = format!("{} {}", package.name, package.version);
        let licence = package.license.as_deref().unwrap_or("see its text below");
        let repository = package.repository.as_deref().unwrap_or_default();
        text.push_str(&format!("\n{name}: {licence} {repository}"));
        for licence in texts_of(Path::new(&package.manifest_path))? {
            texts.entry(licence).or_default().push(name.clone());
        }
    }
    for (licence, packages) in texts {
        text.push_str(&format!(
            "\n\n{}\n{}\n\n{licence}",
            "-".repeat(80),
            packages.join(", ")
        ));
    }
    Ok(format!("{}\n", text.trim_end()))
}

/// The texts of licences and notices beside a manifest.
fn texts_of(manifest: &Path) -> miette::Result<Vec<String>> {
    let folder = manifest.parent().unwrap_or(manifest);
    let mut texts = Vec::new();
    for entry in fs_err::read_dir(folder).into_diagnostic()? {
        let entry = entry.into_diagnostic()?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        let is_one = ["LICENSE", "LICENCE", "COPYING", "NOTICE"]
            .iter()
            .any(|begin| name.starts_with(begin));
        if is_one && entry.file_type().into_diagnostic()?.is_file() {
            let text = fs_err::read(entry.path()).into_diagnostic()?;
            texts.push(
                String::from_utf8_lossy(&text)
                    .replace("\r\n", "\n")
                    .trim()
                    .to_owned(),
            );
        }
    }
    Ok(texts)
}

/// What cargo prints for these arguments.
fn said(root: &Path, arguments: &[&str]) -> miette::Result<String> {
    let output = cargo()
        .args(arguments)
        .arg("--locked")
        .current_dir(root)
        .output()
        .into_diagnostic()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(miette!("cargo {}: {said}", arguments.join(" ")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
