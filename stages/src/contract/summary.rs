//! A summary as the pipeline uses it, and as it is written.

use camino::Utf8PathBuf;
use claudex_loop::text;
use serde::Serialize;
use serde_json::Value as Json;

use super::flags::Flags;
use super::stage::Stage;
use super::words::Status;
use super::yaml::is_printable;

/// What a coordinator reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The stage.
    pub stage: Stage,
    /// How it ended.
    pub status: Status,
    /// What it wrote, relative to the project.
    pub artifacts: Vec<Utf8PathBuf>,
    /// What happened, in one or two sentences.
    pub summary: String,
    /// What else the pipeline goes by.
    pub flags: Flags,
    /// The text below `## Context for Next Stage`; `None` where there is no such section.
    pub context: Option<String>,
}

/// The frontmatter of a stage summary, `requirements/.stage-summaries/stage-{N}-summary.md`.
#[derive(Debug, Serialize)]
pub(crate) struct Frontmatter<'a> {
    /// The name of the stage.
    stage: String,
    /// The number of the stage.
    stage_number: u8,
    /// How it ended.
    status: Status,
    /// The checkpoint of the stage.
    checkpoint: &'static str,
    /// Paths relative to the project; may be empty.
    artifacts_written: &'a [Utf8PathBuf],
    /// What happened, in one or two sentences.
    summary: &'a str,
    flags: &'a Flags,
}

impl Summary {
    /// Makes a summary that says the least.
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

    pub(crate) fn frontmatter(&self) -> Frontmatter<'_> {
        Frontmatter {
            stage: self.stage.to_string(),
            stage_number: self.stage.number(),
            status: self.status,
            checkpoint: self.stage.checkpoint(),
            artifacts_written: &self.artifacts,
            summary: &self.summary,
            flags: &self.flags,
        }
    }

    /// Returns the text of its file.
    pub fn to_text(&self) -> String {
        let mut text = String::from("---\n");
        if let Ok(Json::Object(keys)) = serde_json::to_value(self.frontmatter()) {
            for (key, value) in &keys {
                block(&mut text, 0, key, value);
            }
        }
        text.push_str("---\n\n## Context for Next Stage\n");
        if let Some(context) = &self.context {
            text.push_str(context);
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

/// Writes a key with its value: lists and maps of anything in lines of their own.
fn block(text: &mut String, indent: usize, key: &str, value: &Json) {
    text.push_str(&format!("{:indent$}{}:", "", plain_key(key)));
    match value {
        Json::Object(map) if !map.is_empty() => {
            text.push('\n');
            for (key, value) in map {
                block(text, indent + 2, key, value);
            }
        }
        Json::Array(items) if !items.is_empty() => {
            text.push('\n');
            for item in items {
                text.push_str(&format!("{:indent$}  - {}\n", "", flow(item)));
            }
        }
        _ => text.push_str(&format!(" {}\n", flow(value))),
    }
}

/// Returns a value on one line. JSON is YAML, where what nobody sees is written as an escape.
fn flow(value: &Json) -> String {
    let mut line = String::new();
    for character in value.to_string().chars() {
        match u32::from(character) {
            _ if is_printable(character)
                && !text::plain(character.encode_utf8(&mut [0; 4])).is_empty() =>
            {
                line.push(character)
            }
            // JSON has two escapes for such a one, which YAML does not know.
            code @ 0x1_0000.. => line.push_str(&format!("\\U{code:08X}")),
            code => line.push_str(&format!("\\u{code:04X}")),
        }
    }
    line
}

/// Returns a key, in quotes where it is no plain word.
fn plain_key(key: &str) -> String {
    let is_word = !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && key.starts_with(|first: char| first.is_ascii_alphabetic());
    match is_word {
        true => key.to_owned(),
        false => flow(&Json::from(key)),
    }
}
