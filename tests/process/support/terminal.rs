//! The binary on a terminal of a given size: a pseudo-terminal, whose other end the test types and reads at.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::Project;

/// What stood on the screen, and how it ended.
#[derive(Debug)]
pub(crate) struct Screen {
    pub(crate) code: i32,
    /// Its lines, what was typed among them.
    pub(crate) lines: Vec<String>,
}

impl Screen {
    /// Fails the test where a line is too wide or there are too many.
    #[track_caller]
    pub(crate) fn fits(&self, columns: usize, rows: usize) {
        assert!(self.lines.len() <= rows, "{} lines: {self:#?}", self.lines.len());
        for line in &self.lines {
            assert!(line.chars().count() <= columns, "{line}\n{self:#?}");
        }
    }

    /// Fails the test where no line has the text.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        assert!(
            self.lines.iter().any(|line| line.contains(text)),
            "not shown: {text}\n{self:#?}"
        );
    }
}

impl Project {
    /// Runs the binary on a terminal of so many columns and 24 rows, at which this is typed.
    pub(crate) fn on_terminal(&self, columns: u16, arguments: &[&str], typed: &str) -> Screen {
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
        let mut command = self.command(arguments);
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
        let screen = String::from_utf8(screen).unwrap();
        Screen {
            code,
            lines: screen.lines().map(str::to_owned).collect(),
        }
    }
}
