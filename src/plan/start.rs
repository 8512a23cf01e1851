//! Starting a loop: from what was typed to a state file, or to an error that says what to type instead.
//!
//! Flags stand before the topic, as the seeds ask; everything after them is the topic, byte for byte.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};
use jiff::Timestamp;

use crate::machine::begin::Beginning;
use crate::plan::caller::{Caller, UNKNOWN};
use crate::plan::typestate::STATE;
use crate::plan::{AnyLoop, Mode, Start, locate};
use crate::review::Digest;
use crate::store::{self, for_start};
use crate::text;

/// Rounds of plan mode where neither flag nor machine file says.
const ROUNDS_ENV: &str = "CLAUDEX_MAX_PLAN_ROUNDS";
/// Failures of a reviewer that end a loop.
const FAILURES_ENV: &str = "CLAUDEX_MAX_FAILURES";
/// Minutes without a sign of life after which a loop is swept.
const STALE_ENV: &str = "CLAUDEX_STALE_MINUTES";
/// What `CLAUDEX_STALE_MINUTES` is by default.
const STALE_MINUTES: u64 = 15;
/// The plan's name.
const PLAN: &str = "PLAN.md";
/// More rounds than anyone reads.
const MOST_ROUNDS: u64 = 1000;
/// The longest topic, in bytes.
const LONGEST_TOPIC: usize = 64 * 1024;

/// What a start was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// `--rounds`, as typed.
    pub rounds: Option<String>,
    /// `--from-draft`
    pub from_draft: bool,
    /// `--skip-interview`: for the command that asks; it changes nothing here.
    pub skip_interview: bool,
    /// `--interviewed`
    pub interviewed: bool,
    /// The topic.
    pub topic: String,
    /// The plan's path where it is not PLAN.md, from the working directory.
    pub plan: Option<Utf8PathBuf>,
}

/// A start that was refused for what was asked.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum StartRefused {
    /// `--rounds 0`, `--rounds many`.
    #[display("{what} takes a positive integer up to {MOST_ROUNDS}, and got `{given}`")]
    #[diagnostic(code(claudex::start::rounds), help("for example: {what} 3"))]
    Rounds {
        /// The flag or variable.
        what: &'static str,
        /// What was given, on one line.
        given: String,
    },
    /// A flag that is none.
    #[display("`{flag}` is no flag of start")]
    #[diagnostic(
        code(claudex::start::flag),
        help(
            "flags: --rounds N, --from-draft, --skip-interview, --interviewed; a topic that begins with `--` goes after ` -- `"
        )
    )]
    Flag {
        /// The flag, on one line.
        flag: String,
    },
    /// `--rounds` at the end.
    #[display("--rounds needs a number after it: a positive integer")]
    #[diagnostic(code(claudex::start::rounds_missing), help("for example: --rounds 3"))]
    NoRounds,
    /// No topic.
    #[display("Plan mode requires a topic")]
    #[diagnostic(
        code(claudex::start::topic),
        help("say what the plan is about, after the flags: start plan move the queue to Postgres")
    )]
    NoTopic,
    /// A topic that no state file should hold.
    #[display("the topic is {bytes} bytes long, and {LONGEST_TOPIC} are the most")]
    #[diagnostic(
        code(claudex::start::topic_length),
        help("put the details into a file of the project and name it in the topic")
    )]
    LongTopic {
        /// Its length.
        bytes: usize,
    },
    /// `--from-draft` without a draft.
    #[display("--from-draft requires PLAN.md to exist, and {path} does not")]
    #[diagnostic(
        code(claudex::start::draft),
        help("write the draft first, or leave --from-draft out")
    )]
    NoDraft {
        /// Where it should be.
        path: Utf8PathBuf,
    },
    /// A plan's flag in review mode.
    #[display("{flag} only applies to plan mode")]
    #[diagnostic(code(claudex::start::mode), help("leave it out, or start plan mode"))]
    PlanOnly {
        /// The flag.
        flag: &'static str,
    },
    /// Review mode, which this version does not drive.
    #[display("review mode is not in this version of claudex-loop yet")]
    #[diagnostic(
        code(claudex::start::review_mode),
        help("plan mode is: claudex-loop start plan <topic>")
    )]
    ReviewMode,
    /// Inside a client that does not say which session it is.
    #[display(
        "this runs inside Claude Code, and CLAUDE_CODE_SESSION_ID is not set: the loop would belong to nobody"
    )]
    #[diagnostic(
        code(claudex::start::session),
        help("update Claude Code, or start the loop in a terminal of your own")
    )]
    NoSession,
    /// The system refused.
    #[display("could not read {path}: {source}")]
    #[diagnostic(code(claudex::start::io))]
    Io {
        /// What.
        path: Utf8PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The store refused.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Store(store::StartError),
}

