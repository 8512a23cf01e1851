//! What a loop of any machine says: the text of a block, and the line for the person when it waits.
//!
//! A text is a template (minijinja; a name that there is not is an error). It has every field of the machine by its name,
//! and, before a field of the same name: `id`, `phase`, `machine`, `root`, `verbs` (`verbs.agent`, `verbs.person`: the
//! command lines that are open here), `question` where the phase asks one, `last_run` where a command has run, and `verified`, what came of the commands that verify the work. Whatever
//! came from outside is one plain, short line. What an application knows besides, it renders itself.

use serde_json::{Map, Value as Json, json};

use super::ask::{self, Asked, MORE};
use super::command_runs;
use super::verify::{self, Unready};
use crate::machine::table::{ArgumentInfo, BehaviourInfo};
use crate::machine::{Actor, EdgeAt, EdgeInfo, Raw};
use crate::message::facts;
use crate::message::{Message, MessageError, Render as _};
use crate::process::configured::is_installed;
use crate::review::subject;
use crate::text;

/// How many characters of a field a text shows.
const FIELD: usize = 300;
/// How many verbs a line for the person names.
const VERBS: usize = 6;

/// What entering a phase that asks says, unless the machine says something else.
const ASK: Message = Message {
    name: "ask.md",
    text: include_str!("words/ask.md"),
};

/// Returns the text of the block after an edge was taken: the edge's message, else that of the phase entered, else, in a phase that
/// asks, the engine's own. None: there is nothing to say. `raw` is the loop after the edge; `own` is what the program's templates
/// have besides.
///
/// # Errors
/// The template does not render.
pub fn of(raw: &Raw, edge: EdgeAt, own: Map<String, Json>) -> Result<Option<String>, MessageError> {
    said(raw, edge.words(raw.table()), own)
}

/// The same for a loop that is in its phase already, as after a start: without an edge's message.
///
/// # Errors
/// The template does not render.
pub fn here(raw: &Raw, own: Map<String, Json>) -> Result<Option<String>, MessageError> {
    said(raw, raw.table().phases[raw.phase()].message, own)
}

/// Renders a message, or, where there is none in a phase that asks, the engine's own. `own` goes before what every message has.
///
/// # Errors
/// The template does not render.
pub fn said(
    raw: &Raw,
    message: Option<Message>,
    own: Map<String, Json>,
) -> Result<Option<String>, MessageError> {
    let asks = || own.contains_key("question") || asked(raw).is_some();
    let Some(message) = message.or_else(|| asks().then_some(ASK)) else {
        return Ok(None);
    };
    let mut all = context(raw);
    all.extend(own);
    message.render(&all).map(Some)
}

/// Returns what a text can name.
fn context(raw: &Raw) -> Map<String, Json> {
    let verbs = Verbs::of(raw);
    let mut context = facts(raw, FIELD);
    let own = [
        (
            "question",
            asked(raw).map_or(Json::Null, |asked| question(raw, &asked)),
        ),
        ("last_run", json!(command_runs::last(raw))),
        ("verified", json!(verify::text(raw))),
        ("violations", json!(raw.violations())),
        (
            "verbs",
            json!({ "agent": verbs.agent, "person": verbs.person }),
        ),
    ];
    context.extend(own.map(|(name, value)| (name.to_owned(), value)));
    context
}

/// Returns the question of a loop's phase where a text can name it: what cannot be put is nothing to name.
fn asked(raw: &Raw) -> Option<Asked> {
    ask::asked(raw).ok().flatten()
}

/// Returns a question for a template: its words, the calls of the client's tool, and the command line of an answer.
pub(crate) fn question(raw: &Raw, asked: &Asked) -> Json {
    let call = |options: &Vec<(&str, &str)>| {
        let options = options
            .iter()
            .map(|(label, description)| json!({ "label": label, "description": description }));
        let call = json!({ "questions": [{
            "question": asked.question,
            "header": asked.header,
            "multiSelect": false,
            "options": options.collect::<Vec<_>>(),
        }] });
        format!("{call:#}")
    };
    let options = asked.options.iter().map(|option| {
        json!({
            "label": option.label,
            "description": option.description,
            "transition": option.transition,
        })
    });
    json!({
        "question": asked.question,
        "header": asked.header,
        "options": options.collect::<Vec<_>>(),
        "calls": asked.dialogs().iter().map(call).collect::<Vec<_>>(),
        "more": MORE,
        "line": answering(raw),
    })
}

/// Returns the command line by which a person answers the question of a loop's phase.
pub(crate) fn answering(raw: &Raw) -> String {
    format!("{} answer {} LABEL", raw.table().state.program, raw.id())
}

/// The command lines that are open in a loop's phase, to each actor.
#[derive(Debug, Default)]
struct Verbs {
    agent: Vec<String>,
    person: Vec<String>,
}

impl Verbs {
    /// Those whose guards hold now.
    fn of(raw: &Raw) -> Self {
        let mut verbs = Self::default();
        for edge in raw.open_edges().into_iter().filter(|edge| edge.is_verb()) {
            let line = line(raw, edge.transition, edge.args);
            for (actor, lines) in [
                (Actor::Agent, &mut verbs.agent),
                (Actor::Person, &mut verbs.person),
            ] {
                if edge.by.contains(&actor) && !lines.contains(&line) {
                    lines.push(line.clone());
                }
            }
        }
        verbs
    }
}

