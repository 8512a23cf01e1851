//! The common part of the reviewers that are programs: a program, an environment, a stdin, and events read as they come.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use serde_json::Value;

use super::digest::Digest;
use super::reviewer::{Cause, CauseKind, Outcome, Request};
use super::settings::ReviewerSettings;
use crate::process::environment::find_installed;
use crate::process::limits::Limits;
use crate::process::output::Stream;
use crate::process::{Call, Event, ProcessEnd, ProcessOutput, StartError, Watch, supervise_events};
use crate::text;

/// The variables that every client of a service gets: the network's and those of the user's folders.
pub(super) const COMMON_VARIABLES: [&str; 17] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "LOGNAME",
    "SHELL",
];

/// The longest text, path or command in a line of progress, in characters.
const MAX_SHOWN_CHARS: usize = 160;

/// The question that sends an unreadable answer back.
const REPAIR: &str = include_str!("client/repair.md");
/// The time limit of the answer to [`REPAIR`].
const REPAIR_TIMEOUT: Duration = Duration::from_secs(120);
/// Largest answer that is sent back, in bytes.
const MAX_REPAIR_BYTES: usize = 256 * 1024;

/// The call of a client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client<'a> {
    /// The user's configuration.
    pub(super) settings: &'a ReviewerSettings,
    /// The program, if the configuration names none.
    pub(super) program: &'a str,
    /// The variables that it gets. The configuration may add more.
    pub(super) variables: &'a [String],
}

/// The reader of a client's output.
pub(super) trait Events {
    /// Reads an event, and returns the line of progress for it, if any.
    fn take(&mut self, _event: &Value) -> Option<String> {
        None
    }

    /// Reads a line that is no event, and returns the line of progress for it, if any.
    fn other(&mut self, _line: &str) -> Option<String> {
        None
    }

    /// Returns the client's tries to reach its service since its last other event.
    fn retries(&self) -> &Retries;
}

/// The tries of a client to reach its service: since when, and its last message.
#[derive(Debug, Default)]
pub(super) struct Retries(pub(super) Option<(Instant, String)>);

impl Retries {
    /// Notes a message. Returns whether it is another one than the last.
    pub(super) fn note(&mut self, message: String) -> bool {
        let since = self.0.as_ref().map(|(since, _)| *since);
        let is_new = self.message() != message;
        self.0 = Some((since.unwrap_or_else(Instant::now), message));
        is_new
    }

    fn message(&self) -> &str {
        self.0.as_ref().map_or("", |(_, message)| message)
    }

    fn last_for(&self, time: Duration) -> bool {
        self.0
            .as_ref()
            .is_some_and(|(since, _)| since.elapsed() >= time)
    }
}

impl Client<'_> {
    /// Runs it with a prompt, and hands its events over as they come.
    ///
    /// # Errors
    /// Returns a cause if it only tried to reach its service for as long as it may be silent.
    pub(super) fn ask(
        &self,
        request: &Request<'_>,
        arguments: &[String],
        stdin: &str,
        events: &mut dyn Events,
        watch: &mut Watch<'_>,
    ) -> Result<ProcessOutput, Cause> {
        let variables = self.variables.iter().chain(&self.settings.environment);
        let environment = request.environment.clone().and(variables.cloned());
        let program = self.settings.program.as_deref().unwrap_or(self.program);
        let Some(found) = find_installed(program, request.root) else {
            let program = program.to_owned();
            let error = StartError::NotInstalled { program };
            return Err(Cause::new(CauseKind::NotInstalled, &error.to_string()));
        };
        let program = found.into_os_string().into_string();
        let program =
            program.map_err(|_| Cause::new(CauseKind::NotInstalled, "its path is not UTF-8"))?;
        let call = Call {
            program: &program,
            arguments,
            directory: request.root,
            stdin: stdin.as_bytes(),
            environment: &environment,
            limits: request.limits,
        };
        let (ended, given_up) = follow(&call, events, watch);
        if let Some((folder, name)) = request.output {
            // For people only: a review is not given up because it cannot be kept.
            let _ = ended.keep(folder, name);
        }
        match given_up {
            Some(cause) => Err(cause),
            None => Ok(ended),
        }
    }
}

/// Asks, and if the answer cannot be read, sends it back once with the wanted form. That question reviews nothing again.
pub(super) fn with_repair(
    request: &Request<'_>,
    watch: &mut Watch<'_>,
    mut ask: impl FnMut(&Request<'_>, &mut Watch<'_>) -> (Outcome, Option<String>),
) -> Outcome {
    let (outcome, answer) = ask(request, watch);
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
    let marker = &digest.as_str()[..16];
    let prompt = REPAIR
        .replace("{marker}", marker)
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
    match ask(&repair, watch).0 {
        Outcome::CouldNotRun(cause) if cause.kind != CauseKind::Stopped => outcome,
        repaired => repaired,
    }
}

/// Runs a call and reads its events. Ends it if it only tries to reach its service for too long: a client that reports this every
/// few seconds is never silent.
fn follow(
    call: &Call<'_>,
    events: &mut dyn Events,
    watch: &mut Watch<'_>,
) -> (ProcessOutput, Option<Cause>) {
    let events = RefCell::new(events);
    let mut gave_up = false;
    let ended = supervise_events(
        call,
        &mut |line| {
            let mut events = events.borrow_mut();
            match serde_json::from_slice::<Value>(line) {
                Ok(event) if event.get("type").is_some_and(Value::is_string) => events.take(&event),
                _ => events.other(&String::from_utf8_lossy(line)),
            }
        },
        &mut |event| {
            if event == Event::Tick && events.borrow().retries().last_for(call.limits.idle) {
                gave_up = true;
                return ControlFlow::Break(());
            }
            watch(event)
        },
    );
    let events = events.borrow();
    let given_up = (gave_up && matches!(ended.how, ProcessEnd::Stopped))
        .then(|| Cause::new(CauseKind::Service, events.retries().message()));
    (ended, given_up)
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
mod tests;
