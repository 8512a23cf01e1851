//! Finding state folders, and the project of each.
use super::*;
use crate::plan::INFO;

const FOLDER: &str = ".claude/claudex";

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let made = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(made.path().canonicalize().unwrap()).unwrap();
    (made, path)
}

fn make(folder: &Utf8Path) {
    std::fs::create_dir_all(folder).unwrap();
}

/// Returns a state whose folder has this name.
fn state_in(folder: &str) -> &'static StateSpec {
    Box::leak(Box::new(StateSpec {
        folder: folder.to_owned().leak(),
        folder_env: None,
        ..*INFO.state
    }))
}

#[test]
fn folders_above_are_found_once_each() {
    let (_kept, top) = folder();
    let deep = top.join("a b/é/c");
    let below = deep.join("d");
    make(&top.join(FOLDER));
    make(&deep.join(FOLDER));
    make(&below);
    std::os::unix::fs::symlink(&deep, top.join("link")).unwrap();
    let starts = vec![
        below.clone(),
        top.clone(),
        top.join("link"),
        top.join("none"),
    ];
    let found = StateFolders::find(state_in(FOLDER), starts).stores;
    let roots: Vec<_> = found
        .iter()
        .map(|store| store.root().to_owned())
        .filter(|root| root.starts_with(&top))
        .collect();
    assert_eq!(roots, [deep, top]);
    let elsewhere = StateFolders::find(state_in("elsewhere"), vec![below.clone()]);
    assert!(elsewhere.stores.is_empty());
    assert!(!below.join(".claude").exists(), "creates nothing");
}

#[test]
fn stop_names_the_limit_of_folders() {
    let (_kept, top) = folder();
    let mut deep = top;
    for _ in 0..MAX_FOLDERS {
        deep.push("a");
        make(&deep.join(FOLDER));
    }
    let folders = StateFolders::find(state_in(FOLDER), vec![deep]);
    let note = folders.find_for_stop(INFO, None).unwrap_err();
    assert!(note.contains("only the nearest were searched"), "{note}");
}

#[test]
fn absolute_folder_is_one_for_all() {
    let (_kept, top) = folder();
    let folder = top.join("state");
    let project = top.join("p");
    make(&folder);
    make(&project.join(".git"));
    make(&project.join("q"));
    let state = state_in(folder.as_str());
    let mut found = StateFolders::find(state, vec![project.join("q"), top]).stores;
    assert_eq!(found.len(), 1);
    found.push(for_start(state, &project.join("q")));
    for store in found {
        assert_eq!(store.folder(), folder);
        assert_eq!(store.root(), project);
    }
}

#[test]
fn start_belongs_at_the_git_top_level() {
    let (_kept, top) = folder();
    let deep = top.join("p/q/r");
    make(&deep);
    let state = state_in(FOLDER);
    assert_eq!(for_start(state, &deep).folder(), deep.join(FOLDER));
    std::fs::write(top.join("p/.git"), "gitdir: elsewhere\n").unwrap();
    let store = for_start(state, &deep);
    assert_eq!(store.root(), top.join("p"));
    assert!(!store.folder().exists());
}

#[test]
fn real_path_follows_symlinks() {
    let (_kept, root) = folder();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(root.join(target), root.join(name)).unwrap();
    };
    std::fs::create_dir(root.join("real")).unwrap();
    link("real", "link");
    link("gone", "dangling");
    assert_eq!(
        real_path(&root.join("link/new/a.md")),
        Some(root.join("real/new/a.md"))
    );
    assert_eq!(real_path(&root.join("dangling")), None);
    assert_eq!(real_path(&root.join("real/../PLAN.md")), None);
    assert_eq!(real_path(Utf8Path::new("PLAN.md")), None);
}
