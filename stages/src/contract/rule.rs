//! The rules of the contract: each with its code, what to write instead, and the answer of a lenient reader.

use strum::{Display, EnumIter, EnumString, IntoStaticStr};

use Lenient::{Corrected, Crash, Refused};

/// The answer of `report` to a broken rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lenient {
    /// The same as no summary.
    Crash,
    /// A summary that does not count, and changes nothing.
    Refused,
    /// The summary is taken with this correction.
    Corrected(&'static str),
}

/// Declares the rules as a table.
macro_rules! rules {
    ($($rule:ident $lenient:expr, $asks:literal, $help:literal;)+) => {
        /// A rule of the contract. Its code is its name in kebab case.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display, EnumIter, EnumString, IntoStaticStr,
        )]
        #[strum(serialize_all = "kebab-case")]
        pub enum Rule { $(#[doc = $asks] $rule,)+ }

        impl Rule {
            /// Returns what to write instead.
            pub fn help(self) -> &'static str {
                match self { $(Self::$rule => $help,)+ }
            }

            /// Returns the answer of a lenient reader.
            pub fn lenient(self) -> Lenient {
                match self { $(Self::$rule => $lenient,)+ }
            }

            /// Returns the code of the rule.
            pub fn code(self) -> &'static str {
                self.into()
            }
        }
    };
}

rules! {
    NoFrontmatter Crash, "The file begins with a line `---`, and a second one closes the frontmatter.",
        "write a line `---`, the seven keys, and another line `---`";
    BadYaml Crash, "The frontmatter is YAML: keys with values, without aliases and tags, not deeply nested.",
        "fix the YAML here; text with `: `, ` #` or quotes in it needs double quotes";
    DuplicateKey Crash, "Each key is there once.", "remove one of them";
    TooLarge Crash, "The file has at most 256 KiB.", "keep the summary short: what is long belongs in an artifact";
    NotUtf8 Crash, "The file is UTF-8.", "write the file again, as UTF-8";
    UnknownStatus Crash, "`status` is completed, needs-user-input or failed.",
        "write `completed`, `needs-user-input` or `failed`";
    MissingField Corrected("the stage is that of the dispatch, the others are empty"), "The seven keys are there.",
        "write the key with its value; a list can be `[]`, a map `{}`";
    BadType Corrected("as if it were missing"), "Each of the seven keys has its type.", "write a value of that type";
    StageRange Corrected("the stage is that of its name, else of the dispatch"), "`stage_number` is 1 to 7.",
        "write a number from 1 to 7";
    StageName Corrected("the number decides"), "`stage` is the name of the stage.", "write the name of the stage";
    CheckpointName Corrected("the number decides"), "`checkpoint` is that of the stage.",
        "write the checkpoint of the stage";
    Placeholder Corrected("as if it were missing"), "No value is a placeholder of the template.",
        "write the value, or remove the line";
    ArtifactOutside Refused, "Each artifact is a path below the project.",
        "write a path below the project, relative to it";
    ArtifactMissing Corrected("dropped from the list"), "Each artifact is a file.", "write the file, or remove the line";
    NoContext Corrected("there is no context"), "The body has a section `## Context for Next Stage`.",
        "write the line `## Context for Next Stage`, and what the next stage must know below it";
    FlagStage Corrected("ignored"), "`questions_count`, `thinkdeep_calls` and `thinkdeep_completion_pct` are of stage 3.",
        "remove the line";
    FlagType Corrected("ignored"), "A flag has its type.", "write a value of that type";
    FlagRange Corrected("ignored"), "A flag has one of its values.", "write one of its values";
    UnknownPause Corrected("interactive with a question, else exit_cli"), "`pause_type` is exit_cli, interactive or null.",
        "write `exit_cli`, `interactive` or `null`";
    PauseStatus Corrected("the status decides: no pause, or interactive with a question, else exit_cli"),
        "A pause is with needs-user-input, and needs-user-input with a pause.",
        "write `status: needs-user-input` with `pause_type: interactive` or `exit_cli`, or `pause_type: null`";
    PauseStage Corrected("completed"), "Stage 7 never pauses.", "write `status: completed` and `pause_type: null`";
    NoBlockReason Corrected("`summary` is in its place"), "A pause has a `block_reason`.",
        "write `block_reason: \"…\"`: why the stage waits, for the user";
    NoQuestion Corrected("`block_reason` is in its place"), "An interactive pause has a `question_context` with a question.",
        "write `question_context` with `question`, `header` and `options`";
    QuestionStray Corrected("ignored"), "`question_context` and `next_action_map` are with an interactive pause.",
        "remove it, or write `status: needs-user-input` and `pause_type: interactive`";
    HeaderLength Corrected("cut, or that of the stage"), "A header has 1 to 12 characters, on one line.",
        "write `header: \"…\"` with 1 to 12 characters, on one line";
    OptionCount Corrected("others are added, or shown by pages"), "A question has options: 2 to 4 are shown at once.",
        "write two to four options, each with `label` and `description`";
    OptionIncomplete Corrected("dropped"), "An option has a label and a description.",
        "write `label: \"…\"` and `description: \"…\"`";
    OptionDuplicate Corrected("dropped"), "The labels of the options differ.", "give this option a label of its own";
    UnknownAction Corrected("ignored"), "A next action is loop_questions, loop_research, proceed or null.",
        "write `loop_questions`, `loop_research`, `proceed` or `null`";
    ActionStage Corrected("ignored"), "loop_questions is of stages 4 and 5, loop_research of 4, proceed of 2, 3 and 4.",
        "write an action of this stage, or `null`";
    MapLabel Corrected("ignored"), "Each label of `next_action_map` is that of an option.",
        "write the label of an option, exactly";
    NoNextAction Corrected("the user is asked"), "Stage 4 completes with a `next_action`.",
        "write `next_action: loop_questions`, `loop_research` or `proceed`";
    NoDecision Corrected("by the score, else a crash"), "Stage 5 completes with a `validation_decision`.",
        "write `validation_decision: …`, `NOT_READY`, `CONDITIONAL` or `READY`";
    DecisionScore Corrected("the worse of the two"), "`validation_decision` fits `validation_score`.",
        "write the decision of the score: READY is from 16, CONDITIONAL from 12";
    Stale Refused, "The summary was written for this dispatch.", "have the coordinator of this dispatch write it again";
    Foreign Refused, "The summary is of the stage that was dispatched.", "report the summary of the open stage";
    TakenAlready Refused, "A summary counts once.",
        "go on with the next instruction, or have the stage write a new summary";
}
