//! The common part of the reviewers that are programs: a program, an environment, a stdin, and events read as they come.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use serde_json::Value;

use super::answer::CLOSING;
use super::digest::Digest;
use super::reviewer::{self, Cause, CauseKind, Outcome, Request, Trace};
use super::settings::ReviewerSettings;
use crate::process::environment::find_installed;
use crate::process::limits::Limits;
use crate::process::output::Stream;
use crate::process::{Call, Event, ProcessEnd, ProcessOutput, StartError, Watch, supervise_events};
use crate::text;

/// The variables that every client of a service gets: the network's and those of the user's folders.
const COMMON_VARIABLES: &str = "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy \
    SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS \
    XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME LOGNAME SHELL";

/// The longest text, path or command in a line of progress, in characters.
const MAX_SHOWN_CHARS: usize = 160;

/// The question that sends an unreadable answer back.
const REPAIR: &str = include_str!("client/repair.md");
/// The time limit of the answer to [`REPAIR`].
const REPAIR_TIMEOUT: Duration = Duration::from_secs(120);
/// Largest answer that is sent back, in bytes.
const MAX_REPAIR_BYTES: usize = 256 * 1024;
/// The detail of a session that ended well and did not say so.
const NO_END: &str = "its last event is missing";

/// Reads an event of a client, and returns the line of progress for it, if any.
pub(super) type Read = fn(&mut Session<'_>, &Value) -> Option<String>;

/// A client: how it is called, and how its answer is read.
#[derive(Debug)]
pub(super) struct Client<'a> {
    /// The user's configuration.
    pub(super) settings: &'a ReviewerSettings,
    /// The program, if the configuration names none.
    pub(super) program: &'a str,
    /// The variables that it gets. The configuration may add more.
    pub(super) variables: Vec<String>,
    pub(super) arguments: Vec<String>,
    /// The reader of its events; `None` if its stdout is the answer.
    pub(super) read: Option<Read>,
}

/// The end that a client reports.
#[derive(Debug)]
pub(super) enum End {
    /// The outcome of its answer.
    Answered(Outcome),
    /// The failure of its session.
    Failed(Outcome),
}

/// The events of a client so far.
#[derive(Debug)]
pub(super) struct Session<'r> {
    pub(super) root: &'r Utf8Path,
    pub(super) trace: &'r Trace,
    pub(super) arguments: &'r [String],
    /// Whether there was an event. Without one, the program does not print JSON.
    has_events: bool,
    /// The last message, which is the answer.
    pub(super) message: Option<String>,
    /// The name of the last error of the service.
    pub(super) error: Option<String>,
    pub(super) end: Option<End>,
    /// The tries to reach the service since the last other event: since when, and the last message.
    retries: Option<(Instant, String)>,
}

impl<'r> Session<'r> {
    pub(super) fn new(root: &'r Utf8Path, trace: &'r Trace, arguments: &'r [String]) -> Self {
        Self {
            root,
            trace,
            arguments,
            has_events: false,
            message: None,
            error: None,
            end: None,
            retries: None,
        }
    }

    /// Reads a line, and returns the line of progress for it, if any.
    fn line(&mut self, line: &[u8], read: Read) -> Option<String> {
        match serde_json::from_slice::<Value>(line) {
            Ok(event) if event.get("type").is_some_and(Value::is_string) => {
                self.has_events = true;
                read(self, &event)
            }
            _ => message_line(&String::from_utf8_lossy(line)),
        }
    }

    /// Notes that the client got on, and reports what it opens.
    pub(super) fn progressed(&mut self) {
        self.retries = None;
        self.trace.reports();
    }

    /// Notes a try to reach the service. Returns whether its message is another one than the last.
    pub(super) fn note_retry(&mut self, message: &str) -> bool {
        let last = self.retries.take();
        let is_new = last.as_ref().is_none_or(|(_, last)| last != message);
        let since = last.map_or_else(Instant::now, |(since, _)| since);
        self.retries = Some((since, message.to_owned()));
        is_new
    }

    /// Returns whether the client only tried to reach its service since its last other event.
    #[cfg(test)]
    pub(super) fn is_trying(&self) -> bool {
        self.retries.is_some()
    }

    /// Returns the outcome of the client's process. What the client reports of a failure is better than its exit status.
    pub(super) fn judge(&self, ended: &ProcessOutput) -> Outcome {
        let failure = reviewer::failure(ended);
        let Some(mut cause) = failure else {
            return match &self.end {
                Some(End::Answered(outcome) | End::Failed(outcome)) => outcome.clone(),
                None if !self.has_events => reviewer::judge(ended),
                None => Outcome::Unreadable(Cause::new(CauseKind::NoOutput, NO_END)),
            };
        };
        match &self.end {
            Some(End::Failed(outcome)) if matches!(cause.kind, CauseKind::Failed { .. }) => {
                if let Outcome::CouldNotRun(own) = outcome
                    && matches!(own.kind, CauseKind::Failed { .. })
                {
                    cause.detail.clone_from(&own.detail);
                    return Outcome::CouldNotRun(cause);
                }
                outcome.clone()
            }
            _ => Outcome::CouldNotRun(cause),
        }
    }
}

