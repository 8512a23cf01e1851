//! A second process that keeps the deadline of a run, since the first one can be stopped: `kill -STOP $PPID` in a reviewer suspends us,
//! and with us every clock that we watch.
//!
//! It is this program once more, in a process group of its own, with none of our streams. It does nothing until the run should long be
//! over. Then it ends the run's processes and lets us go on, so that we note a timeout. It ends with us: its stdin is a pipe from us.

use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getppid, kill_process, kill_process_group};

use super::orphans;

/// Names the argument by which a process knows that it is the keeper. It is no subcommand that anybody is shown.
const NAME: &str = "keep-deadline";
/// Says how long after the limit it waits: by then we have ended the run ourselves, unless we are stopped.
const GRACE: Duration = Duration::from_secs(5);
/// Says how often it tries again. What it ended may have left something that stops us once more.
const AGAIN: Duration = Duration::from_millis(500);

/// Tells whether this program answers to [`NAME`]. A program that does not would be started with an argument that means something
/// else.
static SERVED: AtomicBool = AtomicBool::new(false);

/// Keeps the deadline if this process was started for that, and does not return then. To be called first in `main`; where it is not,
/// deadlines are kept by the process that runs a reviewer alone.
pub fn serve() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != NAME) {
        SERVED.store(true, Ordering::Relaxed);
        return;
    }
    let mut next = || arguments.next()?.into_string().ok();
    let after = next().and_then(|after| after.parse().ok());
    if let (Some(after), Some(mark)) = (after, next()) {
        keep(Duration::from_millis(after), &mark);
    }
    std::process::exit(2);
}

/// Waits, then ends the run and continues our parent, again and again, until the parent closes the pipe.
fn keep(after: Duration, mark: &str) {
    let group = Arc::new(AtomicI32::new(0));
    let told = Arc::clone(&group);
    let reader = thread::Builder::new().spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            told.store(line.trim().parse().unwrap_or_default(), Ordering::Relaxed);
        }
        std::process::exit(0);
    });
    if reader.is_err() {
        return;
    }
    let parent = getppid();
    thread::sleep(after);
    loop {
        // The parent reaps the group's head only after it has ended us, so the id is nobody else's yet.
        if let Some(group) = Some(group.load(Ordering::Relaxed)).filter(|id| *id > 1)
            && let Some(group) = Pid::from_raw(group)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        orphans::end(mark, Duration::ZERO);
        if let Some(parent) = parent.filter(|_| getppid() == parent) {
            let _ = kill_process(parent, Signal::CONT);
        }
        thread::sleep(AGAIN);
    }
}

/// Holds the keeper of a run. Dropped, it is ended at once.
#[derive(Debug)]
pub(super) struct Keeper(Child);

impl Keeper {
    /// Starts it for a run that may take `timeout` and is known by its mark. None without a mark, and where the system refuses: the run's own limits
    /// hold all the same.
    pub(super) fn start(mark: Option<&str>, timeout: Duration) -> Option<Self> {
        let mark = mark?;
        if !SERVED.load(Ordering::Relaxed) {
            return None;
        }
        let after = timeout.saturating_add(GRACE).as_millis().to_string();
        let child = Command::new(std::env::current_exe().ok()?)
            .args([NAME, &after, mark])
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        child.ok().map(Self)
    }

    /// Tells it the process group of the run, once there is one.
    pub(super) fn tell(&mut self, group: Pid) {
        if let Some(stdin) = &mut self.0.stdin {
            // It can only fail where the keeper is gone.
            let _ = writeln!(stdin, "{}", group.as_raw_nonzero());
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Whoever stopped it cannot keep it from being killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
