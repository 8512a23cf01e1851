//! A summary as the pipeline uses it, and as it is written.

use camino::Utf8PathBuf;
use serde_json::json;

use super::flags::Flags;
use super::stage::Stage;
use super::words::Status;

/// The report of a coordinator.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The stage.
    pub stage: Stage,
    /// The end of the stage.
    pub status: Status,
    /// The files that were written, relative to the project.
    pub artifacts: Vec<Utf8PathBuf>,
    /// What happened, in one or two sentences.
    pub summary: String,
    /// The flags.
    pub flags: Flags,
    /// The text below `## Context for Next Stage`, or `None` if there is no such section.
    pub context: Option<String>,
}

impl Summary {
    /// Creates a summary without artifacts and flags.
    pub fn new(stage: Stage, status: Status, summary: &str) -> Self {
        Self {
            stage,
            status,
            artifacts: Vec::new(),
            summary: summary.to_owned(),
            flags: Flags::default(),
            context: Some(String::new()),
        }
    }

    /// Returns the text of the summary's file.
    pub fn to_text(&self) -> String {
        let frontmatter = json!({
            "stage": self.stage.to_string(),
            "stage_number": self.stage.number(),
            "status": self.status,
            "checkpoint": self.stage.checkpoint(),
            "artifacts_written": self.artifacts,
            "summary": self.summary,
            "flags": self.flags,
        });
        let yaml = serde_yaml::to_string(&frontmatter).unwrap_or_default();
        let context = self.context.as_deref().unwrap_or_default();
        let text = format!("---\n{yaml}---\n\n## Context for Next Stage\n{context}");
        text.trim_end().to_owned() + "\n"
    }
}
