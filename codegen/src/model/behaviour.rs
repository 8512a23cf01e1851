//! `on_stop`: the behaviours with their parameters and their outcomes.
//!
//! A behaviour is a variant, and its keys are its parameters and outcomes. `claudex_loop::behaviours` has an enum of the
//! outcomes of each. If the two differ, generated code does not compile.

use std::ops::Range;

use serde::Deserialize;

use super::tables::{self, Entry, TextOr};
use super::texts::{
    CommandName, FindingsFile, FromProgram, Header, Label, PROGRAM, Path, Question, Subject,
    Template, VerdictWord,
};
use super::{At, Blocking, Constant, Earlier, Evidence, Many};

/// What a stop does in a phase.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Behaviour {
    /// Waits until a file is written. `before` is the digest of the file at the start, empty if there was none.
    RequireFile {
        path: At<Template>,
        before: Option<At<Template>>,
        written: Calls,
        #[serde(default)]
        missing: Calls,
    },
    /// Has something reviewed.
    Review(Box<Review>),
    /// Lets the turn end.
    Approve {
        #[serde(default)]
        then: Calls,
    },
    /// Blocks with the message of a transition.
    Announce { then: Calls },
    /// Asks the user. Without `question`, `header` and `options` the program asks, in Rust.
    Ask {
        question: Option<At<Question>>,
        header: Option<At<Header>>,
        options: Option<At<Vec<Choice>>>,
        /// The transition that takes an answer in the user's own words.
        text: Option<At<String>>,
        #[serde(default)]
        unanswered: Calls,
    },
    /// Runs a command of the user's configuration, which may not have it (`missing`).
    Run {
        command: At<CommandName>,
        passed: Calls,
        failed: Calls,
        #[serde(default)]
        missing: Calls,
    },
    /// Runs the commands that verify the work.
    Verify {
        commands: At<FromProgram>,
        passed: Calls,
        failed: Calls,
        #[serde(default)]
        missing: Calls,
    },
    /// Waits until a file is there or a field says yes.
    WaitFor {
        file: Option<At<Template>>,
        field: Option<At<String>>,
        there: Calls,
        #[serde(default)]
        waiting: Calls,
    },
}

/// The behaviour `review`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Review {
    /// The files under review, `{changes}`, or `{program}`.
    pub(crate) subject: Many<At<Subject>>,
    /// The count field of the round.
    pub(crate) round: At<String>,
    /// The revision with which the changes begin.
    pub(crate) since: Option<At<Template>>,
    #[serde(default)]
    pub(crate) reviewer: Many<At<Template>>,
    #[serde(default)]
    pub(crate) model: Many<At<Template>>,
    pub(crate) prompt: Option<At<Path>>,
    pub(crate) findings_file: Option<At<FindingsFile>>,
    /// The words for a review without and with findings.
    #[serde(default)]
    pub(crate) verdicts: Many<At<VerdictWord>>,
    pub(crate) blocking: Option<At<Blocking>>,
    pub(crate) earlier: Option<At<Earlier>>,
    pub(crate) verify: Option<At<FromProgram>>,
    /// The personas that review here, in this order. Empty: all of the machine's.
    #[serde(default)]
    pub(crate) personas: Many<At<String>>,
    clean: Calls,
    findings: Calls,
    /// What to do about the findings of the round before. Empty: the same as `findings`.
    #[serde(default)]
    stalled: Calls,
    #[serde(default)]
    nothing: Calls,
    #[serde(default)]
    running: Calls,
    failed: Calls,
}

/// The transitions of an outcome, to be tried in turn. Empty: the loop waits.
pub(crate) type Calls = Many<Call>;

/// A transition that an outcome or an answer takes, with constants for its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) then: At<String>,
    #[serde(default, deserialize_with = "tables::pairs")]
    pub(crate) with: Vec<(At<String>, At<Constant>)>,
}

impl Call {
    /// Returns a call without constants.
    pub(crate) fn new(then: &At<String>) -> Self {
        Self {
            then: then.clone(),
            with: Vec::new(),
        }
    }
}

