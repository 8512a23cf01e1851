//! The reviewers: the built-in `lint`, and the programs `codex`, `claude`, and any `command` in the
//! user's configuration. A repository never chooses one.
//!
//! A program gets the prompt on stdin. A `command` prints its answer on stdout; the other two print
//! events, which are read as they arrive.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::answer::{self, CLOSING};
use super::cause::{Cause, CauseKind, complaint};
use super::findings::Findings;
use super::progress::{Listener, RoundEvent};
use super::settings::{ReviewerKind, ReviewerSettings};
use super::subject::SubjectText;
use super::{claude, codex};
use crate::digest::sha256;
use crate::files::Folder;
use crate::machine::Focus;
use crate::process::environment::Environment;
use crate::process::limits::Limits;
use crate::process::output::{MAX_KEPT_BYTES, plain_line, plain_text};
use crate::process::{Call, Event, ProcessEnd, ProcessOutput, Stream, supervise};
use crate::text;

/// The variables that every client of a service gets: for the network and for user folders.
const COMMON_VARIABLES: &str = "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy \
    SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS \
    XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME LOGNAME SHELL";

const MAX_SHOWN_CHARS: usize = 160;

/// The question after an unreadable answer.
const REPAIR: &str = include_str!("reviewer/repair.md");
/// The time limit of the answer to [`REPAIR`].
const REPAIR_TIMEOUT: Duration = Duration::from_secs(120);

/// The beginnings of HTTP statuses, of Claude's and Codex's names of errors, and of the sentences
/// with which Codex fails, by their meaning.
const FAILURES: [(CauseKind, &str); 3] = [
    (
        CauseKind::Login,
        "401|403|authentication_failed|authentication_error|oauth_org_not_allowed|account_on_hold|\
         verification_required|invalid_api_key|Missing environment variable: |\
         Your access token could not be refreshed",
    ),
    (
        CauseKind::Quota,
        "402|429|rate_limit|billing_error|insufficient_quota|usage_limit_reached|\
         You've hit your usage limit|Quota exceeded|Your workspace is out of credits|\
         You're out of credits|You hit your spend cap",
    ),
    (
        CauseKind::Service,
        "408|5|server_error|overloaded|server_is_overloaded|We're currently experiencing high|\
         Selected model is at capacity|stream disconnected before completion|Connection failed",
    ),
];

/// A reviewer: for one subject, it returns findings or the reason why it gave no verdict.
#[derive(Debug, Clone)]
pub struct Reviewer {
    /// The name in the configuration.
    pub name: String,
    /// The name for people, with the reason for the choice: `codex (auto)`.
    pub shown: String,
    /// The settings.
    pub settings: ReviewerSettings,
    /// The time limits.
    pub limits: Limits,
}

/// A request to a reviewer.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The whole text for a model: the persona, the subject, and the form of the answer.
    pub prompt: &'a str,
    /// The subject, file by file.
    pub subject: &'a SubjectText,
    /// The persona's point of view.
    pub focus: Focus,
    /// The loop's root folder, in which a reviewer's process starts.
    pub root: &'a Utf8Path,
    /// The folder and the name of the file that keeps a process's output for people.
    pub output: Option<(&'a Folder, &'a str)>,
}

/// Reads an event of a client, and returns its line of progress, if any.
pub(super) type Read = fn(&mut Session, &Value) -> Option<String>;

/// A call of a client.
#[derive(Debug, Default)]
pub(super) struct Invocation {
    /// The variables that it gets. The configuration may add more.
    pub(super) variables: Vec<String>,
    pub(super) arguments: Vec<String>,
    /// The reader of its events; `None` if its stdout is the answer.
    pub(super) read: Option<Read>,
    /// The file of the schema that its arguments name. Dropping removes it.
    pub(super) _schema: Option<NamedTempFile>,
}

/// The events of a client so far.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) root: Utf8PathBuf,
    /// Whether an event arrived. Without one, the program does not print JSON.
    has_events: bool,
    /// The last message, which is the answer.
    pub(super) message: Option<String>,
    /// The name of the service's last error.
    pub(super) error: Option<String>,
    /// The answer that the client's last event reports.
    pub(super) end: Option<Result<Findings, Cause>>,
    /// The start and the last message of attempts to reach the service since the last other event.
    pub(super) retries: Option<(Instant, String)>,
}

