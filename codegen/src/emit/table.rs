//! The const table: the machine as data, for the engine's last check and for the tools.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use sha2::{Digest as _, Sha256};

use super::ident::{constant_of, kebab, type_of};
use super::{Context, behaviours, document, holder, option, owned, placed};
use crate::model::{
    Active, Actor, ArgumentKind, At, AtStart, Behaviour, Constant, Evidence, FieldKind, Focus,
    Form, Guard, Held, IdForm, Operand, Phase, Sign, Update, constant_text, guard_text,
};

pub(super) fn emit(context: &Context<'_>) -> TokenStream {
    let machine = context.machine;
    let (name, doc, file) = (&machine.name.value, &machine.doc, &context.options.file);
    let state = state(context);
    let plugin = option(machine.plugin.as_ref().map(|plugin| &*plugin.name.value));
    let slash = machine
        .slash_commands()
        .into_iter()
        .map(|command| kebab(command.name));
    let modes = machine.modes.iter().map(|mode| {
        let (name, doc) = (&mode.name.value, &mode.doc);
        let start = index(context.phase(&mode.start.value));
        let initial = mode.initial.iter().map(|(field, value)| {
            let (field, value) = (&field.value, constant(&value.value));
            quote! { (#field, #value) }
        });
        let by = actors(&mode.by);
        let message = message(
            context,
            mode.message.as_ref().map(|message| &*message.value),
        );
        quote! {
            rt::ModeInfo {
                name: #name, doc: #doc, start: #start, initial: &[#(#initial),*], by: &[#(#by),*], message: #message,
            }
        }
    });
    let fields = machine.fields.iter().map(|one| field(context, one));
    let phases = machine.phases.iter().map(|phase| {
        let (name, doc, terminal) = (&phase.name.value, &phase.doc, phase.terminal);
        let stored = phase.stored();
        let message = message(
            context,
            phase.message.as_ref().map(|message| &*message.value),
        );
        let line = context.line(&phase.span);
        let (on_stop, question) = (
            behaviours::on_stop(phase),
            behaviours::question(context, phase),
        );
        let review = match &phase.on_stop {
            Some(Behaviour::Review(_)) if !phase.terminal => {
                let name = constant_of(&format!("{}_review", phase.name.value));
                quote! { Some(&#name) }
            }
            _ => quote! { None },
        };
        quote! {
            rt::PhaseInfo {
                name: #name, stored: #stored, doc: #doc, terminal: #terminal, message: #message,
                on_stop: #on_stop, review: #review, question: #question, line: #line,
            }
        }
    });
    let personas = machine.personas.iter().map(|persona| {
        let (name, label) = (&persona.name.value, &persona.label);
        let prompt = template(context, &persona.prompt.value);
        let focus = match persona.focus {
            Focus::Engineering => quote! { Engineering },
            Focus::Security => quote! { Security },
            Focus::Operations => quote! { Operations },
        };
        quote! {
            rt::PersonaInfo { name: #name, label: #label, prompt: #prompt, focus: rt::Focus::#focus }
        }
    });
    let transitions = &context.names;
    let edges = context.edges.iter().map(|edge| {
        let declared = edge.declared;
        let (transition, doc, ends_turn) = (&declared.name.value, &declared.doc, declared.ends_turn());
        let (from, to) = (edge.from, edge.to);
        let when = option(declared.when.as_ref().map(|guard| self::guard(guard)));
        let when_text = declared
            .when
            .as_ref()
            .map(|guard| guard_text(&guard.value))
            .unwrap_or_default();
        let requires = requirement(declared.requires.as_ref().map(|evidence| evidence.value));
        let by = actors(&declared.by);
        let own = declared.own;
        let args = declared.args.iter().map(|argument| {
            let name = &argument.name.value;
            let takes = match &argument.kind {
                ArgumentKind::OneOf(words) => {
                    let words: Vec<&str> = words.iter().map(|word| &*word.value).collect();
                    words.join("|")
                }
                ArgumentKind::Flag if !argument.optional => String::new(),
                _ => name.clone(),
            };
            quote! { rt::ArgumentInfo { name: #name, takes: #takes } }
        });
        let set = declared.set.iter().map(|(field, value)| {
            let (field, value) = (&field.value, update(&value.value));
            quote! { (#field, #value) }
        });
        let message = message(
            context,
            declared.message.as_ref().map(|message| &*message.value),
        );
        let line = context.line(&declared.span);
        quote! {
            rt::EdgeInfo {
                transition: #transition, from: #from, to: #to, when: #when, when_text: #when_text,
                requires: #requires, by: &[#(#by),*], own: #own, args: &[#(#args),*], set: &[#(#set),*],
                message: #message, ends_turn: #ends_turn, doc: #doc, line: #line,
            }
        }
    });
    quote! {
        /// Every edge of the machine.
        pub const EDGES: &[rt::EdgeInfo] = TABLE.edges;

        /// The machine as data.
        pub static TABLE: rt::Table = rt::Table {
            name: #name, doc: #doc, file: #file, plugin: #plugin, slash: &[#(#slash),*], state: &STATE,
            modes: &[#(#modes),*],
            fields: &[#(#fields),*],
            phases: &[#(#phases),*],
            transitions: &[#(#transitions),*],
            edges: &[#(#edges),*],
            personas: PERSONAS,
        };
        /// Who reviews, in the order of the rounds.
        const PERSONAS: &[rt::PersonaInfo] = &[#(#personas),*];
        #state
    }
}

/// Those who may take an edge, or start a loop.
fn actors(by: &[At<Actor>]) -> impl Iterator<Item = TokenStream> {
    by.iter().map(|actor| match actor.value {
        Actor::Agent => quote! { rt::Actor::Agent },
        Actor::Person => quote! { rt::Actor::Person },
    })
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

fn state(context: &Context<'_>) -> TokenStream {
    let machine = context.machine;
    let name = &machine.name.value;
    let hash = graph_hash(context.source);
    let (folder, extension) = (machine.folder(), machine.state.extension());
    let folder_env = machine.state.folder_env.as_ref();
    let folder_env = option(folder_env.map(|variable| &*variable.value));
    let file = option(document(machine));
    let data = machine.data().map(|(name, _)| name);
    let form = match machine.state.form {
        Form::Lines => quote! { rt::Form::Lines },
        Form::Json => quote! { rt::Form::Json(&[#(#data),*]) },
        Form::Frontmatter => {
            let keys = placed(machine).map(|(name, key)| quote! { (#name, #key) });
            quote! { rt::Form::Frontmatter(&[#(#keys),*], &[#(#data),*]) }
        }
    };
    let ids = match machine.state.ids {
        IdForm::Stamp => quote! { rt::IdForm::Stamp },
        IdForm::Name => quote! { rt::IdForm::Name },
    };
    let active = match machine.state.active {
        Active::One => quote! { rt::Active::One },
        Active::Session => quote! { rt::Active::Session },
        Active::Many => quote! { rt::Active::Many },
    };
    let edits = machine.fields.iter().filter(|field| {
        let name = &field.name.value;
        machine.state.edits.iter().any(|edit| edit.value == *name)
    });
    let edits = edits.map(|field| {
        let name = &field.name.value;
        let takes = match &field.kind {
            FieldKind::OneOf(words) => {
                let words = words.iter().map(|word| &*word.value);
                quote! { Word(&[#(#words),*]) }
            }
            FieldKind::Flag => quote! { Flag },
            _ => {
                let (least, most) = field.counts();
                quote! { Count(#least, #most) }
            }
        };
        quote! { rt::Edit { field: #name, takes: rt::Editable::#takes } }
    });
    let nulls = machine
        .fields
        .iter()
        .filter_map(|field| field.null(machine));
    let nulls = nulls.map(|(name, value)| {
        let value = plain_text(&value);
        quote! { (#name, #value) }
    });
    let required = |held| machine.holder(held).unwrap_or_default();
    let (phase, id, revision) = (
        required(Held::Phase),
        required(Held::Id),
        required(Held::Revision),
    );
    let (held_machine, session, root) = (
        required(Held::Machine),
        required(Held::Session),
        required(Held::Root),
    );
    let (mode, started) = (holder(machine, Held::Mode), holder(machine, Held::Started));
    let (started_epoch, updated) = (
        holder(machine, Held::StartedEpoch),
        holder(machine, Held::Updated),
    );
    let (graph, visit) = (
        holder(machine, Held::GraphHash),
        holder(machine, Held::Visit),
    );
    let findings = holder(machine, Held::Findings);
    let run = holder(machine, Held::Run);
    let owned = owned(machine);
    let edges = machine.edges();
    let edges = edges.iter().map(|edge| {
        let what = &edge.declared.name.value;
        let from = machine.phases[edge.from].stored();
        let to = machine.phases[edge.to].stored();
        let needs_evidence = edge.declared.requires.is_some();
        quote! { rt::StoredEdge { what: #what, from: #from, to: #to, needs_evidence: #needs_evidence } }
    });
    let terminal = machine
        .phases
        .iter()
        .filter(|phase| phase.terminal)
        .map(Phase::stored);
    quote! {
        /// The program: the binary that is compiled, else the package.
        const PROGRAM: &str = match option_env!("CARGO_BIN_NAME") {
            Some(name) => name,
            None => env!("CARGO_PKG_NAME"),
        };
        /// Where and how the machine's documents are stored.
        pub static STATE: rt::StateSpec = rt::StateSpec {
            machine: #name, program: PROGRAM, graph_hash: #hash, folder: #folder, folder_env: #folder_env,
            file: #file, extension: #extension, form: #form, ids: #ids, active: #active,
            fields: rt::HeldFields {
                phase: #phase, id: #id, revision: #revision, machine: #held_machine, session: #session, root: #root,
                mode: #mode, started: #started, started_epoch: #started_epoch, updated: #updated, graph_hash: #graph, visit: #visit,
                findings: #findings, run: #run,
            },
            owned: &[#(#owned),*], edits: &[#(#edits),*], nulls: &[#(#nulls),*],
            terminal: &[#(#terminal),*],
            edges: &[#(#edges),*],
        };
    }
}

fn field(context: &Context<'_>, field: &crate::model::Field) -> TokenStream {
    let (name, doc, at_start) = (
        &field.name.value,
        &field.doc,
        field.at_start != AtStart::Never,
    );
    let kind = match &field.kind {
        FieldKind::Count => quote! { rt::FieldKind::Count },
        FieldKind::Text => quote! { rt::FieldKind::Text },
        FieldKind::Path => quote! { rt::FieldKind::Path },
        FieldKind::Flag => quote! { rt::FieldKind::Flag },
        FieldKind::OneOf(words) => {
            let words = words.iter().map(|word| &*word.value);
            quote! { rt::FieldKind::OneOf(&[#(#words),*]) }
        }
        FieldKind::Data(kind) => {
            let ident = format_ident!("{kind}");
            quote! { rt::FieldKind::Data(rt::DataType::of::<super::#ident>(#kind)) }
        }
        FieldKind::Held(_) => quote! { rt::FieldKind::Held },
    };
    let initial = field.initial().map_or_else(
        || quote! { rt::Constant::Null },
        |initial| constant(&initial),
    );
    let within = option(field.within.as_ref().map(|names| {
        let indices = names.iter().map(|name| index(context.phase(&name.value)));
        quote! { &[#(#indices),*] }
    }));
    quote! {
        rt::FieldInfo {
            name: #name, doc: #doc, kind: #kind, initial: #initial, at_start: #at_start, within: #within,
        }
    }
}

pub(super) fn requirement(evidence: Option<Evidence>) -> TokenStream {
    match evidence {
        None => quote! { None },
        Some(Evidence::Reviewed) => quote! { Some(rt::Requirement::Reviewed) },
        Some(Evidence::Settled) => quote! { Some(rt::Requirement::Settled) },
        Some(Evidence::Verified) => quote! { Some(rt::Requirement::Verified) },
    }
}

pub(super) fn message(context: &Context<'_>, name: Option<&str>) -> TokenStream {
    option(name.map(|name| template(context, name)))
}

/// A template, compiled in.
pub(super) fn template(context: &Context<'_>, name: &str) -> TokenStream {
    let path = context.template(name);
    quote! {
        rt::Message { name: #name, text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), #path)) }
    }
}

fn index(position: Option<usize>) -> usize {
    position.expect("check has seen that the name exists")
}

fn guard(guard: &Guard) -> TokenStream {
    match guard {
        Guard::All(parts) => {
            let parts = parts.iter().map(self::guard);
            quote! { rt::Guard::All(&[#(#parts),*]) }
        }
        Guard::Any(parts) => {
            let parts = parts.iter().map(self::guard);
            quote! { rt::Guard::Any(&[#(#parts),*]) }
        }
        Guard::Compare { left, sign, right } => {
            let (left, right) = (operand(left), operand(right));
            let sign = type_of(match sign {
                Sign::Equal => "equal",
                Sign::NotEqual => "not_equal",
                Sign::Less => "less",
                Sign::LessOrEqual => "less_or_equal",
                Sign::Greater => "greater",
                Sign::GreaterOrEqual => "greater_or_equal",
            });
            quote! { rt::Guard::Compare { left: #left, sign: rt::Sign::#sign, right: #right } }
        }
    }
}

fn operand(operand: &Operand) -> TokenStream {
    match operand {
        Operand::Field { name, offset } => {
            let name = &name.value;
            let offset = signed(*offset);
            quote! { rt::Operand::Field { name: #name, offset: #offset } }
        }
        Operand::Argument { name, offset } => {
            let name = &name.value;
            let offset = signed(*offset);
            quote! { rt::Operand::Argument { name: #name, offset: #offset } }
        }
        Operand::Constant(value) => {
            let value = constant(value);
            quote! { rt::Operand::Constant(#value) }
        }
    }
}

fn update(update: &Update) -> TokenStream {
    match update {
        Update::Constant(value) => {
            let value = constant(value);
            quote! { rt::Update::Constant(#value) }
        }
        Update::Field { name, offset } => {
            let offset = signed(*offset);
            quote! { rt::Update::Field { name: #name, offset: #offset } }
        }
        Update::Next(name) => quote! { rt::Update::Next(#name) },
        Update::Argument(name) => quote! { rt::Update::Argument(#name) },
        Update::Plus { name, argument } => {
            quote! { rt::Update::Plus { name: #name, argument: #argument } }
        }
    }
}

fn constant(constant: &Constant) -> TokenStream {
    match constant {
        Constant::Count(count) => {
            let count = number(*count);
            quote! { rt::Constant::Count(#count) }
        }
        Constant::Text(text) => quote! { rt::Constant::Text(#text) },
        Constant::Flag(flag) => quote! { rt::Constant::Flag(#flag) },
    }
}

/// A constant as a document has it, without quotes.
pub(super) fn plain_text(constant: &Constant) -> String {
    match constant {
        Constant::Text(text) => text.clone(),
        other => constant_text(other),
    }
}

/// A number as people write it: `4_294_967_295`.
pub(super) fn number(number: u64) -> Literal {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digits.len() > 4 && (digits.len() - at).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text.parse()
        .unwrap_or_else(|_| Literal::u64_unsuffixed(number))
}

/// The same with a sign.
fn signed(offset: i64) -> TokenStream {
    let digits = number(offset.unsigned_abs());
    if offset < 0 {
        quote! { -#digits }
    } else {
        quote! { #digits }
    }
}
