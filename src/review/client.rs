//! What the reviewers that are programs have in common: a program, an environment, a stdin, and events read as they come.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use serde_json::{Map, Value};

use super::Digest;
use super::reviewer::{Cause, CauseKind, Outcome, Request};
use super::settings::ReviewerSettings;
use crate::process::environment::{Environment, find_installed};
use crate::process::limits::Limits;
use crate::process::output::Stream;
use crate::process::{Call, Event, ProcessEnd, ProcessOutput, StartError, Watch, supervise_events};
use crate::text;

/// Variables of the network and of the person's folders, for any client of a service.
pub(super) const USUAL: [&str; 17] = [
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

/// The characters of a text, a path or a command that a line of progress shows.
const SHOWN: usize = 160;

/// Question that sends an unreadable answer back.
const REPAIR: &str = include_str!("client/repair.md");
/// How long the answer to [`REPAIR`] may take.
const REPAIR_TIMEOUT: Duration = Duration::from_secs(120);
/// Largest answer that is sent back, in bytes.
const MAX_REPAIR_BYTES: usize = 256 * 1024;

/// How a client is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client<'a> {
    /// What the person's configuration says.
    pub(super) settings: &'a ReviewerSettings,
    /// Its program where the configuration names none.
    pub(super) program: &'a str,
    /// Variables that it gets where the configuration names no more.
    pub(super) variables: &'a [String],
}

/// What is made of a client's events.
pub(super) trait Events {
    /// Takes an event and gives what of it a watcher is told.
    fn take(&mut self, event: &Map<String, Value>) -> Option<String>;

    /// Takes a line that is no event, and gives what of it a watcher is told.
    fn other(&mut self, line: &str) -> Option<String>;

    /// Since when it has only been trying to reach its service, and what it says about it.
    fn retrying(&self) -> Option<(Instant, &str)>;
}

impl Client<'_> {
    /// Returns the program, as it was configured.
    pub(super) fn program(&self) -> &str {
        self.settings.program.as_deref().unwrap_or(self.program)
    }

    /// Returns where the program is, in the PATH that its process gets and outside of the project.
    pub(super) fn find(&self, root: &Utf8Path) -> Option<std::path::PathBuf> {
        find_installed(self.program(), root)
    }

    /// Runs it over a prompt and hands its events over as they come.
    ///
    /// # Errors
    /// Returns a cause if it has been trying to reach its service for as long as it may be silent.
    pub(super) fn ask(
        &self,
        request: &Request<'_>,
        arguments: &[String],
        stdin: &str,
        events: &mut dyn Events,
        watch: &mut Watch<'_>,
    ) -> Result<ProcessOutput, Cause> {
        let environment = self.environment(request);
        let Some(program) = self.find(request.root) else {
            return Ok(not_installed(self.program()));
        };
        let program = program
            .into_os_string()
            .into_string()
            .unwrap_or_else(|_| self.program().to_owned());
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

    fn environment(&self, request: &Request<'_>) -> Environment {
        let environment = request.environment.clone();
        let named = self.variables.iter().chain(&self.settings.environment);
        environment.and(named.cloned())
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
        || request.repaired.replace(true)
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

fn not_installed(program: &str) -> ProcessOutput {
    ProcessOutput {
        how: ProcessEnd::CouldNotStart(StartError::NotInstalled {
            program: program.to_owned(),
        }),
        stdout: Vec::new(),
        dropped: 0,
        stdout_end: Vec::new(),
        stderr_tail: String::new(),
        elapsed: std::time::Duration::ZERO,
    }
}

/// Runs a call, reads its events, and ends it when it has been trying to reach its service for too long: a client that says so
/// every few seconds is never silent.
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
                Ok(Value::Object(event)) if event.get("type").is_some_and(Value::is_string) => {
                    events.take(&event)
                }
                _ => events.other(&String::from_utf8_lossy(line)),
            }
        },
        &mut |event| {
            if event == Event::Tick
                && let Some((since, _)) = events.borrow().retrying()
                && since.elapsed() >= call.limits.idle
            {
                gave_up = true;
                return ControlFlow::Break(());
            }
            watch(event)
        },
    );
    let events = events.borrow();
    let given_up = (gave_up && matches!(ended.how, ProcessEnd::Stopped)).then(|| {
        let said = events.retrying().map(|(_, said)| said).unwrap_or_default();
        Cause::new(CauseKind::Service, said)
    });
    (ended, given_up)
}

/// Returns a path as a line of progress shows it: from the root, where it lies below.
pub(super) fn shown_path(path: &str, root: &Utf8Path) -> String {
    let below = Utf8Path::new(path).strip_prefix(root).ok();
    let below = below.filter(|below| !below.as_str().is_empty());
    shown(below.map_or(path, Utf8Path::as_str))
}

/// Returns a text as a line of progress shows it.
pub(super) fn shown(text: &str) -> String {
    text::one_line(text, SHOWN)
}

/// Returns what a model says on the way, as a line of progress: its first line, unless it is the answer itself.
pub(super) fn said(text: &str) -> Option<String> {
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

/// Returns what an HTTP status of the service means, where it means one thing.
pub(super) fn of_status(status: u64) -> Option<CauseKind> {
    match status {
        401 | 403 => Some(CauseKind::Login),
        402 | 429 => Some(CauseKind::Quota),
        408 | 500..=599 => Some(CauseKind::Service),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