impl Reviewer {
    /// Returns whether it runs a program, which could change the work tree.
    pub(super) fn runs_a_program(&self) -> bool {
        self.settings.kind != ReviewerKind::Lint
    }

    /// Asks for a review. An unreadable answer of a model is sent back once with the required form,
    /// without another review. If `listener` returns `Break`, the review is cancelled.
    ///
    /// # Errors
    /// Returns the reason why there is no verdict. An answer without findings is clean.
    pub fn review(
        &self,
        request: &Request<'_>,
        listener: &mut Listener<'_>,
    ) -> Result<Findings, Cause> {
        #[cfg(feature = "lint")]
        if self.settings.kind == ReviewerKind::Lint {
            return Ok(super::lint::review(request, listener));
        }
        let invocation = match self.settings.kind {
            ReviewerKind::Codex => codex::invocation(&self.settings, request.root)?,
            ReviewerKind::Claude => claude::invocation(&self.settings),
            ReviewerKind::Command | ReviewerKind::Lint => Invocation {
                arguments: self.settings.arguments.clone(),
                ..Invocation::default()
            },
        };
        let (answer, message) = self.ask(&invocation, request, self.limits, listener);
        let (Some(message), Err(Cause { kind, detail })) = (message, &answer) else {
            return answer;
        };
        if *kind != CauseKind::NotAVerdict {
            return answer;
        }
        let line = format!("the answer cannot be read ({detail}); asking once for the wanted form");
        // A listener that cancels does so again at the next event.
        let _ = listener(RoundEvent::Reviewer(&line));
        let prompt = REPAIR
            .replace("{marker}", &sha256(&message)[..16])
            .replace("{answer}", &text::strip_hidden(&message));
        let repair = Request {
            prompt: &prompt,
            output: None,
            ..*request
        };
        let limits = Limits {
            timeout: REPAIR_TIMEOUT.min(self.limits.timeout),
            ..self.limits
        };
        match self.ask(&invocation, &repair, limits, listener).0 {
            Err(cause) if !cause.kind.is_unreadable() && cause.kind != CauseKind::Stopped => answer,
            repaired => repaired,
        }
    }

    /// Returns the answer to one question, and a model's last message unless it is blank. A client
    /// that only retries is ended after its idle time, since each retry is output.
    fn ask(
        &self,
        invocation: &Invocation,
        request: &Request<'_>,
        limits: Limits,
        listener: &mut Listener<'_>,
    ) -> (Result<Findings, Cause>, Option<String>) {
        let mut prompt = request.prompt.to_owned();
        if invocation.read.is_some() {
            prompt.extend(["\n", CLOSING]);
        }
        let variables = (invocation.variables.iter()).chain(&self.settings.environment);
        let call = Call {
            program: self.settings.program(),
            arguments: &invocation.arguments,
            directory: request.root,
            stdin: prompt.as_bytes(),
            environment: &Environment::allowing(variables.cloned()),
            limits,
        };
        let mut session = Session {
            root: request.root.to_owned(),
            ..Session::default()
        };
        let ended = supervise(&call, &mut |event| {
            let line = match event {
                Event::Tick if session.last_try(limits.idle).is_some() => {
                    return ControlFlow::Break(());
                }
                Event::Tick => return listener(RoundEvent::Tick),
                Event::Line(Stream::Stdout, line) => session.line(line, invocation.read),
                Event::Line(Stream::Stderr, line) => Some(plain_line(line)),
            };
            match line.as_deref() {
                None | Some("") => ControlFlow::Continue(()),
                Some(line) => listener(RoundEvent::Reviewer(line)),
            }
        });
        if let Some((folder, name)) = request.output {
            // The output is for people only, so a review continues if it cannot be kept.
            let _ = ended.keep(folder, name);
        }
        if let (ProcessEnd::Stopped, Some(message)) = (&ended.how, session.last_try(limits.idle)) {
            return (Err(Cause::new(CauseKind::Service, message)), None);
        }
        let message = session.message.take();
        // A program may print its prompt, as `cat` does. That is no verdict.
        let is_repeated = invocation.read.is_none()
            && String::from_utf8_lossy(&ended.stdout).contains(prompt.trim());
        let answer = match session.judge(&ended) {
            Err(cause) if !cause.kind.is_unreadable() => Err(cause),
            _ if is_repeated => Err(Cause::not_a_verdict("it repeats what it was asked")),
            answer => answer,
        };
        (answer, message.filter(|message| !message.trim().is_empty()))
    }
}

