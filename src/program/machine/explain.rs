//! `machine explain`: a phase or a transition in words, for someone who sees the machine for the first time.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use claudex_build::model::{Behaviour, Edge, Options, Phase, call_text};
use claudex_build::{catalogue, diagnostic, kind_text};

use super::edge::{details, template};
use super::{Own, Subject};
use crate::program::exit::{Exit, Failure};
use crate::program::out;
use crate::text::one_line;

/// `machine explain`
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A phase or a transition
    name: String,
    /// A machine file; - is stdin [default: this program's own]
    file: Option<Utf8PathBuf>,
}

pub(super) fn run(arguments: &Arguments, own: &Own) -> Result<Exit, Failure> {
    let subject = Subject::load(arguments.file.as_deref(), own)?;
    // A verb is written with - where its transition has _.
    let name = arguments.name.replace('-', "_");
    let phases = &subject.machine.phases;
    let text = if let Some(at) = phases.iter().position(|phase| phase.name.value == name) {
        phase(&subject, at)
    } else if subject.machine.transition_names().contains(&name.as_str()) {
        transition(&subject, &name)
    } else {
        return Err(unknown(&subject, &arguments.name));
    };
    out::text(&text);
    Ok(Exit::Complete)
}

fn unknown(subject: &Subject, name: &str) -> Failure {
    let machine = &subject.machine;
    let phases: Vec<&str> = machine
        .phases
        .iter()
        .map(|phase| phase.name.value.as_str())
        .collect();
    let transitions = machine.transition_names();
    let known = phases.iter().chain(&transitions).copied();
    let near = diagnostic::suggest(name, known).filter(|help| help.ends_with('?'));
    let help = near.unwrap_or_else(|| {
        let some: Vec<&str> = phases.iter().take(20).copied().collect();
        format!("its phases are {}", diagnostic::list(&some))
    });
    let (name, machine) = (one_line(name, 80), &machine.name.value);
    let message = format!("the machine `{machine}` has no phase and no transition `{name}`");
    Failure::plain(
        Exit::Usage,
        "claudex::machine::unknown_name",
        message,
        &help,
    )
}

fn phase(subject: &Subject, at: usize) -> String {
    let machine = &subject.machine;
    let phase = &machine.phases[at];
    let name = &phase.name.value;
    let mut text = String::new();
    let place = subject.place(phase.name.span.start);
    let kind = if phase.terminal {
        "a terminal phase"
    } else {
        "a phase"
    };
    let _ = writeln!(
        text,
        "`{name}` is {kind} of the machine `{}` ({place}).",
        machine.name.value
    );
    if !phase.doc.is_empty() {
        let _ = writeln!(text, "{}", one_line(&phase.doc, usize::MAX));
    }
    for mode in machine
        .modes
        .iter()
        .filter(|mode| mode.start.value == *name)
    {
        let _ = writeln!(text, "A loop of mode `{}` begins here.", mode.name.value);
    }
    if let Some(message) = &phase.message {
        let template = template(subject, &message.value);
        let _ = writeln!(
            text,
            "Who comes here is told what {template} says, unless the transition has words of its own."
        );
    }
    if let Some(stored) = &phase.stored {
        let _ = writeln!(
            text,
            "In the loop's document it is written `{}`.",
            stored.value
        );
    }
    text.push_str("\nWhen the agent stops here\n");
    match (&phase.on_stop, phase.terminal) {
        (_, true) => text.push_str(
            "  The loop is over: the stop is let through, and no transition leaves this phase.\n",
        ),
        (None, false) => {
            let _ = writeln!(
                text,
                "  A method that is written in Rust decides: `OnStop::{name}`."
            );
        }
        (Some(behaviour), false) => stop(&mut text, behaviour),
    }
    let edges = machine.edges();
    ways(
        &mut text,
        subject,
        "Ways out",
        edges.iter().filter(|edge| edge.from == at),
        |edge| {
            format!(
                "{} -> {}",
                edge.declared.name.value, machine.phases[edge.to].name.value
            )
        },
    );
    ways(
        &mut text,
        subject,
        "Ways in",
        edges.iter().filter(|edge| edge.to == at && edge.from != at),
        |edge| {
            format!(
                "{} <- {}",
                edge.declared.name.value, machine.phases[edge.from].name.value
            )
        },
    );
    fields(&mut text, subject, phase);
    text
}

