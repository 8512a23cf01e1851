//! Renders a checked machine as Rust and Markdown, from its file and data derived from it.
//!
//! The functions are pure. They rely on `check`, and on the names of the runtime's `__private`
//! module, which generated code calls `rt`.

pub(crate) mod ident;
pub(crate) mod render;
mod view;

use std::collections::HashSet;
use std::ops::Range;

use minijinja::context;

use crate::Generated;
use crate::diagram::diagram;
use crate::model::{Behaviour, Machine};
use crate::templates::TemplateKind;
use render::render;
use view::view;

/// Generates the Rust of a machine: types, edges, stops and command line. `file` is the machine
/// file's path in messages. `commands` adds the verbs of a command line and a whole program.
pub(crate) fn emit(machine: &Machine, source: &str, file: &str, commands: bool) -> Generated {
    let view = view(machine, source, file);
    let documents = context! { spec => render(include_str!("spec.md.jinja"), &view), diagram => diagram(machine) };
    let view = context! { ..documents, ..view };
    let mut program = render(include_str!("on_stop.rs.jinja"), &view);
    if commands {
        program += &render(include_str!("program.rs.jinja"), &view);
    }
    let messages = templates(machine).into_iter();
    Generated {
        types: render(include_str!("typestate.rs.jinja"), &view)
            + &render(include_str!("table.rs.jinja"), &view),
        program,
        messages: messages.map(|(_, path, _)| path).collect(),
    }
}

/// Returns the machine's templates and texts, each once for its kind, relative to the crate's root.
pub(crate) fn templates(machine: &Machine) -> Vec<(TemplateKind, String, Range<usize>)> {
    let starts = machine.modes.iter().flat_map(|mode| &mode.message);
    let phases = machine.phases.iter().flat_map(|phase| &phase.message);
    let messages = phases.chain(machine.transitions.iter().flat_map(|entry| &entry.message));
    let reviews = machine.behaviours().filter_map(Behaviour::review);
    let prompts = reviews.flat_map(|review| &review.prompt);
    let personas = machine.personas.iter().map(|persona| &persona.prompt);
    let plugin = machine.plugin.iter();
    let commands = plugin.clone().flat_map(|plugin| &plugin.commands);
    let texts = commands.flat_map(|command| &command.text);
    let files = plugin.flat_map(|plugin| &plugin.files);
    let plain = personas.chain(texts).chain(files);

    let of_kind = |kind: TemplateKind| move |path| (kind, path);
    let paths = starts
        .map(of_kind(TemplateKind::Start))
        .chain(messages.map(of_kind(TemplateKind::Message)))
        .chain(prompts.map(of_kind(TemplateKind::Prompt)))
        .chain(plain.map(of_kind(TemplateKind::Plain)));
    let mut seen = HashSet::new();
    let each_once = paths.filter(|(kind, path)| seen.insert((*kind, path.as_str())));
    let places = each_once.map(|(kind, path)| {
        let below_crate = format!("{}/{}", machine.messages(), path.as_str());
        let place = below_crate.trim_start_matches('/').to_owned();
        (kind, place, path.span())
    });
    places.collect()
}
