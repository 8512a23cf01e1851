//! A reviewer's process under supervision: started in a group of its own with a finished stdin and a short
//! environment, followed with a time limit and an idle limit, and ended whole.
//!
//! Nothing here waits without a bound: not for the child, not for a grandchild that holds its pipes, not for a child
//! that never reads. It knows nothing of findings or verdicts. What leaves the group on purpose (`setsid`) is out of
//! its reach; its hold on the pipes is not waited for either.

mod group;

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};
use miette::Diagnostic;

use self::group::Group;
use super::environment::{Environment, find_program};
use super::limits::Limits;
use super::output::Output;
pub use super::output::Stream;

/// How often the watcher is asked when the child is silent.
const TICK: Duration = Duration::from_millis(100);
/// How often a child that has closed its streams is looked at.
const POLL: Duration = Duration::from_millis(20);
/// How long others may hold the streams after the child itself has exited.
const LINGER: Duration = Duration::from_millis(500);
/// How long the group has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is still read after KILL.
const SETTLE: Duration = Duration::from_millis(500);

/// What to start, with what, and for how long.
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
    /// What the child sees of our environment.
    pub environment: &'a Environment,
    /// When to end it.
    pub limits: Limits,
}

/// What a watcher is told while the child runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The child wrote a line: plain, short, never blank.
    Line {
        /// Where to.
        stream: Stream,
        /// What.
        text: &'a str,
    },
    /// About ten times a second, whether the child writes or not.
    Tick,
}

/// Is told how it goes; on `Break` the child's group is ended.
pub type Watch<'w> = dyn FnMut(Event<'_>) -> ControlFlow<()> + 'w;

/// How a supervised process ended.
#[derive(Debug)]
pub struct Ended {
    /// In which way.
    pub how: How,
    /// The beginning of its stdout, at most [`KEPT`](super::output::KEPT) bytes.
    pub stdout: Vec<u8>,
    /// How many bytes of its stdout came after those and were dropped.
    pub dropped: u64,
    /// The end of its stderr, some kilobytes, made plain.
    pub stderr_tail: String,
    /// From before the start to after the end of the group.
    pub elapsed: Duration,
}

impl Ended {
    /// Whether it wrote more to stdout than was kept.
    pub fn truncated(&self) -> bool {
        self.dropped > 0
    }
}

/// In which way a process ended. Where we ended it, how it took that does not matter.
#[derive(Debug)]
pub enum How {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, which was not ours.
    Signalled(i32),
    /// Ended by us after its whole time.
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// Ended by us after a silence.
    Idle {
        /// The limit.
        after: Duration,
    },
    /// Ended by us because the watcher said so.
    Stopped,
    /// Never ran.
    CouldNotStart(StartError),
    /// It is gone, or beyond KILL, and its status could not be read.
    StatusLost(io::Error),
}

/// Why a process could not be started.
#[derive(Debug, Display, Error, Diagnostic)]
pub enum StartError {
    /// No such executable.
    #[display("`{program}` is not installed, or not in an absolute folder of PATH")]
    #[diagnostic(
        code(claudex::review::not_installed),
        help("install it, or choose another reviewer")
    )]
    NotInstalled {
        /// Its name as it was asked for.
        program: String,
    },
    /// The directory to start it in is not there.
    #[display("cannot start a reviewer in {directory}: not a directory")]
    #[diagnostic(code(claudex::review::no_directory))]
    NoDirectory {
        /// The directory.
        directory: Utf8PathBuf,
    },
    /// The system refused.
    #[display("cannot start `{program}`: {source}")]
    #[diagnostic(code(claudex::review::start))]
    Io {
        /// Its name as it was asked for.
        program: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Runs it to its end, or ends it; afterwards nothing of its group is alive.
pub fn supervise(call: &Call<'_>, watch: &mut Watch<'_>) -> Ended {
    let begun = Instant::now();
    let (how, output) = match Running::start(call, begun) {
        Err(error) => (How::CouldNotStart(error), Output::default()),
        Ok(mut running) => {
            let ours = running.follow(call.limits, watch);
            let status = running.end(watch);
            let how = ours.unwrap_or_else(|| match status {
                Ok(status) => ended_by_itself(status),
                Err(error) => How::StatusLost(error),
            });
            (how, running.output)
        }
    };
    let stderr_tail = output.stderr_tail();
    Ended {
        how,
        stdout: output.stdout,
        dropped: output.dropped,
        stderr_tail,
        elapsed: begun.elapsed(),
    }
}

/// What a status says of a process that we did not end.
fn ended_by_itself(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exited(code),
        (None, Some(signal)) => How::Signalled(signal),
        (None, None) => How::StatusLost(io::Error::other(format!("unknown wait status {status:?}"))),
    }
}

/// What the reading threads send.
enum Message {
    Bytes(Stream, Vec<u8>),
    End(Stream),
}

