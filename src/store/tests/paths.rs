//! The room reaches its files by descriptors that are held, never by a path that could lead through a symlink.

use camino::Utf8Path;

/// Lists what takes a path: of `std`, of `fs-err` and of `camino`.
const BY_PATH: [&str; 16] = [
    "fs_err",
    "std::fs::read",
    "std::fs::write",
    "std::fs::remove",
    "std::fs::rename",
    "std::fs::create",
    "std::fs::symlink",
    "File::open",
    "File::create",
    "OpenOptions",
    ".canonicalize",
    ".symlink_metadata(",
    ".read_dir",
    ".is_symlink()",
    ".is_dir()",
    ".exists()",
];
/// Lists the files that look for the project and for git, before any folder of ours is opened.
const BEFORE: [&str; 2] = ["locate.rs", "tracked.rs"];

#[test]
fn no_file_of_the_room_is_reached_by_a_path() {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
    let mut looked_at = 0;
    for entry in folder.read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if !name.ends_with(".rs") || BEFORE.contains(&name) || name.starts_with("test") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let code = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        for (at, line) in code.lines().enumerate() {
            let found = BY_PATH.iter().find(|call| line.contains(*call));
            assert_eq!(found, None, "{name}:{}: use a `Folder`: {line}", at + 1);
        }
        looked_at += 1;
    }
    assert!(looked_at > 15, "{looked_at} files were looked at");
}
