//! Processes that outlive their client. They are known by a variable in their environment, which
//! every child inherits. Without `/proc` none is found.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// The variable. All processes of one scenario have the same value.
pub(super) const MARK: &str = "XTASK_E2E_MARK";

pub(super) fn end(mark: &OsStr) {
    // A process that is being started meanwhile is found the next time.
    for _ in 0..100 {
        let found = find(mark);
        if found.is_empty() {
            return;
        }
        for pid in found {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the command lines of the processes with this mark.
pub(super) fn command_lines(mark: &OsStr) -> Vec<String> {
    let found = find(mark).into_iter();
    let lines = found
        .filter_map(|pid| fs_err::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}

fn find(mark: &OsStr) -> Vec<Pid> {
    let mut entry = OsString::from(MARK);
    entry.push("=");
    entry.push(mark);
    let Ok(processes) = fs_err::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = processes
        .flatten()
        .filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?));
    pids.filter(|pid| {
        // A zombie has no environment any more.
        let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
        let environment = fs_err::read(path).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| variable == entry.as_encoded_bytes())
    })
    .collect()
}
