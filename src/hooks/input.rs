//! The input that Claude Code gives a hook: one JSON object on stdin.

use std::io::{self, BufRead as _, BufReader, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The time that the client has to write the input. One that does not must not hold the turn.
pub const INPUT_TIMEOUT: Duration = Duration::from_secs(2);
/// The largest input, in bytes. A client's largest value is a tool's response.
const MAX_INPUT_BYTES: usize = 8 * 1024 * 1024;

/// A hook's input.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, expecting = "a JSON object")]
pub struct Input {
    /// The client's session; never blank.
    #[serde(deserialize_with = "deserialize_non_blank")]
    pub session_id: Option<String>,
    /// The folder of the agent's shell. It follows the agent's `cd`.
    pub cwd: Option<Utf8PathBuf>,
    /// The event.
    #[serde(rename = "hook_event_name")]
    pub event: Option<Event>,
    /// The permission mode of the session, such as `default` or `plan`.
    pub permission_mode: Option<String>,
    /// Whether a stop hook has already kept this turn going.
    pub stop_hook_active: Option<bool>,
    /// The id of the subagent that the event is about; never blank.
    #[serde(deserialize_with = "deserialize_non_blank")]
    pub agent_id: Option<String>,
    /// The work in the background that the session has begun.
    #[serde(deserialize_with = "deserialize_known_tasks")]
    pub background_tasks: Vec<BackgroundTask>,
    /// The user's prompt, as it was typed.
    pub prompt: Option<String>,
    /// The prompt's id.
    pub prompt_id: Option<String>,
    /// The name of a slash command, without the slash.
    pub command_name: Option<String>,
    /// The arguments of a slash command, as they were typed.
    pub command_args: Option<String>,
    /// The tool that is called, or was.
    pub tool_name: Option<String>,
    /// The tool's input.
    pub tool_input: Option<Value>,
    /// The tool's response.
    pub tool_response: Option<Value>,
    /// The reason why a session starts.
    pub source: Option<String>,
}

/// An event that our hook distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Event {
    /// The user has sent a prompt.
    UserPromptSubmit,
    /// A slash command becomes a prompt.
    UserPromptExpansion,
    /// A tool was called.
    PostToolUse,
    /// A subagent stops.
    SubagentStop,
    /// Any other event.
    #[serde(other)]
    Other,
}

/// A task in the background.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BackgroundTask {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    status: Option<String>,
    command: Option<String>,
}

/// Reads an input, up to the object's last brace: the client may keep the stream open.
///
/// # Errors
/// Returns an error if the stream does not hold a JSON object of at most 8 MiB within the timeout.
pub fn read(stream: impl AsFd, timeout: Duration) -> serde_json::Result<Input> {
    read_from(BoundedStream {
        stream,
        deadline: Instant::now() + timeout,
        bytes_left: MAX_INPUT_BYTES,
    })
}

/// Reads an input without a limit of time or size.
fn read_from(reader: impl Read) -> serde_json::Result<Input> {
    let mut reader = BufReader::new(reader);
    // serde also reads a list as a struct.
    let is_list = reader
        .fill_buf()
        .is_ok_and(|bytes| bytes.trim_ascii_start().starts_with(b"["));
    if is_list {
        return Err(serde_json::Error::custom(
            "expected an object, found a list",
        ));
    }
    Input::deserialize(&mut serde_json::Deserializer::from_reader(reader))
}

impl Input {
    /// Returns whether the event is about a subagent, not the session's own agent.
    pub fn is_subagent(&self) -> bool {
        self.agent_id.is_some() || self.event == Some(Event::SubagentStop)
    }

