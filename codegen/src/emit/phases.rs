//! The `Phase` enum, one type per phase, `Loop<P>`, `AnyLoop`, the view of the fields, and the start.

use proc_macro2::TokenStream;
use quote::quote;

use super::Context;
use super::ident::{type_of, value_of};
use super::prose::doc_of;
use crate::model::{AtStart, FieldKind};

pub(super) fn emit(context: &Context<'_>) -> TokenStream {
    let (phase, any) = (phase_enum(context), any_loop(context));
    let types = phase_types(context);
    let held = held_loop(context);
    let fields = super::fields::emit(context);
    let start = start(context);
    quote! { #phase #types #held #any #fields #start }
}

fn phase_enum(context: &Context<'_>) -> TokenStream {
    let variants = context.machine.phases.iter().map(|phase| {
        let (ident, name) = (type_of(&phase.name.value), &phase.name.value);
        let doc = doc_of(&phase.doc, name);
        quote! { #[doc = #doc] #[strum(serialize = #name)] #[serde(rename = #name)] #ident }
    });
    let all = context
        .machine
        .phases
        .iter()
        .map(|phase| type_of(&phase.name.value));
    let file = &context.options.file;
    let doc = format!(" The phases that `{file}` declares, in its order.");
    quote! {
        #[doc = #doc]
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, rt::strum::Display, rt::strum::EnumString, rt::strum::EnumIter,
            rt::strum::IntoStaticStr, rt::serde::Serialize, rt::serde::Deserialize,
        )]
        #[strum(crate = "rt::strum")]
        #[serde(crate = "rt::serde")]
        pub enum Phase { #(#variants),* }

        /// Every phase.
        pub const PHASES: &[Phase] = &[#(Phase::#all),*];

        impl Phase {
            /// What the machine's table says of it.
            #[must_use]
            pub fn info(self) -> &'static rt::PhaseInfo {
                &TABLE.phases[self as usize]
            }

            /// Whether the loop is over in it.
            #[must_use]
            pub fn is_terminal(self) -> bool {
                self.info().terminal
            }
        }
    }
}

fn phase_types(context: &Context<'_>) -> TokenStream {
    let types = context.machine.phases.iter().map(|phase| {
        let (ident, name) = (type_of(&phase.name.value), &phase.name.value);
        let doc = doc_of(&phase.doc, name);
        let place = format!(
            " Declared in `{}`. No value of this type exists: it marks a [`Loop`].",
            context.place(&phase.span)
        );
        quote! {
            #[doc = #doc]
            ///
            #[doc = #place]
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub enum #ident {}
            impl sealed::InPhase for #ident {}
            impl InPhase for #ident { const PHASE: Phase = Phase::#ident; }
        }
    });
    quote! {
        /// A phase as a type: what [`Loop`] takes. Sealed: the phases are those of the machine file.
        #[diagnostic::on_unimplemented(message = "`{Self}` is not a phase of this machine")]
        pub trait InPhase: sealed::InPhase + 'static {
            /// The same phase as a value.
            const PHASE: Phase;
        }
        #(#types)*
    }
}

fn held_loop(context: &Context<'_>) -> TokenStream {
    let machine = context.machine;
    let marker = type_of(&machine.name.value);
    let doc = doc_of(&machine.doc, &machine.name.value);
    let view = super::fields::view(context);
    let setters = super::fields::setters(context, &quote! { self.raw });
    quote! {
        #[doc = #doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum #marker {}
        impl rt::Machine for #marker { const TABLE: &'static rt::Table = &TABLE; }

        /// A loop that is known, at compile time, to be in phase `P`. What is held is what is on disk: every method that
        /// changes it takes it by value, commits, and only then hands out the next type.
        #[must_use = "a loop that is dropped stays on disk as it is"]
        pub struct Loop<P> {
            raw: rt::Raw,
            phase: ::core::marker::PhantomData<fn() -> P>,
        }

        impl<P: InPhase> ::core::fmt::Debug for Loop<P> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                write!(f, "Loop<{}>({})", P::PHASE, self.raw.id())
            }
        }

        impl<P: InPhase> Loop<P> {
            /// The loop's id.
            #[must_use]
            pub fn id(&self) -> &rt::LoopId {
                self.raw.id()
            }

            /// Its phase, as a value.
            #[must_use]
            pub fn phase(&self) -> Phase {
                P::PHASE
            }

            #view

            #setters

            /// The loop without its type, to look at.
            #[must_use]
            pub fn raw(&self) -> &rt::Raw {
                &self.raw
            }

            /// The same loop with its phase as a value.
            pub fn into_any(self) -> AnyLoop {
                AnyLoop::wrap(self.raw)
            }

            /// Names the run that the next change is counted for.
            pub fn noting(self, run: Option<String>) -> Self {
                sealed::FromRaw::from_raw(self.raw.noting(run))
            }
        }

        impl<P: InPhase> sealed::FromRaw for Loop<P> {
            fn from_raw(raw: rt::Raw) -> Self {
                Self { raw, phase: ::core::marker::PhantomData }
            }
        }

        impl<P: InPhase> From<Loop<P>> for AnyLoop {
            fn from(held: Loop<P>) -> Self {
                held.into_any()
            }
        }
    }
}

