//! The plan and the task files as they were when they passed their review, so that a later change means another review.

use claudex_loop::machine::Raw;

use crate::files::Directory;

/// The name under which the digest of the plan is kept; those of tasks are kept under their numbers.
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
    format!("{PLAN}:{}", directory.plan_digest)
}

/// Returns whether the plan or a task is not what passed its review. A task that was added since then is no change.
pub fn is_changed(raw: &Raw, directory: &Directory) -> bool {
    let now = digests(directory);
    let now: Vec<(&str, &str)> = now
        .split(' ')
        .filter_map(|one| one.split_once(':'))
        .collect();
    let reviewed = raw.text("reviewed");
    let mut reviewed = reviewed.split(' ').filter_map(|one| one.split_once(':'));
    reviewed.any(|(name, digest)| {
        now.iter()
            .any(|(known, now)| *known == name && *now != digest)
    })
}