/// A child, what it wrote so far, and which of its streams are open.
struct Running {
    group: Group,
    messages: Receiver<Message>,
    /// Kept so that the channel never counts as disconnected: waiting on it is how this file passes time.
    _sender: SyncSender<Message>,
    output: Output,
    open: usize,
    begun: Instant,
    last_output: Instant,
}

impl Running {
    fn start(call: &Call<'_>, begun: Instant) -> Result<Self, StartError> {
        let program = || call.program.to_owned();
        let variables = call.environment.resolve(std::env::vars_os());
        let path = variables
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.as_os_str());
        let file = find_program(call.program, path)
            .ok_or_else(|| StartError::NotInstalled { program: program() })?;
        if !call.directory.is_dir() {
            return Err(StartError::NoDirectory {
                directory: call.directory.to_owned(),
            });
        }
        let mut command = Command::new(file);
        command
            .args(call.arguments)
            .current_dir(call.directory)
            .env_clear()
            .envs(variables);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());

        let failed = |source| StartError::Io {
            program: program(),
            source,
        };
        let mut group = Group::spawn(command).map_err(failed)?;
        let (stdin, stdout, stderr) = group.streams();
        // Few and bounded: a child that writes faster than we look has to wait, not our memory to grow.
        let (sender, messages) = sync_channel(16);
        // None of the threads is ever joined: each ends when its pipe does, or when we are no longer listening.
        if let Some(mut stdin) = stdin {
            let bytes = call.stdin.to_vec();
            // A child that stops reading is its own business: its exit status tells.
            spawn("reviewer-stdin", move || drop(stdin.write_all(&bytes))).map_err(failed)?;
        }
        let mut open = 0;
        if let Some(stdout) = stdout {
            read("reviewer-stdout", Stream::Stdout, stdout, sender.clone()).map_err(failed)?;
            open += 1;
        }
        if let Some(stderr) = stderr {
            read("reviewer-stderr", Stream::Stderr, stderr, sender.clone()).map_err(failed)?;
            open += 1;
        }
        let (output, last_output) = (Output::default(), Instant::now());
        Ok(Self {
            group,
            messages,
            _sender: sender,
            output,
            open,
            begun,
            last_output,
        })
    }

    /// Waits until the child has ended, or has to be; says why in the second case.
    fn follow(&mut self, limits: Limits, watch: &mut Watch<'_>) -> Option<How> {
        let mut last_tick = Instant::now();
        let mut exited: Option<Instant> = None;
        loop {
            if self.take(watch).is_break() {
                return Some(How::Stopped);
            }
            if last_tick.elapsed() >= TICK {
                last_tick = Instant::now();
                if watch(Event::Tick).is_break() {
                    return Some(How::Stopped);
                }
            }
            if exited.is_none() && self.group.has_exited() {
                exited = Some(Instant::now());
            }
            match exited {
                Some(since) if self.open == 0 || since.elapsed() >= LINGER => return None,
                Some(_) => {}
                None if self.begun.elapsed() >= limits.timeout => {
                    return Some(How::TimedOut {
                        after: limits.timeout,
                    });
                }
                None if self.last_output.elapsed() >= limits.idle => {
                    return Some(How::Idle { after: limits.idle });
                }
                None => {}
            }
        }
    }

    /// Ends what is left of the group: asks, waits a little, kills; then the child's status can be read.
    fn end(&mut self, watch: &mut Watch<'_>) -> io::Result<ExitStatus> {
        if !self.is_over() {
            self.group.terminate();
            let asked = Instant::now();
            while !self.is_over() && asked.elapsed() < GRACE {
                // It is being ended already: a second request to stop says nothing new.
                let _ = self.take(watch);
            }
        }
        self.group.kill();
        let killed = Instant::now();
        while self.open > 0 && killed.elapsed() < SETTLE {
            let _ = self.take(watch);
        }
        self.group.reap()
    }

    fn is_over(&self) -> bool {
        self.open == 0 && self.group.has_exited()
    }

    /// Waits a moment for the next message and takes it.
    fn take(&mut self, watch: &mut Watch<'_>) -> ControlFlow<()> {
        let mut show = |stream, text: &str| watch(Event::Line { stream, text });
        match self
            .messages
            .recv_timeout(if self.open == 0 { POLL } else { TICK })
        {
            Ok(Message::Bytes(stream, bytes)) => {
                self.last_output = Instant::now();
                self.output.take(stream, &bytes, &mut show)
            }
            Ok(Message::End(stream)) => {
                self.open -= 1;
                self.output.end(stream, &mut show)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => ControlFlow::Continue(()),
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// Reads a stream in a thread until it ends, or until nobody listens.
fn read(
    name: &str,
    stream: Stream,
    mut from: impl Read + Send + 'static,
    to: SyncSender<Message>,
) -> io::Result<()> {
    spawn(name, move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match from.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A pipe that cannot be read has ended as far as we are concerned; the exit status tells the rest.
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    if to.send(Message::Bytes(stream, buffer[..count].to_vec())).is_err() {
                        return;
                    }
                }
            }
        }
        drop(to.send(Message::End(stream)));
    })
}

#[cfg(test)]
mod tests;
