//! The closed lists of words that a summary may use, each an enum.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

/// Declares enums with the case of their words.
macro_rules! words {
    ($($case:literal $name:ident $doc:literal { $($word:ident $meaning:literal,)+ })+) => {$(
        #[doc = $doc]
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display, EnumString, VariantNames, Serialize,
            Deserialize,
        )]
        #[serde(rename_all = $case)]
        #[strum(serialize_all = $case)]
        pub enum $name { $(#[doc = $meaning] $word,)+ }
    )+};
}

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
}

impl AnalysisMode {
    /// Returns the number of calls to think deeply that a round of this mode makes.
    pub fn thinkdeep_calls(self) -> u32 {
        match self {
            Self::Complete => 27,
            Self::Advanced => 18,
            Self::Standard | Self::Rapid => 0,
        }
    }
}

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