impl Invocation {
    /// Makes the call of a client that prints events, with the settings' model and arguments.
    pub(super) fn new(
        settings: &ReviewerSettings,
        flags: impl Iterator<Item = String>,
        variables: &str,
        read: Read,
    ) -> Self {
        let variables = [COMMON_VARIABLES, variables].map(str::split_whitespace);
        let mut arguments: Vec<String> = flags.collect();
        if let Some(model) = &settings.model {
            arguments.extend(["--model".to_owned(), model.clone()]);
        }
        arguments.extend_from_slice(&settings.arguments);
        Self {
            variables: variables.into_iter().flatten().map(str::to_owned).collect(),
            arguments,
            read: Some(read),
            _schema: None,
        }
    }
}

impl Session {
    /// Reads a line, and returns its line of progress, if any.
    fn line(&mut self, line: &[u8], read: Option<Read>) -> Option<String> {
        let read = read?;
        match serde_json::from_slice::<Value>(line) {
            Ok(event) if event.get("type").is_some_and(Value::is_string) => {
                self.has_events = true;
                read(self, &event)
            }
            _ => message_line(&String::from_utf8_lossy(line)),
        }
    }

    /// Records an attempt to reach the service. Returns a line of progress for each new message.
    pub(super) fn retry(&mut self, client: &str, message: &str) -> Option<String> {
        let message = short_line(message);
        let (_, last) = self.retries.get_or_insert((Instant::now(), String::new()));
        let line = (*last != message).then(|| format!("{client}: {message}"));
        *last = message;
        line
    }

    /// Returns the message of the last attempt, if nothing else arrived for so long.
    fn last_try(&self, idle: Duration) -> Option<&str> {
        let (since, message) = self.retries.as_ref()?;
        (since.elapsed() >= idle).then_some(message)
    }

    /// Returns the answer of the client's process. Only exit status 0 can give a verdict. The
    /// client's own report of a failure is better than its exit status.
    fn judge(self, ended: &ProcessOutput) -> Result<Findings, Cause> {
        match (Cause::from_process(ended), self.end) {
            (None, Some(answer)) => answer,
            (None, None) if self.has_events => {
                Err(Cause::new(CauseKind::NoOutput, "its last event is missing"))
            }
            (None, None) if ended.truncated() => Err(Cause::not_a_verdict(&format!(
                "it is longer than {MAX_KEPT_BYTES} bytes"
            ))),
            (None, None) => {
                let answer = answer::read(&plain_text(&ended.stdout));
                answer.map_err(|cause| match cause.kind {
                    CauseKind::NoOutput => Cause::new(CauseKind::NoOutput, &complaint(ended)),
                    _ => cause,
                })
            }
            (Some(failure), Some(Err(own))) => Err(match (failure.kind, own.kind) {
                (kind @ CauseKind::Failed(_), CauseKind::Failed(_)) => Cause { kind, ..own },
                (CauseKind::Failed(_), _) => own,
                _ => failure,
            }),
            (Some(failure), _) => Err(failure),
        }
    }
}

pub(super) fn short_line(text: &str) -> String {
    text::one_line(text, MAX_SHOWN_CHARS)
}

/// Returns the first line of a model's message as a line of progress, unless it is the answer.
pub(super) fn message_line(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.starts_with(['{', '[', '`', '#']) {
        return None;
    }
    let first = text.lines().next().unwrap_or_default();
    Some(short_line(first.trim_matches('*')))
}

pub(super) fn text_of<'e>(event: &'e Value, pointer: &str) -> &'e str {
    let text = event.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default()
}

/// Returns the kind of a failure that begins like a known one.
pub(super) fn failure_kind(failure: &str) -> Option<CauseKind> {
    let mut known = FAILURES.iter();
    let (kind, _) =
        known.find(|(_, begins)| begins.split('|').any(|it| failure.starts_with(it)))?;
    Some(*kind)
}

#[cfg(test)]
pub(super) mod tests;
