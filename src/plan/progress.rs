//! The progress of a run, in plain lines. With `--json` they go to stderr.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use claudex_loop::program::console::Console;
use claudex_loop::program::{Tone, review, rounds};
use claudex_loop::review::findings_file::bullet;
use claudex_loop::review::round::{Report, RoundEvent};

use super::{AnyLoop, resume};

/// The interval at which a run checks whether another process has ended its loop.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Upper limit of findings that are shown of a round. Their file has all.
const MAX_SHOWN_FINDINGS: usize = 20;

/// Shows the progress of a run, and tells the run when to stop.
pub(super) struct Progress {
    console: Console,
    polled: Instant,
}

impl Progress {
    /// Makes the display. With `json`, stdout is for the outcome alone.
    pub(super) fn new(json: bool) -> Self {
        Self {
            console: Console::new("  ".to_owned(), json),
            polled: Instant::now(),
        }
    }

    /// Shows that a round begins.
    pub(super) fn show_round(&mut self, round: u64, max_rounds: u64, persona: &str) {
        let line = format!("Round {round} of {max_rounds}, {persona}");
        self.console.emphasize(&line, &line, Tone::Heading);
    }

    /// Shows an event of the reviewer or the drafter. Breaks after a signal, or if another process has ended the loop.
    pub(super) fn show_event(&mut self, held: &AnyLoop, event: RoundEvent<'_>) -> ControlFlow<()> {
        if self.polled.elapsed() >= CANCEL_POLL_INTERVAL {
            self.polled = Instant::now();
            if resume::ended_phase(held).is_some() {
                return ControlFlow::Break(());
            }
        }
        match event {
            // The first line of the run names the reviewer.
            RoundEvent::Began(_) => self.console.flow(),
            event => self.console.event(event),
        }
    }

    /// Shows the findings of a round, and the notes about its report.
    pub(super) fn show_report(&self, held: &AnyLoop, report: &Report, notes: &[String]) {
        let result = format!("  {}", review::result(held.raw(), report));
        self.console.emphasize(&result, rounds::CLEAN, Tone::Good);

        let mut findings: Vec<_> = report.run.findings().iter().collect();
        findings.sort_by_key(|finding| finding.severity);
        for finding in findings.iter().take(MAX_SHOWN_FINDINGS) {
            let severity = finding.severity.to_string().to_lowercase();
            let line = format!("    {severity:<6}  {}", bullet(finding));
            self.console.emphasize(&line, &severity, Tone::Heading);
        }
        let more = findings.len().saturating_sub(MAX_SHOWN_FINDINGS);
        if more > 0 {
            self.console
                .line(&format!("  and {more} more in that file"));
        }
        for note in notes {
            self.console.line(note);
        }
    }

    /// Shows a line.
    pub(super) fn show(&self, line: &str) {
        self.console.emphasize(line, "", Tone::Heading);
    }
}
