//! A reviewer for tests and demonstrations: it plays any outcome, by script, through the real supervisor.
//!
//! `fake:findings,clean` finds something in round 1 and nothing from round 2 on. Each round starts `/bin/sh` with one
//! fixed text; what a script names reaches it as an argument, never as code. It reviews nothing, needs no network and
//! is no stand-in for a review in earnest.

use std::time::Duration;

use camino::Utf8PathBuf;
use derive_more::{Display, Error};
use miette::Diagnostic;

use super::reviewer::{Cause, CauseKind, Outcome, Request, Reviewer, Watch, judge};
use crate::process::limits::{BadDuration, parse_duration};
use crate::process::{Call, supervise};
use crate::text;

/// What a fake reviewer's name starts with.
pub const PREFIX: &str = "fake:";

/// A name that no program has: what `not-installed` asks for.
const MISSING: &str = "claudex-loop-no-such-reviewer";

/// The one text that any item runs: `$1` is the item, the rest its values. The prompt is read first, as a real
/// reviewer does, except where the process is to end or hang at once.
const SHELL: &str = include_str!("fake/play.sh");

/// One round of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    /// An item that is its name and nothing more.
    Plain(&'static str),
    /// A program that is not there.
    NotInstalled,
    /// Progress for this long, then clean.
    Slow(Duration),
    /// Prints this file.
    File(Utf8PathBuf),
}

/// The items that are only a name.
const PLAIN: [&str; 17] = [
    "clean",
    "findings",
    "low",
    "could-not-run",
    "unreadable",
    "empty",
    "hang",
    "crash",
    "login",
    "quota",
    "service",
    "not-found",
    "announced",
    "two-verdicts",
    "endless",
    "leaves",
    "writes",
];

/// A fake reviewer with its script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fake {
    name: String,
    /// Never empty.
    items: Vec<Item>,
}

/// Why a text is not a fake reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Display, Error, Diagnostic)]
#[diagnostic(
    code(claudex::review::fake),
    help(
        "write `fake:` and one item per round, separated by commas: clean, findings, low, could-not-run, \
         login, quota, service, not-installed, not-found, unreadable, empty, announced, two-verdicts, endless, hang, \
         crash, leaves, writes, slow=<duration>, file=<path>"
    )
)]
pub enum BadScript {
    /// It does not start with `fake:`.
    #[display("`{name}` is not a fake reviewer")]
    OtherName {
        /// The name as it was given.
        name: String,
    },
    /// An item is none of those that exist, or `file=` has no path.
    #[display("`{item}` is not an item of a fake reviewer's script")]
    UnknownItem {
        /// The item.
        item: String,
    },
    /// The duration of `slow=` is none.
    #[display("`{item}`: {source}")]
    Duration {
        /// The item.
        item: String,
        /// What is wrong with it.
        source: BadDuration,
    },
}

impl Fake {
    /// Reads `fake:<item>,<item>,…`. A path in `file=` ends at the next comma.
    ///
    /// # Errors
    /// Names the first item that is wrong.
    pub fn parse(name: &str) -> Result<Self, BadScript> {
        let script = name.strip_prefix(PREFIX).ok_or_else(|| BadScript::OtherName {
            name: text::one_line(name, 60),
        })?;
        let items = script.split(',').map(Item::parse).collect::<Result<_, _>>()?;
        Ok(Self {
            name: name.to_owned(),
            items,
        })
    }

    /// The item of a round, counted from 1; the last one repeats.
    fn item(&self, round: u32) -> &Item {
        let index = usize::try_from(round.saturating_sub(1)).unwrap_or(usize::MAX);
        &self.items[index.min(self.items.len() - 1)]
    }
}

impl Item {
    fn parse(item: &str) -> Result<Self, BadScript> {
        let item = item.trim();
        let shown = || text::one_line(item, 60);
        if let Some(plain) = PLAIN.iter().find(|plain| **plain == item) {
            return Ok(Self::Plain(plain));
        }
        match item.split_once('=') {
            None if item == "not-installed" => Ok(Self::NotInstalled),
            Some(("slow", duration)) => {
                parse_duration(duration)
                    .map(Self::Slow)
                    .map_err(|source| BadScript::Duration {
                        item: shown(),
                        source,
                    })
            }
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            _ => Err(BadScript::UnknownItem { item: shown() }),
        }
    }

