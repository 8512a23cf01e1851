//! Runs a child process in its own group, with a short environment, a time limit and an idle limit,
//! and ends the whole group.
//!
//! Nothing here waits without a bound for a child, for a grandchild with its pipes, or for stdin to
//! be read. A process that leaves the group on purpose (`setsid`) is out of scope.

pub mod configured;
pub mod environment;
mod group;
pub mod limits;
pub mod output;

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use rustix::process::Signal;

use self::environment::{Environment, find_installed};
use self::group::Group;
use self::limits::Limits;
pub use self::output::{ProcessEnd, ProcessOutput, Stream};

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The time for which others may hold the streams after the child itself has exited.
const LINGER_TIMEOUT: Duration = Duration::from_millis(500);
const TERM_GRACE_TIME: Duration = Duration::from_secs(2);
/// The time without output after KILL after which the output counts as read to its end.
const SETTLE_TIME: Duration = Duration::from_millis(500);
/// The longest read after KILL, because a process that left the group may write forever.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// A call of a program: arguments, input, environment and limits.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// An absolute path, or a name to look up in the child's PATH.
    pub program: &'a str,
    /// Passed as they are; no shell is involved.
    pub arguments: &'a [String],
    /// The child's working directory.
    pub directory: &'a Utf8Path,
    /// Written to the child's stdin, which is then closed.
    pub stdin: &'a [u8],
    /// The part of our environment that the child sees.
    pub environment: &'a Environment,
    /// The limits at which it is ended.
    pub limits: Limits,
}

/// An event for a watcher while the child runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The child wrote a line, which is not blank: its bytes without the line end, at most 4 MiB.
    Line(Stream, &'a [u8]),
    /// A tick, at least every 20 milliseconds and whenever the child writes.
    Tick,
}

/// Progress callback. Returning `Break` ends the child's group.
pub type Watch<'w> = dyn FnMut(Event<'_>) -> ControlFlow<()> + 'w;

/// Runs a child to its end, or ends it. Afterwards its group is empty.
pub fn supervise(call: &Call<'_>, watch: &mut Watch<'_>) -> ProcessOutput {
    let failure = |source| ProcessEnd::Io {
        program: call.program.to_owned(),
        source,
    };
    let mut running = match Running::start(call, failure) {
        Ok(running) => running,
        Err(how) => {
            return ProcessOutput {
                how,
                ..ProcessOutput::default()
            };
        }
    };
    let ended_by_us = running.follow(call.limits, watch);
    running.end(watch);
    running.output.how = ended_by_us.unwrap_or_else(|| match running.group.reap() {
        Ok(status) => running.own_end(status, watch),
        Err(source) => failure(source),
    });
    running.output
}

/// The bytes that a reading thread has read, none at the end of its stream.
type Message = (Stream, Vec<u8>);

/// A child, its output so far, and its open streams.
struct Running {
    group: Group,
    messages: Receiver<Message>,
    /// Keeps the channel connected: waiting on it is how time passes here.
    _sender: SyncSender<Message>,
    output: ProcessOutput,
    open: usize,
    begun: Instant,
    last_output: Instant,
}

impl Running {
    fn start(
        call: &Call<'_>,
        failure: impl FnOnce(io::Error) -> ProcessEnd,
    ) -> Result<Self, ProcessEnd> {
        let file = find_installed(call.program, call.directory).ok_or_else(|| {
            ProcessEnd::NotInstalled {
                program: call.program.to_owned(),
            }
        })?;
        let variables = environment::variables();
        let mut command = Command::new(file);
        command
            .args(call.arguments)
            .current_dir(call.directory)
            .env_clear()
            .envs(call.environment.resolve(variables, call.directory))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());

