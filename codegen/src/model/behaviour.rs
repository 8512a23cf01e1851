//! `on_stop`: the behaviours with their parameters and their outcomes.
//!
//! A behaviour is a variant, and its keys are its parameters and outcomes. `claudex_loop::behaviours` has an enum of the
//! outcomes of each. If the two differ, generated code does not compile.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::tables::{self, Entry, TextOr};
use super::texts::{
    CommandName, FindingsFile, FromProgram, PROGRAM, Path, Subject, Template, VerdictWord,
};
use super::{At, Blocking, Constant, Earlier, Evidence, Many};

/// What a stop does in a phase.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behaviour {
    /// Waits until a file is written.
    RequireFile {
        /// The file.
        path: At<Template>,
        /// The digest of the file at the start. Empty: there was no file.
        before: Option<At<Template>>,
        /// The file is there.
        written: Calls,
        /// The file is not there.
        #[serde(default)]
        missing: Calls,
    },
    /// Has something reviewed.
    Review(Box<Review>),
    /// Lets the turn end.
    Approve {
        /// The transitions to try.
        #[serde(default)]
        then: Calls,
    },
    /// Blocks with the message of a transition.
    Announce {
        /// The transitions to try.
        then: Calls,
    },
    /// Asks the user. Without `question`, `header` and `options` the program asks, in Rust.
    Ask {
        /// The question.
        question: Option<At<Template>>,
        /// The header of the dialog.
        header: Option<At<Template>>,
        /// The answers to choose from.
        options: Option<At<Vec<Choice>>>,
        /// The transition that takes an answer in the user's own words.
        text: Option<At<String>>,
        /// The user has not answered.
        #[serde(default)]
        unanswered: Calls,
    },
    /// Runs a command of the user's configuration.
    Run {
        /// The name of the command.
        command: At<CommandName>,
        /// The command succeeded.
        passed: Calls,
        /// The command failed.
        failed: Calls,
        /// The configuration does not have the command.
        #[serde(default)]
        missing: Calls,
    },
    /// Runs the commands that verify the work.
    Verify {
        /// Who gives the commands.
        commands: At<FromProgram>,
        /// All commands succeeded.
        passed: Calls,
        /// A command failed.
        failed: Calls,
        /// There are no commands.
        #[serde(default)]
        missing: Calls,
    },
    /// Waits until a file is there or a field says yes.
    WaitFor {
        /// The file.
        file: Option<At<Template>>,
        /// The field.
        field: Option<At<String>>,
        /// The wait is over.
        there: Calls,
        /// The loop still waits.
        #[serde(default)]
        waiting: Calls,
    },
}

/// The behaviour `review`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The files under review, `{changes}`, or `{program}`.
    pub subject: Many<At<Subject>>,
    /// The count field of the round.
    pub round: At<String>,
    /// The revision with which the changes begin.
    pub since: Option<At<Template>>,
    /// The reviewers.
    #[serde(default)]
    pub reviewer: Many<At<Template>>,
    /// The models of the reviewers.
    #[serde(default)]
    pub model: Many<At<Template>>,
    /// The template of the prompt.
    pub prompt: Option<At<Path>>,
    /// The file of the findings.
    pub findings_file: Option<At<FindingsFile>>,
    /// The words for a review without and with findings.
    #[serde(default)]
    pub verdicts: Many<At<VerdictWord>>,
    /// The lowest severity that blocks.
    pub blocking: Option<At<Blocking>>,
    /// What becomes of earlier findings.
    pub earlier: Option<At<Earlier>>,
    /// Who gives the commands that verify the work.
    pub verify: Option<At<FromProgram>>,
    /// The personas that review here, in this order. Empty: all of the machine's.
    #[serde(default)]
    pub personas: Many<At<String>>,
    /// The review has no findings.
    pub clean: Calls,
    /// The review has findings.
    pub findings: Calls,
    /// The review has the findings of the round before. Empty: the same as `findings`.
    #[serde(default)]
    pub stalled: Calls,
    /// There is nothing to review.
    #[serde(default)]
    pub nothing: Calls,
    /// The review runs.
    #[serde(default)]
    pub running: Calls,
    /// The review failed.
    pub failed: Calls,
}

