//! The seven stages, by number, name and checkpoint.

use strum::{Display, EnumIter, EnumProperty, EnumString, FromRepr, IntoEnumIterator};

/// A stage of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[derive(Display, EnumIter, EnumProperty, EnumString, FromRepr)]
#[strum(serialize_all = "kebab-case")]
pub enum Stage {
    /// The preparation of the project.
    #[strum(props(checkpoint = "SETUP", header = "Setup"))]
    Setup = 1,
    /// The search for what is known.
    #[strum(props(checkpoint = "RESEARCH", header = "Research", minutes = 15))]
    #[strum(props(artifacts = "research/RESEARCH-AGENDA.md research/research-synthesis.md"))]
    Research,
    /// The questions to the user, in a file.
    #[strum(props(checkpoint = "ANALYSIS_QUESTIONS", header = "Questions", minutes = 30))]
    #[strum(props(artifacts = "working/QUESTIONS-NNN.md"))]
    AnalysisQuestions,
    /// The analysis of the answers.
    #[strum(props(checkpoint = "RESPONSE_ANALYSIS", header = "Responses", minutes = 15))]
    ResponseAnalysis,
    /// The validation, and the requirements document.
    #[strum(props(checkpoint = "VALIDATION_PRD", header = "Validation", minutes = 20))]
    #[strum(props(artifacts = "PRD.md decision-log.md"))]
    ValidationGeneration,
    /// The report that the work is done.
    #[strum(props(checkpoint = "COMPLETE", header = "Completion", minutes = 5))]
    #[strum(props(artifacts = "completion-report.md"))]
    Completion,
    /// The retrospective, which never waits for the user.
    #[strum(props(checkpoint = "RETROSPECTIVE", header = "Looking back", minutes = 10))]
    #[strum(props(artifacts = "retrospective.md"))]
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

    /// Returns the minutes that the stage may take, or `None` for stage 1, which has no coordinator.
    pub fn minutes(self) -> Option<i64> {
        self.get_int("minutes")
    }

    /// Returns the files, from the project's root, that show that the stage was done in a round. Stage 2
    /// writes one of its two.
    pub fn artifacts(self, round: u32) -> Vec<String> {
        let names = self.get_str("artifacts").unwrap_or_default();
        let number = format!("{round:03}");
        let names = names.replace("NNN", &number);
        names
            .split_whitespace()
            .map(|name| format!("requirements/{name}"))
            .collect()
    }
}
