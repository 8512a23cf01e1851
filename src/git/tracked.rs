//! Which files at a place a repository's index holds.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::Utf8Path;

use super::Git;

/// Returns the files that the index of the repository at `top` holds at `place`, a file or a folder with all below it, or
/// `None` where git cannot tell within `patience`. Both are paths from the top.
///
/// The index alone is read. Where it is a sparse one git reads trees besides, those that are here: an answer with an object
/// missing is none.
pub(crate) fn tracked_at(
    top: &Utf8Path,
    place: &Utf8Path,
    patience: Duration,
) -> Option<BTreeSet<Vec<u8>>> {
    let arguments = [
        // A git before 2.31 takes no configuration from its environment.
        "-c",
        "core.fsmonitor=false",
        "--literal-pathspecs",
        "ls-files",
        "--cached",
        "-z",
        "--",
        place.as_str(),
    ];
    let answer = Git::hardened(top, patience)
        .ok()?
        .ask(&arguments, &[])
        .ok()?;
    let is_whole = answer.status == 0 && !answer.cut && !answer.stderr.contains("error:");
    is_whole.then(|| {
        let names = answer.stdout.split(|byte| *byte == 0);
        names
            .filter(|name| !name.is_empty())
            .map(<[u8]>::to_vec)
            .collect()
    })
}
