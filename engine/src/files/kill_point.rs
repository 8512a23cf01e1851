//! Kill points: a program that was built with debug assertions kills itself before one of its changes of files, the third where
//! `CLAUDEX_KILL_AT` is 3. So the tests of any program can kill it at each of them. In a release build none of this is there.

/// Dies here (`SIGKILL`) where the next change of a file is the one to die at. Whoever changes a file calls it before.
pub fn kill_point() {
    if is_next() {
        die();
    }
}

/// Counts a change, and returns whether it is the one to die at.
pub fn is_next() -> bool {
    #[cfg(debug_assertions)]
    {
        use std::sync::LazyLock;
        use std::sync::atomic::{AtomicU64, Ordering};
        static LEFT: LazyLock<AtomicU64> = LazyLock::new(|| {
            let number = std::env::var("CLAUDEX_KILL_AT").ok();
            let number: Option<u64> = number.and_then(|number| number.parse().ok());
            number.unwrap_or_default().into()
        });
        LEFT.fetch_sub(1, Ordering::Relaxed) == 1
    }
    #[cfg(not(debug_assertions))]
    false
}

/// Dies as the system kills: nothing is undone.
pub fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}
