//! The patches that reviewers proposed, each tried against the current work tree. Nothing is
//! applied.

use claudex_loop::review::worktree::{OwnFiles, Snapshot, file_name};
use claudex_loop::store::Store;
use serde_json::{Value as Json, json};

/// The patches of all rounds.
#[derive(Debug)]
pub(super) struct Fixes {
    /// The facts about each, as the template names them.
    pub(super) all: Vec<Json>,
    /// The id of the tree that they were tried against.
    pub(super) tree: Option<String>,
}

impl Fixes {
    /// Tries the patches of all findings, and puts the number of each, from 1, in its place.
    pub(super) fn try_all(store: &Store, rounds: &mut [Json]) -> Self {
        let mut all = Vec::new();
        let mut snapshot = None;
        for round in rounds {
            let number = round["round"].clone();
            for finding in round["findings"].as_array_mut().into_iter().flatten() {
                let patch = finding["patch"].take();
                let Some(patch) = patch.as_str().filter(|patch| !patch.trim().is_empty()) else {
                    continue;
                };

                let snapshot = snapshot.get_or_insert_with(|| {
                    let own = OwnFiles::in_store(store, store.root());
                    Snapshot::take(store.root(), &own, None)
                });
                let problem = match snapshot {
                    Ok(snapshot) => snapshot.applies(patch).err(),
                    Err(error) => Some(format!("it could not be tried: {error}")),
                };
                let shown = visible_patch(patch);
                finding["patch"] = json!(all.len() + 1);
                all.push(json!({
                    "number": finding["patch"],
                    "round": number,
                    "place": finding["place"],
                    "what": finding["what"],
                    "problem": problem,
                    "altered": shown != patch.trim_end_matches('\n'),
                    "fence": fence(&shown),
                    "patch": shown,
                }));
            }
        }
        let snapshot = snapshot.and_then(Result::ok);
        Self {
            all,
            tree: snapshot.map(|snapshot| snapshot.tree().to_owned()),
        }
    }

    /// Returns how many apply.
    pub(super) fn applying(&self) -> usize {
        self.all
            .iter()
            .filter(|fix| fix["problem"].is_null())
            .count()
    }
}

/// Returns a patch as the report shows it, with hidden characters spelled out. The findings' JSON
/// has the patch itself.
fn visible_patch(patch: &str) -> String {
    let lines = patch.split_inclusive('\n').map(file_name::visible);
    let shown = lines.collect::<String>().replace("\r\n", "\n");
    shown.trim_end_matches('\n').to_owned()
}

/// Returns a fence that no line of the text closes.
fn fence(text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patch_fence_stays_open_and_characters_are_visible() {
        assert_eq!(fence("+a\n"), "```");
        assert_eq!(fence("+````` x\n"), "``````");
        assert_eq!(
            visible_patch("+a\r\n+b\u{202e}\u{1b}c\r\n"),
            "+a\n+b<U+202E><U+001B>c"
        );
    }
}