    /// The outcome with the cause that a client's own events would have told.
    fn meant(&self, outcome: Outcome) -> Outcome {
        let kind = match self {
            Self::Plain("login") => CauseKind::Login,
            Self::Plain("quota") => CauseKind::Quota,
            Self::Plain("service") => CauseKind::Service,
            _ => return outcome,
        };
        match outcome {
            Outcome::CouldNotRun(Cause {
                kind: CauseKind::Failed { .. },
                detail,
            }) => Outcome::CouldNotRun(Cause { kind, detail }),
            other => other,
        }
    }

    /// The program and its arguments.
    fn command(&self) -> (&'static str, Vec<String>) {
        let values = match self {
            Self::NotInstalled => return (MISSING, Vec::new()),
            Self::Plain(name) => vec![(*name).to_owned()],
            Self::Slow(duration) => {
                let step = (*duration).min(Duration::from_millis(500));
                let steps = duration.as_millis().div_ceil(step.as_millis().max(1));
                vec![
                    "slow".to_owned(),
                    steps.to_string(),
                    format!("{:.3}", step.as_secs_f64()),
                ]
            }
            Self::File(path) => vec!["file".to_owned(), path.to_string()],
        };
        let fixed = ["-c", SHELL, "fake-reviewer"].map(str::to_owned);
        ("/bin/sh", fixed.into_iter().chain(values).collect())
    }
}

impl Reviewer for Fake {
    fn name(&self) -> &str {
        &self.name
    }