/// Returns the command line of a transition's verb.
fn line(raw: &Raw, transition: &str, arguments: &[ArgumentInfo]) -> String {
    format!(
        "{} {}",
        raw.table().state.program,
        typed(raw.id().as_str(), transition, arguments)
    )
}

/// Returns an edge's verb as it is typed after the program's name: `abort ID --why <why>`.
pub fn call(raw: &Raw, edge: &EdgeInfo) -> String {
    call_of(raw.id().as_str(), edge)
}

/// The same for a loop that was not opened.
pub fn call_of(id: &str, edge: &EdgeInfo) -> String {
    typed(id, edge.transition, edge.args)
}

fn typed(id: &str, transition: &str, arguments: &[ArgumentInfo]) -> String {
    let mut line = format!("{} {id}", transition.replace('_', "-"));
    for argument in arguments {
        line.push_str(&format!(" --{}", argument.name.replace('_', "-")));
        if !argument.takes.is_empty() {
            line.push_str(&format!(" <{}>", argument.takes));
        }
    }
    line
}

/// Returns what a loop waits for where it is, and the command lines by which a person lets it go on.
pub fn next_action(raw: &Raw) -> (String, Vec<String>) {
    next_action_asking(raw, asked(raw).as_ref())
}

/// The same for a loop whose question the program may have.
pub(crate) fn next_action_asking(raw: &Raw, asked: Option<&Asked>) -> (String, Vec<String>) {
    let phase = &raw.table().phases[raw.phase()];
    let what = match (&phase.on_stop, asked) {
        (_, Some(asked)) => Some(format!(
            "an answer to: {} ({})",
            asked.question,
            asked.labels()
        )),
        (Some(behaviour), None) => waited_for(raw, behaviour),
        (None, None) => None,
    };
    let what = what.unwrap_or_else(|| format!("phase {} to go on", phase.name));
    let answer = asked.map(|_| answering(raw));
    let mut verbs: Vec<String> = answer.into_iter().chain(Verbs::of(raw).person).collect();
    verbs.truncate(VERBS);
    (what, verbs)
}

/// Returns a note for the person when a loop waits: for what, and which verbs lead on, each on its line.
pub fn waiting(raw: &Raw) -> String {
    let (what, verbs) = next_action(raw);
    let mut line = format!("loop {} waits for {what}", raw.id());
    let stop = if line.ends_with(['?', '.', '!']) {
        ""
    } else {
        "."
    };
    if !verbs.is_empty() {
        line.push_str(&format!("{stop} In a terminal:{}", lines(&verbs)));
    }
    line
}

/// Returns command lines as a message ends in them, each on a line of its own.
pub fn lines(commands: &[String]) -> String {
    let line = |command: &String| format!("\n{}{command}", text::COMMAND);
    commands.iter().map(line).collect()
}

/// Returns what a behaviour waits for, where that can be said better than by the phase's name.
fn waited_for(raw: &Raw, behaviour: &BehaviourInfo) -> Option<String> {
    let filled = |key: &str| {
        let template = behaviour.parameter(key)?;
        Some(text::one_line(&raw.fill(template), FIELD))
    };
    Some(match behaviour.name {
        "require-file" => format!("{} to be written", filled("path")?),
        "review" => {
            let subject = subject::shown(raw, raw.table().phases[raw.phase()].review?);
            format!("the review of {}", text::one_line(&subject, FIELD))
        }
        "run" => command(raw, behaviour.parameter("command")?),
        "verify" => match verify::ready(raw) {
            Ok(_) => "the commands that verify the work to pass".to_owned(),
            Err(Unready::Nothing(why)) => format!("commands that verify the work: {why}"),
            Err(Unready::NotAllowed { lines, file }) => format!(
                "the user to add {} to allow_commands in {file}",
                text::one_line(&lines.join(" and "), FIELD)
            ),
        },
        "wait-for" => match behaviour.parameter("field") {
            Some(field) => format!("the field {field}"),
            None => format!("{} to be there", filled("file")?),
        },
        _ => return None,
    })
}

/// Returns a command that is waited for: what it lacks, where it lacks something.
fn command(raw: &Raw, name: &str) -> String {
    let plain = || format!("the command {name}");
    let Some(permitted) = raw.told().permissions.get() else {
        return plain();
    };
    let file = permitted.file.as_ref();
    let file = file.map_or("your configuration".to_owned(), |file| {
        text::one_line(file.as_str(), FIELD)
    });
    match permitted.commands.get(name) {
        None => format!(
            "the command {name}, which is not configured: add [commands.{name}] with its program to {file}"
        ),
        Some(command) if !is_installed(command, &raw.root()) => format!(
            "the command {name}, whose program {} is not installed, or not in PATH outside of the project: [commands.{name}] in {file} names it",
            text::one_line(&command.program, 80),
        ),
        Some(_) => plain(),
    }
}
