//! The flags of all stages, each with its type. An unknown flag is kept.

use std::collections::BTreeMap;

use claudex_loop::store::to_plain;
use claudex_loop::text;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::Keys;
use super::question::{ActionMap, Question};
use super::rule::{Lenient, Reader, Rule};
use super::words::{
    AnalysisMode, Decision, Dimension, NextAction, PauseType, PrdMode, ResearchMethod, Stage,
};
use super::yaml::{NOT_QUOTED, READ_TO_END};

/// The flags that may be null.
const NULLABLE: &str = "pause_type block_reason question_context next_action_map next_action \
    panel_preset panel_config_path validation_score";
/// The flags that only stage 3 has.
const ONLY_STAGE_3: &str = "questions_count thinkdeep_calls thinkdeep_completion_pct";
/// The numbers in a range.
const RANGES: [(&str, f64, f64); 6] = [
    ("round_number", 1.0, 1_000_000.0),
    ("panel_members_count", 0.0, 5.0),
    ("thinkdeep_completion_pct", 0.0, 100.0),
    // Above 1 it is read as per cent.
    ("completion_rate", 0.0, 100.0),
    ("validation_score", 0.0, 20.0),
    ("dimension_scores", 1.0, 4.0),
];

/// Declares the flags as a table.
macro_rules! flags {
    ($($doc:literal $($name:ident)+: $type:ty;)+) => {
        /// The flags of a summary.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Flags {
            $($(#[doc = $doc]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $name: Option<$type>,)+)+
            /// The unknown flags, as they were written.
            #[serde(flatten)]
            pub other: Keys,
        }
    };
}

flags! {
    "The round. All stages." round_number: u32;
    "The depth of the round. All stages; set by 1 and 3." analysis_mode: AnalysisMode;
    "The way in which the stage waits. All stages but 7." pause_type: PauseType;
    "The reason of a pause, for the user. With a pause." block_reason: String;
    "The question to the user. With an interactive pause." question_context: Question;
    "The next actions by the labels of the options. With an interactive pause." next_action_map: ActionMap;
    "The next step. Stage 4, which never completes without; stage 5 with loop_questions." next_action: NextAction;
    "Whether the program made the summary, the time ran out, or the work is done in part. All stages."
        recovered timeout partial: bool;
    "The steps that were done, or doubts about the quality. All stages."
        completed_steps quality_warnings: Vec<String>;
    "The origin of the requirements document. Stages 1 and 5." prd_mode: PrdMode;
    "The panel, or its file; null with one member. Stage 1, and the panel also 3."
        panel_preset panel_config_path: String;
    "The number of panel members. Stages 1 and 3." panel_members_count: u32;
    "Whether other models, the thinking tool, the search tool or the reference tool can be called. Stage 1."
        pal_available st_available research_mcp_tavily research_mcp_ref: bool;
    "The method of the research. Stage 2." research_method: ResearchMethod;
    "The number of searches, sources, reports of the user, or open points. Stage 2."
        queries_executed sources_analyzed reports_analyzed research_gaps: u32;
    "The number of questions, or of calls to think deeply. Stage 3 only." questions_count thinkdeep_calls: u32;
    "The calls made of those expected, in per cent. Stage 3 only." thinkdeep_completion_pct: f64;
    "The calls that the mode expects: 27 complete, 18 advanced, else 0. Stage 3." thinkdeep_expected: u32;
    "The panel members. Stage 3." panel_member_ids: Vec<String>;
    "The file of questions. Stage 4, with exit_cli." questions_file: String;
    "The share of answered questions, 0 to 1; above 1 it is per cent. Stage 4." completion_rate: f64;
    "The number of gaps. Stage 4." gaps_found: u32;
    "The gaps, or the sections that can be written. Stage 4." gap_descriptions sections_ready: Vec<String>;
    "The decision. Stage 5, which never completes without." validation_decision: Decision;
    "The score of 20: READY from 16, CONDITIONAL from 12. Stage 5, and again 6." validation_score: f64;
    "The score of each dimension. Stage 5." dimension_scores: BTreeMap<Dimension, u32>;
    "The dimensions with 1 or 2, or with 3 or 4. Stage 5." weak_dimensions strong_dimensions: Vec<Dimension>;
    "The number of rounds, or of questions. Stage 6." total_rounds total_questions: u32;
    "Whether stage 7 was skipped, or read the transcript. Stage 7." skipped transcript_included: bool;
    "The reason of the skip. Stage 7." skip_reason: String;
    "The number of good, doubtful or bad results. Stage 7."
        kpi_green_count kpi_yellow_count kpi_red_count: u32;
    "The dispatch that the summary answers. All stages." dispatch_id: String;
}

impl Flags {
    /// Reads the flags of a stage that keep their rules, and reports the others.
    pub(super) fn read(stage: Option<Stage>, written: Keys, reader: &mut Reader<'_>) -> Self {
        let is_stage_3 = stage.is_none_or(|stage| stage == Stage::AnalysisQuestions);
        let mut kept = Keys::new();
        for (name, value) in written {
            if !is_stage_3 && has_word(ONLY_STAGE_3, &name) {
                reader.add(Rule::FlagStage, &format!("/flags/{name}"), "");
            } else if let Some(value) = check(&name, value, reader) {
                kept.insert(name, value);
            }
        }
        let mut flags: Self = serde_json::from_value(Json::Object(kept)).unwrap_or_default();
        let as_rate = |rate: f64| if rate > 1.0 { rate / 100.0 } else { rate };
        flags.completion_rate = flags.completion_rate.map(as_rate);
        flags
    }

    /// Returns the expected number of ThinkDeep calls, if any, and the percentage that was made.
    pub(crate) fn depth(&self) -> Option<(u32, f64)> {
        let by_mode = || match self.analysis_mode {
            Some(AnalysisMode::Complete) => 27,
            Some(AnalysisMode::Advanced) => 18,
            _ => 0,
        };
        let expected = self.thinkdeep_expected.unwrap_or_else(by_mode);
        (expected > 0).then_some((expected, self.thinkdeep_completion_pct?))
    }
}

fn has_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// Returns the value of a flag if it is right, else reports it. A number in quotes becomes one. A
/// list item with an unquoted `: `, which YAML reads as a map, becomes text again.
fn check(name: &str, value: Json, reader: &mut Reader<'_>) -> Option<Json> {
    let path = format!("/flags/{name}");
    let Some(problem) = find_problem(name, &value) else {
        return Some(value);
    };
    let unquoted = unquote(&value);
    if find_problem(name, &unquoted).is_none() {
        return Some(unquoted);
    }
    let part = |(key, text): (&String, &Json)| match text {
        Json::Object(_) | Json::Array(_) => None,
        text => Some(format!("{key}: {}", to_plain(text))),
    };
    let join = |item: &Json| match item.as_object() {
        Some(parts) => {
            let parts: Option<Vec<String>> = parts.iter().map(part).collect();
            parts.map_or_else(|| item.clone(), |parts| parts.join(", ").into())
        }
        None => item.clone(),
    };
    let items = value.as_array().into_iter().flatten();
    let joined = items.clone().map(join).collect();
    if value.is_array() && find_problem(name, &joined).is_none() {
        for (at, item) in items.enumerate() {
            let path = format!("{path}/{at}");
            match item.as_object().map(Keys::len) {
                None => {}
                Some(1) => *reader.add(Rule::BadYaml, &path, NOT_QUOTED) = READ_TO_END,
                Some(_) => {
                    let lenient = reader.add(Rule::FlagType, &path, "expected text, found keys");
                    *lenient = Lenient::Corrected("joined to one text");
                }
            }
        }
        return Some(joined);
    }
    let rule = match name {
        "pause_type" => Rule::UnknownPause,
        "next_action" => Rule::UnknownAction,
        // The beginning of serde's message.
        _ if problem.starts_with("invalid type") => Rule::FlagType,
        _ => Rule::FlagRange,
    };
    let detail = format!("`{name}` has an {}", text::printable(&problem));
    reader.add(rule, &path, &detail);
    None
}

/// Returns a value with the numbers and booleans that it has in quotes.
pub(crate) fn unquote(value: &Json) -> Json {
    match value {
        Json::String(text) => {
            let word = text.trim().to_lowercase();
            // `01`
            let number = word.trim_start_matches('0');
            let is_number = number.starts_with(|c: char| c.is_ascii_digit());
            match serde_json::from_str(if is_number { number } else { &word }) {
                Ok(plain @ (Json::Number(_) | Json::Bool(_))) => plain,
                _ => value.clone(),
            }
        }
        Json::Object(keys) => {
            Json::from_iter(keys.iter().map(|(key, one)| (key.as_str(), unquote(one))))
        }
        _ => value.clone(),
    }
}

/// Returns the problem of a flag, in the words of serde.
fn find_problem(name: &str, value: &Json) -> Option<String> {
    match serde_json::from_value::<Flags>(json!({ name: value })) {
        Ok(flags) if value.is_null() && !has_word(NULLABLE, name) && flags.other.is_empty() => {
            Some("invalid type: null, expected a value".to_owned())
        }
        Ok(_) => check_range(name, value),
        Err(error) => Some(problem_of(&error)),
    }
}

/// Returns serde's message about a value, without words of Rust.
pub(crate) fn problem_of(error: &impl ToString) -> String {
    let words = [
        ("a boolean", "true or false"),
        ("expected u32", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("a sequence", "a list"),
        ("struct Question", "keys"),
        ("unknown variant", "unknown word"),
    ];
    let replace = |text: String, (rust, plain): (&str, &str)| text.replace(rust, plain);
    words.into_iter().fold(error.to_string(), replace)
}

/// Returns the problem of a number, or of a number in a map.
fn check_range(name: &str, value: &Json) -> Option<String> {
    let (_, least, most) = RANGES.iter().find(|(flag, ..)| *flag == name)?;
    let is_outside = |value: &&Json| {
        let number = value.as_f64();
        number.is_some_and(|number| !(*least..=*most).contains(&number))
    };
    let outside = match value {
        Json::Object(keys) => keys.values().find(is_outside),
        _ => Some(value).filter(is_outside),
    };
    outside.map(|value| format!("invalid value: {value}, expected {least} to {most}"))
}
