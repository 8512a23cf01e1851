//! The texts of the loop: templates from `messages/`, filled with what a loop knows of itself.
//!
//! Whatever a person or a model wrote (topic, plan, findings) goes in as quoted data: one plain line, capped. The files
//! are templates so that no text of more than a line stands in code.

use jiff::Timestamp;
use serde::Serialize;

use crate::machine::message::Message;
use crate::plan::caller::RUN;
use crate::plan::typestate::DecisionSignal;
use crate::plan::{AnyLoop, changes, report, runner, summary};
use crate::review::findings::Counts;
use crate::review::personas::Personas;
use crate::review::runs::Run;
use crate::review::twin;
use crate::text;

/// How many characters of a topic a message shows.
const TOPIC: usize = 300;

/// What `start` prints.
pub const STARTED: Message = Message {
    name: "started.md",
    text: include_str!("messages/started.md"),
};
/// What `start` prints in review mode.
pub const REVIEW_STARTED: Message = Message {
    name: "review-started.md",
    text: include_str!("messages/review-started.md"),
};
/// What review mode says in place of the texts that machine.toml names, which speak of a plan.
const OF_REVIEW_MODE: [(&str, Message); 5] = [
    (
        "round.md",
        Message {
            name: "review-round.md",
            text: include_str!("messages/review-round.md"),
        },
    ),
    (
        "missing.md",
        Message {
            name: "review-missing.md",
            text: include_str!("messages/review-missing.md"),
        },
    ),
    (
        "prompt.md",
        Message {
            name: "prompt-review.md",
            text: include_str!("messages/prompt-review.md"),
        },
    ),
    ("complete.md", REVIEW_COMPLETE),
    ("stopped.md", REVIEW_COMPLETE),
];
/// The end of a review of changes; whether the last round found something does not make it another one.
const REVIEW_COMPLETE: Message = Message {
    name: "review-complete.md",
    text: include_str!("messages/review-complete.md"),
};
/// The runner script.
pub const RUNNER: Message = Message {
    name: "runner.sh",
    text: include_str!("messages/runner.sh"),
};

/// What every message can say of its loop.
#[derive(Debug, Serialize)]
pub struct Facts {
    id: String,
    mode: String,
    phase: String,
    topic: String,
    round: u64,
    max_rounds: u64,
    again: String,
    /// Whether stops drive it: a loop of `run` is driven by its own process.
    driven: bool,
    max_failures: u64,
    persona: String,
    plan: String,
    plan_path: String,
    runner: String,
    findings: String,
    previous: Option<String>,
    rounds: String,
    /// How the findings of all rounds stand; None where that says nothing new.
    across: Option<String>,
    stalled: bool,
    elapsed: String,
    reviewers: String,
    admissions: Vec<String>,
    cause: String,
    /// Whether the last round that was begun has a findings file.
    reviewed: bool,
    /// Why it has none, where a review of it was tried.
    no_verdict: Option<String>,
    /// Whether there is a plan to save once more.
    plan_is_there: bool,
    report: Option<String>,
    fixes: Option<String>,
}

impl Facts {
    /// What a loop knows of itself now.
    pub fn of(held: &AnyLoop, personas: &Personas, now: Timestamp) -> Self {
        let (raw, fields) = (held.raw(), held.fields());
        let lines = summary::rounds(held, personas);
        let round = fields.round();
        let previous: Option<Counts> = lines
            .iter()
            .find(|line| line.round + 1 == round)
            .and_then(|line| line.counts);
        // What a client says of itself may end with a full stop; the texts around it have their own.
        let told = |run: &Run| {
            let cause = run.ended.as_ref()?.cause()?.to_string();
            Some(cause.trim_end_matches(['.', ' ']).to_owned())
        };
        let runs = summary::runs(held);
        let cause = runs.iter().rev().find_map(told);
        let of_round = runs.iter().rev().find(|run| run.began.round == round);
        let reviewed = lines.last().is_some_and(|line| line.counts.is_some());
        let (report, fixes) = report::there(held);
        Self {
            reviewed,
            no_verdict: of_round.and_then(told).filter(|_| !reviewed),
            plan_is_there: raw.read("{subject}").is_ok(),
            report: report.map(text::exact),
            fixes: fixes.map(text::exact),
            id: held.id().to_string(),
            mode: fields.mode(),
            phase: held.phase().to_string(),
            topic: text::one_line(&fields.topic(), TOPIC).replace('"', "”"),
            round,
            max_rounds: fields.max_rounds(),
            again: again(held),
            driven: fields.session_id() != RUN,
            max_failures: fields.max_failures(),
            persona: personas.of_round(round).label.clone(),
            plan: text::one_line(&fields.subject(), TOPIC),
            plan_path: text::one_line(raw.path("{subject}").as_str(), TOPIC),
            runner: format!("bash {}", runner::quoted(runner::path(raw).as_str())),
            findings: text::exact(twin::findings_path(raw.store(), raw.id(), round)),
            previous: previous.map(|counts| counts.to_string()),
            rounds: summary::table(&lines),
            across: summary::across(held),
            stalled: fields.decision_signal() == DecisionSignal::Stalled,
            elapsed: summary::elapsed(summary::seconds(held, now)),
            reviewers: summary::reviewers(held),
            admissions: summary::admissions(held, personas),
            cause: cause.unwrap_or_else(|| "the reviewer failed".to_owned()),
        }
    }

    /// Why the last review failed.
    pub fn cause(&self) -> &str {
        &self.cause
    }
}

/// The line that runs the loop again with more rounds, as whoever started it would type it.
fn again(held: &AnyLoop) -> String {
    let fields = held.fields();
    let rounds = fields.max_rounds().saturating_mul(2);
    if fields.session_id() == RUN {
        let plan = runner::quoted(held.raw().path("{subject}").as_str());
        format!("claudex-loop run --rounds {rounds} --drafter <command> {plan}")
    } else {
        format!("/claudex:plan --continue {} --rounds {rounds}", held.id())
    }
}

/// What `start` says.
#[derive(Debug, Serialize)]
pub struct Started {
    /// The loop's id.
    pub id: String,
    /// Its last round.
    pub max_rounds: u64,
    /// The topic, on one line.
    pub topic: String,
    /// The state file.
    pub state: String,
    /// What a person should know besides.
    pub notes: Vec<String>,
    /// Whether an existing plan is the draft.
    pub from_draft: bool,
    /// Whether an interview is still to be held.
    pub interview: bool,
    /// The plan, from the root.
    pub plan_name: String,
    /// The plan's path.
    pub plan_path: String,
    /// The line that runs the review.
    pub runner: String,
}

impl Started {
    /// What a start says of its loop.
    pub fn of(held: &AnyLoop, notes: Vec<String>, interview: bool) -> Self {
        let fields = held.fields();
        Self {
            id: held.id().to_string(),
            max_rounds: fields.max_rounds(),
            topic: text::one_line(&fields.topic(), TOPIC),
            state: text::exact(held.raw().store().path_of(held.id())),
            notes,
            from_draft: fields.from_draft(),
            interview,
            plan_name: text::exact(fields.subject()),
            plan_path: text::exact(held.raw().path("{subject}")),
            runner: format!("bash {}", runner::quoted(runner::path(held.raw()).as_str())),
        }
    }
}

/// The text of an edge for this loop: of the mode that it is in.
pub fn for_mode(message: Message, held: &AnyLoop) -> Message {
    let of_review = || OF_REVIEW_MODE.iter().find(|(name, _)| *name == message.name);
    match changes::are_reviewed(held).then(of_review).flatten() {
        Some((_, instead)) => *instead,
        None => message,
    }
}
