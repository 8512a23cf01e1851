//! The plan and the task files that passed: a later change means another review.

use claudex_loop::machine::Raw;

use crate::files::Directory;

/// The name of the plan's digest. The digest of a task has the task's number as its name.
const PLAN: &str = "plan";

/// Returns the digests of the plan and of its tasks, for the field `reviewed`.
pub fn digests(directory: &Directory) -> String {
    let mut all = vec![plan(directory)];
    let digest = |id: u64| Some(format!("{id}:{}", directory.task(id)?.digest()));
    all.extend(directory.active().filter_map(digest));
    all.join(" ")
}

/// Returns the digest of the plan, for the field `reviewed`.
pub fn plan(directory: &Directory) -> String {
    format!("{PLAN}:{}", directory.plan_digest())
}

/// Returns whether the plan or a task is not what passed its review. A new task is no change.
pub fn is_changed(raw: &Raw, directory: &Directory) -> bool {
    let current = digests(directory);
    let current: Vec<(&str, &str)> = entries(&current).collect();
    let reviewed = raw.text("reviewed");
    entries(&reviewed).any(|(name, digest)| {
        let now = current.iter().find(|(known, _)| *known == name);
        now.is_some_and(|(_, now)| *now != digest)
    })
}

/// Returns the names and digests of a text.
fn entries(digests: &str) -> impl Iterator<Item = (&str, &str)> {
    digests.split(' ').filter_map(|one| one.split_once(':'))
}
