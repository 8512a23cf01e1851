//! `sweep`: archives inactive loops.

use std::time::{Duration, SystemTime};

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::loops::here;
use super::{locate, out};
use crate::text;

/// Archives loops that were inactive for this long.
///
/// # Errors
/// Returns an error if the working directory is not known.
pub(super) fn sweep(info: &ProgramInfo, older: Duration, dry_run: bool) -> Result<Exit, Failure> {
    let mut nothing = true;
    for store in locate::stores(info.state, &[&here()?]) {
        let now = SystemTime::now();
        let (ids, verb) = match dry_run {
            true => (store.stale(now, older), "would be"),
            false => (store.archive_stale(now, older), "was"),
        };
        for id in ids {
            nothing = false;
            out::line(&format!(
                "Loop {id} {verb} moved to {}/archive; this brings it back:{}",
                text::shown(store.folder()),
                info.command(&format!("resume {id}"))
            ));
        }
    }
    if nothing {
        out::line("Nothing to archive.");
    }
    Ok(Exit::Complete)
}
