//! Finding state folders above a folder, and the place of a new one. Creates nothing.

use camino::{Utf8Path, Utf8PathBuf};

use super::spec::StateSpec;
use super::state_home::StateHome;
use super::store::Store;

/// The most state folders that are looked at. An unpacked archive with hundreds must not hold up a turn.
pub const MAX_FOLDERS: usize = 32;

/// Finds the state folders in each start and its ancestors, nearest first, each once, at most [`MAX_FOLDERS`]. One that is not
/// trusted is among them: see [`Store::refusal`].
///
/// `env_override` is the value of the spec's environment variable. If it is empty, it counts as not set. A relative path
/// replaces the spec's folder. An absolute path names one folder for all projects: the store's root is then the project of the
/// first start, which the caller compares with the root of each loop.
pub fn folders(
    spec: &'static StateSpec,
    starts: &[&Utf8Path],
    env_override: Option<&str>,
    home: &StateHome,
) -> Vec<Store> {
    let folder = named(spec, env_override);
    let mut stores: Vec<Store> = Vec::new();
    for start in starts {
        let Ok(start) = start.canonicalize_utf8() else {
            continue;
        };
        for ancestor in start.ancestors() {
            let found = state_folder(ancestor, folder);
            // This follows symlinks: a store that is refused later must not be passed over in silence.
            if !found.exists() || stores.iter().any(|store| store.folder() == found) {
                continue;
            }
            let root = if folder.is_absolute() {
                git_top(&start).unwrap_or(&start)
            } else {
                ancestor
            };
            stores.push(Store::at(found, root.to_owned(), spec, home.clone()));
            if stores.len() == MAX_FOLDERS {
                return stores;
            }
        }
    }
    stores
}

/// Returns the store for a loop that is started in `dir`: at the git top level of `dir`, or in `dir` if there is none.
pub fn for_start(
    spec: &'static StateSpec,
    dir: &Utf8Path,
    env_override: Option<&str>,
    home: &StateHome,
) -> Store {
    let dir = dir.canonicalize_utf8().unwrap_or_else(|_| dir.to_owned());
    let root: Utf8PathBuf = git_top(&dir).unwrap_or(&dir).to_owned();
    let folder = state_folder(&root, named(spec, env_override));
    Store::at(folder, root, spec, home.clone())
}

/// Returns the nearest ancestor of `folder`, itself included, that holds `.git`.
fn git_top(folder: &Utf8Path) -> Option<&Utf8Path> {
    let mut ancestors = folder.ancestors();
    ancestors.find(|ancestor| ancestor.join(".git").exists())
}

fn named<'n>(spec: &'static StateSpec, env_override: Option<&'n str>) -> &'n Utf8Path {
    let given = env_override.filter(|text| !text.is_empty());
    Utf8Path::new(given.unwrap_or(spec.folder))
}

/// Returns the state folder of a root. An absolute path is the user's own choice, so symlinks on the way to it are followed,
/// here and never again.
fn state_folder(root: &Utf8Path, named: &Utf8Path) -> Utf8PathBuf {
    if !named.is_absolute() {
        return root.join(named);
    }
    let real = |there: &Utf8Path| {
        let rest = named.strip_prefix(there).ok()?;
        Some(there.canonicalize_utf8().ok()?.join(rest))
    };
    named
        .ancestors()
        .find_map(real)
        .unwrap_or_else(|| named.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{SPEC, folder};

    fn home() -> StateHome {
        StateHome::at("/nowhere")
    }

    #[test]
    fn folders_above_are_found_once_each() {
        let (_kept, top) = folder();
        let deep = top.join("a b/é/c");
        std::fs::create_dir_all(deep.join(".claude/claudex")).unwrap();
        std::fs::create_dir_all(top.join(".claude/claudex")).unwrap();
        std::os::unix::fs::symlink(&deep, top.join("link")).unwrap();
        let below = deep.join("d");
        std::fs::create_dir(&below).unwrap();
        let found = folders(
            &SPEC,
            &[&below, &top, &top.join("link"), &top.join("none")],
            None,
            &home(),
        );
        let seen: Vec<_> = found.iter().map(|store| store.root().to_owned()).collect();
        assert_eq!(
            seen.iter()
                .filter(|root| root.starts_with(&top))
                .collect::<Vec<_>>(),
            [&deep, &top]
        );
        assert!(folders(&SPEC, &[&below], Some("elsewhere"), &home()).is_empty());
        assert!(!below.join(".claude").exists(), "creates nothing");
    }

    #[test]
    fn absolute_override_is_one_folder_for_all() {
        let (_kept, top) = folder();
        let state = top.join("state");
        std::fs::create_dir_all(&state).unwrap();
        std::fs::create_dir_all(top.join("p/.git")).unwrap();
        std::fs::create_dir_all(top.join("p/q")).unwrap();
        let found = folders(
            &SPEC,
            &[&top.join("p/q"), &top],
            Some(state.as_str()),
            &home(),
        );
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].folder(), found[0].root()),
            (&*state, &*top.join("p"))
        );
        let start = for_start(&SPEC, &top.join("p/q"), Some(state.as_str()), &home());
        assert_eq!((start.folder(), start.root()), (&*state, &*top.join("p")));
    }

    #[test]
    fn start_belongs_at_the_git_top_level() {
        let (_kept, top) = folder();
        let deep = top.join("p/q/r");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(
            for_start(&SPEC, &deep, None, &home()).folder(),
            deep.join(".claude/claudex")
        );
        std::fs::write(top.join("p/.git"), "gitdir: elsewhere\n").unwrap();
        let store = for_start(&SPEC, &deep, Some(""), &home());
        assert_eq!(
            (store.root(), store.folder()),
            (&*top.join("p"), &*top.join("p/.claude/claudex"))
        );
        assert!(!store.folder().exists());
    }
}