impl Client<'_> {
    /// Asks for a review, and if the answer cannot be read, sends it back once with the wanted form. That question reviews nothing
    /// again.
    pub(super) fn review(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Outcome {
        let (outcome, answer) = self.ask(request, watch);
        let (Outcome::Unreadable(cause), Some(answer)) = (&outcome, answer) else {
            return outcome;
        };
        if cause.kind != CauseKind::NotAVerdict
            || answer.trim().is_empty()
            || answer.len() > MAX_REPAIR_BYTES
            || request.trace.take_repair()
        {
            return outcome;
        }
        let text = format!(
            "the answer cannot be read ({}); asking once for the wanted form",
            cause.detail
        );
        let line = Event::Line {
            stream: Stream::Stderr,
            text: &text,
        };
        if watch(line).is_break() {
            return Outcome::CouldNotRun(Cause::new(CauseKind::Stopped, ""));
        }
        let digest = Digest::of(answer.as_bytes());
        let prompt = REPAIR
            .replace("{marker}", &digest.as_str()[..16])
            .replace("{answer}", &text::plain(&answer));
        let limits = Limits {
            timeout: REPAIR_TIMEOUT.min(request.limits.timeout),
            ..request.limits
        };
        let repair = Request {
            prompt: &prompt,
            limits,
            output: None,
            ..*request
        };
        match self.ask(&repair, watch).0 {
            Outcome::CouldNotRun(cause) if cause.kind != CauseKind::Stopped => outcome,
            repaired => repaired,
        }
    }

    /// Returns the outcome of one question, and the client's last message.
    fn ask(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> (Outcome, Option<String>) {
        let prompt = format!("{}\n{CLOSING}", request.prompt);
        match self.run(request, &prompt, watch) {
            Ok((ended, session)) => (session.judge(&ended), session.message),
            Err(cause) => (Outcome::CouldNotRun(cause), None),
        }
    }

    /// Runs the client with a prompt. A client that only tries to reach its service for as long as it may be silent is ended: it
    /// reports that every few seconds, and so is never silent.
    pub(super) fn run<'r>(
        &'r self,
        request: &Request<'r>,
        prompt: &str,
        watch: &mut Watch<'_>,
    ) -> Result<(ProcessOutput, Session<'r>), Cause> {
        let variables = self.variables.iter().chain(&self.settings.environment);
        let environment = request.environment.clone().and(variables.cloned());
        let program = self.settings.program.as_deref().unwrap_or(self.program);
        let path = find_installed(program, request.root);
        let path = path.and_then(|path| path.into_os_string().into_string().ok());
        let Some(path) = path else {
            let program = program.to_owned();
            let error = StartError::NotInstalled { program };
            return Err(Cause::new(CauseKind::NotInstalled, &error.to_string()));
        };
        let call = Call {
            program: &path,
            arguments: &self.arguments,
            directory: request.root,
            stdin: prompt.as_bytes(),
            environment: &environment,
            limits: request.limits,
        };
        let session = RefCell::new(Session::new(request.root, request.trace, &self.arguments));
        let is_unreachable = || {
            let session = session.borrow();
            let mut retries = session.retries.iter();
            retries.any(|(since, _)| since.elapsed() >= call.limits.idle)
        };
        let mut gave_up = false;
        let ended = supervise_events(
            &call,
            &mut |line| session.borrow_mut().line(line, self.read?),
            &mut |event| {
                gave_up |= event == Event::Tick && is_unreachable();
                match gave_up {
                    true => ControlFlow::Break(()),
                    false => watch(event),
                }
            },
        );
        if let Some((folder, name)) = request.output {
            // For people only: a review is not given up because it cannot be kept.
            let _ = ended.keep(folder, name);
        }
        let session = session.into_inner();
        match &session.retries {
            Some((_, message)) if gave_up && matches!(ended.how, ProcessEnd::Stopped) => {
                Err(Cause::new(CauseKind::Service, message))
            }
            _ => Ok((ended, session)),
        }
    }
}

/// Returns the common variables and those of a client.
pub(super) fn variables_with(own: &str) -> Vec<String> {
    let common = COMMON_VARIABLES.split_whitespace();
    let all = common.chain(own.split_whitespace());
    all.map(str::to_owned).collect()
}

/// Returns a path as a line of progress shows it: from the root, if it is below.
pub(super) fn shown_path(path: &str, root: &Utf8Path) -> String {
    let below = Utf8Path::new(path).strip_prefix(root).ok();
    let below = below.filter(|below| !below.as_str().is_empty());
    shown(below.map_or(path, Utf8Path::as_str))
}

/// Returns a text as a line of progress shows it.
pub(super) fn shown(text: &str) -> String {
    text::one_line(text, MAX_SHOWN_CHARS)
}

/// Returns a message of a model as a line of progress: its first line, unless it is the answer itself.
pub(super) fn message_line(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.starts_with(['{', '[', '`', '#']) {
        return None;
    }
    let first = text.lines().next().unwrap_or_default();
    Some(shown(first.trim_matches('*')))
}

/// Returns a text in an event.
pub(super) fn text_of<'e>(event: &'e Value, pointer: &str) -> &'e str {
    event
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns the cause that an HTTP status of the service means, if it is clear.
pub(super) fn cause_of_status(status: u64) -> Option<CauseKind> {
    match status {
        401 | 403 => Some(CauseKind::Login),
        402 | 429 => Some(CauseKind::Quota),
        408 | 500..=599 => Some(CauseKind::Service),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests;