/// The transitions of an outcome, to be tried in turn. Empty: the loop waits.
pub type Calls = Many<Call>;

/// A transition that an outcome or an answer takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The transition.
    pub then: At<String>,
    /// Constants for its arguments.
    #[serde(default, deserialize_with = "tables::pairs")]
    pub with: Vec<(At<String>, At<Constant>)>,
}

impl Entry for Call {
    type Form = TextOr<String, Call>;
}

impl From<At<TextOr<String, Call>>> for Call {
    fn from(call: At<TextOr<String, Call>>) -> Self {
        match call.value {
            TextOr::Text(then) => Self {
                then: At::new(then, call.span),
                with: Vec::new(),
            },
            TextOr::Table(call) => call,
        }
    }
}

/// One of a question's `options`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The words of the answer.
    pub label: At<String>,
    /// The description, if there is one.
    pub description: Option<At<String>>,
    /// The transition that the answer takes for the user.
    pub then: At<String>,
    /// Constants for its arguments.
    #[serde(default, deserialize_with = "tables::pairs")]
    pub with: Vec<(At<String>, At<Constant>)>,
}

impl Choice {
    /// Returns the transition with its constants.
    pub fn call(&self) -> Call {
        Call {
            then: self.then.clone(),
            with: self.with.clone(),
        }
    }
}

/// A parameter of a behaviour. A list is one parameter for each of its texts.
#[derive(Debug, Clone, Serialize)]
pub struct Parameter<'m> {
    /// The key.
    pub key: &'static str,
    /// The text.
    pub value: &'m str,
    /// The place of the text.
    pub span: &'m Range<usize>,
}

impl Parameter<'_> {
    /// Returns whether the text is the name of a field.
    pub fn is_field(&self) -> bool {
        matches!(self.key, "round" | "field")
    }

    /// Returns the names that the engine fills in between braces. No field may have one of them.
    pub fn engine_names(&self) -> &'static [&'static str] {
        match self.key {
            "subject" => &["changes", "n", "program"],
            "findings_file" => &["n"],
            "verify" | "commands" => &["program"],
            _ => &[],
        }
    }
}

/// An outcome of a behaviour.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome<'m> {
    /// The key.
    pub name: &'static str,
    /// Whether the file must have it. The loop waits at an outcome that the file leaves out.
    pub is_required: bool,
    /// The evidence that its transitions may require.
    pub evidence: Option<Evidence>,
    /// The transitions to try.
    pub calls: &'m [Call],
    /// The transitions to try if `calls` is empty.
    pub fallback: &'m [Call],
}

impl<'m> Outcome<'m> {
    fn optional(name: &'static str, calls: &'m [Call]) -> Self {
        Self {
            name,
            is_required: false,
            evidence: None,
            calls,
            fallback: &[],
        }
    }

    fn required(name: &'static str, calls: &'m [Call]) -> Self {
        Self {
            is_required: true,
            ..Self::optional(name, calls)
        }
    }

    fn with(self, evidence: Evidence) -> Self {
        Self {
            evidence: Some(evidence),
            ..self
        }
    }
}

/// Returns a parameter for each text of a key.
fn texts<'m, T: AsRef<str> + 'm>(
    key: &'static str,
    texts: impl IntoIterator<Item = &'m At<T>>,
) -> Vec<Parameter<'m>> {
    let parameter = |text: &'m At<T>| Parameter {
        key,
        value: text.value.as_ref(),
        span: &text.span,
    };
    texts.into_iter().map(parameter).collect()
}

