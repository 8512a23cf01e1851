//! The closed lists of words that a summary may use, each an enum, with the properties of the seven stages.

use serde::{Deserialize, Serialize};
use strum::{Display, VariantArray};

/// Declares enums with the case of their words.
macro_rules! words {
    ($($case:literal $name:ident $doc:literal { $($word:ident $meaning:literal,)+ })+) => {$(
        #[doc = $doc]
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display, VariantArray, Serialize, Deserialize,
        )]
        #[serde(rename_all = $case)]
        #[strum(serialize_all = $case)]
        pub enum $name { $(#[doc = $meaning] $word,)+ }
    )+};
}
pub(super) use words;

words! {
    "kebab-case" Status "The end of a stage." {
        Completed "The stage is done.",
        NeedsUserInput "The stage waits for the user.",
        Failed "The stage could not be done.",
    }
    "snake_case" PauseType "The way in which a stage waits." {
        ExitCli "The user works outside of the session, which ends.",
        Interactive "The user is asked in the session.",
    }
    "snake_case" NextAction "The next step of the pipeline." {
        LoopQuestions "Another round of questions.",
        LoopResearch "Another round, with research first.",
        Proceed "The next stage in order.",
    }
    "snake_case" AnalysisMode "The depth of a round." {
        Complete "Every perspective, and 27 calls to think deeply.",
        Advanced "Most perspectives, and 18 calls to think deeply.",
        Standard "The usual panel.",
        Rapid "One perspective.",
    }
    "SCREAMING_SNAKE_CASE" PrdMode "The origin of the requirements document." {
        New "A new document.",
        Extend "An existing document that is extended.",
    }
    "snake_case" ResearchMethod "The method of the research." {
        AutoMcp "Research by tools.",
        Manual "Research by the user.",
        Skipped "No research.",
    }
    "SCREAMING_SNAKE_CASE" Decision "The decision of the validation; the worst comes first." {
        NotReady "Another round is needed.",
        Conditional "The pipeline goes on, with conditions.",
        Ready "The pipeline goes on.",
    }
    "snake_case" Dimension "A part of the validation score." {
        ProductDefinition "The product.",
        TargetUsers "The users.",
        ProblemValidation "The evidence that the problem is real.",
        ValueProposition "The reason to use the product.",
        WorkflowCoverage "The completeness of the workflows.",
        FeatureInventory "The abilities of the product.",
        NoTechnicalContent "The absence of technical matter.",
    }
    "kebab-case" Stage "A stage of the pipeline." {
        Setup "The preparation of the project.",
        Research "The search for what is known.",
        AnalysisQuestions "The questions to the user, in a file.",
        ResponseAnalysis "The analysis of the answers.",
        ValidationGeneration "The validation, and the requirements document.",
        Completion "The report that the work is done.",
        Retrospective "The retrospective, which never waits for the user.",
    }
}

/// The checkpoint, the header of questions and the minutes of each stage.
const STAGES: [(&str, &str, Option<i64>); 7] = [
    ("SETUP", "Setup", None),
    ("RESEARCH", "Research", Some(15)),
    ("ANALYSIS_QUESTIONS", "Questions", Some(30)),
    ("RESPONSE_ANALYSIS", "Responses", Some(15)),
    ("VALIDATION_PRD", "Validation", Some(20)),
    ("COMPLETE", "Completion", Some(5)),
    ("RETROSPECTIVE", "Completion", Some(10)),
];

impl Decision {
    /// Returns the decision for a score of 20.
    pub fn from_score(score: f64) -> Self {
        match score {
            _ if score >= 16.0 => Self::Ready,
            _ if score >= 12.0 => Self::Conditional,
            _ => Self::NotReady,
        }
    }
}

impl Stage {
    /// Returns all stages in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied()
    }

    /// Returns the number of the stage, from 1 to 7.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    /// Returns the stage of a number.
    pub fn from_number(number: u64) -> Option<Self> {
        Self::all().find(|stage| u64::from(stage.number()) == number)
    }

    /// Returns the checkpoint of the stage's summary.
    pub fn checkpoint(self) -> &'static str {
        STAGES[self as usize].0
    }

    /// Returns the header of a question that has none. Stage 7 asks nothing.
    pub fn header(self) -> &'static str {
        STAGES[self as usize].1
    }

    /// Returns the minutes that the stage may take, or `None` for stage 1, which has no coordinator.
    pub fn minutes(self) -> Option<i64> {
        STAGES[self as usize].2
    }

    /// Returns the files, from the project's root, that show that the stage was done in a round. Stage 2
    /// writes one of its two.
    pub fn artifacts(self, round: u32) -> Vec<String> {
        let questions = format!("working/QUESTIONS-{round:03}.md");
        let names: &[&str] = match self {
            Self::Setup | Self::ResponseAnalysis => &[],
            Self::Research => &[
                "research/RESEARCH-AGENDA.md",
                "research/research-synthesis.md",
            ],
            Self::AnalysisQuestions => &[&questions],
            Self::ValidationGeneration => &["PRD.md", "decision-log.md"],
            Self::Completion => &["completion-report.md"],
            Self::Retrospective => &["retrospective.md"],
        };
        let paths = names.iter().map(|name| format!("requirements/{name}"));
        paths.collect()
    }
}
