//! One sealed trait and one method per transition, and the enum of next phases where guards divide it.
//!
//! The method has a type parameter of its own for what comes next: without it rustc reports a bare "method not found"
//! instead of the trait's message.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::ident::{camel, type_of, value_of};
use super::prose::comment;
use super::{Context, fields};
use crate::model::{Argument, ArgumentKind, Edge, Evidence, guard_text};

pub(super) fn emit(context: &Context<'_>) -> TokenStream {
    let names = &context.names;
    let idents: Vec<_> = names.iter().map(|name| type_of(name)).collect();
    let variants = names.iter().zip(&idents).map(|(name, ident)| {
        let doc = &context.first(name).doc;
        let doc = if doc.is_empty() {
            format!(" `{name}`")
        } else {
            comment(doc)
        };
        quote! { #[doc = #doc] #[strum(serialize = #name)] #ident }
    });
    let each = names.iter().map(|name| transition(context, name));
    let sealed = format!(
        "transitions are declared in {}, not implemented",
        context.options.file
    );
    let seals = names.iter().zip(&idents).map(|(name, ident)| {
        let message = format!("`{name}` is sealed: `{{Self}}` cannot be given this transition here");
        quote! {
            #[diagnostic::on_unimplemented(message = #message, label = "no phase of the machine", note = #sealed)]
            pub trait #ident {}
        }
    });
    quote! {
        /// The transitions that the machine file declares.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, rt::strum::Display, rt::strum::EnumString, rt::strum::EnumIter,
            rt::strum::IntoStaticStr,
        )]
        #[strum(crate = "rt::strum")]
        pub enum Transition { #(#variants),* }

        impl Transition {
            /// The names of the phases in which it is legal.
            #[must_use]
            pub fn legal_in(self) -> Vec<&'static str> {
                TABLE.legal_in(self.into())
            }
        }

        mod sealed {
            /// A phase of this machine.
            pub trait InPhase {}
            /// What a loop off the disk can become: only this module says so.
            pub trait FromRaw {
                fn from_raw(raw: super::rt::Raw) -> Self;
            }
            #(#seals)*
        }

        #(#each)*
    }
}

