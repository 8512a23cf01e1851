//! Ends what a scenario's program left running: a process is known by a variable in its environment, which everything that it
//! starts inherits, however it was detached. It looks in `/proc` and finds nothing where there is none.

use std::ffi::{OsStr, OsString};

use rustix::process::{Pid, Signal, kill_process};

/// The variable. It has the same value in all processes that belong together.
pub(super) const MARK: &str = "XTASK_E2E_MARK";

/// Kills every process with this mark, until none is left.
pub(super) fn end(mark: &OsStr) {
    // One that is being started while another is killed is found the next time; one that forks without end is not our case.
    for _ in 0..100 {
        let found = marked(mark);
        if found.is_empty() {
            return;
        }
        for pid in found {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Returns the command lines of the processes with this mark.
pub(super) fn told(mark: &OsStr) -> Vec<String> {
    let line = |pid: Pid| fs_err::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok();
    let lines = marked(mark).into_iter().filter_map(line);
    lines
        .map(|line| {
            String::from_utf8_lossy(&line)
                .trim_end_matches('\0')
                .replace('\0', " ")
        })
        .collect()
}

/// Returns the processes with this mark. A dead one that nobody has waited for has no environment any more.
pub(super) fn marked(mark: &OsStr) -> Vec<Pid> {
    let mut entry = OsString::from(MARK);
    entry.push("=");
    entry.push(mark);
    let Ok(processes) = fs_err::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?))
        .filter(|pid| {
            let environment =
                fs_err::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|it| it == entry.as_encoded_bytes())
        })
        .collect()
}
