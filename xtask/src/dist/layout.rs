//! The release archive: a marketplace whose plugins contain their programs, and the programs alone.
//!
//! Its folder has no version in its name, because the client knows a marketplace by its path.

use std::path::Path;

use miette::{IntoDiagnostic as _, miette};
use serde_json::Value;

use super::platform::Platform;
use super::tree::Tree;

/// The list of the marketplace.
const LIST: &str = ".claude-plugin/marketplace.json";

/// The marketplace without its examples.
#[derive(Debug)]
pub(super) struct Marketplace {
    list: Value,
    /// The folder of each plugin, and the program that its launcher looks for.
    plugins: Vec<(String, String)>,
}

impl Marketplace {
    /// Reads the marketplace of the repository.
    pub(super) fn read(root: &Path) -> miette::Result<Self> {
        let text = fs_err::read_to_string(root.join(LIST)).into_diagnostic()?;
        let mut list: Value = serde_json::from_str(&text).into_diagnostic()?;
        let listed = list["plugins"]
            .as_array_mut()
            .ok_or_else(|| miette!("{LIST} has no list `plugins`"))?;
        let folder = |plugin: &Value| {
            let source = plugin["source"].as_str()?.strip_prefix("./")?;
            (!source.starts_with("examples/")).then(|| source.to_owned())
        };
        listed.retain(|plugin| folder(plugin).is_some());
        let mut plugins = Vec::new();
        for folder in listed.iter().filter_map(folder) {
            let program = find_launcher(&root.join(&folder).join("bin"))?;
            plugins.push((folder, program));
        }
        Ok(Self { list, plugins })
    }

    /// Returns the names of the programs.
    pub(super) fn programs(&self) -> Vec<String> {
        let plugins = self.plugins.iter();
        plugins.map(|(_, program)| program.clone()).collect()
    }
}

/// Returns the name of the one file in a plugin's `bin/`.
fn find_launcher(bin: &Path) -> miette::Result<String> {
    let entries = fs_err::read_dir(bin).into_diagnostic()?.flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let names: Vec<_> = files.map(|entry| entry.file_name()).collect();
    match names.as_slice() {
        [name] => Ok(name.to_string_lossy().into_owned()),
        _ => Err(miette!(
            "{}: expected one launcher, found {names:?}",
            bin.display()
        )),
    }
}

/// Returns the files of the archive. `programs` is the folder with the programs.
pub(super) fn archive(
    root: &Path,
    marketplace: &Marketplace,
    platform: Platform,
    programs: &Path,
    licences: String,
) -> miette::Result<Tree> {
    let mut tree = Tree::new("claudex-loop");
    tree.text(LIST, format!("{:#}\n", marketplace.list));
    for file in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        tree.copy(&root.join(file), file)?;
    }
    tree.copy(&root.join("docs/install.md"), "README.md")?;
    tree.text("THIRD-PARTY.txt", licences);
    for (folder, program) in &marketplace.plugins {
        tree.copy(&root.join(folder), folder)?;
        let path = format!("bin/{program}");
        tree.copy(&programs.join(program), &path)?;
        tree.link(&format!("{folder}/bin/{}/{program}", platform.uname), &path);
    }
    Ok(tree)
}
