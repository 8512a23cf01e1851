//! The verbs: edges that an agent or a person may take, as subcommands.
//!
//! A verb opens the loop, asks `review` for the evidence that its transition needs, and calls the typed method; so no
//! verb can do what the method could not.

use proc_macro2::TokenStream;
use quote::quote;

use super::Context;
use super::ident::{kebab, type_of, value_of};
use super::prose::doc_of;
use super::transitions::{type_of_argument, words_of_argument};
use crate::model::{ArgumentKind, Evidence};

/// The transition that the CLI's own `resume` takes; it gets no verb.
const RESUME: &str = "resume";

pub(super) fn emit(context: &Context<'_>) -> TokenStream {
    let open: Vec<&str> = context
        .names
        .iter()
        .copied()
        .filter(|name| {
            context
                .edges_of(name)
                .iter()
                .any(|edge| !edge.declared.by.is_empty())
        })
        .collect();
    let clap = context.options.commands && !open.is_empty();
    let variants = open.iter().map(|name| variant(context, name));
    let arms = open.iter().map(|name| arm(context, name));
    let idents: Vec<_> = open.iter().map(|name| type_of(name)).collect();
    let plain: Vec<&str> = open
        .iter()
        .copied()
        .filter(|name| {
            let declared = context.first(name);
            declared.requires.is_none() && declared.args.is_empty()
        })
        .collect();
    let others: Vec<_> = context
        .names
        .iter()
        .filter(|name| !plain.contains(name))
        .map(|name| type_of(name))
        .collect();
    // A wildcard for one variant is a warning of clippy's.
    let otherwise = match others.as_slice() {
        [] => quote! {},
        [only] => quote! { Transition::#only => None },
        _ => quote! { _ => None },
    };
    let plain_arms = plain.iter().map(|name| {
        let ident = type_of(name);
        quote! { Transition::#ident => Some(Self::#ident { id: Some(id), from_prompt: false }) }
    });
    let derive = if clap {
        quote! { #[derive(rt::clap::Subcommand)] }
    } else {
        quote! {}
    };
    // An enum without variants is matched by value, and leaves the other parameters unused.
    let (transition_of, id_of, prompted_of, run) = if open.is_empty() {
        let never = quote! { match *self {} };
        (
            never.clone(),
            never.clone(),
            never,
            quote! { drop(held); match self {} },
        )
    } else {
        (
            quote! { match self { #(Self::#idents { .. } => Transition::#idents),* } },
            quote! { match self { #(Self::#idents { id, .. })|* => id.as_deref() } },
            quote! { match self { #(Self::#idents { from_prompt, .. })|* => *from_prompt } },
            quote! { match self { #(#arms),* } },
        )
    };
    let plain_of = if plain.is_empty() {
        quote! { let _ = transition; drop(id); None }
    } else {
        quote! { match transition { #(#plain_arms,)* #otherwise } }
    };
    let any = (!open.is_empty()).then(|| {
        quote! {
            fn any<P, N>(taken: Result<N, rt::Refused<Loop<P>>>) -> Result<AnyLoop, rt::Refused<AnyLoop>>
            where
                P: InPhase,
                N: Into<AnyLoop>,
            {
                taken.map(Into::into).map_err(|refused| refused.map(Into::into))
            }
        }
    });
    let imports = if clap {
        quote! { use rt::clap; }
    } else {
        quote! {}
    };
    quote! {
        #imports

        /// The transitions that an agent or a person may take.
        #[derive(Debug, Clone)]
        #derive
        pub enum Verb { #(#variants),* }

        impl Verb {
            /// The transition that the verb takes.
            #[must_use]
            pub fn transition(&self) -> Transition {
                #transition_of
            }

            /// The loop that it is for; None: the one that is active.
            #[must_use]
            pub fn id(&self) -> Option<&str> {
                #id_of
            }

            /// Whether the loop is named by what the command's prompt hook stored.
            #[must_use]
            pub fn from_prompt(&self) -> bool {
                #prompted_of
            }

            /// The verb of a transition that takes nothing but the loop: no evidence, no arguments.
            #[must_use]
            pub fn plain(transition: Transition, id: String) -> Option<Self> {
                #plain_of
            }

            /// Takes the transition.
            ///
            /// # Errors
            /// The transition is not legal in the loop's phase, evidence is missing (the error says which), the actor may
            /// not, or the store refused.
            pub fn run(self, held: AnyLoop) -> Result<AnyLoop, rt::Refused<AnyLoop>> {
                #run
            }

            #any
        }
    }
}

fn variant(context: &Context<'_>, transition: &str) -> TokenStream {
    let declared = context.first(transition);
    let (name, ident) = (transition, type_of(transition));
    let doc = if declared.doc.is_empty() {
        format!(" `{name}`")
    } else {
        super::prose::comment(&declared.doc)
    };
    let clap = context.options.commands;
    let arguments = declared.args.iter().map(|argument| {
        let name = &argument.name.value;
        let (ident, flag) = (value_of(name), kebab(name));
        let kind = type_of_argument(transition, argument);
        let attribute = match (clap, &argument.kind, argument.optional) {
            (false, ..) => quote! {},
            (true, ArgumentKind::OneOf(words), _) => {
                let kind = words_of_argument(transition, argument);
                let words = words.iter().map(|word| &*word.value);
                quote! { #[arg(long = #flag, value_parser = rt::word_parser::<#kind>(&[#(#words),*]))] }
            }
            (true, ArgumentKind::Flag, false) => quote! { #[arg(long = #flag)] },
            // Left out it says nothing, which is not the same as `=false`.
            (true, ArgumentKind::Flag, true) => quote! {
                #[arg(long = #flag, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
            },
            (true, ArgumentKind::Text | ArgumentKind::Count | ArgumentKind::Path, _) => {
                quote! { #[arg(long = #flag, allow_hyphen_values = true)] }
            }
        };
        let doc = doc_of(&argument.doc, name);
        quote! { #[doc = #doc] #attribute #ident: #kind }
    });
    let settled = declared
        .requires
        .as_ref()
        .is_some_and(|evidence| evidence.value == Evidence::Settled);
    let rejecting = settled.then(|| {
        let attribute = if clap {
            quote! { #[arg(long, value_name = "WHY", allow_hyphen_values = true)] }
        } else {
            quote! {}
        };
        quote! {
            /// Why findings that are still open are rejected; the summary shows it.
            #attribute
            rejecting: Option<String>,
        }
    });
    let verb = kebab(name);
    let parsed = clap && name != RESUME;
    let attribute = match (clap, declared.own) {
        (false, _) => quote! {},
        (true, _) if !parsed => quote! { #[command(skip)] },
        // An answer's arguments are parsed by it; the command line has no such verb.
        (true, true) => quote! { #[command(name = #verb, hide = true)] },
        (true, false) => quote! { #[command(name = #verb)] },
    };
    let positional = if parsed {
        quote! { #[arg(value_name = "LOOP")] }
    } else {
        quote! {}
    };
    let prompted = if parsed {
        quote! { #[arg(long, hide = true, conflicts_with = "id")] }
    } else {
        quote! {}
    };
    quote! {
        #[doc = #doc]
        #attribute
        #ident {
            /// The loop [default: the active one]
            #positional
            id: Option<String>,
            /// Take the id from what the command's prompt hook stored.
            #prompted
            from_prompt: bool,
            #rejecting
            #(#arguments),*
        }
    }
}

fn arm(context: &Context<'_>, name: &str) -> TokenStream {
    let declared = context.first(name);
    let (ident, method) = (type_of(name), value_of(name));
    let arguments: Vec<_> = declared
        .args
        .iter()
        .map(|argument| value_of(&argument.name.value))
        .collect();
    let settled = declared.requires.as_ref().map(|evidence| evidence.value);
    let rejecting = (settled == Some(Evidence::Settled)).then(|| quote! { rejecting, });
    let mut sources: Vec<usize> = context
        .edges_of(name)
        .iter()
        .map(|edge| edge.from)
        .collect();
    sources.sort_unstable();
    sources.dedup();
    let others: Vec<usize> = (0..context.machine.phases.len())
        .filter(|at| sources.binary_search(at).is_err())
        .collect();
    let phases = sources.iter().map(|&from| {
        let phase = type_of(&context.machine.phases[from].name.value);
        let call = match settled {
            None => quote! { Self::any(held.#method(#(#arguments),*)) },
            Some(evidence) => {
                let requirement = match evidence {
                    Evidence::Reviewed => quote! { rt::Requirement::Reviewed },
                    Evidence::Settled => quote! { rt::Requirement::Settled },
                    Evidence::Verified => quote! { rt::Requirement::Verified },
                };
                let ask = match evidence {
                    Evidence::Reviewed => quote! { rt::evidence::reviewed(held.raw(), Phase::#phase.review()) },
                    Evidence::Settled => quote! { rt::evidence::settled(held.raw(), Phase::#phase.review(), rejecting) },
                    Evidence::Verified => quote! { rt::verify::verified(held.raw()) },
                };
                quote! {
                    match #ask {
                        Ok(evidence) => Self::any(held.#method(&evidence, #(#arguments),*)),
                        Err(missing) => Err(rt::Refused::new(held.into_any(), missing.refusal(#name, #requirement))),
                    }
                }
            }
        };
        quote! { AnyLoop::#phase(held) => #call }
    });
    let otherwise = match others[..] {
        [] => quote! {},
        [only] => {
            let only = type_of(&context.machine.phases[only].name.value);
            quote! { other @ AnyLoop::#only(_) => Err(rt::undeclared(other, #name)) }
        }
        _ => quote! { other => Err(rt::undeclared(other, #name)) },
    };
    quote! {
        Self::#ident { id: _, from_prompt: _, #rejecting #(#arguments),* } => match held { #(#phases,)* #otherwise }
    }
}