/// What each outcome of a behaviour does.
fn stop(text: &mut String, behaviour: &Behaviour) {
    let name = &behaviour.name.value;
    let entry = catalogue::find(name);
    let doc = entry.map_or("", |entry| entry.doc);
    let _ = writeln!(text, "  `{name}` decides. {doc}");
    for (name, value) in &behaviour.parameters {
        let _ = writeln!(text, "    {} = {:?}", name.value, value.value);
    }
    for option in behaviour.choices() {
        let (label, then) = (
            one_line(&option.label.value, usize::MAX),
            call_text(&option.call),
        );
        let _ = writeln!(text, "    a person who answers \"{label}\" takes {then}");
    }
    match &behaviour.options {
        Options::Field { field, then } => {
            let (field, then) = (&field.value, &then.value);
            let _ = writeln!(
                text,
                "    a person who answers one of `{field}` takes `{then}`"
            );
        }
        Options::Program => text
            .push_str("    the program asks, or asks nothing: question and options are Rust's\n"),
        Options::None | Options::These(_) => {}
    }
    if let Some(then) = &behaviour.text {
        let _ = writeln!(
            text,
            "    a person who types another text takes `{}`",
            then.value
        );
    }
    let wide = behaviour
        .outcomes
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or(0);
    let mut several = false;
    for (outcome, transitions) in &behaviour.outcomes {
        let instead = entry
            .and_then(|entry| entry.outcomes.iter().find(|known| known.name == outcome))
            .and_then(|known| known.instead);
        let names: Vec<String> = transitions
            .iter()
            .map(|call| one_line(&call_text(call), usize::MAX))
            .collect();
        several |= names.len() > 1;
        let what = match (names.is_empty(), instead) {
            (false, _) => format!("takes {}", names.join(", else ")),
            (true, Some(instead)) => format!("as `{instead}`"),
            (true, None) => "the loop waits".to_owned(),
        };
        let _ = writeln!(text, "    {outcome:<wide$}  {what}");
    }
    if several {
        text.push_str(
            "  What stands after \"else\" is tried where the guard of the one before refuses.\n",
        );
    }
    text.push_str(
        "  Where none is legal, the loop waits: the turn ends, and a line says what for.\n",
    );
}

/// Edges under a heading, each with its place and its details.
fn ways<'e, 'm: 'e>(
    text: &mut String,
    subject: &Subject,
    heading: &str,
    edges: impl Iterator<Item = &'e Edge<'m>>,
    title: impl Fn(&Edge<'_>) -> String,
) {
    let edges: Vec<_> = edges.collect();
    let _ = writeln!(text, "\n{heading}");
    if edges.is_empty() {
        text.push_str("  none\n");
    }
    for edge in edges {
        let place = subject.place(edge.declared.span.start);
        let _ = writeln!(text, "  {} ({place})", title(edge));
        text.push_str(&details(subject, edge));
    }
}

/// The fields that a loop in this phase has.
fn fields(text: &mut String, subject: &Subject, phase: &Phase) {
    let all = &subject.machine.fields;
    let fields: Vec<_> = all
        .iter()
        .filter(|field| field.exists_in(&phase.name.value))
        .collect();
    let wide = fields
        .iter()
        .map(|field| field.name.value.len())
        .max()
        .unwrap_or(0);
    text.push_str("\nFields of a loop here\n");
    for field in fields {
        let doc = match one_line(&field.doc, usize::MAX) {
            doc if doc.is_empty() => String::new(),
            doc => format!("; {doc}"),
        };
        let (name, kind) = (&field.name.value, kind_text(&field.kind));
        let _ = writeln!(text, "  {name:<wide$}  {kind}{doc}");
    }
}

fn transition(subject: &Subject, name: &str) -> String {
    let machine = &subject.machine;
    let all = machine.edges();
    let edges: Vec<&Edge<'_>> = all
        .iter()
        .filter(|edge| edge.declared.name.value == name)
        .collect();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "`{name}` is a transition of the machine `{}`.",
        machine.name.value
    );
    let divided = edges
        .iter()
        .any(|edge| edges.iter().filter(|other| other.from == edge.from).count() > 1);
    if divided {
        text.push_str("Several edges leave one phase; the one whose guard holds is taken, and never more than one does.\n");
    }
    let mut named = Vec::new();
    for phase in &machine.phases {
        let Some(behaviour) = &phase.on_stop else {
            continue;
        };
        for (outcome, transitions) in &behaviour.outcomes {
            if transitions.iter().any(|other| other.then.value == name) {
                let behaviour = &behaviour.name.value;
                named.push(format!(
                    "  in `{}`, where the outcome of `{behaviour}` is `{outcome}`",
                    phase.name.value
                ));
            }
        }
    }
    if !named.is_empty() {
        let _ = writeln!(text, "\nTried at a stop\n{}", named.join("\n"));
    }
    ways(&mut text, subject, "Edges", edges.iter().copied(), |edge| {
        let phase = |at: usize| &machine.phases[at].name.value;
        format!("{} -> {}", phase(edge.from), phase(edge.to))
    });
    text
}
