//! The flags of all stages, each with its type. One that is not known is kept.

use serde::Serialize;
use serde_json::{Map as JsonMap, Value as Json};

use super::findings::Found;
use super::question::{ActionMap, Question};
use super::rule::Rule;
use super::value::{
    Count, DimensionScores, FlagValue, Members, Percent, Rate, Round, Score, wrong_type,
};
use super::words::{
    AnalysisMode, Decision, Dimension, NextAction, PauseType, PrdMode, ResearchMethod,
};
use super::yaml::{Map, Node, Value};

/// Flags that may be null; another one that is not set is left out.
const NULLABLE: [&str; 8] = [
    "pause_type",
    "block_reason",
    "question_context",
    "next_action_map",
    "next_action",
    "panel_preset",
    "panel_config_path",
    "validation_score",
];
/// Flags of stage 3 alone.
pub(crate) const OF_STAGE_3: [&str; 3] = [
    "questions_count",
    "thinkdeep_calls",
    "thinkdeep_completion_pct",
];

/// Declares the flags: the type that holds them, and how they are read.
macro_rules! flags {
    ($($(#[$doc:meta])+ $name:ident: $type:ty,)+) => {
        /// The flags of a summary.
        #[derive(Debug, Clone, Default, PartialEq, Serialize)]
        pub struct Flags {
            $($(#[$doc])+
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $name: Option<$type>,)+
            /// Those that are not known, as they came.
            #[serde(flatten)]
            pub other: JsonMap<String, Json>,
        }

        impl Flags {
            /// Reads the flags that are right, and finds the others.
            pub(crate) fn read(map: &Map, found: &mut Found) -> Self {
                let mut flags = Self::default();
                for (key, node) in &map.entries {
                    match key.name.as_str() {
                        $(stringify!($name) => flags.$name = one(stringify!($name), node, found),)+
                        _ if matches!(node.value, Value::Placeholder) => {}
                        name => drop(flags.other.insert(name.to_owned(), node.json())),
                    }
                }
                flags
            }
        }
    };
}

fn one<T: FlagValue>(name: &str, node: &Node, found: &mut Found) -> Option<T> {
    let what = format!("`{name}`");
    match node.value {
        Value::Placeholder => None,
        Value::Null if NULLABLE.contains(&name) => None,
        Value::Null => wrong_type(&what, node, "set", found),
        _ => T::read(&what, node, found),
    }
}

flags! {
    /// The round. All stages.
    round_number: Round,
    /// How thoroughly the round is done. All stages; set by 1 and 3.
    analysis_mode: AnalysisMode,
    /// How the stage waits. All stages but 7.
    pause_type: PauseType,
    /// Why it waits. With a pause.
    block_reason: String,
    /// What the person is asked. With an interactive pause.
    question_context: Question,
    /// What the answers lead to, by the labels of the options. With an interactive pause.
    next_action_map: ActionMap,
    /// Where the pipeline goes. Stage 4, which never completes without; stage 5 with loop_questions.
    next_action: NextAction,
    /// Whether the summary was made for a coordinator that wrote none. All stages.
    recovered: bool,
    /// Whether the time was over. All stages.
    timeout: bool,
    /// Whether the work is done in part. All stages.
    partial: bool,
    /// What was done. All stages.
    completed_steps: Vec<String>,
    /// What could be better. All stages.
    quality_warnings: Vec<String>,
    /// Whether the document of requirements is new. Stages 1 and 5.
    prd_mode: PrdMode,
    /// The panel, null with one member. Stages 1 and 3.
    panel_preset: String,
    /// The panel's file, null with one member. Stage 1.
    panel_config_path: String,
    /// How many sit on the panel. Stages 1 and 3.
    panel_members_count: Members,
    /// Stage 1.
    pal_available: bool,
    /// Stage 1.
    st_available: bool,
    /// Stage 1.
    research_mcp_tavily: bool,
    /// Stage 1.
    research_mcp_ref: bool,
    /// How research was done. Stage 2.
    research_method: ResearchMethod,
    /// Stage 2.
    queries_executed: Count,
    /// Stage 2.
    sources_analyzed: Count,
    /// Stage 2.
    reports_analyzed: Count,
    /// Stage 2.
    research_gaps: Count,
    /// How many questions were written. Stage 3 alone.
    questions_count: Count,
    /// How often was thought deeply. Stage 3 alone.
    thinkdeep_calls: Count,
    /// Calls of those expected, in per cent. Stage 3 alone.
    thinkdeep_completion_pct: Percent,
    /// Calls that the mode expects: 27 complete, 18 advanced, else 0. Stage 3.
    thinkdeep_expected: Count,
    /// Who sits on the panel. Stage 3.
    panel_member_ids: Vec<String>,
    /// The file of questions. Stage 4, with exit_cli.
    questions_file: String,
    /// The share of the questions that are answered, 0 to 1; above 1 it is per cent. Stage 4.
    completion_rate: Rate,
    /// Stage 4.
    gaps_found: Count,
    /// The gaps. Stage 4.
    gap_descriptions: Vec<String>,
    /// Sections that can be written. Stage 4.
    sections_ready: Vec<String>,
    /// What validation decided. Stage 5, which never completes without.
    validation_decision: Decision,
    /// The score of 20: READY from 16, CONDITIONAL from 12. Stage 5, and again 6.
    validation_score: Score,
    /// The score of each dimension. Stage 5.
    dimension_scores: DimensionScores,
    /// Dimensions with 1 or 2. Stage 5.
    weak_dimensions: Vec<Dimension>,
    /// Dimensions with 3 or 4. Stage 5.
    strong_dimensions: Vec<Dimension>,
    /// Stage 6.
    total_rounds: Count,
    /// Stage 6.
    total_questions: Count,
    /// Whether nothing was looked back on. Stage 7.
    skipped: bool,
    /// Why not. Stage 7.
    skip_reason: String,
    /// Stage 7.
    kpi_green_count: Count,
    /// Stage 7.
    kpi_yellow_count: Count,
    /// Stage 7.
    kpi_red_count: Count,
    /// Stage 7.
    transcript_included: bool,
    /// The dispatch that the summary answers. All stages.
    dispatch_id: String,
}

impl Flags {
    /// Returns how many calls to think deeply were expected, and the share that was made, in per cent; `None` where none was expected.
    pub(crate) fn depth(&self) -> Option<(u32, f64)> {
        let by_mode = || self.analysis_mode.map_or(0, AnalysisMode::thinkdeep_calls);
        let expected = self
            .thinkdeep_expected
            .map_or_else(by_mode, |count| count.get());
        let share = self.thinkdeep_completion_pct?.get();
        (expected > 0).then_some((expected, share))
    }

    /// Finds flags of another stage, and takes them out.
    pub(crate) fn check_stage(&mut self, is_stage_3: bool, map: &Map, found: &mut Found) {
        if is_stage_3 {
            return;
        }
        (
            self.questions_count,
            self.thinkdeep_calls,
            self.thinkdeep_completion_pct,
        ) = (None, None, None);
        for (key, node) in map
            .entries
            .iter()
            .filter(|(key, _)| OF_STAGE_3.contains(&key.name.as_str()))
        {
            let is_set = !matches!(node.value, Value::Placeholder);
            if is_set {
                let message = format!("`{}` is a flag of stage 3", key.name);
                found.error(
                    Rule::FlagStage,
                    key.span.clone(),
                    message,
                    "take out the line",
                );
            }
        }
    }
}