impl Entry for Call {
    type Form = TextOr<String, Call>;
}

impl From<At<TextOr<String, Call>>> for Call {
    fn from(call: At<TextOr<String, Call>>) -> Self {
        match call.value {
            TextOr::Text(then) => Self::new(&At::new(then, call.span)),
            TextOr::Table(call) => call,
        }
    }
}

/// One of a question's `options`, with the transition that it takes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    pub(crate) label: At<Label>,
    pub(crate) description: Option<At<Label>>,
    pub(crate) then: At<String>,
    #[serde(default, deserialize_with = "tables::pairs")]
    pub(crate) with: Vec<(At<String>, At<Constant>)>,
}

impl Choice {
    /// Returns the transition with its constants.
    pub(crate) fn call(&self) -> Call {
        Call {
            then: self.then.clone(),
            with: self.with.clone(),
        }
    }
}

/// A parameter of a behaviour. A list is one parameter for each of its texts.
#[derive(Debug, Clone)]
pub(crate) struct Parameter<'m> {
    pub(crate) key: &'static str,
    pub(crate) value: &'m str,
    pub(crate) span: &'m Range<usize>,
}

impl Parameter<'_> {
    /// Returns whether the text is the name of a field.
    pub(crate) fn is_field(&self) -> bool {
        matches!(self.key, "round" | "field")
    }

    /// Returns the names that the engine fills in between braces. No field may have one of them.
    pub(crate) fn engine_names(&self) -> &'static [&'static str] {
        match self.key {
            "subject" => &["changes", "n", "program"],
            "findings_file" => &["n"],
            "verify" | "commands" => &["program"],
            _ => &[],
        }
    }
}

/// An outcome of a behaviour.
#[derive(Debug, Clone)]
pub(crate) struct Outcome<'m> {
    pub(crate) name: &'static str,
    /// Whether the file must have it. The loop waits at an outcome that the file leaves out.
    pub(crate) is_required: bool,
    /// The evidence that its transitions may require.
    pub(crate) evidence: Option<Evidence>,
    pub(crate) calls: &'m [Call],
    /// The transitions to try if `calls` is empty.
    pub(crate) fallback: &'m [Call],
}

/// Returns a parameter for each text of some keys.
macro_rules! parameters {
    ($($key:ident: $texts:expr),*) => {{
        let mut all = Vec::new();
        $(all.extend($texts.into_iter().map(|text| Parameter {
            key: stringify!($key),
            value: text.value.as_ref(),
            span: &text.span,
        }));)*
        all
    }};
}