/// Splits what was typed after a command into flags and topic, without a shell. A flag ends at white space; the topic
/// begins at the first word that is no flag, or after ` -- `, and keeps every byte up to trailing white space.
///
/// # Errors
/// An unknown flag, or `--rounds` without its number.
pub fn split(typed: &str) -> Result<Wanted, StartRefused> {
    let mut wanted = Wanted::default();
    let mut rest = typed.trim();
    while rest.starts_with("--") {
        let (flag, after) = match rest.split_once(char::is_whitespace) {
            Some((flag, after)) => (flag, after.trim_start()),
            None => (rest, ""),
        };
        rest = after;
        match flag {
            "--" => break,
            "--from-draft" => wanted.from_draft = true,
            "--skip-interview" => wanted.skip_interview = true,
            "--interviewed" => wanted.interviewed = true,
            "--rounds" => {
                let (number, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                if number.is_empty() {
                    return Err(StartRefused::NoRounds);
                }
                wanted.rounds = Some(number.to_owned());
                rest = after.trim_start();
            }
            _ => match flag.strip_prefix("--rounds=") {
                Some(number) => wanted.rounds = Some(number.to_owned()),
                None => {
                    return Err(StartRefused::Flag {
                        flag: text::one_line(flag, 60),
                    });
                }
            },
        }
    }
    wanted.topic = rest.to_owned();
    Ok(wanted)
}

/// A positive whole number, as a person types it.
fn positive(what: &'static str, given: &str) -> Result<u64, StartRefused> {
    let refused = || StartRefused::Rounds {
        what,
        given: text::one_line(given, 40),
    };
    if given.is_empty() || !given.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refused());
    }
    given
        .parse()
        .ok()
        .filter(|number| (1..=MOST_ROUNDS).contains(number))
        .ok_or_else(refused)
}

/// A limit of the environment; a value that is no positive integer is an error, not the default.
fn from_env(name: &'static str) -> Result<Option<u64>, StartRefused> {
    match std::env::var(name) {
        Ok(value) if !value.trim().is_empty() => positive(name, value.trim()).map(Some),
        _ => Ok(None),
    }
}

/// Checks the limits that the environment sets.
///
/// # Errors
/// One is no positive integer.
pub fn limits() -> Result<(), StartRefused> {
    from_env(ROUNDS_ENV)?;
    from_env(FAILURES_ENV)?;
    Ok(())
}

/// How old a loop that is not over may be before it is swept.
///
/// # Errors
/// `CLAUDEX_STALE_MINUTES` is no positive integer.
pub fn stale_after() -> Result<Duration, StartRefused> {
    let minutes = match std::env::var(STALE_ENV) {
        Ok(value) if !value.trim().is_empty() => {
            let given = value.trim();
            given
                .parse()
                .ok()
                .filter(|&minutes: &u64| minutes > 0)
                .ok_or_else(|| StartRefused::Rounds {
                    what: STALE_ENV,
                    given: text::one_line(given, 40),
                })?
        }
        _ => STALE_MINUTES,
    };
    Ok(Duration::from_secs(minutes.saturating_mul(60)))
}

