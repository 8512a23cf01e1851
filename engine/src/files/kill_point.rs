//! Kill points: a debug build kills itself before its third change of a file if `CLAUDEX_KILL_AT`
//! is 3, so that tests can kill any program at each change. A release build has none of this.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Signal, getpid, kill_process};

/// Kills the process (`SIGKILL`) before the chosen change of a file. Called before each one.
pub fn kill_point() {
    if count_down() {
        die();
    }
}

/// Writes bytes to a file, as two changes: before the second one, half of the bytes exist.
pub(crate) fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    kill_point();
    if count_down() {
        let _ = file.write_all(&bytes[..bytes.len() / 2]);
        die();
    }
    file.write_all(bytes)
}

/// Syncs the content of a file, or the names in a folder.
pub(crate) fn sync(fd: impl AsFd) -> io::Result<()> {
    rustix::fs::fsync(&fd)?;
    #[cfg(test)]
    super::testing::tell(super::testing::Event::Synced(fd.as_fd()));
    Ok(())
}

/// Adds a change to the count, and returns whether it is the chosen one.
fn count_down() -> bool {
    #[cfg(test)]
    super::testing::tell(super::testing::Event::Change);
    static CHANGES_LEFT: LazyLock<AtomicU64> = LazyLock::new(|| {
        let number = std::env::var("CLAUDEX_KILL_AT").ok();
        AtomicU64::new(number.and_then(|text| text.parse().ok()).unwrap_or(0))
    });
    cfg!(debug_assertions) && CHANGES_LEFT.fetch_sub(1, Ordering::Relaxed) == 1
}

fn die() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::abort()
}
