//! What a client tells a hook: one JSON object, read into fields of which each may be missing.
//!
//! A field of the wrong type is as good as missing and leaves a note: a client's next version must not disable the
//! hook. Which loop is meant, and what is to be done, is not known here.

use std::collections::BTreeMap;
use std::os::fd::AsFd;

use camino::Utf8PathBuf;
use serde_json::Value;

pub use super::json::{InputError, ReadLimits};
use super::json::{Unbuffered, is_ready, read_object};

/// A hook's input. Unknown fields are dropped.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Input {
    /// The client's session; never blank.
    pub session_id: Option<String>,
    /// Where the agent's shell is: it follows the agent's `cd`.
    pub cwd: Option<Utf8PathBuf>,
    /// Such as `Stop`.
    pub hook_event_name: Option<String>,
    /// Whether a stop hook has already kept this turn going.
    pub stop_hook_active: Option<bool>,
    /// The subagent's id, where one is meant; never blank.
    pub agent_id: Option<String>,
    /// Work in the background that the session has begun, in the client's own form.
    pub background_tasks: Vec<Value>,
    /// What the person typed, raw.
    pub prompt: Option<String>,
    /// Which prompt of the session this belongs to; never blank.
    pub prompt_id: Option<String>,
    /// The name of a slash command, without the slash.
    pub command_name: Option<String>,
    /// The arguments of a slash command, raw.
    pub command_args: Option<String>,
    /// The tool that is or was called.
    pub tool_name: Option<String>,
    /// What the tool was called with.
    pub tool_input: Option<Value>,
    /// What the tool answered.
    pub tool_response: Option<Value>,
    /// Why a session starts.
    pub source: Option<String>,
    /// The file with the conversation; it may lack the last message.
    pub transcript_path: Option<Utf8PathBuf>,
    /// What the agent said last.
    pub last_assistant_message: Option<String>,
    /// What was wrong with single fields, for the log.
    pub notes: Vec<String>,
}

/// Reads one input and stops at its last brace.
///
/// # Errors
/// Where there is no JSON object, or not in time, or it is too large; see [`InputError`].
pub fn read(stream: impl AsFd, limits: ReadLimits) -> Result<Input, InputError> {
    read_object(Unbuffered(stream), limits, is_ready).map(Input::from_object)
}

/// Reads one input of bytes that are there.
#[cfg(any(test, fuzzing))]
pub(crate) fn read_bytes(bytes: &[u8]) -> Result<Input, InputError> {
    read_object(bytes, ReadLimits::default(), |_, _| Ok(true)).map(Input::from_object)
}

impl Input {
    fn from_object(object: BTreeMap<String, Value>) -> Self {
        let mut fields = Fields {
            object,
            notes: Vec::new(),
        };
        let present = |text: &String| !text.trim().is_empty();
        let mut input = Self {
            session_id: fields.text("session_id").filter(present),
            cwd: fields.text("cwd").filter(present).map(Into::into),
            hook_event_name: fields.text("hook_event_name"),
            stop_hook_active: fields.boolean("stop_hook_active"),
            agent_id: fields.text("agent_id").filter(present),
            background_tasks: fields.list("background_tasks"),
            prompt: fields.text("prompt"),
            prompt_id: fields.text("prompt_id").filter(present),
            command_name: fields.text("command_name"),
            command_args: fields.text("command_args"),
            tool_name: fields.text("tool_name"),
            tool_input: fields.any("tool_input"),
            tool_response: fields.any("tool_response"),
            source: fields.text("source"),
            transcript_path: fields
                .text("transcript_path")
                .filter(present)
                .map(Into::into),
            last_assistant_message: fields.text("last_assistant_message"),
            notes: Vec::new(),
        };
        input.notes = fields.notes;
        input
    }

    /// Returns whether it is a subagent, not the session's own agent, that the client speaks of.
    pub fn is_subagent(&self) -> bool {
        self.agent_id.is_some() || self.hook_event_name.as_deref() == Some("SubagentStop")
    }

    /// Returns the ids of the background tasks in flight whose end the agent waits for: subagents, workflows, and shells for
    /// whose command `is_review` holds. The client wakes the agent when one of them ends.
    pub fn awaited_tasks(&self, is_review: impl Fn(&str) -> bool) -> Vec<&str> {
        let awaited = |task: &&Value| {
            let text = |key: &str| task.get(key).and_then(Value::as_str);
            text("status").is_none_or(|status| ["running", "pending"].contains(&status))
                && match text("type") {
                    Some("subagent" | "workflow") => true,
                    _ => text("command").is_some_and(&is_review),
                }
        };
        self.background_tasks
            .iter()
            .filter(awaited)
            .map(|task| task.get("id").and_then(Value::as_str).unwrap_or("?"))
            .collect()
    }
}

/// An object whose fields are taken out one by one.
struct Fields {
    object: BTreeMap<String, Value>,
    notes: Vec<String>,
}

