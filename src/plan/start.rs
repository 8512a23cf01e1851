//! Starting a loop: from what was typed to a state file, or to an error that says what to type instead.
//!
//! Flags stand before the topic, as the seeds ask; everything after them is the topic, byte for byte.

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};
use jiff::Timestamp;

use crate::machine::Actor;
use crate::machine::begin::Beginning;
use crate::plan::caller::{Caller, UNKNOWN};
use crate::plan::near;
use crate::plan::settings::{self, MOST_ROUNDS, Settings, SettingsError};
use crate::plan::typestate::STATE;
use crate::plan::{AnyLoop, Mode, Start, changes, closing, locate, runner};
use crate::review::Digest;
use crate::review::changes::{Changes, ChangesError};
use crate::store::{self, LoopId, Store};
use crate::text;

/// The plan's name.
const PLAN: &str = "PLAN.md";
/// The longest topic, in bytes.
pub(super) const LONGEST_TOPIC: usize = 64 * 1024;

/// What a start can be told besides its topic.
const FLAGS: [&str; 6] = [
    "--rounds",
    "--from-draft",
    "--skip-interview",
    "--interviewed",
    "--continue",
    "--plan",
];
const FLAGS_HELP: &str = "flags: --rounds N, --from-draft, --skip-interview, --interviewed, --continue ID; a topic that begins \
     with `--` goes after ` -- `";