impl Behaviour {
    /// Returns the name in `on_stop`.
    pub fn name(&self) -> &'static str {
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
    pub fn parameters(&self) -> Vec<Parameter<'_>> {
        match self {
            Self::RequireFile { path, before, .. } => {
                [texts("path", [path]), texts("before", before)].concat()
            }
            Self::Review(review) => [
                texts("subject", &review.subject),
                texts("round", [&review.round]),
                texts("since", &review.since),
                texts("reviewer", &review.reviewer),
                texts("model", &review.model),
                texts("prompt", &review.prompt),
                texts("findings_file", &review.findings_file),
                texts("verdicts", &review.verdicts),
                texts("blocking", &review.blocking),
                texts("earlier", &review.earlier),
                texts("verify", &review.verify),
            ]
            .concat(),
            Self::Approve { .. } | Self::Announce { .. } => Vec::new(),
            Self::Ask {
                question, header, ..
            } => [texts("question", question), texts("header", header)].concat(),
            Self::Run { command, .. } => texts("command", [command]),
            Self::Verify { commands, .. } => texts("commands", [commands]),
            Self::WaitFor { file, field, .. } => {
                [texts("file", file), texts("field", field)].concat()
            }
        }
    }

    /// Returns the outcomes in the order of the generated code.
    pub fn outcomes(&self) -> Vec<Outcome<'_>> {
        use Evidence::{Reviewed, Settled, Verified};

        match self {
            Self::RequireFile {
                written, missing, ..
            } => {
                vec![
                    Outcome::required("written", written),
                    Outcome::optional("missing", missing),
                ]
            }
            Self::Review(review) => vec![
                Outcome::required("clean", &review.clean).with(Settled),
                Outcome::required("findings", &review.findings).with(Reviewed),
                Outcome {
                    fallback: &review.findings,
                    ..Outcome::optional("stalled", &review.stalled).with(Reviewed)
                },
                Outcome::optional("nothing", &review.nothing),
                Outcome::optional("running", &review.running),
                Outcome::required("failed", &review.failed),
            ],
            Self::Approve { then } => vec![Outcome::optional("then", then)],
            Self::Announce { then } => vec![Outcome::required("then", then)],
            Self::Ask { unanswered, .. } => vec![Outcome::optional("unanswered", unanswered)],
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
            } => {
                let evidence = matches!(self, Self::Verify { .. }).then_some(Verified);
                vec![
                    Outcome {
                        evidence,
                        ..Outcome::required("passed", passed)
                    },
                    Outcome::required("failed", failed),
                    Outcome::optional("missing", missing),
                    // A loop always waits while its command runs.
                    Outcome::optional("running", &[]),
                ]
            }
            Self::WaitFor { there, waiting, .. } => {
                vec![
                    Outcome::required("there", there),
                    Outcome::optional("waiting", waiting),
                ]
            }
        }
    }

    /// Returns the calls of all outcomes.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        let outcomes = self.outcomes().into_iter();
        outcomes.flat_map(|outcome| outcome.calls)
    }

    /// Returns every transition that it names, in outcomes and answers.
    pub fn transitions(&self) -> impl Iterator<Item = &At<String>> {
        self.calls().map(|call| &call.then).chain(self.answers())
    }

    /// Returns every transition that an answer takes: those of the options, then that of a text.
    pub fn answers(&self) -> impl Iterator<Item = &At<String>> {
        let choices = self.choices().iter().map(|choice| &choice.then);
        choices.chain(self.text())
    }

    /// Returns the options of the machine file.
    pub fn choices(&self) -> &[Choice] {
        match self {
            Self::Ask {
                options: Some(options),
                ..
            } => options,
            _ => &[],
        }
    }

    /// Returns the transition that takes an answer in the user's own words.
    pub fn text(&self) -> Option<&At<String>> {
        match self {
            Self::Ask { text, .. } => text.as_ref(),
            _ => None,
        }
    }

    /// Returns the review, if it is one.
    pub fn review(&self) -> Option<&Review> {
        match self {
            Self::Review(review) => Some(review),
            _ => None,
        }
    }

    /// Returns whether it asks the user.
    pub fn asks(&self) -> bool {
        matches!(self, Self::Ask { .. })
    }

    /// Returns whether the program asks, in Rust.
    pub fn asks_in_rust(&self) -> bool {
        self.asks() && self.parameters().is_empty() && self.choices().is_empty()
    }

    /// Returns whether the program gives the subject of a review, or a part of it, in Rust.
    pub fn reviews_in_rust(&self) -> bool {
        let mut subjects = self.review().into_iter().flat_map(|review| &review.subject);
        subjects.any(|subject| &*subject.value == PROGRAM)
    }

    /// Returns whether it runs the commands that verify the work, which the program gives, in Rust.
    pub fn verifies(&self) -> bool {
        match self {
            Self::Review(review) => review.verify.is_some(),
            other => matches!(other, Self::Verify { .. }),
        }
    }
}
