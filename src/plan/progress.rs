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
        let status = (!json && is_terminal).then(StatusLine::new);
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
        let verb = if is_resumed {
            "goes on with"
        } else {
            "reviews"
        };
        let subject = if reviews_changes(held) {
            "the changes of the work tree"
        } else {
            &held.fields().subject
        };
        self.print(&format!(
            "Loop {id} {verb} {subject} (reviewer: {reviewer})"
        ));
    }

    /// Shows that a round begins.
    pub fn show_round(&mut self, round: u64, max_rounds: u64, persona: &str) {
        self.lines = review::Lines::limited(self.status.is_none());
        if let Some(status) = &mut self.status {
            status.begin(&format!("round {round} of {max_rounds}, {persona}"));
        }
        let line = format!("Round {round} of {max_rounds}, {persona}");
        self.print_toned(&line, &line, Tone::Heading);
    }

    /// Shows what a review reports. Returns whether the review goes on.
    pub fn show_review(&mut self, event: RoundEvent<'_>, reviewer: &str) -> ControlFlow<()> {
        match event {
            RoundEvent::Began { .. } => {}
            RoundEvent::Tick => return self.tick(),
            event => {
                if let Some(line) = self.lines.shown(event, reviewer) {
                    self.print(&format!("  {line}"));
                }
            }
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
        if let Some(status) = &mut self.status {
            status.begin(line);
        }
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
        if let Some(status) = &mut self.status {
            status.tick();
        }
        self.go_on()
    }

    /// Clears the status line.
    pub fn finish(&mut self) {
        if let Some(status) = &mut self.status {
            status.finish();
        }
    }

    /// Stops the job after a signal, or if another process has ended its loop.
    fn go_on(&mut self) -> ControlFlow<()> {
        if self.interrupted.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        if self.polled.elapsed() >= CANCEL_POLL_INTERVAL
            && let Some((store, id)) = &self.driven
        {
            self.polled = Instant::now();
            if resume::phase_on_disk(store, id).is_some_and(|phase| phase.is_terminal()) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn print(&mut self, line: &str) {
        self.print_toned(line, "", Tone::Heading);
    }

    fn print_toned(&mut self, line: &str, word: &str, tone: Tone) {
        match &mut self.status {
            Some(status) => status.suspend(|| out::toned(line, word, tone)),
            None if self.to_stderr => out::note(line),
            None => out::toned(line, word, tone),
        }
    }
}

/// Longest message, in characters. A line that wraps cannot be cleared.
const MAX_MESSAGE_CHARS: usize = 60;

/// A line on stderr that is drawn over itself.
#[derive(Debug)]
struct StatusLine {
    message: String,
    since: Instant,
    /// The seconds that are on the screen, or `None` if the line is not.
    drawn: Option<u64>,
}

impl StatusLine {
    /// Returns a line without a message, which draws nothing.
    fn new() -> Self {
        Self {
            message: String::new(),
            since: Instant::now(),
            drawn: None,
        }
    }

    /// Sets the message and restarts its clock.
    fn begin(&mut self, message: &str) {
        self.message = text::one_line(message, MAX_MESSAGE_CHARS);
        self.since = Instant::now();
        self.draw();
    }

    /// Draws the line again once a second.
    fn tick(&mut self) {
        if self.drawn != Some(self.since.elapsed().as_secs()) {
            self.draw();
        }
    }

    /// Clears the line, prints something in its place and draws the line again below.
    fn suspend(&mut self, print: impl FnOnce()) {
        self.clear();
        print();
        self.draw();
    }

    /// Clears the line and forgets the message.
    fn finish(&mut self) {
        self.clear();
        self.message.clear();
    }

    fn draw(&mut self) {
        if self.message.is_empty() {
            return;
        }

        let seconds = self.since.elapsed().as_secs();
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{} ({seconds} s)", self.message);
        let _ = stderr.flush();
        self.drawn = Some(seconds);
    }

    fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
