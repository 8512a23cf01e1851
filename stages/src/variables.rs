//! The variables of a dispatch, which a coordinator gets with its stage.

use claudex_loop::text;
use serde_json::{Value as Json, json};

use crate::contract::{AnalysisMode, PrdMode, Stage};
use crate::digest;
use crate::state::Pipeline;

/// The most of the context of the stage before that a dispatch quotes, in characters.
const MAX_CONTEXT_CHARS: usize = 2_000;

/// Returns the variables of the open dispatch. An unknown one has its default.
pub(crate) fn variables(pipeline: Pipeline<'_>) -> Json {
    let stage = pipeline.stage();
    let open = pipeline.open();
    if stage == Stage::Setup {
        return json!({
            "SUMMARY_FILE": pipeline.summary_file(),
            "DISPATCH_ID": pipeline.dispatch_id(),
            "USER_ANSWER": open.answer,
        });
    }

    let mut mode = pipeline.0.data::<Option<AnalysisMode>>("analysis_mode");
    if open.standard {
        mode = Some(AnalysisMode::Standard);
    }
    let prd_mode = pipeline.0.data::<Option<PrdMode>>("prd_mode");
    let panel = pipeline.0.data::<Option<String>>("panel_config_path");
    let panel = panel.filter(|path| !path.is_empty() && mode != Some(AnalysisMode::Rapid));
    let tools: Json = pipeline.0.data("mcp_availability");
    let has_tool = |tool: &str| tools.pointer(tool) == Some(&Json::Bool(true));
    let entry = if open.re_entry {
        "re_entry_after_user_input"
    } else {
        "first_entry"
    };
    let mut all = json!({
        "SUMMARY_FILE": pipeline.summary_file(),
        "DISPATCH_ID": pipeline.dispatch_id(),
        "ROUND_NUMBER": pipeline.round(),
        "ANALYSIS_MODE": mode.unwrap_or(AnalysisMode::Standard),
        "PRD_MODE": prd_mode.unwrap_or(PrdMode::New),
        "ENTRY_TYPE": entry,
        "PAL_AVAILABLE": has_tool("/pal_available"),
        "ST_AVAILABLE": has_tool("/st_available"),
        "RESEARCH_MCP_AVAILABLE": has_tool("/research_mcp/tavily"),
        "PANEL_CONFIG_PATH": panel,
        "TIMEOUT_MINUTES": stage.minutes(),
        "PRIOR_CONTEXT": prior_context(pipeline),
        "PRIOR_SUMMARIES": prior_summaries(pipeline),
        "USER_ANSWER": open.answer,
    });
    match stage {
        Stage::Research => all["FOCUS"] = json!(focus(pipeline)),
        Stage::ValidationGeneration => all["SKIP_VALIDATION"] = json!(open.skip_validation),
        _ => {}
    }
    all
}

/// Returns the gaps for research, which runs in a later round only after stage 4 sent it back.
fn focus(pipeline: Pipeline<'_>) -> Vec<String> {
    let before = (pipeline.round() - 1, Stage::ResponseAnalysis);
    let summary = pipeline.kept().remove(&before);
    let gaps = summary.and_then(|summary| summary.flags.gap_descriptions);
    gaps.unwrap_or_default()
}

/// Returns the context that the stage before left, cut with the path of the whole.
fn prior_context(pipeline: Pipeline<'_>) -> String {
    let stage = pipeline.stage().number();
    let counted = pipeline.counted();
    let Some(before) = counted.iter().rev().find(|one| one.stage != stage) else {
        return String::new();
    };
    let summary = pipeline.kept_summary(&before.digest);
    let context = summary.and_then(|summary| summary.context);
    let context = context.unwrap_or_default();
    let context = context.trim();
    match context.char_indices().nth(MAX_CONTEXT_CHARS) {
        Some((at, _)) => {
            let file = pipeline.kept_file(&before.digest);
            format!("{}… (all of it: {file})", &context[..at])
        }
        None => context.to_owned(),
    }
}

/// Returns the earlier summaries by their paths. From round 4 on the digest stands for those of
/// earlier rounds.
fn prior_summaries(pipeline: Pipeline<'_>) -> String {
    let round = pipeline.round();
    if round < 2 {
        return String::new();
    }
    let mut lines = Vec::new();
    let has_digest = digest::is_due(pipeline);
    if has_digest {
        lines.push(format!("rounds before {round}: {}", digest::FILE));
    }
    for one in pipeline.counted() {
        if one.round == round || !has_digest {
            let file = text::shown(pipeline.kept_file(&one.digest));
            lines.push(format!("round {}, stage {}: {file}", one.round, one.stage));
        }
    }
    lines.join("\n")
}
