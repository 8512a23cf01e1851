//! Processes that a test starts or looks for. None outlives it.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Ran;

/// The longest wait on a loaded machine for work of milliseconds.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Waits until a condition is true.
pub(crate) fn wait_for(what: &str, mut is_true: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a function, which must end within a minute.
#[track_caller]
pub(crate) fn within_a_minute<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    let done = done.recv_timeout(Duration::from_secs(60));
    done.unwrap_or_else(|_| panic!("{what}: it hangs, or failed"))
}

/// A process that is killed with its test.
pub(crate) struct Background(Option<Child>);

impl Background {
    pub(crate) fn new(child: Child) -> Self {
        Self(Some(child))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.as_ref().expect("it was not waited for").id()
    }

    /// Sends it a signal by name, such as TERM.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ran {
        Ran::new(self.0.take().expect("once").wait_with_output().unwrap())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let of_it = descendants(child.id());
            let _ = child.kill();
            let _ = child.wait();
            of_it.iter().for_each(|pid| signal(*pid, "KILL"));
        }
    }
}

/// Sends a process a signal by name, such as TERM. Ignores processes that have ended.
pub(crate) fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill")
        .args(["-s", name, &pid.to_string()])
        .stderr(Stdio::null())
        .status();
}

/// Whether a process exists and has not ended.
pub(crate) fn is_alive(pid: u32) -> bool {
    ps().iter().any(|(found, _)| *found == pid)
}

/// Returns the running descendants of a process.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let all = ps();
    let mut found = vec![pid];
    let mut at = 0;
    while at < found.len() {
        let of = found[at];
        found.extend(
            all.iter()
                .filter(|(_, parent)| *parent == of)
                .map(|(child, _)| *child),
        );
        at += 1;
    }
    found.split_off(1)
}

/// Returns process and parent of all running processes, without zombies.
fn ps() -> Vec<(u32, u32)> {
    let output = Command::new("ps")
        .args(["-A", "-o", "pid=", "-o", "ppid=", "-o", "stat="])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let pid = words.next()?.parse().ok()?;
            let parent = words.next()?.parse().ok()?;
            (!words.next()?.starts_with('Z')).then_some((pid, parent))
        })
        .collect()
}
