//! The closed lists of words that a summary may use, each an enum.

use serde::Serialize;
use strum::{Display, EnumString, VariantNames};

/// Declares an enum whose variants are written in one case.
macro_rules! words {
    ($($case:literal $(#[$attribute:meta])+ $name:ident { $($(#[$doc:meta])+ $word:ident,)+ })+) => {$(
        $(#[$attribute])+
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display, EnumString, VariantNames, Serialize,
        )]
        #[serde(rename_all = $case)]
        #[strum(serialize_all = $case)]
        pub enum $name { $($(#[$doc])+ $word,)+ }
    )+};
}

words! {
    "kebab-case"
    /// How a stage ended.
    Status {
        /// It did what it was to do.
        Completed,
        /// It waits for the person.
        NeedsUserInput,
        /// It could not.
        Failed,
    }
    "snake_case"
    /// How a stage waits.
    PauseType {
        /// The person works outside of the session, which ends.
        ExitCli,
        /// A question is asked in the session.
        Interactive,
    }
    "snake_case"
    /// Where the pipeline goes.
    NextAction {
        /// Another round of questions.
        LoopQuestions,
        /// Another round, with research first.
        LoopResearch,
        /// The next stage in order.
        Proceed,
    }
    "snake_case"
    /// How thoroughly a round is done.
    AnalysisMode {
        /// All of it.
        Complete,
        /// Most of it.
        Advanced,
        /// The usual.
        Standard,
        /// The least.
        Rapid,
    }
    "SCREAMING_SNAKE_CASE"
    /// Whether the document of requirements is new.
    PrdMode {
        /// It is.
        New,
        /// One that was there is extended.
        Extend,
    }
    "snake_case"
    /// How research was done.
    ResearchMethod {
        /// By tools.
        AutoMcp,
        /// By the person.
        Manual,
        /// Not at all.
        Skipped,
    }
    "SCREAMING_SNAKE_CASE"
    /// What validation decided; the worst comes first.
    Decision {
        /// Another round is needed.
        NotReady,
        /// It goes on, with conditions.
        Conditional,
        /// It goes on.
        Ready,
    }
    "snake_case"
    /// What validation scores.
    Dimension {
        /// What the product is.
        ProductDefinition,
        /// Whom it is for.
        TargetUsers,
        /// Whether the problem is real.
        ProblemValidation,
        /// Why anyone would use it.
        ValueProposition,
        /// Whether its workflows are whole.
        WorkflowCoverage,
        /// What it can do.
        FeatureInventory,
        /// Whether the text is free of technical matter.
        NoTechnicalContent,
    }
}

impl AnalysisMode {
    /// Returns how often a round of this mode is expected to think deeply.
    pub fn thinkdeep_calls(self) -> u32 {
        match self {
            Self::Complete => 27,
            Self::Advanced => 18,
            Self::Standard | Self::Rapid => 0,
        }
    }
}

impl Decision {
    /// Returns the decision that a score of 20 stands for.
    pub fn of_score(score: f64) -> Self {
        match score {
            _ if score >= 16.0 => Self::Ready,
            _ if score >= 12.0 => Self::Conditional,
            _ => Self::NotReady,
        }
    }
}
