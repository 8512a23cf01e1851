//! A program on a pseudo-terminal of a given size, whose other end the test reads and writes.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Runs a program on a terminal with 24 rows, and types the text. Returns status and output.
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
    // This process must close its copies, or the read below never ends.
    drop(command);
    let mut ours = File::from(ours);
    ours.write_all(typed.as_bytes()).unwrap();
    let mut screen = Vec::new();
    let mut part = [0; 4096];
    // After the last process has ended, a read returns an error, not an end of file.
    while let Ok(read @ 1..) = ours.read(&mut part) {
        screen.extend_from_slice(&part[..read]);
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (code, String::from_utf8(screen).unwrap())
}
