//! What a loop needs of the project's folder: that the state folder can be written, locks that hold there, and loops
//! that can be read.

use crate::files::Folder;
use crate::program::info::ProgramInfo;
use crate::program::locate;
use crate::store::{self, LockError, LoopId, RunLock, Store};
use camino::{Utf8Path, Utf8PathBuf};

use super::{Check, Problem};

/// The folder, its locks, its loops.
pub(super) fn checks(info: &'static ProgramInfo, here: &Utf8Path) -> [Check; 3] {
    let store = locate::stores(info.state, &[here])
        .into_iter()
        .next()
        .unwrap_or_else(|| locate::for_start(info.state, here));
    let folder = store.folder();
    if let Some(refusal) = store.refusal() {
        // Nothing is tried out where a symlink leads.
        let refused = || Err(Problem::of(&refusal, "see what stands there"));
        return [
            Check::required("state folder", refused()),
            Check::required("locks", refused()),
            Check::useful("loops", refused()),
        ];
    }
    // Where the folder is not there yet, its first ancestor that is lies on the same file system.
    let existing = folder
        .ancestors()
        .find(|folder| folder.is_dir())
        .unwrap_or(here);
    [
        Check::required("state folder", writable(info, folder, existing)),
        Check::required("locks", locks(info, existing)),
        Check::useful("loops", loops(info, here)),
    ]
}

/// `, or set CLAUDEX_STATE_DIR to …`, where the machine has such a variable.
fn or_set(info: &ProgramInfo, to: &str) -> String {
    match info.state.folder_env {
        Some(variable) => format!(", or set {variable} to {to}"),
        None => String::new(),
    }
}

fn scratch(existing: &Utf8Path) -> Result<(tempfile::TempDir, Utf8PathBuf), String> {
    let folder = tempfile::Builder::new()
        .prefix(".loop-doctor")
        .tempdir_in(existing)
        .map_err(|error| format!("{existing} cannot be written: {error}"))?;
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned())
        .map_err(|path| format!("{} is not UTF-8", path.display()))?;
    Ok((folder, path))
}

/// Whether files can be replaced there as the store does it.
fn writable(info: &ProgramInfo, folder: &Utf8Path, existing: &Utf8Path) -> Result<String, Problem> {
    let remedy = format!(
        "make the project's folder writable{}",
        or_set(info, "one that is")
    );
    let problem = |what: String| Problem::new(what, remedy.clone());
    let in_the_way = folder
        .ancestors()
        .take_while(|folder| *folder != existing)
        .find(|folder| {
            // A link to a folder is one; a link to nothing is in the way.
            folder.symlink_metadata().is_ok()
        });
    if let Some(file) = in_the_way {
        return Err(Problem::new(
            format!("{file} is no folder, so {folder} cannot be made"),
            format!("move that file away{}", or_set(info, "another folder")),
        ));
    }
    let (_kept, path) = scratch(existing).map_err(problem)?;
    crate::files::replace(&path.join("x.state"), b"phase: drafting\n")
        .map_err(|error| problem(format!("{path}: {error}")))?;
    let note = if folder.is_dir() {
        ""
    } else {
        " (made by the first start)"
    };
    Ok(format!("{folder}{note}"))
}

/// Whether both kinds of lock exclude and are released, on the file system that the state folder is on.
fn locks(info: &ProgramInfo, existing: &Utf8Path) -> Result<String, Problem> {
    let remedy = format!("use a local file system{}", or_set(info, "a folder on one"));
    let problem = |what: String| Problem::new(what, remedy.clone());
    let failed = |error: LockError| problem(error.to_string());
    let (_kept, path) = scratch(existing).map_err(problem)?;
    let run = Folder::open(&path).map_err(|error| problem(format!("{path}: {error}")))?;
    let run_excludes = RunLock::try_hold(&run, |_| RunLock::is_held(&run)).map_err(failed)?;
    let now = std::time::Duration::ZERO;
    let second =
        store::with_lock(&path, now, |_| store::with_lock(&path, now, |_| ())).map_err(failed)?;
    let project_excludes = matches!(second, Err(LockError::TimedOut { .. }));
    let released = !RunLock::is_held(&run) && store::with_lock(&path, now, |_| ()).is_ok();
    if run_excludes == Some(true) && project_excludes && released {
        Ok(format!("both kinds exclude and are released in {existing}"))
    } else {
        Err(problem(format!("locks do not exclude in {existing}")))
    }
}

/// Whether every loop of the project can be read.
fn loops(info: &'static ProgramInfo, here: &Utf8Path) -> Result<String, Problem> {
    let loops = locate::loops(info.state, here);
    let broken: Vec<_> = loops
        .iter()
        .filter(|(_, listed)| listed.problem.is_some())
        .collect();
    let active = loops
        .iter()
        .filter(|(_, listed)| listed.problem.is_none() && !listed.terminal)
        .count();
    let mut under_way = loops
        .iter()
        .filter(|(_, listed)| listed.ours && !listed.terminal);
    if let Some(error) = under_way.find_map(|(store, listed)| store.verify(&listed.id).err()) {
        return Err(Problem::of(&error, "see its journal"));
    }
    match broken.first() {
        Some((_, listed)) => Err(Problem::new(
            format!(
                "{} of {} cannot be read, such as {}",
                broken.len(),
                loops.len(),
                listed.path
            ),
            format!(
                "`{program} list` says what is wrong with each; to move them all aside:\n    {program} rollback",
                program = info.program
            ),
        )),
        None => {
            let forgotten = locate::stores(info.state, &[here]);
            let forgotten: Vec<_> = forgotten.iter().flat_map(Store::remember).collect();
            let ids: Vec<_> = forgotten.iter().map(LoopId::as_str).collect();
            let found = match ids.is_empty() {
                true => String::new(),
                false => format!(
                    "; {} was not in the index, which is made anew",
                    ids.join(", ")
                ),
            };
            Ok(format!(
                "{} in this project, {active} active{found}",
                loops.len()
            ))
        }
    }
}
