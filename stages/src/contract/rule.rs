//! The rules of the contract: each with its code, what it asks, and what a lenient reader does where it is broken.

use strum::{Display, EnumIter, EnumString, IntoEnumIterator as _, IntoStaticStr};

/// Says what `report` does with a summary that breaks a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lenient {
    /// It is as if there were no summary.
    Crash,
    /// The summary does not count, and nothing changes.
    Refused,
    /// It goes on with what is there, in this way.
    Mended(&'static str),
}

/// Declares the rules, as the table that they are.
macro_rules! rules {
    ($($rule:ident: $asks:literal => $lenient:expr,)+) => {
        /// A rule of the contract. Its code is its name in kebab case.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumIter, EnumString, IntoStaticStr,
        )]
        #[strum(serialize_all = "kebab-case")]
        pub enum Rule { $(#[doc = $asks] $rule,)+ }

        impl Rule {
            /// Returns what it asks of a summary.
            pub fn asks(self) -> &'static str {
                match self { $(Self::$rule => $asks,)+ }
            }

            /// Returns what a lenient reader does where it is broken.
            pub fn lenient(self) -> Lenient {
                use Lenient::{Crash, Mended, Refused};
                match self { $(Self::$rule => $lenient,)+ }
            }
        }
    };
}

rules! {
    NoFrontmatter: "the file begins with a line `---`, and a second one closes the frontmatter" => Crash,
    BadYaml: "the frontmatter is YAML: keys with values, without anchors, aliases and tags, not deeply nested" => Crash,
    DuplicateKey: "no key stands twice" => Crash,
    TooLarge: "the file has at most 256 KiB" => Crash,
    NotUtf8: "the file is UTF-8" => Crash,
    UnknownStatus: "`status` is completed, needs-user-input or failed" => Crash,
    MissingField: "the seven keys are there" => Mended("the stage is that of the dispatch, the others are empty"),
    BadType: "each of the seven keys has its type" => Mended("as if it were missing"),
    StageRange: "`stage_number` is 1 to 7" => Mended("the stage is that of its name, else of the dispatch"),
    StageName: "`stage` is the name of the stage" => Mended("the number decides"),
    CheckpointName: "`checkpoint` is that of the stage" => Mended("the number decides"),
    Placeholder: "no value is a placeholder of the template" => Mended("as if it were missing"),
    ArtifactOutside: "each artifact is a path inside of the project" => Refused,
    ArtifactMissing: "each artifact is a file" => Mended("dropped from the list"),
    NoContext: "the body has a section `## Context for Next Stage`" => Mended("there is no context"),
    FlagStage: "`questions_count`, `thinkdeep_calls` and `thinkdeep_completion_pct` are of stage 3" => Mended("ignored"),
    FlagType: "a flag has its type" => Mended("ignored"),
    FlagRange: "a flag has one of its values" => Mended("ignored"),
    UnknownPause: "`pause_type` is exit_cli, interactive or null" => Mended("interactive with a question, else exit_cli"),
    PauseStatus: "a pause is with needs-user-input, and needs-user-input with a pause" =>
        Mended("the status decides: no pause, or interactive with a question, else exit_cli"),
    PauseStage: "stage 7 never pauses" => Mended("completed"),
    NoBlockReason: "a pause has a `block_reason`" => Mended("`summary` is in its place"),
    NoQuestion: "an interactive pause has a `question_context` with a question" => Mended("`block_reason` is in its place"),
    QuestionStray: "`question_context` and `next_action_map` are with an interactive pause" => Mended("ignored"),
    HeaderLength: "a header has 1 to 12 characters, on one line" => Mended("cut, or that of the stage"),
    OptionCount: "a question has options: 2 to 4 are shown at once" => Mended("others are added, or shown by pages"),
    OptionIncomplete: "an option has a label and a description" => Mended("dropped"),
    OptionDuplicate: "the labels of the options differ" => Mended("dropped"),
    UnknownAction: "a next action is loop_questions, loop_research, proceed or null" => Mended("ignored"),
    ActionStage: "loop_questions is of stages 4 and 5, loop_research of 4, proceed of 2, 3 and 4" => Mended("ignored"),
    MapLabel: "each label of `next_action_map` is that of an option" => Mended("ignored"),
    NoNextAction: "stage 4 completes with a `next_action`" => Mended("the person is asked"),
    NoDecision: "stage 5 completes with a `validation_decision`" => Mended("by the score, else a crash"),
    DecisionScore: "`validation_decision` fits `validation_score`" => Mended("the worse of the two"),
    Stale: "the summary was written for this dispatch" => Refused,
    Foreign: "the summary is of the stage that was dispatched" => Refused,
    TakenAlready: "a summary counts once" => Refused,
}

impl Rule {
    /// Returns all of them, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// Returns its code.
    pub fn code(self) -> &'static str {
        self.into()
    }
}