fn any_loop(context: &Context<'_>) -> TokenStream {
    let marker = type_of(&context.machine.name.value);
    let idents: Vec<_> = context
        .machine
        .phases
        .iter()
        .map(|phase| type_of(&phase.name.value))
        .collect();
    let raw = quote! { match self { #(Self::#idents(held) => &mut held.raw),* } };
    let setters = super::fields::setters(context, &raw);
    let variants = context.machine.phases.iter().map(|phase| {
        let (ident, name) = (type_of(&phase.name.value), &phase.name.value);
        let doc = format!(" In phase `{name}`.");
        quote! { #[doc = #doc] #ident(Loop<#ident>) }
    });
    quote! {
        /// A loop as it comes off the disk: its phase is known once it is matched.
        #[derive(Debug)]
        #[must_use = "a loop that is dropped stays on disk as it is"]
        pub enum AnyLoop { #(#variants),* }

        impl AnyLoop {
            /// Opens a loop, repairing what a crash left.
            ///
            /// # Errors
            /// It is not there, belongs to another machine, or holds what this machine does not know.
            pub fn open(store: &rt::Store, id: &rt::LoopId, actor: rt::Actor) -> Result<Self, rt::OpenError> {
                rt::Raw::open::<#marker>(store, id, actor).map(Self::wrap)
            }

            /// The loop's id.
            #[must_use]
            pub fn id(&self) -> &rt::LoopId {
                self.raw().id()
            }

            /// Its phase.
            #[must_use]
            pub fn phase(&self) -> Phase {
                match self { #(Self::#idents(_) => Phase::#idents),* }
            }

            /// The fields of its state document.
            #[must_use]
            pub fn fields(&self) -> Fields<'_> {
                Fields(self.raw())
            }

            #setters

            /// The loop without its type, to look at.
            #[must_use]
            pub fn raw(&self) -> &rt::Raw {
                match self { #(Self::#idents(held) => &held.raw),* }
            }

            fn wrap(raw: rt::Raw) -> Self {
                match PHASES[raw.phase()] {
                    #(Phase::#idents => Self::#idents(sealed::FromRaw::from_raw(raw))),*
                }
            }
        }

        impl rt::LoopHandle for AnyLoop {
            fn raw(&self) -> &rt::Raw {
                AnyLoop::raw(self)
            }
        }
    }
}

/// The `Mode` enum, the `Start` struct with exactly the fields that a start takes, and `AnyLoop::start`.
fn start(context: &Context<'_>) -> TokenStream {
    let machine = context.machine;
    let marker = type_of(&machine.name.value);
    let modes: Vec<_> = machine
        .modes
        .iter()
        .map(|mode| type_of(&mode.name.value))
        .collect();
    let variants = machine.modes.iter().map(|mode| {
        let (ident, name) = (type_of(&mode.name.value), &mode.name.value);
        let doc = doc_of(&mode.doc, name);
        quote! { #[doc = #doc] #[strum(serialize = #name)] #ident }
    });
    let taken: Vec<_> = machine
        .fields
        .iter()
        .filter(|field| field.at_start != AtStart::Never)
        .collect();
    let members = taken.iter().map(|field| {
        let ident = value_of(&field.name.value);
        let kind = super::fields::type_of_field(field);
        let kind = if field.at_start == AtStart::Required {
            kind
        } else {
            quote! { Option<#kind> }
        };
        let doc = doc_of(&field.doc, &field.name.value);
        quote! { #[doc = #doc] pub #ident: #kind }
    });
    let (required, optional): (Vec<_>, Vec<_>) = taken
        .iter()
        .partition(|field| field.at_start == AtStart::Required);
    let given = |fields: Vec<&&crate::model::Field>| -> Vec<TokenStream> {
        let given = fields.into_iter().map(|field| {
            let (ident, name) = (value_of(&field.name.value), &field.name.value);
            let value = |expr: TokenStream| match field.kind {
                FieldKind::Count => quote! { rt::Value::Count(#expr) },
                FieldKind::Flag => quote! { rt::Value::Flag(#expr) },
                FieldKind::Text => quote! { rt::Value::Text(#expr) },
                FieldKind::OneOf(_) => quote! { rt::Value::Word(#expr.to_string()) },
                FieldKind::Path | FieldKind::Data(_) | FieldKind::Held(_) => {
                    quote! { rt::Value::Word(#expr) }
                }
            };
            if field.at_start == AtStart::Required {
                let value = value(quote! { self.#ident });
                quote! { (#name, #value) }
            } else {
                let value = value(quote! { value });
                quote! { if let Some(value) = self.#ident { given.push((#name, #value)); } }
            }
        });
        given.collect()
    };
    let (required, optional) = (given(required), given(optional));
    let required = if required.is_empty() {
        quote! { Vec::new() }
    } else {
        quote! { vec![#(#required),*] }
    };
    let given = if optional.is_empty() {
        required
    } else {
        quote! {
            {
                let mut given = #required;
                #(#optional)*
                given
            }
        }
    };
    quote! {
        /// The modes that the machine file declares.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, rt::strum::Display, rt::strum::EnumString, rt::strum::EnumIter,
            rt::strum::IntoStaticStr,
        )]
        #[strum(crate = "rt::strum")]
        pub enum Mode { #(#variants),* }

        impl Mode {
            /// What the machine's table says of it.
            #[must_use]
            pub fn info(self) -> &'static rt::ModeInfo {
                &TABLE.modes[self as usize]
            }
        }

        /// Every mode.
        pub const MODES: &[Mode] = &[#(Mode::#modes),*];

        /// What a start takes.
        #[derive(Debug, Clone)]
        pub struct Start {
            /// The mode.
            pub mode: Mode,
            #(#members),*
        }

        impl Start {
            /// Starts a loop: under one lock, refused while another loop of the folder is not over.
            ///
            /// # Errors
            /// Another loop is active, or the store could not write. Nothing is left behind.
            pub fn begin(self, store: &rt::Store, how: rt::Beginning, actor: rt::Actor) -> Result<AnyLoop, rt::StartError> {
                let mode = self.mode;
                let given = #given;
                rt::begin::<#marker>(store, mode.info(), given, how, actor).map(AnyLoop::wrap)
            }
        }
    }
}
