//! Processes of a run that got away: they left its process group, or outlived us.
//!
//! Every process of a reviewer has the mark of its run in its environment (`CLAUDEX_REVIEWER_CHILD`), and so has what it starts. Where the
//! system shows the environments of a person's processes (`/proc`), those with a mark are found and ended; elsewhere this
//! file does nothing. It never touches a process without the mark, of another user, or our own.

use std::time::Duration;

/// Ends every process that has this mark: TERM, this much grace, KILL; without grace KILL alone. Gives how many there were.
///
/// Takes some twenty milliseconds where there is none, and a second more than the grace at most.
pub fn end(mark: &str, grace: Duration) -> usize {
    system::end(mark, grace)
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::Read as _;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::MetadataExt as _;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};

    use crate::process::environment::GUARD;

    /// How long they may take to be gone after KILL.
    const DEATH: Duration = Duration::from_secs(1);
    /// How often they are looked for.
    const POLL: Duration = Duration::from_millis(25);
    /// How long after none was found they are looked for again.
    const AGAIN: Duration = Duration::from_millis(10);
    /// How many bytes of an environment are read; the system allows no single variable of this size.
    const ENVIRONMENT: u64 = 2 * 1024 * 1024;

    pub(super) fn end(mark: &str, grace: Duration) -> usize {
        let variable = format!("{GUARD}={mark}").into_bytes();
        let mut seen = BTreeSet::new();
        let steps = [(Signal::TERM, grace), (Signal::KILL, DEATH)];
        for (signal, patience) in steps.into_iter().skip(usize::from(grace.is_zero())) {
            let since = Instant::now();
            let mut told = BTreeSet::new();
            let mut none_before = false;
            loop {
                let found = find(&variable);
                if found.is_empty() {
                    // Looked for twice: one that becomes another program at this moment shows no environment.
                    if none_before {
                        return seen.len();
                    }
                    none_before = true;
                    thread::sleep(AGAIN);
                    continue;
                }
                none_before = false;
                for (id, process) in found {
                    seen.insert(id);
                    // KILL is sent again and again: it costs nothing, and what forks has to be caught.
                    if told.insert(id) || signal == Signal::KILL {
                        // It fails only where it is gone.
                        let _ = pidfd_send_signal(&process, signal);
                    }
                }
                if since.elapsed() >= patience {
                    break;
                }
                thread::sleep(POLL);
            }
        }
        seen.len()
    }

    /// Returns the processes with this variable. Each is held by a descriptor, so that a signal can never reach another one
    /// that has got its id since.
    fn find(variable: &[u8]) -> Vec<(u32, OwnedFd)> {
        let (own, user) = (std::process::id(), geteuid().as_raw());
        let Ok(folders) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        folders
            .filter_map(Result::ok)
            .filter_map(|folder| folder.file_name().to_str()?.parse::<u32>().ok())
            .filter(|id| *id != own)
            .filter(|id| fs::metadata(format!("/proc/{id}")).is_ok_and(|found| found.uid() == user))
            .filter(|id| has(*id, variable))
            .filter_map(|id| {
                let pid = Pid::from_raw(i32::try_from(id).ok()?)?;
                let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
                // Looked at once more: now the id can mean no other process than the one that is held.
                has(id, variable).then_some((id, process))
            })
            .collect()
    }

    /// Returns whether a process has the variable. One that has exited and waits to be reaped has none.
    fn has(id: u32, variable: &[u8]) -> bool {
        let Ok(file) = fs::File::open(format!("/proc/{id}/environ")) else {
            return false;
        };
        let mut environment = Vec::new();
        // What cannot be read is another user's, or gone.
        if file
            .take(ENVIRONMENT)
            .read_to_end(&mut environment)
            .is_err()
        {
            return false;
        }
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == variable)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn end(_mark: &str, _grace: std::time::Duration) -> usize {
        0
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::end as end_within;
    use crate::process::environment::GUARD;

    fn end(mark: &str) -> usize {
        end_within(mark, Duration::from_secs(2))
    }

    /// Starts a process with a mark, which is ready once this returns.
    fn marked(mark: &str, script: &str) -> Child {
        let mut child = Command::new("/bin/sh")
            .args([
                "-c",
                &format!("{script} echo ready; while :; do sleep 0.05; done"),
            ])
            .env(GUARD, mark)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(
            &mut std::io::BufReader::new(child.stdout.take().unwrap()),
            &mut line,
        )
        .unwrap();
        assert_eq!(line, "ready\n");
        child
    }

    #[test]
    fn only_what_has_the_mark_is_ended() {
        let mark = format!("orphans-{}/r1-a", std::process::id());
        let mut other = marked(&format!("{mark}b"), "");
        let mut mine = marked(&mark, "");
        // A shell that sleeps may be counted with its `sleep`.
        assert!((1..=2).contains(&end(&mark)));
        assert!(!mine.wait().unwrap().success());
        assert_eq!(
            other.try_wait().unwrap(),
            None,
            "a longer mark is another one"
        );
        assert_eq!(end(&mark), 0);
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn what_does_not_hear_is_killed_within_the_bound() {
        let mark = format!("orphans-{}/r1-deaf", std::process::id());
        let mut deaf = marked(&mark, "trap '' TERM;");
        let begun = Instant::now();
        assert!(end(&mark) >= 1);
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert!(!deaf.wait().unwrap().success());
    }
}
