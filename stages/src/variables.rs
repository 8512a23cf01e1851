//! The variables of a dispatch: what a coordinator is told besides its stage. One pure function of what is known.

use serde_json::{Map, Value as Json, json};

use crate::contract::{AnalysisMode, PrdMode, Stage};
use crate::state::UserAnswer;

/// Holds what the variables are made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// The round.
    pub round: u32,
    /// How thoroughly it is done.
    pub mode: Option<AnalysisMode>,
    /// Whether the document of requirements is new.
    pub prd_mode: Option<PrdMode>,
    /// Says that the stage comes back after an exit_cli pause.
    pub re_entry: bool,
    /// Says which tools there are.
    pub pal: bool,
    /// As `pal`.
    pub st: bool,
    /// As `pal`.
    pub research: bool,
    /// The panel's file.
    pub panel_config_path: Option<String>,
    /// Where the summary goes.
    pub summary_file: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// The context that the stage before left.
    pub prior_context: String,
    /// The summaries before, as a list.
    pub prior_summaries: String,
    /// What the person answered.
    pub answer: Option<UserAnswer>,
    /// Gaps for research.
    pub focus: Vec<String>,
    /// Says that a person forced the way through validation.
    pub skip_validation: bool,
}

/// Returns how many minutes a stage may take; stage 1 has no coordinator.
pub fn minutes(stage: Stage) -> Option<u32> {
    match stage {
        Stage::Setup => None,
        Stage::Research | Stage::ResponseAnalysis => Some(15),
        Stage::AnalysisQuestions => Some(30),
        Stage::ValidationGeneration => Some(20),
        Stage::Completion => Some(5),
        Stage::Retrospective => Some(10),
    }
}

/// Returns the variables of a stage, each with its default where nothing is known.
pub fn variables(stage: Stage, known: &Known) -> Map<String, Json> {
    let entry = match known.re_entry {
        true => "re_entry_after_user_input",
        false => "first_entry",
    };
    let mode = known.mode.unwrap_or(AnalysisMode::Standard);
    let panel = known
        .panel_config_path
        .as_ref()
        .filter(|_| mode != AnalysisMode::Rapid);
    let mut all = vec![
        ("SUMMARY_FILE", json!(known.summary_file)),
        ("DISPATCH_ID", json!(known.dispatch_id)),
    ];
    if stage != Stage::Setup {
        all.extend([
            ("ROUND_NUMBER", json!(known.round.max(1))),
            ("ANALYSIS_MODE", json!(mode)),
            ("PRD_MODE", json!(known.prd_mode.unwrap_or(PrdMode::New))),
            ("ENTRY_TYPE", json!(entry)),
            ("PAL_AVAILABLE", json!(known.pal)),
            ("ST_AVAILABLE", json!(known.st)),
            ("RESEARCH_MCP_AVAILABLE", json!(known.research)),
            ("PANEL_CONFIG_PATH", json!(panel)),
            ("TIMEOUT_MINUTES", json!(minutes(stage))),
            ("PRIOR_CONTEXT", json!(known.prior_context)),
            ("PRIOR_SUMMARIES", json!(known.prior_summaries)),
        ]);
    }
    all.push(("USER_ANSWER", json!(known.answer)));
    match stage {
        Stage::Research => all.push(("FOCUS", json!(known.focus))),
        Stage::ValidationGeneration => all.push(("SKIP_VALIDATION", json!(known.skip_validation))),
        _ => {}
    }
    all.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
