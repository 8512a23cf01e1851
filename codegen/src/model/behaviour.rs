//! `on_stop`: the behaviours with their parameters and their outcomes.
//!
//! A behaviour is a variant; its keys are parameters and outcomes. `claudex_loop::behaviours` has
//! an enum of the outcomes of each. If the two differ, generated code does not compile.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};

use super::tables::{self, Shape, TextOr, many};
use super::texts::{
    CommandName, FindingsFile, Header, Label, PROGRAM, Path, Question, Subject, Template,
    VerdictWord, interpolated,
};
use super::{At, Blocking, Constant, Earlier, Evidence, FromProgram};

/// Defines the behaviours, each with the types of its parameters and of other keys, and with its
/// outcomes and their evidence. `check` refuses a behaviour without those that are `required`.
macro_rules! behaviours {
    ($($(#[$doc:meta])* $name:ident = $word:literal {
        parameters { $($(#[$attr:meta])* $key:ident: $type:ty,)* }
        others { $($(#[$other_attr:meta])* $other:ident: $other_type:ty,)* }
        outcomes { $($outcome:ident: $kind:ident $($evidence:ident)?,)* }
    })*) => {
        /// The behaviour of a stop in a phase.
        #[derive(Debug, Clone, Deserialize, Serialize)]
        pub(crate) enum Behaviour {
            $($(#[$doc])* #[serde(rename = $word)] $name(Box<$name>),)*
        }

        impl Behaviour {
            /// Returns the parameters that the file has.
            pub(crate) fn parameters(&self) -> Vec<Parameter<'_>> {
                let mut all = Vec::new();
                match self {
                    $(Self::$name(_one) => {
                        $(all.extend((&_one.$key).into_iter().map(|text| Parameter {
                            key: stringify!($key),
                            value: AsRef::<str>::as_ref(&**text),
                            span: text.span(),
                        }));)*
                    })*
                }
                all
            }

            /// Returns the outcomes in the order of the generated code.
            pub(crate) fn outcomes(&self) -> Vec<Outcome<'_>> {
                match self {
                    $(Self::$name(one) => vec![$(Outcome {
                        name: stringify!($outcome),
                        is_required: stringify!($kind) == "required",
                        evidence: [$(Evidence::$evidence)?].first().copied(),
                        calls: &one.$outcome,
                    }),*],)*
                }
            }
        }

        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Deserialize, Serialize)]
            #[serde(deny_unknown_fields, expecting = "a table")]
            pub(crate) struct $name {
                $($(#[$attr])* pub(crate) $key: $type,)*
                $($(#[$other_attr])* pub(crate) $other: $other_type,)*
                $(#[serde(default, deserialize_with = "calls")] $outcome: Vec<Call>,)*
            }
        )*
    };
}

behaviours! {
    /// Waits until a file is written. `before` is its first digest, empty if it was missing.
    RequireFile = "require-file" {
        parameters { path: At<Template>, before: Option<At<Template>>, }
        others {}
        outcomes { written: required, missing: optional, }
    }

    /// Has something reviewed.
    Review = "review" {
        parameters {
            /// The files under review, `{changes}`, or `{program}`.
            #[serde(deserialize_with = "many")]
            subject: Vec<At<Subject>>,
            /// The count field of the round.
            round: At<String>,
            /// The revision with which the changes begin.
            since: Option<At<Template>>,
            #[serde(default, deserialize_with = "many")]
            reviewer: Vec<At<Template>>,
            #[serde(default, deserialize_with = "many")]
            model: Vec<At<Template>>,
            prompt: Option<At<Path>>,
            findings_file: Option<At<FindingsFile>>,
            /// The words for a review without and with findings.
            #[serde(default, deserialize_with = "many")]
            verdicts: Vec<At<VerdictWord>>,
            blocking: Option<At<Blocking>>,
            earlier: Option<At<Earlier>>,
            verify: Option<At<FromProgram>>,
        }
        others {
            /// The personas that review here, in this order. If empty, all that the machine has.
            #[serde(default, deserialize_with = "many")]
            personas: Vec<At<String>>,
        }
        outcomes {
            clean: required Settled,
            findings: required Reviewed,
            stalled: optional Reviewed,
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
            #[serde(default, deserialize_with = "many")]
            options: Vec<At<Choice>>,
            /// The transition that takes an answer in the user's own words.
            text: Option<At<String>>,
        }
        outcomes { unanswered: optional, }
    }

    /// Runs a command that the user's configuration may lack (`missing`).
    Run = "run" {
        parameters { command: At<CommandName>, }
        others {}
        outcomes { passed: required, failed: required, missing: optional, }
    }

    /// Waits until a file exists.
    WaitFor = "wait-for" {
        parameters { file: At<Template>, }
        others {}
        outcomes { there: required, waiting: optional, }
    }
}

/// A transition that an outcome or an answer takes, with constants for its arguments.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Call {
    pub(crate) then: At<String>,
    #[serde(default, deserialize_with = "tables::entries")]
    pub(crate) with: Vec<(At<String>, At<Constant>)>,
}

fn calls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Call>, D::Error> {
    let forms = many::<D, TextOr<String, Call>>(deserializer)?.into_iter();
    let calls = forms.map(|form| {
        let span = form.span();
        match form.into_value() {
            Shape::Text(then) => Call {
                then: At::new(then, span),
                with: Vec::new(),
            },
            Shape::Table(call) => call,
        }
    });
    Ok(calls.collect())
}

/// One of a question's `options`, with the transition that it takes.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Choice {
    pub(crate) label: At<Label>,
    description: Option<At<Label>>,
    pub(crate) then: At<String>,
    #[serde(default, deserialize_with = "tables::entries")]
    pub(crate) with: Vec<(At<String>, At<Constant>)>,
}

/// A parameter of a behaviour. A list is one parameter for each of its texts.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Parameter<'m> {
    pub(crate) key: &'static str,
    pub(crate) value: &'m str,
    #[serde(skip)]
    pub(crate) span: Range<usize>,
}

impl<'m> Parameter<'m> {
    /// Returns the fields that it names, between braces or as a whole.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'m str> {
        let names = interpolated(self.value).unwrap_or_default().into_iter();
        let engine_names = self.engine_names();
        let is_field = self.key == "round";
        let names = names.filter(move |name| !engine_names.contains(name));
        names.chain(is_field.then_some(self.value))
    }

    /// Returns the names that the engine fills in between braces.
    fn engine_names(&self) -> &'static [&'static str] {
        match self.key {
            "subject" => &["changes", "n", "program"],
            "findings_file" => &["n"],
            "verify" => &["program"],
            _ => &[],
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Outcome<'m> {
    pub(crate) name: &'static str,
    /// Whether the file must have it. The loop waits at an outcome that the file leaves out.
    pub(crate) is_required: bool,
    /// The evidence that its transitions may require.
    pub(crate) evidence: Option<Evidence>,
    pub(crate) calls: &'m [Call],
}

impl Behaviour {
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        let outcomes = self.outcomes().into_iter();
        outcomes.flat_map(|outcome| outcome.calls)
    }

    /// Returns the options of the machine file.
    pub(crate) fn choices(&self) -> &[At<Choice>] {
        match self {
            Self::Ask(ask) => &ask.options,
            _ => &[],
        }
    }

    /// Returns every transition that it names, in outcomes and answers.
    pub(crate) fn transitions(&self) -> impl Iterator<Item = &At<String>> {
        let choices = self.choices().iter().map(|choice| &choice.then);
        let calls = self.calls().map(|call| &call.then);
        calls.chain(choices).chain(self.text())
    }

    /// Returns the transition that takes an answer in the user's own words.
    pub(crate) fn text(&self) -> Option<&At<String>> {
        match self {
            Self::Ask(ask) => ask.text.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn review(&self) -> Option<&Review> {
        match self {
            Self::Review(review) => Some(review),
            _ => None,
        }
    }

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
        subjects.any(|subject| subject.as_str() == PROGRAM)
    }

    /// Returns whether commands verify the work before a review. The program gives them, in Rust.
    pub(crate) fn verifies(&self) -> bool {
        self.review().is_some_and(|review| review.verify.is_some())
    }
}