    /// Returns the ids of the background tasks whose end the agent waits for: subagents, workflows,
    /// and shells whose command is a review. The client wakes the agent when one of them ends.
    pub fn awaited_tasks(&self, is_review: impl Fn(&str) -> bool) -> Vec<&str> {
        let is_awaited = |task: &&BackgroundTask| {
            let is_running = matches!(task.status.as_deref(), None | Some("running" | "pending"));
            let is_agent = matches!(task.kind.as_deref(), Some("subagent" | "workflow"));
            is_running && (is_agent || task.command.as_deref().is_some_and(&is_review))
        };
        let awaited = self.background_tasks.iter().filter(is_awaited);
        awaited
            .map(|task| task.id.as_deref().unwrap_or("?"))
            .collect()
    }
}

/// Reads an id. A blank one is none.
fn deserialize_non_blank<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let id: Option<String> = Option::deserialize(deserializer)?;
    Ok(id.filter(|id| !id.trim().is_empty()))
}

/// Reads the background tasks in known form. The client cuts their texts, even within characters.
fn deserialize_known_tasks<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<BackgroundTask>, D::Error> {
    let tasks: Option<Vec<Box<RawValue>>> = Option::deserialize(deserializer)?;
    Ok(tasks
        .unwrap_or_default()
        .into_iter()
        .filter_map(|task| serde_json::from_str(task.get()).ok())
        .collect())
}

/// A stream that is read within limits, without a buffer, which a poll would not see.
struct BoundedStream<S> {
    stream: S,
    deadline: Instant,
    bytes_left: usize,
}