fn near_flag(flag: &str) -> Option<&'static str> {
    let (name, _) = flag.split_once('=').unwrap_or((flag, ""));
    near::word(name, FLAGS)
}

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
    /// `--continue`: the loop that this one goes on from.
    pub continues: Option<String>,
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
        help("{}", near::help(near_flag(flag), FLAGS_HELP))
    )]
    Flag {
        /// The flag, on one line.
        flag: String,
    },
    /// `--rounds` at the end.
    #[display("--rounds needs a number after it: a positive integer")]
    #[diagnostic(code(claudex::start::rounds_missing), help("for example: --rounds 3"))]
    NoRounds,
    /// `--continue` at the end.
    #[display("--continue needs the id of a loop after it")]
    #[diagnostic(
        code(claudex::start::continue_missing),
        help("`claudex-loop list` shows the ids: --continue 20261122-005333-0a1b2c")
    )]
    NoContinue,
    /// A loop that cannot be gone on from.
    #[display("cannot go on from `{given}`: {problem}")]
    #[diagnostic(
        code(claudex::start::continues),
        help(
            "{}",
            near::help(
                near.as_deref(),
                "--continue takes a plan loop of this project that is over; `claudex-loop list` shows them"
            )
        )
    )]
    Continues {
        /// What was given, on one line.
        given: String,
        /// The loop that was probably meant.
        near: Option<String>,
        /// What is wrong with it.
        problem: String,
    },
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
    #[display("--from-draft requires PLAN.md to exist, and {path} does not", path = crate::text::shown(path))]
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
    /// Nothing to review, or nothing that can be read.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Changes(ChangesError),
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
    #[display("could not read {path}: {source}", path = crate::text::shown(path), source = crate::text::shown(source.to_string()))]
    #[diagnostic(code(claudex::start::io))]
    Io {
        /// What.
        path: Utf8PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The settings cannot be used.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Settings(SettingsError),
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
            "--continue" => {
                let (id, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                if id.is_empty() {
                    return Err(StartRefused::NoContinue);
                }
                wanted.continues = Some(id.to_owned());
                rest = after.trim_start();
            }
            _ => match flag.split_once('=') {
                Some(("--rounds", number)) => wanted.rounds = Some(number.to_owned()),
                Some(("--continue", id)) => wanted.continues = Some(id.to_owned()),
                _ => {
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
    settings::positive(given, MOST_ROUNDS).ok_or_else(|| StartRefused::Rounds {
        what,
        given: text::one_line(given, 40),
    })
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
        return review(wanted, rounds, from, caller, now);
    }
    let store = locate::for_start(from);
    let before = wanted
        .continues
        .as_deref()
        .map(|given| over(&store, given))
        .transpose()?;
    // Whoever goes on from a loop goes on with its plan.
    let from_draft = wanted.from_draft || before.is_some();
    let old_topic = before.as_ref().map(|before| before.fields().topic());
    let topic = match wanted.topic.trim() {
        "" => old_topic.as_deref().unwrap_or_default(),
        topic => topic,
    };
    if topic.is_empty() {
        return Err(StartRefused::NoTopic);
    }
    if topic.len() > LONGEST_TOPIC {
        return Err(StartRefused::LongTopic { bytes: topic.len() });
    }
    if caller.inside && caller.session.is_none() {
        return Err(StartRefused::NoSession);
    }
    // The plan lies where the start ran: a client that was opened in a subfolder may not write outside it.
    let plan = match &before {
        Some(before) if wanted.plan.is_none() => before.raw().path("{subject}"),
        _ => from.join(wanted.plan.as_deref().unwrap_or(Utf8Path::new(PLAN))),
    };
    let plan = plan
        .strip_prefix(store.root())
        .map(Utf8Path::to_owned)
        .unwrap_or(plan);
    let path = store.root().join(&plan);
    let existing = match store.read(&path) {
        Ok(content) => Some(content),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(source) => return Err(StartRefused::Io { path, source }),
    };
    if from_draft && existing.is_none() {
        return Err(StartRefused::NoDraft { path });
    }
    // The plan that is there already counts as written only with --from-draft.
    let subject_before = existing
        .filter(|_| !from_draft)
        .map(|content| Digest::of(&content).to_string());
    let settings = Settings::for_call(store.root(), caller, None).map_err(StartRefused::Settings)?;
    let start = Start {
        mode,
        topic: topic.to_owned(),
        max_rounds: rounds.or(settings.plan_rounds),
        max_failures: settings.max_failures,
        from_draft: Some(from_draft),
        interview_used: Some(wanted.interviewed),
        subject: Some(plan.into_string()),
        subject_before,
        continues: before.as_ref().map(|before| before.id().to_string()),
    };
    let how = Beginning {
        now,
        stale_after: Some(settings.stale_after),
        session: caller.session.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
        id: None,
    };
    start
        .begin(&store, how, caller.actor(true))
        .map_err(StartRefused::Store)
}

/// Starts a loop that reviews the changes of the work tree.
fn review(
    wanted: &Wanted,
    rounds: Option<u64>,
    from: &Utf8Path,
    caller: &Caller,
    now: Timestamp,
) -> Result<AnyLoop, StartRefused> {
    for (given, flag) in [
        (wanted.from_draft, "--from-draft"),
        (wanted.continues.is_some(), "--continue"),
        (wanted.plan.is_some(), "--plan"),
        (wanted.interviewed, "--interviewed"),
        (wanted.skip_interview, "--skip-interview"),
    ] {
        if given {
            return Err(StartRefused::PlanOnly { flag });
        }
    }
    if wanted.topic.len() > LONGEST_TOPIC {
        return Err(StartRefused::LongTopic {
            bytes: wanted.topic.len(),
        });
    }
    if caller.inside && caller.session.is_none() {
        return Err(StartRefused::NoSession);
    }
    let store = locate::for_start(from);
    // The snapshot and its scratch data go here.
    let Changes { title, compared, .. } = changes::now(&store).map_err(StartRefused::Changes)?;
    let settings = Settings::for_call(store.root(), caller, None).map_err(StartRefused::Settings)?;
    let id = LoopId::new_stamp(now).map_err(|source| StartRefused::Io {
        path: store.folder().to_owned(),
        source,
    })?;
    let topic = match wanted.topic.trim() {
        "" => title,
        topic => topic.to_owned(),
    };
    let start = Start {
        mode: Mode::Review,
        topic,
        max_rounds: rounds.or(settings.review_rounds),
        max_failures: settings.max_failures,
        from_draft: None,
        interview_used: None,
        subject: Some(changes::copy_of(&store, &id).into_string()),
        subject_before: None,
        continues: None,
    };
    let how = Beginning {
        now,
        stale_after: Some(settings.stale_after),
        session: caller.session.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
        id: Some(id),
    };
    let held = start
        .begin(&store, how, caller.actor(true))
        .map_err(StartRefused::Store)?;
    closing::started(&store, held.id(), &compared);
    // There is no stop before the first round that would write it. Without it the other line still runs the review.
    if let Err(error) = runner::write(&held, &settings.personas) {
        store.log(&format!("{} could not write the runner: {error}", held.id()));
    }
    Ok(held)
}

/// The loop that a new one goes on from: of this project, of plan mode, and over.
fn over(store: &Store, given: &str) -> Result<AnyLoop, StartRefused> {
    let refused = |problem: String| StartRefused::Continues {
        given: text::one_line(given, 60),
        near: None,
        problem,
    };
    let unknown = |problem: String| StartRefused::Continues {
        given: text::one_line(given, 60),
        near: locate::near_id(store.root(), given),
        problem,
    };
    let id = LoopId::parse(given, STATE.ids).map_err(|_| unknown("it is not the id of a loop".to_owned()))?;
    if !store.list().iter().any(|listed| listed.id == id) {
        return Err(unknown(match store.swept().iter().any(|swept| swept.id == id) {
            true => {
                format!("it is not over: it was put aside; to bring it back:\n    claudex-loop resume {id}")
            }
            false => format!("{} has no such loop", text::shown(store.folder())),
        }));
    }
    let before = AnyLoop::open(store, &id, Actor::Person).map_err(|error| refused(error.to_string()))?;
    if before.fields().mode() != Mode::Plan.to_string() {
        return Err(refused("it reviewed changes, not a plan".to_owned()));
    }
    if !before.phase().is_terminal() {
        return Err(refused(format!(
            "it is not over yet (phase {}); see `claudex-loop status`",
            before.phase()
        )));
    }
    Ok(before)
}

/// What a person should know of a loop that was just started.
pub fn notes(held: &AnyLoop) -> Vec<String> {
    let mut notes: Vec<String> = held.raw().repairs().iter().map(ToString::to_string).collect();
    notes.extend(held.raw().swept().iter().map(|id| {
        format!("loop {id} showed no sign of life and was put aside; /claudex:resume {id} brings it back once this one is over")
    }));
    let fields = held.fields();
    if !fields.continues().is_empty() {
        notes.push(format!(
            "this loop goes on from {}: its reviewers are shown the findings of that one too",
            fields.continues()
        ));
    }
    if !fields.from_draft() && !fields.subject_before().is_empty() {
        notes.push(format!(
            "there is an existing {} already; it has to be written anew before the review begins (--from-draft takes it as it is)",
            fields.subject()
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
}