/// Starts a loop in the project of a folder.
///
/// # Errors
/// See [`StartRefused`]; nothing is left behind.
pub fn start(
    mode: Mode,
    wanted: &Wanted,
    from: &Utf8Path,
    caller: &Caller,
    now: Timestamp,
) -> Result<AnyLoop, StartRefused> {
    let rounds = wanted
        .rounds
        .as_deref()
        .map(|given| positive("--rounds", given))
        .transpose()?;
    if mode == Mode::Review {
        if wanted.from_draft {
            return Err(StartRefused::PlanOnly { flag: "--from-draft" });
        }
        return Err(StartRefused::ReviewMode);
    }
    let topic = wanted.topic.trim();
    if topic.is_empty() {
        return Err(StartRefused::NoTopic);
    }
    if topic.len() > LONGEST_TOPIC {
        return Err(StartRefused::LongTopic { bytes: topic.len() });
    }
    if caller.inside && caller.session.is_none() {
        return Err(StartRefused::NoSession);
    }
    let store = for_start(&STATE, from, locate::state_dir().as_deref());
    // The plan lies where the start ran: a client that was opened in a subfolder may not write outside it.
    let plan = from.join(wanted.plan.as_deref().unwrap_or(Utf8Path::new(PLAN)));
    let plan = plan
        .strip_prefix(store.root())
        .map(Utf8Path::to_owned)
        .unwrap_or(plan);
    let path = store.root().join(&plan);
    let existing = match store::read(&path) {
        Ok(content) => Some(content),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(source) => return Err(StartRefused::Io { path, source }),
    };
    if wanted.from_draft && existing.is_none() {
        return Err(StartRefused::NoDraft { path });
    }
    // The plan that is there already counts as written only with --from-draft.
    let plan_before = existing
        .filter(|_| !wanted.from_draft)
        .map(|content| Digest::of(&content).to_string());
    let start = Start {
        mode,
        topic: topic.to_owned(),
        max_rounds: rounds.or(from_env(ROUNDS_ENV)?),
        max_failures: from_env(FAILURES_ENV)?,
        from_draft: Some(wanted.from_draft),
        interview_used: Some(wanted.interviewed),
        plan: Some(plan.into_string()),
        plan_before,
    };
    let how = Beginning {
        now,
        stale_after: Some(stale_after()?),
        session: caller.session.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
    };
    start
        .begin(&store, how, caller.actor(true))
        .map_err(StartRefused::Store)
}

/// What a person should know of a loop that was just started.
pub fn notes(held: &AnyLoop) -> Vec<String> {
    let mut notes: Vec<String> = held.raw().repairs().iter().map(ToString::to_string).collect();
    notes.extend(held.raw().swept().iter().map(|id| {
        format!("loop {id} showed no sign of life and was put aside; /claudex:resume {id} brings it back once this one is over")
    }));
    let fields = held.fields();
    if !fields.from_draft() && !fields.plan_before().is_empty() {
        notes.push(format!(
            "there is an existing {} already; it has to be written anew before the review begins (--from-draft takes it as it is)",
            fields.plan()
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stand_before_the_topic_and_the_topic_is_kept() {
        let wanted = split("--rounds 2 --from-draft fix `it`; $(x) --rounds 9\n\"quoted\" ").unwrap();
        assert_eq!(wanted.rounds.as_deref(), Some("2"));
        assert!(wanted.from_draft);
        assert_eq!(wanted.topic, "fix `it`; $(x) --rounds 9\n\"quoted\"");
        assert_eq!(split("--rounds=7 x").unwrap().rounds.as_deref(), Some("7"));
        assert_eq!(
            split("-- --rounds is a flag").unwrap().topic,
            "--rounds is a flag"
        );
        assert_eq!(split("- dash first").unwrap().topic, "- dash first");
        assert_eq!(split("  ").unwrap(), Wanted::default());
    }

    #[test]
    fn a_flag_that_is_none_is_named() {
        let error = split("--round 2 x").unwrap_err();
        assert!(error.to_string().contains("`--round`"), "{error}");
        assert!(matches!(split("--rounds"), Err(StartRefused::NoRounds)));
    }

    #[test]
    fn rounds_are_positive_integers() {
        for bad in [
            "0",
            "-1",
            "1.5",
            "three",
            "",
            "1001",
            "99999999999999999999",
            "+3",
            " 3",
            "٣",
        ] {
            let error = positive("--rounds", bad).unwrap_err();
            assert!(error.to_string().contains("positive integer"), "{bad}: {error}");
        }
        assert_eq!(positive("--rounds", "007").unwrap(), 7);
    }
}
