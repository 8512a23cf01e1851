//! The seven stages, by number, name and checkpoint.

use strum::{Display, EnumIter, EnumString, FromRepr, IntoEnumIterator};

/// A stage of the pipeline.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Display,
    EnumIter,
    EnumString,
    FromRepr,
)]
#[strum(serialize_all = "kebab-case")]
#[repr(u8)]
pub enum Stage {
    /// Prepares the project.
    Setup = 1,
    /// Looks for what is known.
    Research,
    /// Asks the person, in a file.
    AnalysisQuestions,
    /// Reads the answers.
    ResponseAnalysis,
    /// Judges, and writes the document of requirements.
    ValidationGeneration,
    /// Reports that the work is done.
    Completion,
    /// Looks back. It never waits for anyone.
    Retrospective,
}

impl Stage {
    /// Returns all of them, in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// Returns its number, from 1 to 7.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the stage of a number.
    pub fn of_number(number: u64) -> Option<Self> {
        u8::try_from(number).ok().and_then(Self::from_repr)
    }

    /// Returns the word that its summary has under `checkpoint`.
    pub fn checkpoint(self) -> &'static str {
        match self {
            Self::Setup => "SETUP",
            Self::Research => "RESEARCH",
            Self::AnalysisQuestions => "ANALYSIS_QUESTIONS",
            Self::ResponseAnalysis => "RESPONSE_ANALYSIS",
            Self::ValidationGeneration => "VALIDATION_PRD",
            Self::Completion => "COMPLETE",
            Self::Retrospective => "RETROSPECTIVE",
        }
    }

    /// Returns the header of a question that has none.
    pub fn header(self) -> &'static str {
        match self {
            Self::Setup => "Setup",
            Self::Research => "Research",
            Self::AnalysisQuestions => "Questions",
            Self::ResponseAnalysis => "Responses",
            Self::ValidationGeneration => "Validation",
            Self::Completion => "Completion",
            Self::Retrospective => "Looking back",
        }
    }
}
