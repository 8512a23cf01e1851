//! The messages of a loop: the text of a block, and the line for the user if the loop waits.
//!
//! A message is a minijinja template; an unknown name is an error. Its names are those of
//! docs/behaviours.md, then the machine's fields. Text from outside is one plain, short line.

use serde_json::{Map, Value as Json, json};

use super::ask::{self, Asked, MORE};
use super::command_runs;
use crate::machine::table::{BehaviourInfo, FieldKind};
use crate::machine::{Actor, EdgeInfo, LoopFacts as _, Raw};
use crate::message::{Message, MessageError, Render as _, facts};
use crate::process::configured::is_installed;
use crate::{template, text};

const MAX_FIELD_CHARS: usize = 300;

/// The message of a phase that asks, unless the machine has another one.
const ASK: Message = template!("loop_message/ask.md");

/// Renders a message, or the engine's own if a phase that asks has none. The `variables`
/// precede all others. Returns `None` if there is no message.
///
/// # Errors
/// Returns an error if the template does not render.
pub fn render(
    raw: &Raw,
    message: Option<Message>,
    variables: Map<String, Json>,
) -> Result<Option<String>, MessageError> {
    let dialog = ask::question(raw, None).ok().flatten();
    let asks = dialog.is_some() || variables.contains_key("question");
    let Some(message) = message.or(asks.then_some(ASK)) else {
        return Ok(None);
    };
    let mut context = facts(raw, MAX_FIELD_CHARS);
    let question = dialog.map(|dialog| question_context(raw, &dialog));
    context.insert("question".to_owned(), json!(question));
    context.insert("last_run".to_owned(), json!(command_runs::last(raw)));
    context.insert("violations".to_owned(), json!(raw.violations()));
    context.extend(variables);
    message.render(&context).map(Some)
}

/// Returns a question for a template: words, calls of the client's tool, and command line.
pub(crate) fn question_context(raw: &Raw, asked: &Asked) -> Json {
    let call_text = |questions: &Json| format!("{:#}", json!({ "questions": questions }));
    let calls: Vec<String> = asked.questions().iter().map(call_text).collect();
    json!({
        "question": asked.question,
        "header": asked.header,
        "options": asked.options,
        "calls": calls,
        "more": MORE,
        "line": answer_line(raw),
    })
}

/// Returns the command line by which the user answers the question that a loop asks.
pub(crate) fn answer_line(raw: &Raw) -> String {
    format!(
        "{} answer {} \"LABEL\"",
        raw.table().state.program,
        raw.id()
    )
}

/// A verb that the phase of a loop allows now.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct AvailableVerb {
    /// The transition.
    pub transition: &'static str,
    /// The doc of its edge.
    pub doc: &'static str,
    /// Whether an agent may take it.
    pub agent: bool,
    /// Whether the user may take it.
    #[serde(skip)]
    pub person: bool,
    /// The command line: the subcommand, the loop, and its arguments.
    pub command: String,
}

/// Returns the verbs that the agent or the user may run now, once each, in file order.
pub fn available_verbs(raw: &Raw) -> Vec<AvailableVerb> {
    let mut verbs: Vec<AvailableVerb> = Vec::new();
    for edge in raw.open_edges().iter().filter(|edge| edge.is_verb()) {
        // All edges of a transition have the same actors.
        if verbs.iter().all(|verb| verb.transition != edge.transition) {
            verbs.push(AvailableVerb {
                transition: edge.transition,
                doc: edge.doc,
                agent: edge.by.contains(&Actor::Agent),
                person: edge.by.contains(&Actor::Person),
                command: command_line(raw, edge),
            });
        }
    }
    verbs
}

/// Returns the command line of an edge's verb.
pub(crate) fn command_line(raw: &Raw, edge: &EdgeInfo) -> String {
    let program = raw.table().state.program;
    format!("{program} {}", verb_line(raw.id().as_str(), edge))
}

/// Returns an edge's verb as it is typed after the program's name: `abort ID --why WHY`.
pub fn verb_line(id: &str, edge: &EdgeInfo) -> String {
    let mut line = format!("{} {id}", edge.transition.replace('_', "-"));
    for argument in edge.args.iter().filter(|argument| !argument.optional) {
        let name = argument.name.replace('_', "-");
        line.push_str(&format!(" --{name}"));
        // No sign that a shell would interpret.
        match argument.kind {
            FieldKind::OneOf(words) => line.push_str(&format!(" {}", words.join("/"))),
            FieldKind::Flag => {}
            _ => line.push_str(&format!(" {}", name.to_uppercase())),
        }
    }
    line
}

/// Returns the event that a loop waits for, for a sentence. `asked` is its question.
pub fn awaited_event(raw: &Raw, asked: Option<&Asked>) -> String {
    if let Some(asked) = asked {
        return format!("an answer to: {} ({})", asked.question, asked.labels());
    }
    let phase = raw.phase_info();
    let behaviour = phase.on_stop;
    let event = behaviour.and_then(|behaviour| behaviour_event(raw, behaviour));
    event.unwrap_or_else(|| format!("phase {} to continue", phase.name))
}

/// Returns the event that a behaviour waits for, or `None` if the phase's name describes it best.
fn behaviour_event(raw: &Raw, behaviour: BehaviourInfo) -> Option<String> {
    if let Some(file) = behaviour.parameter("file") {
        let file = text::one_line(&raw.fill(file), MAX_FIELD_CHARS);
        return Some(format!("{file} to be there"));
    }
    let name = behaviour.parameter("command")?;
    let event = format!("the command {name}");
    let Some(permissions) = raw.program_facts().permissions.get() else {
        return Some(event);
    };
    let configured = permissions.commands.get(name);
    if configured.is_some_and(|command| is_installed(command, &raw.root())) {
        return Some(event);
    }
    Some(format!(
        "{event}, which is not configured, or not in PATH outside of the project: [commands.{name}] in {} names its program",
        permissions.file
    ))
}
