//! A program on a terminal of a given size: a pseudo-terminal, whose other end the test types and reads at.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Runs a program on a terminal of so many columns and 24 rows, at which this is typed; gives its status and what stood there.
pub(crate) fn run(mut command: Command, columns: u16, typed: &str) -> (i32, String) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs: OwnedFd = rustix::fs::open(
        &name,
        rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size).unwrap();
    command
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stdout(Stdio::from(theirs.try_clone().unwrap()))
        .stderr(Stdio::from(theirs));
    let mut child = command.spawn().unwrap();
    // Its copies of the terminal's other end would keep the reading below from ending.
    drop(command);
    let mut ours = File::from(ours);
    ours.write_all(typed.as_bytes()).unwrap();
    let mut screen = Vec::new();
    let mut part = [0; 4096];
    // The end of the last process on it is an error here, not an end of file.
    while let Ok(read @ 1..) = ours.read(&mut part) {
        screen.extend_from_slice(&part[..read]);
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (code, String::from_utf8(screen).unwrap())
}