        let mut group = Group::spawn(command).map_err(failure)?;
        let (mut stdin, stdout, stderr) = group.streams();
        // Bounded, so that a child that writes fast waits and our memory does not grow.
        let (sender, messages) = sync_channel(16);
        let bytes = call.stdin.to_vec();
        // The threads are never joined: each ends with its pipe, or when nobody listens. A child
        // that does not read its stdin shows that by its exit status.
        thread::spawn(move || drop(stdin.write_all(&bytes)));
        read(Stream::Stdout, stdout, sender.clone());
        read(Stream::Stderr, stderr, sender.clone());
        Ok(Self {
            group,
            messages,
            _sender: sender,
            output: ProcessOutput::default(),
            open: 2,
            begun: Instant::now(),
            last_output: Instant::now(),
        })
    }

    /// Waits until the child has ended, or has to be ended. Returns the reason in the second case.
    fn follow(&mut self, limits: Limits, watch: &mut Watch<'_>) -> Option<ProcessEnd> {
        let mut exited: Option<Instant> = None;
        loop {
            if self.take(watch).is_break() || watch(Event::Tick).is_break() {
                return Some(ProcessEnd::Stopped);
            }
            if exited.is_none() && self.group.has_exited() {
                exited = Some(Instant::now());
            }
            match exited {
                Some(since) if self.open == 0 || since.elapsed() >= LINGER_TIMEOUT => return None,
                Some(_) => {}
                None if self.begun.elapsed() >= limits.timeout => {
                    return Some(ProcessEnd::TimedOut {
                        after: limits.timeout,
                    });
                }
                None if self.last_output.elapsed() >= limits.idle => {
                    return Some(ProcessEnd::Idle { after: limits.idle });
                }
                None => {}
            }
        }
    }

    /// Ends the rest of the group: asks, waits a little, kills; then the head can be reaped.
    fn end(&mut self, watch: &mut Watch<'_>) {
        if !self.is_over() {
            self.group.signal(Signal::TERM);
            let request_time = Instant::now();
            while !self.is_over() && request_time.elapsed() < TERM_GRACE_TIME {
                // It is being ended already: a second request to stop adds nothing.
                let _ = self.take(watch);
            }
        }
        self.group.signal(Signal::KILL);
        let killed = Instant::now();
        // On a busy machine much of it may still wait to be taken, the answer among it.
        while self.open > 0
            && killed.max(self.last_output).elapsed() < SETTLE_TIME
            && killed.elapsed() < DRAIN_TIMEOUT
        {
            let _ = self.take(watch);
        }
    }

    /// Returns the end of a child that ended itself. After a signal (a shell exits with a status
    /// above 128) its whole session may be ending, so the watcher has a moment to ask for a stop.
    fn own_end(&mut self, status: ExitStatus, watch: &mut Watch<'_>) -> ProcessEnd {
        let signalled = status.code().is_none_or(|code| code > 128);
        let exited = Instant::now();
        while signalled && exited.elapsed() < LINGER_TIMEOUT {
            if watch(Event::Tick).is_break() {
                return ProcessEnd::Stopped;
            }
            let _ = self.take(watch);
        }
        status.code().map_or_else(
            || ProcessEnd::Signalled(status.signal().unwrap_or_default()),
            ProcessEnd::Exited,
        )
    }

    fn is_over(&self) -> bool {
        self.open == 0 && self.group.has_exited()
    }

    /// Waits a moment for the next message and takes it.
    fn take(&mut self, watch: &mut Watch<'_>) -> ControlFlow<()> {
        let mut hand = |stream, line: &[u8]| watch(Event::Line(stream, line));
        match self.messages.recv_timeout(POLL_INTERVAL) {
            Ok((stream, bytes)) if bytes.is_empty() => {
                self.open -= 1;
                self.output.end_line(stream, &mut hand)
            }
            Ok((stream, bytes)) => {
                let flow = self.output.take(stream, &bytes, &mut hand);
                // Behind that: a watcher that takes its time is no silence.
                self.last_output = Instant::now();
                flow
            }
            Err(_) => ControlFlow::Continue(()),
        }
    }
}

/// Reads a stream in a thread until it ends or cannot be read, or until nobody listens.
fn read(stream: Stream, mut from: impl Read + Send + 'static, to: SyncSender<Message>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = match from.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.unwrap_or_default(),
            };
            if to.send((stream, buffer[..count].to_vec())).is_err() || count == 0 {
                break;
            }
        }
    });
}

#[cfg(test)]
mod tests;