fn transition(context: &Context<'_>, name: &str) -> TokenStream {
    let declared = context.first(name);
    let (ident, method) = (type_of(name), value_of(name));
    let edges = context.edges_of(name);
    let mut sources: Vec<usize> = edges.iter().map(|edge| edge.from).collect();
    sources.sort_unstable();
    sources.dedup();

    let message = format!("`{name}` is not legal in phase `{{Self}}`");
    let label = format!("no edge `{name}` leaves this phase");
    let mut notes = vec![format!("legal in: {}", legal_in(context, &edges))];
    if sources.is_empty() {
        notes = vec![format!("`{name}` is legal in no phase")];
    }
    let doc = if declared.doc.is_empty() {
        format!(" `{name}`")
    } else {
        comment(&declared.doc)
    };
    let trait_doc = format!(
        " The phases in which [`Loop::{method}`] is legal. Sealed: `{}` decides.",
        context.options.file
    );
    let edge_docs = edges.iter().map(|edge| edge_doc(context, edge));

    let mut enums = Vec::new();
    let implementations: Vec<_> = sources
        .iter()
        .map(|&from| {
            let here: Vec<_> = edges.iter().filter(|edge| edge.from == from).collect();
            let mut targets: Vec<usize> = here.iter().map(|edge| edge.to).collect();
            targets.dedup();
            targets.sort_unstable();
            targets.dedup();
            let phase = type_of(&context.machine.phases[from].name.value);
            let next = if let [only] = targets[..] {
                let target = type_of(&context.machine.phases[only].name.value);
                quote! { Loop<#target> }
            } else {
                let several = sources
                    .iter()
                    .filter(|&&other| divides(&edges, other))
                    .count()
                    > 1;
                let next = if several {
                    format_ident!(
                        "{}From{}",
                        camel(name),
                        camel(&context.machine.phases[from].name.value)
                    )
                } else {
                    format_ident!("{}Next", camel(name))
                };
                enums.push(next_enum(context, &next, name, &targets));
                quote! { #next }
            };
            quote! {
                impl sealed::#ident for #phase {}
                impl #ident for #phase { type Next = #next; }
            }
        })
        .collect();

    let parameters: Vec<_> = declared
        .args
        .iter()
        .map(|argument| {
            let (ident, kind) = (
                value_of(&argument.name.value),
                type_of_argument(name, argument),
            );
            quote! { #ident: #kind }
        })
        .collect();
    let arguments = declared.args.iter().map(|argument| {
        let (ident, text) = (value_of(&argument.name.value), &argument.name.value);
        let value = match &argument.kind {
            ArgumentKind::OneOf(_) => quote! { rt::word_value },
            ArgumentKind::Text => quote! { rt::Value::Text },
            ArgumentKind::Count => quote! { rt::Value::Count },
            ArgumentKind::Flag => quote! { rt::Value::Flag },
            ArgumentKind::Path => quote! { rt::Value::Word },
        };
        if argument.optional {
            quote! { (#text, rt::given(#ident.map(#value))) }
        } else {
            quote! { (#text, #value(#ident)) }
        }
    });
    let argument_docs = declared
        .args
        .iter()
        .filter(|argument| !argument.doc.is_empty())
        .map(|argument| format!(" - `{}`:{}", argument.name.value, comment(&argument.doc)));
    let argument_docs: Vec<String> = argument_docs.collect();
    let argument_docs = if argument_docs.is_empty() {
        quote! {}
    } else {
        quote! {
            /// Arguments:
            #(#[doc = #argument_docs])*
            ///
        }
    };
    let (evidence, claim) = match declared.requires.as_ref().map(|evidence| evidence.value) {
        None => (quote! {}, quote! { None }),
        Some(Evidence::Reviewed) => (
            quote! { , evidence: &rt::Reviewed },
            quote! { Some(rt::record_of(evidence)) },
        ),
        Some(Evidence::Settled) => (
            quote! { , evidence: &rt::Settled },
            quote! { Some(rt::record_of(evidence)) },
        ),
        Some(Evidence::Verified) => (
            quote! { , evidence: &rt::Verified },
            quote! { Some(evidence.record()) },
        ),
    };
    // Inside the method `P` and `N` are its type parameters.
    let legal = if ["P", "N"].contains(&ident.to_string().as_str()) {
        quote! { self::#ident }
    } else {
        quote! { #ident }
    };
    let words = declared
        .args
        .iter()
        .filter_map(|argument| match &argument.kind {
            ArgumentKind::OneOf(words) => {
                let (kind, of) = (words_of_argument(name, argument), &argument.name.value);
                Some(fields::word_enum(
                    &quote! { #kind },
                    of,
                    &argument.doc,
                    words,
                ))
            }
            _ => None,
        });
    quote! {
        #(#words)*

        #[doc = #trait_doc]
        #[diagnostic::on_unimplemented(message = #message, label = #label, #(note = #notes),*)]
        pub trait #ident: sealed::#ident {
            /// The loop after it.
            type Next;
        }
        #(#implementations)*
        #(#enums)*

        impl<P: InPhase> Loop<P> {
            #[doc = #doc]
            ///
            #argument_docs
            #(#[doc = #edge_docs])*
            ///
            /// # Errors
            /// The loop is handed back with the reason: it moved on meanwhile, a guard or the evidence does not hold, the
            /// actor may not, or the disk refused.
            pub fn #method<N>(self #evidence #(, #parameters)*) -> Result<N, rt::Refused<Self>>
            where
                P: #legal<Next = N>,
                N: sealed::FromRaw,
            {
                rt::commit(self.raw, #name, &[#(#arguments),*], #claim)
                    .map(N::from_raw)
                    .map_err(|refused| refused.map(sealed::FromRaw::from_raw))
            }
        }
    }
}

/// What a method takes for an argument.
pub(super) fn type_of_argument(transition: &str, argument: &Argument) -> TokenStream {
    let kind = match &argument.kind {
        ArgumentKind::OneOf(_) => {
            let kind = words_of_argument(transition, argument);
            quote! { #kind }
        }
        ArgumentKind::Text | ArgumentKind::Path => quote! { String },
        ArgumentKind::Count => quote! { u64 },
        ArgumentKind::Flag => quote! { bool },
    };
    if argument.optional {
        quote! { Option<#kind> }
    } else {
        kind
    }
}

/// The type of the words of an argument: `ReportNext` for `next` of `report`.
pub(super) fn words_of_argument(transition: &str, argument: &Argument) -> Ident {
    format_ident!("{}{}", camel(transition), camel(&argument.name.value))
}

/// Whether the edges of one source lead to more than one phase.
fn divides(edges: &[Edge<'_>], from: usize) -> bool {
    let mut targets = edges
        .iter()
        .filter(|edge| edge.from == from)
        .map(|edge| edge.to);
    let first = targets.next();
    targets.any(|to| Some(to) != first)
}

fn next_enum(
    context: &Context<'_>,
    ident: &Ident,
    transition: &str,
    targets: &[usize],
) -> TokenStream {
    let idents: Vec<_> = targets
        .iter()
        .map(|&target| type_of(&context.machine.phases[target].name.value))
        .collect();
    let variants = idents.iter().map(|ident| {
        let doc = format!(" Now in [`{ident}`].");
        quote! { #[doc = #doc] #ident(Loop<#ident>) }
    });
    let doc = format!(" Where `{transition}` led: its guards decide.");
    let indices = targets.iter();
    quote! {
        #[doc = #doc]
        #[derive(Debug)]
        #[must_use = "a loop that is dropped stays on disk as it is"]
        pub enum #ident { #(#variants),* }

        impl sealed::FromRaw for #ident {
            fn from_raw(raw: rt::Raw) -> Self {
                match raw.phase() {
                    #(#indices => Self::#idents(sealed::FromRaw::from_raw(raw)),)*
                    other => unreachable!("the engine took an edge to phase {other}, which the table does not have here"),
                }
            }
        }

        impl From<#ident> for AnyLoop {
            fn from(next: #ident) -> Self {
                match next { #(#ident::#idents(held) => held.into_any()),* }
            }
        }
    }
}

/// `Reviewing (machine.toml:31), Drafting (machine.toml:40)`
fn legal_in(context: &Context<'_>, edges: &[Edge<'_>]) -> String {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for edge in edges {
        let phase = camel(&context.machine.phases[edge.from].name.value);
        let place = context.place(&edge.declared.span);
        match parts.iter_mut().find(|(known, _)| *known == phase) {
            Some((_, places)) if !places.contains(&place) => places.push(place),
            Some(_) => {}
            None => parts.push((phase, vec![place])),
        }
    }
    let parts: Vec<_> = parts
        .into_iter()
        .map(|(phase, places)| format!("{phase} ({})", places.join(", ")))
        .collect();
    parts.join(", ")
}

fn edge_doc(context: &Context<'_>, edge: &Edge<'_>) -> String {
    let phase = |index: usize| &context.machine.phases[index].name.value;
    let when = edge
        .declared
        .when
        .as_ref()
        .map(|guard| format!(", when `{}`", guard_text(&guard.value)));
    format!(
        " - [`{}`] → [`{}`]{} ({})",
        camel(phase(edge.from)),
        camel(phase(edge.to)),
        when.unwrap_or_default(),
        context.place(&edge.declared.span),
    )
}
