//! Kill points: a debug build kills itself before one of its changes of files, the third if `CLAUDEX_KILL_AT` is 3. So the
//! tests of any program can kill it at each of them. A release build has none of this.

use std::fs::File;
use std::io::{self, Write as _};

use rustix::process::{Signal, getpid, kill_process};

/// Kills the process (`SIGKILL`) if the next change of a file is the chosen one. Called before each change.
pub fn kill_point() {
    if is_next() {
        die();
    }
}

/// Writes bytes to a file. This counts as two changes: before the second one, half of them are there.
pub(crate) fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    kill_point();
    if is_next() {
        let _ = file.write_all(&bytes[..bytes.len() / 2]);
        die();
    }
    file.write_all(bytes)
}

/// Adds a change to the count, and returns whether it is the chosen one.
fn is_next() -> bool {
    #[cfg(debug_assertions)]
    {
        use std::sync::LazyLock;
        use std::sync::atomic::{AtomicU64, Ordering};
        static CHANGES_LEFT: LazyLock<AtomicU64> = LazyLock::new(|| {
            let number = std::env::var("CLAUDEX_KILL_AT").ok();
            AtomicU64::new(number.and_then(|text| text.parse().ok()).unwrap_or(0))
        });
        CHANGES_LEFT.fetch_sub(1, Ordering::Relaxed) == 1
    }
    #[cfg(not(debug_assertions))]
    false
}

fn die() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::abort()
}
