//! The closed word lists of a summary, each an enum, and the properties of the seven stages.

use serde::{Deserialize, Serialize};
use strum::{Display, VariantArray};

use super::rule::find_row;

/// Declares enums with the case of their words. They are read in any case, also with `-` or a space
/// for `_`.
macro_rules! words {
    ($($case:literal $name:ident $doc:literal { $($word:ident)+ })+) => {$(
        #[doc = $doc]
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display, VariantArray, strum::VariantNames, Serialize,
        )]
        #[serde(rename_all = $case)]
        #[strum(serialize_all = $case)]
        pub enum $name { $(#[doc = concat!("The word for ", stringify!($word), ".")] $word,)+ }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
                let written = String::deserialize(value)?;
                let plain = |word: &str| word.trim().to_lowercase().replace(['-', ' '], "_");
                let is_written = |one: &&Self| plain(&one.to_string()) == plain(&written);
                let found = Self::VARIANTS.iter().find(is_written);
                let words = <Self as strum::VariantNames>::VARIANTS;
                found.copied().ok_or_else(|| serde::de::Error::unknown_variant(&written, words))
            }
        }
    )+};
}
pub(super) use words;

words! {
    "kebab-case" Status "The end of a stage: done, waiting for the user, or could not be done." {
        Completed NeedsUserInput Failed
    }
    "snake_case" PauseType "The way in which a stage waits: outside of the session, which ends, or by a question in it." {
        ExitCli Interactive
    }
    "snake_case" NextAction "The next step: another round of questions, one with research first, or the next stage." {
        LoopQuestions LoopResearch Proceed
    }
    "snake_case" AnalysisMode "The depth of a round: 27 calls to think deeply, 18, the usual panel, or one perspective." {
        Complete Advanced Standard Rapid
    }
    "SCREAMING_SNAKE_CASE" PrdMode "The origin of the requirements document: a new one, or one that is extended." {
        New Extend
    }
    "snake_case" ResearchMethod "The method of the research: by tools, by the user, or none." {
        AutoMcp Manual Skipped
    }
    "SCREAMING_SNAKE_CASE" Decision "The decision of the validation. The worst, which needs another round, comes first." {
        NotReady Conditional Ready
    }
    "snake_case" Dimension "A part of the validation score." {
        ProductDefinition TargetUsers ProblemValidation ValueProposition WorkflowCoverage FeatureInventory
        NoTechnicalContent
    }
    "kebab-case" Stage "A stage of the pipeline. The last one never waits for the user." {
        Setup Research AnalysisQuestions ResponseAnalysis ValidationGeneration Completion Retrospective
    }
}

/// The stages: name, checkpoint, and the cells of [`Stage::cell`].
const STAGES: &str = include_str!("stages.txt");

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
        find_row(STAGES, &self.to_string()).0
    }

    /// Returns a cell behind the checkpoint, from 0.
    fn cell(self, index: usize) -> &'static str {
        let (_, cells) = find_row(STAGES, &self.to_string());
        cells.split('|').nth(index).unwrap_or_default().trim()
    }

    /// Returns the key of the stage in the state.
    pub(crate) fn state_key(self) -> &'static str {
        self.cell(0)
    }

    /// Returns the flags below that key. One with another name there is `name=flag`.
    pub(crate) fn state_flags(self) -> impl Iterator<Item = &'static str> {
        self.cell(1).split_whitespace()
    }

    /// Returns the header of a question that has none. Stage 7 asks nothing.
    pub fn header(self) -> &'static str {
        self.cell(2)
    }

    /// Returns the time limit in minutes, or `None` for stage 1, which has no coordinator.
    pub fn minutes(self) -> Option<i64> {
        self.cell(3).parse().ok()
    }

    /// Returns the project files that show completion. Stage 2 writes one of its two.
    pub fn artifacts(self, round: u32) -> Vec<String> {
        let names = self.cell(4).replace("NNN", &format!("{round:03}"));
        let names = names.split_whitespace();
        names.map(|name| format!("requirements/{name}")).collect()
    }
}