impl Behaviour {
    /// Returns the name in `on_stop`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::RequireFile { .. } => "require-file",
            Self::Review(_) => "review",
            Self::Approve { .. } => "approve",
            Self::Announce { .. } => "announce",
            Self::Ask { .. } => "ask",
            Self::Run { .. } => "run",
            Self::Verify { .. } => "verify",
            Self::WaitFor { .. } => "wait-for",
        }
    }

    /// Returns the parameters that the file has, without outcomes, options and personas.
    pub(crate) fn parameters(&self) -> Vec<Parameter<'_>> {
        match self {
            Self::RequireFile { path, before, .. } => parameters!(path: [path], before: before),
            Self::Review(review) => parameters!(
                subject: &review.subject,
                round: [&review.round],
                since: &review.since,
                reviewer: &review.reviewer,
                model: &review.model,
                prompt: &review.prompt,
                findings_file: &review.findings_file,
                verdicts: &review.verdicts,
                blocking: &review.blocking,
                earlier: &review.earlier,
                verify: &review.verify
            ),
            Self::Approve { .. } | Self::Announce { .. } => Vec::new(),
            Self::Ask {
                question, header, ..
            } => parameters!(question: question, header: header),
            Self::Run { command, .. } => parameters!(command: [command]),
            Self::Verify { commands, .. } => parameters!(commands: [commands]),
            Self::WaitFor { file, field, .. } => parameters!(file: file, field: field),
        }
    }

    /// Returns the outcomes in the order of the generated code.
    pub(crate) fn outcomes(&self) -> Vec<Outcome<'_>> {
        /// An outcome that the file may leave out.
        fn optional<'m>(name: &'static str, calls: &'m [Call]) -> Outcome<'m> {
            Outcome {
                name,
                is_required: false,
                evidence: None,
                calls,
                fallback: &[],
            }
        }

        /// An outcome that the file must have.
        fn required<'m>(name: &'static str, calls: &'m [Call]) -> Outcome<'m> {
            Outcome {
                is_required: true,
                ..optional(name, calls)
            }
        }

        let mut all = match self {
            Self::RequireFile {
                written, missing, ..
            } => vec![required("written", written), optional("missing", missing)],
            Self::Review(review) => vec![
                required("clean", &review.clean),
                required("findings", &review.findings),
                Outcome {
                    fallback: &review.findings,
                    ..optional("stalled", &review.stalled)
                },
                optional("nothing", &review.nothing),
                optional("running", &review.running),
                required("failed", &review.failed),
            ],
            Self::Approve { then } => vec![optional("then", then)],
            Self::Announce { then } => vec![required("then", then)],
            Self::Ask { unanswered, .. } => vec![optional("unanswered", unanswered)],
            Self::Run {
                passed,
                failed,
                missing,
                ..
            }
            | Self::Verify {
                passed,
                failed,
                missing,
                ..
            } => vec![
                required("passed", passed),
                required("failed", failed),
                optional("missing", missing),
                // A loop always waits while its command runs.
                optional("running", &[]),
            ],
            Self::WaitFor { there, waiting, .. } => {
                vec![required("there", there), optional("waiting", waiting)]
            }
        };
        for outcome in &mut all {
            outcome.evidence = match (self, outcome.name) {
                (Self::Review(_), "clean") => Some(Evidence::Settled),
                (Self::Review(_), "findings" | "stalled") => Some(Evidence::Reviewed),
                (Self::Verify { .. }, "passed") => Some(Evidence::Verified),
                _ => None,
            };
        }
        all
    }

    /// Returns the calls of all outcomes.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        let outcomes = self.outcomes().into_iter();
        outcomes.flat_map(|outcome| outcome.calls)
    }

    /// Returns every transition that it names, in outcomes and answers.
    pub(crate) fn transitions(&self) -> impl Iterator<Item = &At<String>> {
        let choices = self.choices().iter().map(|choice| &choice.then);
        let calls = self.calls().map(|call| &call.then);
        calls.chain(choices).chain(self.text())
    }

    /// Returns the options of the machine file.
    pub(crate) fn choices(&self) -> &[Choice] {
        match self {
            Self::Ask {
                options: Some(options),
                ..
            } => options,
            _ => &[],
        }
    }

    /// Returns the transition that takes an answer in the user's own words.
    pub(crate) fn text(&self) -> Option<&At<String>> {
        match self {
            Self::Ask { text, .. } => text.as_ref(),
            _ => None,
        }
    }

    /// Returns the review, if it is one.
    pub(crate) fn review(&self) -> Option<&Review> {
        match self {
            Self::Review(review) => Some(review),
            _ => None,
        }
    }

    /// Returns whether it asks the user.
    pub(crate) fn asks(&self) -> bool {
        matches!(self, Self::Ask { .. })
    }

    /// Returns whether the program asks, in Rust.
    pub(crate) fn asks_in_rust(&self) -> bool {
        self.asks() && self.parameters().is_empty() && self.choices().is_empty()
    }

    /// Returns whether the program gives the subject of a review, or a part of it, in Rust.
    pub(crate) fn reviews_in_rust(&self) -> bool {
        let mut subjects = self.review().into_iter().flat_map(|review| &review.subject);
        subjects.any(|subject| &*subject.value == PROGRAM)
    }

    /// Returns whether it runs the commands that verify the work, which the program gives, in Rust.
    pub(crate) fn verifies(&self) -> bool {
        match self {
            Self::Review(review) => review.verify.is_some(),
            other => matches!(other, Self::Verify { .. }),
        }
    }
}
