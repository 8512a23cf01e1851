//! Stale plugin files: the committed plugin is compared with the one that the program writes now.

use crate::report::{Wrong, ensure};
use crate::walk::Walk;

/// Writes the plugin again and compares it. Files that a user put beside the written ones are not compared.
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    let Some(committed) = &walk.kit.plugin else {
        return Ok("left out: `Kit::plugin` names no folder".to_owned());
    };
    let project = &walk.project;
    let written = project.root().join("a \"new\" plugin");
    let output = project.person(&["plugin", "write", &written.to_string_lossy()])?;
    ensure!(
        output.code == Some(0),
        "the plugin cannot be written: {output}"
    );
    let compare = ["diff", "--no-index", "--name-only", "--diff-filter=d", "--"];
    let mut git = project.tool("git");
    git.args(compare)
        .arg(committed.canonicalize()?)
        .arg(written);
    let stale = String::from_utf8(git.output()?.stdout)?;
    ensure!(
        stale.is_empty(),
        "stale, since the machine or a text of it has changed: {stale}"
    );
    Ok("the files are as the program writes them".to_owned())
}
