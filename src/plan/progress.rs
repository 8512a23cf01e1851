//! The progress of a job: a status line on a terminal, plain lines elsewhere. With `--json` the
//! lines go to stderr.

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use claudex_loop::program::{Tone, out, review};
use claudex_loop::review::findings_file::bullet;
use claudex_loop::review::round::{Report, RoundEvent};
use claudex_loop::store::{LoopId, Store};
use claudex_loop::text;

use super::{AnyLoop, resume, reviews_changes};

/// How often a job checks whether another process has ended its loop.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Upper limit of findings that are shown of a round. Their file has all.
const MAX_SHOWN_FINDINGS: usize = 20;

/// Shows the progress of a job, and tells the job when to stop.
#[derive(Debug)]
pub struct Progress {
    status: Option<StatusLine>,
    to_stderr: bool,
    lines: review::Lines,
    interrupted: Arc<AtomicBool>,
    /// The loop, once it has started.
    driven: Option<(Store, LoopId)>,
    polled: Instant,
}

impl Progress {
    /// Makes the display. `json`: stdout is for the outcome alone.
    pub fn new(json: bool) -> Self {
        let is_terminal = io::stdout().is_terminal() && io::stderr().is_terminal();
        let status = (!json && is_terminal).then(|| StatusLine::new(""));
        Self {
            lines: review::Lines::limited(status.is_none()),
            status,
            to_stderr: json,
            interrupted: review::interrupts(),
            driven: None,
            polled: Instant::now(),
        }
    }

    /// Shows that a loop has started, or goes on.
    pub fn show_start(&mut self, held: &AnyLoop, is_resumed: bool, reviewer: &str) {
        self.driven = Some((held.raw().store().clone(), held.id().clone()));
        let id = held.id();
        let verb = match is_resumed {
            true => "goes on with",
            false => "reviews",
        };
        let subject = match reviews_changes(held) {
            true => "the changes of the work tree",
            false => &held.fields().subject,
        };
        self.print(&format!(
            "Loop {id} {verb} {subject} (reviewer: {reviewer})"
        ));
    }

    /// Shows that a round begins.
    pub fn show_round(&mut self, round: u64, max_rounds: u64, persona: &str) {
        self.lines = review::Lines::limited(self.status.is_none());
        self.begin(&format!("round {round} of {max_rounds}, {persona}"));
        let line = format!("Round {round} of {max_rounds}, {persona}");
        self.print_toned(&line, &line, Tone::Heading);
    }

    /// Shows what a review reports. Returns whether the review goes on.
    pub fn show_review(&mut self, event: RoundEvent<'_>, reviewer: &str) -> ControlFlow<()> {
        let line = match event {
            RoundEvent::Began { .. } => None,
            RoundEvent::Tick => return self.tick(),
            event => self.lines.shown(event, reviewer),
        };
        if let Some(line) = line {
            self.print(&format!("  {line}"));
        }
        self.go_on()
    }

    /// Shows the findings of a round, and the notes about its report.
    pub fn show_report(&mut self, report: &Report, notes: &[String]) {
        let result = format!("  {}", review::result(report));
        self.print_toned(&result, review::NOTHING, Tone::Good);

        let mut findings: Vec<_> = report.findings.0.iter().collect();
        findings.sort_by_key(|finding| finding.severity);
        for finding in findings.iter().take(MAX_SHOWN_FINDINGS) {
            let severity = finding.severity.to_string().to_lowercase();
            let line = format!("    {severity:<6}  {}", bullet(finding));
            self.print_toned(&line, &severity, finding.severity.into());
        }
        let more = findings.len().saturating_sub(MAX_SHOWN_FINDINGS);
        if more > 0 {
            self.print(&format!("    and {more} more in that file"));
        }

        for note in notes {
            self.print(&format!("  {note}"));
        }
    }

    /// Shows that the drafter begins.
    pub fn show_drafter(&mut self) {
        let line = "the drafter revises the plan";
        self.begin(line);
        self.print(&format!("  {line}"));
    }

    /// Shows a line of the drafter. Returns whether the drafter goes on.
    pub fn show_drafter_line(&mut self, line: &str) -> ControlFlow<()> {
        if let Some(line) = self.lines.of_program(line) {
            self.print(&format!("  | {line}"));
        }
        self.go_on()
    }

    /// Draws the clock again. Returns whether the job goes on.
    pub fn tick(&mut self) -> ControlFlow<()> {
        if let Some(status) = &self.status {
            status.draw();
        }
        self.go_on()
    }

    /// Clears the status line.
    pub fn finish(&self) {
        if let Some(status) = &self.status {
            status.clear();
        }
    }

    /// Starts the clock of the status line again, with another message.
    fn begin(&mut self, message: &str) {
        if let Some(status) = &mut self.status {
            *status = StatusLine::new(message);
        }
    }

    /// Stops the job after a signal, or if another process has ended its loop.
    fn go_on(&mut self) -> ControlFlow<()> {
        let mut is_over = self.interrupted.load(Ordering::Relaxed);
        if let Some((store, id)) = &self.driven
            && self.polled.elapsed() >= CANCEL_POLL_INTERVAL
        {
            self.polled = Instant::now();
            is_over |= resume::ended_phase(store, id).is_some();
        }
        match is_over {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn print(&self, line: &str) {
        self.print_toned(line, "", Tone::Heading);
    }

    fn print_toned(&self, line: &str, word: &str, tone: Tone) {
        self.finish();
        match self.to_stderr {
            true => out::note(line),
            false => out::toned(line, word, tone),
        }
        if let Some(status) = &self.status {
            status.draw();
        }
    }
}

/// Longest message, in characters. A line that wraps cannot be cleared.
const MAX_MESSAGE_CHARS: usize = 60;

/// A line on stderr that is drawn over itself, with the seconds since its message began.
#[derive(Debug)]
struct StatusLine {
    message: String,
    since: Instant,
}

impl StatusLine {
    fn new(message: &str) -> Self {
        Self {
            message: text::one_line(message, MAX_MESSAGE_CHARS),
            since: Instant::now(),
        }
    }

    fn draw(&self) {
        if !self.message.is_empty() {
            let seconds = self.since.elapsed().as_secs();
            let _ = write!(io::stderr(), "\r\x1b[K{} ({seconds} s)", self.message);
        }
    }

    fn clear(&self) {
        let _ = io::stderr().write_all(b"\r\x1b[K");
    }
}
