//! The seven stages, by number, name and checkpoint.

use strum::{Display, EnumIter, EnumProperty, EnumString, FromRepr, IntoEnumIterator};

/// A stage of the pipeline.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Display,
    EnumIter,
    EnumProperty,
    EnumString,
    FromRepr,
)]
#[strum(serialize_all = "kebab-case")]
#[repr(u8)]
pub enum Stage {
    /// The preparation of the project.
    #[strum(props(checkpoint = "SETUP", header = "Setup"))]
    Setup = 1,
    /// The search for what is known.
    #[strum(props(checkpoint = "RESEARCH", header = "Research"))]
    Research,
    /// The questions to the user, in a file.
    #[strum(props(checkpoint = "ANALYSIS_QUESTIONS", header = "Questions"))]
    AnalysisQuestions,
    /// The analysis of the answers.
    #[strum(props(checkpoint = "RESPONSE_ANALYSIS", header = "Responses"))]
    ResponseAnalysis,
    /// The validation, and the requirements document.
    #[strum(props(checkpoint = "VALIDATION_PRD", header = "Validation"))]
    ValidationGeneration,
    /// The report that the work is done.
    #[strum(props(checkpoint = "COMPLETE", header = "Completion"))]
    Completion,
    /// The retrospective, which never waits for the user.
    #[strum(props(checkpoint = "RETROSPECTIVE", header = "Looking back"))]
    Retrospective,
}

impl Stage {
    /// Returns all stages in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// Returns the number of the stage, from 1 to 7.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the stage of a number.
    pub fn from_number(number: u64) -> Option<Self> {
        u8::try_from(number).ok().and_then(Self::from_repr)
    }

    /// Returns the checkpoint of the stage's summary.
    pub fn checkpoint(self) -> &'static str {
        self.get_str("checkpoint").unwrap_or_default()
    }

    /// Returns the header of a question that has none.
    pub fn header(self) -> &'static str {
        self.get_str("header").unwrap_or_default()
    }
}
