//! Views of phases, modes, fields and the state document.

use minijinja::{Value, context};
use sha2::{Digest as _, Sha256};

use super::ident::{camel, constant_of, is_regular, kebab, type_of, type_of_words, value_of};
use super::{Context, expr, literal, number, owned, pairs, seq};
use crate::model::texts::Word;
use crate::model::{
    Actor, At, AtStart, Behaviour, Choice, Constant, Field, FieldKind, Held, Many, Phase, Update,
    constant_text,
};

/// Returns what the templates say of the machine apart from its transitions.
pub(super) fn view(context: &Context<'_>, source: &str) -> Value {
    let machine = context.machine;
    let phases = machine.phases.iter().map(|one| phase(context, one));
    let modes = machine.modes.iter().map(|mode| {
        let initial = mode.initial.iter();
        let initial = initial.map(|(name, value)| (name.value.as_str(), constant(&value.value)));
        context! {
            name => &mode.name.value,
            ident => type_of(&mode.name.value),
            doc => &mode.doc,
            is_regular => is_regular(&mode.name.value),
            start => type_of(&mode.start.value),
            initial => pairs(initial),
            by => seq(actors(&mode.by)),
            message => context.message(mode.message.as_ref()),
        }
    });
    let personas = machine.personas.iter().map(|persona| {
        context! {
            name => &persona.name.value,
            label => &persona.label,
            prompt => context.message(Some(&persona.prompt)),
            focus => format!("{:?}", persona.focus),
        }
    });
    let fields = machine.fields.iter().map(|one| field(context, one));
    let own = machine
        .fields
        .iter()
        .filter(|field| !matches!(field.kind, FieldKind::Held(_)));
    let words = machine.fields.iter().filter_map(|field| {
        let FieldKind::OneOf(words) = &field.kind else {
            return None;
        };
        let name = &field.name.value;
        let mut updates = machine.transitions.iter().flat_map(|entry| &entry.set);
        let has_next =
            updates.any(|(_, update)| matches!(&update.value, Update::Next(next) if next == name));
        let ident = type_of_words(name);
        Some(word_enum(&ident, name, &field.doc, words, has_next))
    });
    let marker = type_of(&machine.name.value);
    context! {
        name => &machine.name.value,
        // `Loop` has a type parameter of this name.
        marker_path => if marker == "P" { "self::P" } else { &marker },
        marker => &marker,
        doc => &machine.doc,
        phases => seq(phases),
        modes => seq(modes),
        words => seq(words),
        fields => seq(fields),
        is_default => own.clone().all(expr::starts_as_default),
        data => pairs(machine.data()),
        form => format!("{:?}", machine.state.form),
        personas => seq(personas),
        plugin_name => machine.plugin.as_ref().map(|plugin| plugin.name.to_string()),
        slash => seq(machine.slash_commands().iter().map(|one| kebab(one.name))),
        state => state(context, source),
    }
}

/// Returns an enum of words.
pub(super) fn word_enum(
    ident: &str,
    name: &str,
    doc: &str,
    words: &Many<At<Word>>,
    has_next: bool,
) -> Value {
    let has_underscore = words.iter().any(|word| word.value.contains('_'));
    let variants = words.iter().map(|word| {
        let text = &*word.value;
        let is_regular = is_regular(text) && !(has_underscore && text.contains('-'));
        context! { name => text, ident => type_of(text), doc => "", is_regular }
    });
    context! {
        ident,
        name,
        doc,
        style => if has_underscore { "snake_case" } else { "kebab-case" },
        variants => seq(variants),
        has_next,
    }
}

fn phase(context: &Context<'_>, phase: &Phase) -> Value {
    let name = &phase.name.value;
    let behaviour = phase.on_stop.as_ref().filter(|_| !phase.terminal);
    let review = behaviour.and_then(Behaviour::review);
    context! {
        name,
        ident => type_of(name),
        method => value_of(name),
        doc => &phase.doc,
        is_regular => is_regular(name),
        stored => phase.stored(),
        terminal => phase.terminal,
        place => context.place(&phase.span),
        line => context.line(&phase.span),
        message => context.message(phase.message.as_ref()),
        behaviour => behaviour.map(behaviour_view),
        review => review.map(|_| constant_of(&format!("{name}_review"))),
        question => behaviour.map(|behaviour| question(context, behaviour)),
    }
}