impl Fields {
    /// Returns the field, where it is there and not null.
    fn any(&mut self, name: &str) -> Option<Value> {
        self.object.remove(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &'static str) -> Option<String> {
        match self.any(name)? {
            Value::String(text) => Some(text),
            other => self.wrong(name, "a string", &other),
        }
    }

    fn boolean(&mut self, name: &'static str) -> Option<bool> {
        match self.any(name)? {
            Value::Bool(value) => Some(value),
            other => self.wrong(name, "true or false", &other),
        }
    }

    fn list(&mut self, name: &'static str) -> Vec<Value> {
        match self.any(name) {
            None => Vec::new(),
            Some(Value::Array(values)) => values,
            Some(other) => self.wrong(name, "a list", &other).unwrap_or_default(),
        }
    }

    /// Notes that a field is not what it should be, without its content.
    fn wrong<T>(&mut self, name: &str, expected: &str, found: &Value) -> Option<T> {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.notes.push(format!(
            "`{name}` is {found} instead of {expected}: taken as absent"
        ));
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(value: &Value) -> Input {
        read_bytes(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_stop_of_the_real_client_is_read() {
        let input = input(&json!({
            "session_id": "6f2c", "transcript_path": "/home/ü/.claude/a b.jsonl", "cwd": "/tmp/it's here",
            "prompt_id": "p1", "permission_mode": "default", "effort": {"level": "high"}, "hook_event_name": "Stop",
            "stop_hook_active": false, "last_assistant_message": "done\n", "background_tasks": [], "session_crons": []
        }));
        assert_eq!(input.session_id.as_deref(), Some("6f2c"));
        assert_eq!(input.cwd.as_deref(), Some("/tmp/it's here".into()));
        assert_eq!(
            input.transcript_path.as_deref(),
            Some("/home/ü/.claude/a b.jsonl".into())
        );
        assert_eq!(input.stop_hook_active, Some(false));
        assert_eq!(input.last_assistant_message.as_deref(), Some("done\n"));
        assert_eq!(
            (input.prompt_id.as_deref(), input.is_subagent()),
            (Some("p1"), false)
        );
        assert!(input.notes.is_empty());
    }

    #[test]
    fn an_empty_object_and_nulls_are_fine() {
        assert_eq!(input(&json!({})), Input::default());
        assert_eq!(
            input(&json!({"session_id": null, "background_tasks": null, "new_field": 1})),
            Input::default()
        );
    }

    #[test]
    fn a_wrong_type_costs_one_field_and_leaves_a_note() {
        let input = input(&json!({
            "session_id": 7, "cwd": ["/"], "stop_hook_active": "yes", "background_tasks": {"a": 1}, "prompt": "kept"
        }));
        assert_eq!(input.session_id, None);
        assert_eq!(input.cwd, None);
        assert_eq!(input.stop_hook_active, None);
        assert!(input.background_tasks.is_empty());
        assert_eq!(input.prompt.as_deref(), Some("kept"));
        assert_eq!(input.notes.len(), 4);
        assert_eq!(
            input.notes[0],
            "`session_id` is a number instead of a string: taken as absent"
        );
    }

    #[test]
    fn a_blank_id_is_none() {
        for blank in ["", " ", "\n\t"] {
            let input = input(&json!({"session_id": blank, "agent_id": blank, "cwd": blank}));
            assert_eq!(
                (input.session_id, input.agent_id, input.cwd),
                (None, None, None),
                "{blank:?}"
            );
        }
    }

    #[test]
    fn a_subagent_is_known_by_its_id_or_its_event() {
        assert!(input(&json!({"agent_id": "a1", "hook_event_name": "Stop"})).is_subagent());
        assert!(input(&json!({"hook_event_name": "SubagentStop"})).is_subagent());
        assert!(!input(&json!({"hook_event_name": "Stop", "agent_id": ""})).is_subagent());
    }

    #[test]
    fn awaited_tasks_are_subagents_workflows_and_reviews_in_flight() {
        let task =
            |id: &str, kind: &str, status: &str| json!({"id": id, "type": kind, "status": status});
        let input = input(&json!({"background_tasks": [
            task("a1", "subagent", "running"),
            task("a2", "subagent", "completed"),
            {"id": "a3", "type": "subagent"},
            task("w1", "workflow", "running"),
            task("w2", "workflow", "pending"),
            {"id": "b1", "type": "shell", "status": "running", "command": "claudex-loop review x"},
            {"id": "b2", "type": "shell", "status": "running", "command": "npm run dev", "description": "a review"},
            {"type": "shell", "command": "claudex-loop review x"},
            task("m1", "monitor", "running"),
            7,
            "subagent",
        ]}));
        let awaited = input.awaited_tasks(|command| command.contains("review"));
        assert_eq!(awaited, ["a1", "a3", "w1", "w2", "b1", "?"]);
    }
}