impl<S: AsFd> Read for BoundedStream<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let time_left = self.deadline.saturating_duration_since(Instant::now());
        let time_left = Timespec::try_from(time_left).map_err(io::Error::other)?;
        let mut polled = [PollFd::new(&self.stream, PollFlags::IN)];
        if poll(&mut polled, Some(&time_left))? == 0 {
            let late = "it is incomplete, and no more has come in time";
            return Err(io::Error::new(io::ErrorKind::TimedOut, late));
        }

        let count = rustix::io::read(&self.stream, buffer)?;
        self.bytes_left = self.bytes_left.checked_sub(count).ok_or_else(|| {
            let large = format!("it is larger than {MAX_INPUT_BYTES} bytes");
            io::Error::new(io::ErrorKind::FileTooLarge, large)
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::thread;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const LONG_TIMEOUT: Duration = Duration::from_secs(60);

    fn input(object: &Value) -> Input {
        read_from(object.to_string().as_bytes()).unwrap()
    }

    /// Returns a stream that has these bytes and stays open as long as its writer.
    fn open_stream(bytes: &[u8]) -> (io::PipeReader, io::PipeWriter) {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(bytes).unwrap();
        (reader, writer)
    }

    #[test]
    fn object_in_two_parts_on_open_stream_is_read() {
        let (reader, mut writer) = open_stream(br#" {"b": [{}, []], "prompt": "#);
        let rest = thread::spawn(move || {
            writer.write_all(br#""}\"{"} {"#).unwrap();
            writer
        });
        let input = read(reader, LONG_TIMEOUT).unwrap();
        assert_eq!(input.prompt.as_deref(), Some("}\"{"));
        rest.join().unwrap();
    }

    #[test]
    fn unfinished_object_on_open_stream_times_out() {
        for bytes in [&b""[..], br#"{"a": ""#] {
            let (reader, _open) = open_stream(bytes);
            let error = read(reader, Duration::from_millis(200)).unwrap_err();
            let text = error.to_string();
            assert!(
                text.starts_with("it is incomplete, and no more has come in time"),
                "{text}"
            );
        }
    }

    #[test]
    fn endless_stream_is_too_large() {
        let (reader, mut writer) = open_stream(br#"{"a": ""#);
        let flood = thread::spawn(move || while writer.write_all(&[b'x'; 65536]).is_ok() {});
        let error = read(reader, LONG_TIMEOUT).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("it is larger than 8388608 bytes"),
            "{text}"
        );
        flood.join().unwrap();
    }

    #[test]
    fn text_that_is_no_object_is_refused_with_its_place() {
        for (text, expected) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("not json", "expected ident at line 1 column 2"),
            (
                "7",
                "invalid type: integer `7`, expected a JSON object at line 1 column 1",
            ),
            ("[]", "expected an object, found a list"),
            (
                "{\"session_id\": 7}",
                "invalid type: integer `7`, expected a string at line 1 column 17",
            ),
        ] {
            let error = read_from(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn stop_input_of_the_client_is_read() {
        let input = input(&json!({
            "session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p", "prompt_id": "p1", "permission_mode": "default",
            "effort": {"level": "high"}, "hook_event_name": "SubagentStop", "stop_hook_active": true, "last_assistant_message": "Done.",
            "background_tasks": [{"id": "b1", "type": "shell", "status": "running", "description": "d", "command": "sleep 1"}],
            "session_crons": [], "agent_id": "a1", "agent_type": "t"
        }));
        let task = BackgroundTask {
            id: Some("b1".into()),
            kind: Some("shell".into()),
            status: Some("running".into()),
            command: Some("sleep 1".into()),
        };
        let expected = Input {
            session_id: Some("s".into()),
            cwd: Some("/p".into()),
            event: Some(Event::SubagentStop),
            stop_hook_active: Some(true),
            agent_id: Some("a1".into()),
            background_tasks: vec![task],
            prompt_id: Some("p1".into()),
            permission_mode: Some("default".into()),
            ..Input::default()
        };
        assert_eq!(input, expected);
    }

    #[test]
    fn blank_or_null_is_a_missing_field() {
        for blank in [json!(""), json!(" "), json!("\n\t"), Value::Null] {
            let object = json!({
                "session_id": blank, "agent_id": blank, "cwd": null, "hook_event_name": null, "stop_hook_active": null,
                "background_tasks": null, "prompt": null, "tool_response": null,
            });
            assert_eq!(input(&object), Input::default(), "{blank:?}");
        }
    }

    #[test]
    fn half_of_a_surrogate_pair_costs_one_task() {
        let text = br#"{"last_assistant_message": "\ud83d", "background_tasks": [{"command": "\ud83d"}, {"id": "a"}]}"#;
        let tasks = read_from(&text[..]).unwrap().background_tasks;
        assert_eq!(tasks.len(), 1);
        assert_eq!(tasks[0].id.as_deref(), Some("a"));
    }

    #[test]
    fn subagent_is_known_by_id_or_event() {
        assert!(input(&json!({"agent_id": "a1", "hook_event_name": "Stop"})).is_subagent());
        assert!(input(&json!({"hook_event_name": "SubagentStop"})).is_subagent());
        assert!(!input(&json!({"hook_event_name": "Stop", "agent_id": ""})).is_subagent());
    }

    #[test]
    fn awaited_tasks_are_agents_and_reviews() {
        let task =
            |id: &str, kind: &str, status: &str| json!({"id": id, "type": kind, "status": status});
        let input = input(&json!({"background_tasks": [
            task("a1", "subagent", "running"),
            task("a2", "subagent", "completed"),
            {"id": "a3", "type": "subagent"},
            task("w2", "workflow", "pending"),
            {"id": "b1", "type": "shell", "status": "running", "command": "claudex-loop review x"},
            {"id": "b2", "type": "shell", "status": "running", "command": "npm run dev", "description": "a review"},
            {"type": "shell", "command": "claudex-loop review x"},
            task("m1", "monitor", "running"),
            7,
            "subagent",
        ]}));
        let awaited = input.awaited_tasks(|command| command.contains("review"));
        assert_eq!(awaited, ["a1", "a3", "w2", "b1", "?"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_from(&bytes[..]);
            let _ = read_from(&[b"{\"prompt\": \"\\u", &bytes[..], b"\"}"].concat()[..]);
        }

        #[test]
        fn any_text_is_read_whatever_follows(text in any::<String>(), junk in any::<String>()) {
            let written = json!({"prompt": text, "other": [text]}).to_string() + &junk;
            prop_assert_eq!(read_from(written.as_bytes()).unwrap().prompt, Some(text));
        }
    }
}
