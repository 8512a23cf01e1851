//! Writes a plugin's folder. Files of other names in it stay unchanged.

use std::io;

use camino::Utf8Path;

use super::Files;
use crate::files::Folder;
use crate::program::exit::{Exit, Failure};
use crate::text;

/// The file that marks a plugin's folder.
pub(super) const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Writes the files into a folder that is new, empty or a plugin's.
pub(super) fn write(dir: &Utf8Path, files: &Files) -> Result<(), Failure> {
    let has_files = fs_err::read_dir(dir).is_ok_and(|mut found| found.next().is_some());
    if has_files && !dir.join(MANIFEST).is_file() {
        let folder = text::printable(dir);
        let message = format!("{folder} has files and is not a plugin’s; nothing was written");
        let help = "give a new folder, or move the files away";
        return Err(Failure::refuse(message, help));
    }
    let write_files = || -> io::Result<()> {
        fs_err::create_dir_all(dir)?;
        let folder = Folder::open(dir)?;
        for (path, text) in files {
            let (below, name) = path.rsplit_once('/').unwrap_or(("", path));
            let is_script = text.starts_with("#!");
            let prepared = folder.make_subfolder(below)?.prepare(text.as_bytes())?;
            prepared.set_mode(if is_script { 0o755 } else { 0o644 })?;
            prepared.rename(name)?;
        }
        Ok(())
    };
    write_files().map_err(|error| {
        let message = format!("cannot write the plugin: {error}");
        let help = "make the folder writable, or give another one";
        Failure::with_help(Exit::Internal, message, help)
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use camino::Utf8PathBuf;

    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let made = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(made.path().to_owned()).unwrap();
        (made, path)
    }

    fn files(all: &[(&str, &str)]) -> Files {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        all.iter().map(owned).collect()
    }

    #[test]
    fn second_write_replaces_its_files() {
        let (_kept, folder) = folder();
        let dir = folder.join("a new\" one/plugin");
        let first = [
            (MANIFEST, "{}"),
            ("bin/it", "#!/bin/sh\n"),
            ("README.md", "one"),
        ];
        write(&dir, &files(&first)).unwrap();
        fs_err::write(dir.join("tests.sh"), "the user's").unwrap();
        let second = [("bin/it", "#!/bin/sh\n:\n"), ("README.md", "two")];
        write(&dir, &files(&second)).unwrap();
        let text = |name: &str| fs_err::read_to_string(dir.join(name)).unwrap();
        assert_eq!(text("README.md"), "two");
        assert_eq!(text("tests.sh"), "the user's");
        let mode = |name: &str| dir.join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("bin/it"), 0o755);
        assert_eq!(mode("README.md"), 0o644);
    }

    #[test]
    fn folder_of_other_files_is_left_alone() {
        let (_kept, dir) = folder();
        fs_err::write(dir.join("README.md"), "the user's").unwrap();
        let all = files(&[("bin/it", "#!/bin/sh\n"), ("README.md", "ours")]);
        assert_eq!(write(&dir, &all).unwrap_err().exit, Exit::Refused);
        assert!(!dir.join("bin").exists());
    }

    #[test]
    fn nothing_is_written_through_link() {
        let (_kept, folder) = folder();
        let dir = folder.join("plugin");
        write(&dir, &files(&[(MANIFEST, "{}")])).unwrap();
        let elsewhere = folder.join("elsewhere");
        fs_err::create_dir_all(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, dir.join("bin")).unwrap();
        assert!(write(&dir, &files(&[("bin/it", "x")])).is_err());
        assert_eq!(fs_err::read_dir(elsewhere).unwrap().count(), 0);
    }
}