fn behaviour_view(behaviour: &Behaviour) -> Value {
    let parameters = behaviour.parameters().into_iter();
    let parameters = parameters.map(|parameter| (parameter.key, parameter.value.to_owned()));
    // The outcomes at which the loop could also wait: nothing has happened since the last stop.
    let outcomes = behaviour.outcomes().into_iter();
    let reminds = outcomes
        .filter(|outcome| !outcome.is_required && outcome.evidence.is_none())
        .flat_map(|outcome| outcome.calls)
        .map(|call| call.then.value.as_str());
    context! {
        name => behaviour.name(),
        parameters => pairs(parameters),
        reminds => seq(reminds),
    }
}

fn question(context: &Context<'_>, behaviour: &Behaviour) -> Value {
    let Behaviour::Ask(ask) = behaviour else {
        return Value::from(());
    };
    let option = |choice: &Choice| {
        let description = choice.description.as_ref().map(|text| text.value.as_str());
        context! {
            label => choice.label.as_str(),
            description => description.unwrap_or(&context.first(&choice.then.value).doc),
            taker => taker(context, &choice.then, &choice.with),
        }
    };
    let options = ask
        .options
        .as_ref()
        .map(|options| seq(options.value.iter().map(option)));
    context! {
        question => ask.question.as_ref().map_or("", |text| &text.value),
        header => ask.header.as_ref().map_or("", |text| &text.value),
        options,
        text => ask.text.as_ref().map(|then| taker(context, then, &[])),
    }
}

/// Returns the transition that an answer takes, and the argument that gets the answer.
fn taker(context: &Context<'_>, then: &str, with: &[(At<String>, At<Constant>)]) -> Value {
    let is_given = |name: &str| with.iter().any(|(given, _)| given.value == name);
    let mut arguments = context.first(then).args.iter();
    let argument = arguments.find(|argument| !is_given(&argument.name.value));
    let with = with
        .iter()
        .map(|(name, value)| (name.value.as_str(), plain_text(&value.value)));
    context! {
        transition => then,
        argument => argument.map(|argument| argument.name.value.as_str()),
        with => pairs(with),
    }
}

fn field(context: &Context<'_>, field: &Field) -> Value {
    let name = &field.name.value;
    let kind = match &field.kind {
        FieldKind::Count => "Count".to_owned(),
        FieldKind::Text => "Text".to_owned(),
        FieldKind::Path => "Path".to_owned(),
        FieldKind::Flag => "Flag".to_owned(),
        FieldKind::Held(_) => "Held".to_owned(),
        FieldKind::OneOf(words) => format!("OneOf({})", word_list(words)),
        FieldKind::Data(kind) => {
            format!("Data(rt::DataType::of::<super::{kind}>({}))", literal(kind))
        }
    };
    let value = match &field.kind {
        FieldKind::Count => "Count",
        FieldKind::Flag => "Flag",
        FieldKind::Text => "Text",
        _ => "Word",
    };
    let phases = field.within.as_ref();
    let phases: Option<Vec<_>> =
        phases.map(|phases| phases.iter().map(|phase| camel(&phase.value)).collect());
    let exists_in = phases.as_ref().map(|phases| {
        format!(
            "exists in: {} ({})",
            phases.join(", "),
            context.place(&field.name.span)
        )
    });
    context! {
        name,
        ident => value_of(name),
        camel => camel(name),
        doc => &field.doc,
        ty => expr::type_of_field(field),
        is_own => !matches!(field.kind, FieldKind::Held(_)),
        is_word => matches!(field.kind, FieldKind::OneOf(_)),
        is_copy => matches!(field.kind, FieldKind::Count | FieldKind::Flag | FieldKind::OneOf(_)),
        kind,
        value,
        start => expr::initial(field),
        initial => field.initial().map_or("rt::Constant::Null".to_owned(), |initial| constant(&initial)),
        at_start => match field.at_start {
            AtStart::Never => "",
            AtStart::Optional => "optional",
            AtStart::Required => "required",
        },
        phases => phases.map(seq),
        exists_in,
        place => context.place(&field.name.span),
    }
}

