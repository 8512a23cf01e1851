//! `on_stop`: the behaviours with their parameters and their outcomes.
//!
//! A behaviour is a variant, and its keys are its parameters and outcomes. `claudex_loop::behaviours` has an enum of the
//! outcomes of each. If the two differ, generated code does not compile.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::tables::{self, Entry, Shape, TextOr};
use super::texts::{
    CommandName, FindingsFile, FromProgram, Header, Label, PROGRAM, Path, Question, Subject,
    Template, VerdictWord,
};
use super::{At, Blocking, Constant, Earlier, Evidence, Many};

/// Defines the behaviours, each with the types of its parameters and of other keys, and with its outcomes. `check` wants those
/// that are `required`.
macro_rules! behaviours {
    ($($(#[$doc:meta])* $name:ident = $word:literal {
        parameters { $($(#[$attr:meta])* $key:ident: $type:ty,)* }
        others { $($(#[$other_attr:meta])* $other:ident: $other_type:ty,)* }
        outcomes { $($outcome:ident: $kind:ident,)* }
    })*) => {
        /// The behaviour of a stop in a phase.
        #[derive(Debug, Clone, Deserialize, Serialize)]
        pub(crate) enum Behaviour {
            $($(#[$doc])* #[serde(rename = $word)] $name(Box<$name>),)*
        }

        impl Behaviour {
            /// Returns the name in `on_stop`.
            pub(crate) fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $word,)*
                }
            }

            /// Returns the parameters that the file has.
            pub(crate) fn parameters(&self) -> Vec<Parameter<'_>> {
                match self {
                    $(Self::$name(one) => one.parameters(),)*
                }
            }

            /// Returns the outcomes without evidence.
            fn plain_outcomes(&self) -> Vec<Outcome<'_>> {
                match self {
                    $(Self::$name(one) => vec![$(Outcome {
                        name: stringify!($outcome),
                        is_required: stringify!($kind) == "required",
                        calls: &one.$outcome,
                        ..Outcome::default()
                    }),*],)*
                }
            }
        }

        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Deserialize, Serialize)]
            #[serde(deny_unknown_fields)]
            pub(crate) struct $name {
                $($(#[$attr])* pub(crate) $key: $type,)*
                $($(#[$other_attr])* pub(crate) $other: $other_type,)*
                $(#[serde(default)] $outcome: Many<Call>,)*
            }

            impl $name {
                fn parameters(&self) -> Vec<Parameter<'_>> {
                    let all = std::iter::empty()$(.chain((&self.$key).into_iter().map(|text| Parameter {
                        key: stringify!($key),
                        value: text.value.as_ref(),
                        span: &text.span,
                    })))*;
                    all.collect()
                }
            }
        )*
    };
}

behaviours! {
    /// Waits until a file is written. `before` is the digest of the file at the start, empty if there was none.
    RequireFile = "require-file" {
        parameters { path: At<Template>, before: Option<At<Template>>, }
        others {}
        outcomes { written: required, missing: optional, }
    }

    /// Has something reviewed.
    Review = "review" {
        parameters {
            /// The files under review, `{changes}`, or `{program}`.
            subject: Many<At<Subject>>,
            /// The count field of the round.
            round: At<String>,
            /// The revision with which the changes begin.
            since: Option<At<Template>>,
            #[serde(default)]
            reviewer: Many<At<Template>>,
            #[serde(default)]
            model: Many<At<Template>>,
            prompt: Option<At<Path>>,
            findings_file: Option<At<FindingsFile>>,
            /// The words for a review without and with findings.
            #[serde(default)]
            verdicts: Many<At<VerdictWord>>,
            blocking: Option<At<Blocking>>,
            earlier: Option<At<Earlier>>,
            verify: Option<At<FromProgram>>,
        }
        others {
            /// The personas that review here, in this order. Empty: all of the machine's.
            #[serde(default)]
            personas: Many<At<String>>,
        }
        outcomes {
            clean: required,
            findings: required,
            stalled: optional,
            nothing: optional,
            running: optional,
            failed: required,
        }
    }

    /// Lets the turn end.
    Approve = "approve" { parameters {} others {} outcomes { then: optional, } }

    /// Blocks with the message of a transition.
    Announce = "announce" { parameters {} others {} outcomes { then: required, } }

    /// Asks the user. Without `question`, `header` and `options` the program asks, in Rust.
    Ask = "ask" {
        parameters { question: Option<At<Question>>, header: Option<At<Header>>, }
        others {
            options: Option<At<Vec<Choice>>>,
            /// The transition that takes an answer in the user's own words.
            text: Option<At<String>>,
        }
        outcomes { unanswered: optional, }
    }

    /// Runs a command of the user's configuration, which may not have it (`missing`).
    Run = "run" {
        parameters { command: At<CommandName>, }
        others {}
        outcomes { passed: required, failed: required, missing: optional, }
    }

    /// Runs the commands that verify the work.
    Verify = "verify" {
        parameters { commands: At<FromProgram>, }
        others {}
        outcomes { passed: required, failed: required, missing: optional, }
    }

    /// Waits until a file is there or a field is set.
    WaitFor = "wait-for" {
        parameters { file: Option<At<Template>>, field: Option<At<String>>, }
        others {}
        outcomes { there: required, waiting: optional, }
    }
}

/// A transition that an outcome or an answer takes, with constants for its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) then: At<String>,
    #[serde(default, deserialize_with = "tables::entries")]
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
            Shape::Text(then) => Self::new(&At::new(then, call.span)),
            Shape::Table(call) => call,
        }
    }
}

/// One of a question's `options`, with the transition that it takes.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    pub(crate) label: At<Label>,
    pub(crate) description: Option<At<Label>>,
    pub(crate) then: At<String>,
    #[serde(default, deserialize_with = "tables::entries")]
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
#[derive(Debug, Clone, Serialize)]
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
#[derive(Debug, Clone, Default, Serialize)]
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

impl Behaviour {
    /// Returns the outcomes in the order of the generated code.
    pub(crate) fn outcomes(&self) -> Vec<Outcome<'_>> {
        let mut all = self.plain_outcomes();
        for outcome in &mut all {
            outcome.evidence = match (self, outcome.name) {
                (Self::Review(_), "clean") => Some(Evidence::Settled),
                (Self::Review(_), "findings" | "stalled") => Some(Evidence::Reviewed),
                (Self::Verify(_), "passed") => Some(Evidence::Verified),
                _ => None,
            };
            if let (Self::Review(review), "stalled") = (self, outcome.name) {
                outcome.fallback = &review.findings;
            }
        }
        if let Self::Run(_) | Self::Verify(_) = self {
            // A loop always waits while its command runs.
            all.push(Outcome {
                name: "running",
                ..Outcome::default()
            });
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
            Self::Ask(ask) => ask.options.as_ref().map_or(&[], |options| options),
            _ => &[],
        }
    }

    /// Returns the transition that takes an answer in the user's own words.
    pub(crate) fn text(&self) -> Option<&At<String>> {
        match self {
            Self::Ask(ask) => ask.text.as_ref(),
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
        matches!(self, Self::Ask(_))
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
            other => matches!(other, Self::Verify(_)),
        }
    }
}