    fn review(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Outcome {
        let (program, arguments) = self.item(request.round).command();
        let call = Call {
            program,
            arguments: &arguments,
            directory: request.root,
            stdin: request.prompt.as_bytes(),
            environment: request.environment,
            limits: request.limits,
        };
        let ended = supervise(&call, watch);
        if let Some((folder, name)) = request.output {
            // For people only: a review is not given up because it cannot be kept.
            let _ = ended.keep(folder, name);
        }
        self.item(request.round).meant(judge(&ended))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use camino::Utf8Path;

    use super::super::focus::{Focus, Kind};
    use super::super::reviewer::{Event, OutcomeName};
    use super::*;
    use crate::files::scratch::Place;
    use crate::process::environment::Environment;
    use crate::process::limits::Limits;

    /// Reviews in `root`; gives the outcome and the lines that were shown.
    fn play(script: &str, round: u32, root: &Utf8Path, limits: Limits) -> (Outcome, Vec<String>) {
        let mut lines = Vec::new();
        let request = Request {
            prompt: "review this",
            subject: "# Plan",
            subject_name: "PLAN.md",
            kind: Kind::Document,
            round,
            focus: Focus::Engineering,
            run: "r1-0",
            root,
            scratch: &Place::new(root, root),
            limits,
            environment: &Environment::default(),
            output: None,
        };
        let outcome = Fake::parse(script).unwrap().review(&request, &mut |event| {
            if let Event::Line { text, .. } = event {
                lines.push(text.to_owned());
            }
            ControlFlow::Continue(())
        });
        (outcome, lines)
    }

    fn outcome(script: &str, round: u32) -> Outcome {
        play(script, round, Utf8Path::new("/"), Limits::default()).0
    }

    fn cause(script: &str) -> (OutcomeName, CauseKind) {
        let outcome = outcome(script, 1);
        (
            outcome.name(),
            outcome.cause().expect("no verdict was expected").kind,
        )
    }

    #[test]
    fn each_item_plays_its_outcome() {
        assert_eq!(outcome("fake:clean", 1), Outcome::Clean);
        let Outcome::Findings(findings) = outcome("fake:findings", 1) else {
            panic!("expected findings")
        };
        assert_eq!(findings.counts().to_string(), "high=1 medium=1 low=1");
        let Outcome::Findings(findings) = outcome("fake:low", 1) else {
            panic!("expected findings")
        };
        assert_eq!(findings.counts().to_string(), "high=0 medium=0 low=1");

        assert_eq!(
            cause("fake:could-not-run"),
            (OutcomeName::CouldNotRun, CauseKind::Failed { status: 1 })
        );
        assert_eq!(
            cause("fake:not-installed"),
            (OutcomeName::CouldNotRun, CauseKind::NotInstalled)
        );
        assert_eq!(
            cause("fake:crash"),
            (OutcomeName::CouldNotRun, CauseKind::Crashed { signal: 9 })
        );
        for (item, kind) in [
            ("login", CauseKind::Login),
            ("quota", CauseKind::Quota),
            ("service", CauseKind::Service),
            ("not-found", CauseKind::NotInstalled),
        ] {
            assert_eq!(cause(&format!("fake:{item}")), (OutcomeName::CouldNotRun, kind));
        }
        for item in ["announced", "two-verdicts"] {
            assert_eq!(
                cause(&format!("fake:{item}")),
                (OutcomeName::Unreadable, CauseKind::NotAVerdict)
            );
        }
        assert_eq!(
            cause("fake:unreadable"),
            (OutcomeName::Unreadable, CauseKind::NotAVerdict)
        );
        assert_eq!(
            cause("fake:empty"),
            (OutcomeName::Unreadable, CauseKind::NoOutput)
        );
    }

    #[test]
    fn a_hang_runs_into_the_limits() {
        let kind = |limits| {
            play("fake:hang", 1, Utf8Path::new("/"), limits)
                .0
                .cause()
                .map(|cause| cause.kind)
        };
        let (short, long) = (Duration::from_millis(300), Duration::from_secs(60));
        assert_eq!(
            kind(Limits {
                timeout: short,
                idle: long
            }),
            Some(CauseKind::TimedOut { after: short })
        );
        assert_eq!(
            kind(Limits {
                timeout: long,
                idle: short
            }),
            Some(CauseKind::Idle { after: short })
        );
    }

    #[test]
    fn slow_shows_progress_and_is_not_idle() {
        let limits = Limits {
            timeout: Duration::from_secs(60),
            idle: Duration::from_secs(10),
        };
        let (outcome, lines) = play("fake:slow=600ms", 1, Utf8Path::new("/"), limits);
        assert_eq!(outcome, Outcome::Clean);
        assert_eq!(lines[..2], ["reading, 2 to go", "reading, 1 to go"]);
    }

    #[test]
    fn each_round_has_its_item_and_the_last_repeats() {
        let fake = Fake::parse("fake:findings, low ,clean").unwrap();
        for (round, name) in [
            (0, "findings"),
            (1, "findings"),
            (2, "low"),
            (3, "clean"),
            (4, "clean"),
            (u32::MAX, "clean"),
        ] {
            assert_eq!(*fake.item(round), Item::Plain(name), "round {round}");
        }
        assert_eq!(outcome("fake:empty,clean", 2), Outcome::Clean);
    }

    #[test]
    fn a_path_is_never_code() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let name = "-n it's \"$(touch pwned)\"; touch pwned; ü`touch pwned`.md";
        std::fs::write(root.join(name), "No substantive findings.\n").unwrap();
        let (outcome, _) = play(&format!("fake:file={name}"), 1, root, Limits::default());
        assert_eq!(outcome, Outcome::Clean);
        assert!(!root.join("pwned").exists());

        let (outcome, _) = play("fake:file=missing.md", 1, root, Limits::default());
        assert_eq!(
            outcome.cause().map(|cause| cause.kind),
            Some(CauseKind::Failed { status: 1 })
        );
    }

    #[test]
    fn a_wrong_script_names_the_item() {
        let wrong = |script: &str| Fake::parse(script).unwrap_err().to_string();
        assert_eq!(wrong("codex"), "`codex` is not a fake reviewer");
        assert_eq!(wrong("fake:"), "`` is not an item of a fake reviewer's script");
        assert_eq!(
            wrong("fake:clean,,low"),
            "`` is not an item of a fake reviewer's script"
        );
        assert_eq!(
            wrong("fake:claen"),
            "`claen` is not an item of a fake reviewer's script"
        );
        assert_eq!(
            wrong("fake:file="),
            "`file=` is not an item of a fake reviewer's script"
        );
        assert_eq!(
            wrong("fake:clean=1"),
            "`clean=1` is not an item of a fake reviewer's script"
        );
        assert_eq!(wrong("fake:slow=5"), "`slow=5`: `5` has no unit");
    }
}