fn word_list(words: &Many<At<Word>>) -> String {
    let words: Vec<_> = words.iter().map(|word| literal(&word.value)).collect();
    format!("&[{}]", words.join(", "))
}

fn state(context: &Context<'_>, source: &str) -> Value {
    let machine = context.machine;
    let state = &machine.state;
    let holder = |held| machine.holder(held);
    let id = format!("{{{}}}", holder(Held::Id).unwrap_or("id"));
    let edits = machine.fields.iter().filter(|field| {
        state
            .edits
            .iter()
            .any(|edit| edit.value == field.name.value)
    });
    let edits = edits.map(|field| {
        let takes = match &field.kind {
            FieldKind::OneOf(words) => format!("Word({})", word_list(words)),
            FieldKind::Flag => "Flag".to_owned(),
            _ => {
                let (min, max) = field.counts();
                format!("Count({}, {})", number(min), number(max))
            }
        };
        (field.name.value.as_str(), takes)
    });
    let nulls = machine
        .fields
        .iter()
        .filter_map(|field| field.null(machine));
    let nulls = nulls.map(|(name, value)| (name, plain_text(&value)));
    let keys = machine.fields.iter();
    let keys = keys.filter_map(|field| Some((field.name.as_str(), field.key.as_ref()?.as_str())));
    let terminal = machine.phases.iter().filter(|phase| phase.terminal);
    let held = [
        ("phase", Held::Phase),
        ("id", Held::Id),
        ("revision", Held::Revision),
        ("machine", Held::Machine),
        ("session", Held::Session),
        ("root", Held::Root),
    ];
    let optional = [
        ("mode", Held::Mode),
        ("started", Held::Started),
        ("started_epoch", Held::StartedEpoch),
        ("updated", Held::Updated),
        ("graph_hash", Held::GraphHash),
        ("visit", Held::Visit),
        ("findings", Held::Findings),
        ("run", Held::Run),
    ];
    context! {
        graph_hash => graph_hash(source),
        folder => machine.folder(),
        folder_env => state.folder_env.as_ref().map(|variable| variable.to_string()),
        file => state.file.as_ref().map(|file| file.value.replace(&id, "{id}")),
        extension => state.extension(),
        ids => format!("{:?}", state.ids),
        active => format!("{:?}", state.active),
        keys => pairs(keys),
        held => pairs(held.map(|(role, held)| (role, holder(held).unwrap_or_default()))),
        optional => pairs(optional.map(|(role, held)| (role, holder(held)))),
        owned => seq(owned(machine)),
        edits => pairs(edits),
        nulls => pairs(nulls),
        terminal => seq(terminal.map(Phase::stored)),
    }
}

/// Returns the digest of a machine file that names its version: 16 hex digits.
fn graph_hash(source: &str) -> String {
    let digest = Sha256::digest(source.as_bytes());
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Returns the actors that may take an edge, or start a loop.
pub(super) fn actors(by: &[At<Actor>]) -> Vec<String> {
    by.iter()
        .map(|actor| format!("rt::Actor::{:?}", actor.value))
        .collect()
}

/// Returns a constant as an `rt::Constant`.
fn constant(constant: &Constant) -> String {
    match constant {
        Constant::Count(count) => format!("rt::Constant::Count({})", number(*count)),
        Constant::Text(text) => format!("rt::Constant::Text({})", literal(text)),
        Constant::Flag(flag) => format!("rt::Constant::Flag({flag})"),
    }
}

/// Returns a constant as a document has it, without quotes.
pub(super) fn plain_text(constant: &Constant) -> String {
    match constant {
        Constant::Text(text) => text.clone(),
        other => constant_text(other),
    }
}
