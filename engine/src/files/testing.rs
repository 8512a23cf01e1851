//! A watcher of the changes of files that a test's thread makes.

use std::cell::RefCell;
use std::os::fd::BorrowedFd;

/// A step of a call on files.
pub(crate) enum Event<'f> {
    /// A change of a file comes next.
    Change,
    /// A file or folder was synced.
    Synced(BorrowedFd<'f>),
}

type Watcher = Box<dyn FnMut(Event<'_>)>;

thread_local! {
    static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
}

/// Makes a call, and has its steps watched.
pub(crate) fn watch<T>(watcher: impl FnMut(Event<'_>) + 'static, call: impl FnOnce() -> T) -> T {
    WATCHER.set(Some(Box::new(watcher)));
    let result = call();
    WATCHER.set(None);
    result
}

/// Shows a step to the watcher, whose own changes are not watched.
pub(super) fn tell(event: Event<'_>) {
    if let Some(mut watcher) = WATCHER.take() {
        watcher(event);
        WATCHER.set(Some(watcher));
    }
}
