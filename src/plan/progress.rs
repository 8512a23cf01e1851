//! The progress of a run, in plain lines. With `--json` they go to stderr.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use claudex_loop::program::{Tone, out, review};
use claudex_loop::review::findings_file::bullet;
use claudex_loop::review::round::{Report, RoundEvent};

use super::{AnyLoop, resume};

/// The interval at which a run checks whether another process has ended its loop.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Upper limit of findings that are shown of a round. Their file has all.
const MAX_SHOWN_FINDINGS: usize = 20;

/// Shows the progress of a run, and tells the run when to stop.
pub(super) struct Progress {
    to_stderr: bool,
    lines: review::Lines,
    interrupted: Arc<AtomicBool>,
    polled: Instant,
}

impl Progress {
    /// Makes the display. With `json`, stdout is for the outcome alone.
    pub(super) fn new(json: bool) -> Self {
        Self {
            to_stderr: json,
            lines: review::Lines::default(),
            interrupted: review::interrupts(),
            polled: Instant::now(),
        }
    }

    /// Shows that a round begins.
    pub(super) fn show_round(&mut self, round: u64, max_rounds: u64, persona: &str) {
        self.lines = review::Lines::default();
        let line = format!("Round {round} of {max_rounds}, {persona}");
        self.show_toned(&line, &line, Tone::Heading);
    }

    /// Shows an event of the reviewer or the drafter. Breaks after a signal, or if another process has ended the loop.
    pub(super) fn show_event(&mut self, held: &AnyLoop, event: RoundEvent<'_>) -> ControlFlow<()> {
        let is_known = matches!(event, RoundEvent::Began { .. });
        if let Some(line) = self.lines.line_of(event, "").filter(|_| !is_known) {
            self.show(&format!("  {line}"));
        }
        let mut is_over = self.interrupted.load(Ordering::Relaxed);
        if self.polled.elapsed() >= CANCEL_POLL_INTERVAL {
            self.polled = Instant::now();
            is_over |= resume::ended_phase(held).is_some();
        }
        if is_over {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Shows the findings of a round, and the notes about its report.
    pub(super) fn show_report(&self, report: &Report, notes: &[String]) {
        let result = format!("  {}", review::result(report));
        self.show_toned(&result, review::NOTHING, Tone::Good);

        let mut findings: Vec<_> = report.findings.0.iter().collect();
        findings.sort_by_key(|finding| finding.severity);
        for finding in findings.iter().take(MAX_SHOWN_FINDINGS) {
            let severity = finding.severity.to_string().to_lowercase();
            let line = format!("    {severity:<6}  {}", bullet(finding));
            self.show_toned(&line, &severity, finding.severity.into());
        }
        let more = findings.len().saturating_sub(MAX_SHOWN_FINDINGS);
        if more > 0 {
            self.show(&format!("    and {more} more in that file"));
        }
        for note in notes {
            self.show(&format!("  {note}"));
        }
    }

    /// Shows a line.
    pub(super) fn show(&self, line: &str) {
        self.show_toned(line, "", Tone::Heading);
    }

    fn show_toned(&self, line: &str, word: &str, tone: Tone) {
        if self.to_stderr {
            out::note(line)
        } else {
            out::toned(line, word, tone)
        }
    }
}
