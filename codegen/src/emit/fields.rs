//! The view of a loop's fields: a typed reader for each, and for those that exist in some phases only (`in`) a reader
//! that no other phase has.
//!
//! Such a reader is a method with a type parameter of its own, as a transition is: without it rustc reports a bare "method
//! not found" instead of the trait's message. A machine without `in` gets one plain view.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Context;
use super::ident::{camel, type_of, type_of_words, value_of};
use super::prose::doc_of;
use crate::model::texts::Word;
use crate::model::{At, Field, FieldKind, Form, Many};

/// Whether the machine has fields that exist in some phases only.
fn is_divided(context: &Context<'_>) -> bool {
    context
        .machine
        .fields
        .iter()
        .any(|field| field.within.is_some())
}

/// `Loop<P>::fields`.
pub(super) fn view(context: &Context<'_>) -> TokenStream {
    if is_divided(context) {
        quote! {
            /// The fields of its state document, with those that exist in this phase only.
            #[must_use]
            pub fn fields(&self) -> FieldsIn<'_, P> {
                FieldsIn { all: Fields(&self.raw), phase: ::core::marker::PhantomData }
            }
        }
    } else {
        quote! {
            /// The fields of its state document.
            #[must_use]
            pub fn fields(&self) -> Fields<'_> {
                Fields(&self.raw)
            }
        }
    }
}

/// Emits what Rust alone sets, with the next transition: data, and text below the fields.
pub(super) fn setters(context: &Context<'_>, raw: &TokenStream) -> TokenStream {
    let data = context.machine.data().map(|(name, kind)| {
        let (ident, kind) = (format_ident!("set_{name}"), format_ident!("{kind}"));
        let doc = format!(
            " Has the next transition set `{name}`, in the same commit. Until then it is what it was."
        );
        quote! {
            #[doc = #doc]
            ///
            /// # Errors
            /// What is given cannot be written, or not read back.
            pub fn #ident(&mut self, value: &super::#kind) -> Result<(), rt::FieldError> {
                #raw.set_data(#name, value)
            }
        }
    });
    let text = (context.machine.state.form == Form::Frontmatter).then(|| {
        quote! {
            /// Has the next transition add lines to the text below the fields, in the same commit.
            pub fn add_text(&mut self, text: &str) {
                #raw.add_text(text);
            }
        }
    });
    quote! { #(#data)* #text }
}

pub(super) fn emit(context: &Context<'_>) -> TokenStream {
    let mut words = Vec::new();
    let mut accessors = Vec::new();
    for field in &context.machine.fields {
        let (ident, name) = (value_of(&field.name.value), &field.name.value);
        let doc = doc_of(&field.doc, name);
        if let FieldKind::OneOf(list) = &field.kind {
            words.push(word_enum(&type_of_field(field), name, &field.doc, list));
        }
        let kind = type_of_field(field);
        let body = reading(field, &quote! { self.0 });
        accessors.push(match &field.within {
            None => quote! {
                #[doc = #doc]
                #[must_use]
                pub fn #ident(&self) -> #kind { #body }
            },
            Some(_) => {
                let phases = format!(
                    " None in a phase where it does not exist. {}",
                    within(context, field)
                );
                quote! {
                    #[doc = #doc]
                    ///
                    #[doc = #phases]
                    #[must_use]
                    pub fn #ident(&self) -> Option<#kind> {
                        self.0.exists(#name).then(|| #body)
                    }
                }
            }
        });
    }
    let divided = is_divided(context).then(|| divided(context));
    quote! {
        #(#words)*

        /// The fields of a loop's state document. Opening the loop has checked their kinds.
        #[derive(Debug, Clone, Copy)]
        pub struct Fields<'l>(&'l rt::Raw);

        impl Fields<'_> { #(#accessors)* }

        #divided
    }
}

/// The view of a loop whose phase is known, and a sealed trait per field that some phases have.
fn divided(context: &Context<'_>) -> TokenStream {
    let fields = context
        .machine
        .fields
        .iter()
        .filter(|field| field.within.is_some());
    let (mut traits, mut readers) = (Vec::new(), Vec::new());
    for field in fields {
        let name = &field.name.value;
        let (ident, holder) = (value_of(name), format_ident!("Has{}", camel(name)));
        let message = format!("`{name}` does not exist in phase `{{Self}}`");
        let label = "this phase does not have the field";
        let note = exists_in(context, field);
        let doc = doc_of(&field.doc, name);
        let trait_doc = format!(
            " The phases that have `{name}`. Sealed: `{}` decides.",
            context.options.file
        );
        let kind = type_of_field(field);
        let body = reading(field, &quote! { fields.0 });
        let phases: Vec<Ident> = field
            .within
            .iter()
            .flatten()
            .map(|phase| type_of(&phase.value))
            .collect();
        traits.push(quote! {
            #[doc = #trait_doc]
            #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
            pub trait #holder: InPhase {
                /// What the field holds.
                type Value;
                #[doc(hidden)]
                fn read(fields: Fields<'_>) -> Self::Value;
            }
            #(
                impl #holder for #phases {
                    type Value = #kind;
                    fn read(fields: Fields<'_>) -> #kind { #body }
                }
            )*
        });
        let reader_doc = format!(" {}", within(context, field));
        readers.push(quote! {
            #[doc = #doc]
            ///
            #[doc = #reader_doc]
            #[must_use]
            pub fn #ident<N>(&self) -> N
            where
                P: #holder<Value = N>,
            {
                P::read(self.all)
            }
        });
    }
    quote! {
        /// The fields of a loop that is known to be in phase `P`: those of every phase, and those of this one.
        #[derive(Debug)]
        pub struct FieldsIn<'l, P> {
            all: Fields<'l>,
            phase: ::core::marker::PhantomData<fn() -> P>,
        }

        impl<P> ::core::clone::Clone for FieldsIn<'_, P> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<P> ::core::marker::Copy for FieldsIn<'_, P> {}

        impl<'l, P> ::core::ops::Deref for FieldsIn<'l, P> {
            type Target = Fields<'l>;

            fn deref(&self) -> &Fields<'l> {
                &self.all
            }
        }

        impl<P: InPhase> FieldsIn<'_, P> { #(#readers)* }

        #(#traits)*
    }
}

/// `exists in: Canary, Rollout (machine.toml:12)`
fn exists_in(context: &Context<'_>, field: &Field) -> String {
    let phases: Vec<String> = field
        .within
        .iter()
        .flatten()
        .map(|phase| camel(&phase.value))
        .collect();
    format!(
        "exists in: {} ({})",
        phases.join(", "),
        context.place(&field.name.span)
    )
}

/// ``It is there in `Canary`, `Rollout` (`machine.toml:12`).``
fn within(context: &Context<'_>, field: &Field) -> String {
    let phases = field.within.iter().flatten();
    let phases: Vec<String> = phases
        .map(|phase| format!("`{}`", camel(&phase.value)))
        .collect();
    let place = context.place(&field.name.span);
    format!("It is there in {} (`{place}`).", phases.join(", "))
}

/// What a reader of the field returns.
pub(super) fn type_of_field(field: &Field) -> TokenStream {
    match &field.kind {
        FieldKind::Count => quote! { u64 },
        FieldKind::Flag => quote! { bool },
        FieldKind::Text | FieldKind::Path | FieldKind::Held(_) => quote! { String },
        FieldKind::Data(kind) => {
            let kind = format_ident!("{kind}");
            quote! { super::#kind }
        }
        FieldKind::OneOf(_) => {
            let kind = format_ident!("{}", type_of_words(&field.name.value));
            quote! { #kind }
        }
    }
}

/// How it reads it off a loop.
fn reading(field: &Field, raw: &TokenStream) -> TokenStream {
    let name = &field.name.value;
    match &field.kind {
        FieldKind::Count => quote! { #raw.count(#name) },
        FieldKind::Flag => quote! { #raw.flag(#name) },
        FieldKind::Text | FieldKind::Path | FieldKind::Held(_) => quote! { #raw.text(#name) },
        FieldKind::Data(_) => quote! { #raw.data(#name) },
        FieldKind::OneOf(list) => {
            let kind = type_of_field(field);
            let first = list.first().map(|word| type_of(&word.value));
            quote! { #raw.text(#name).parse().unwrap_or(#kind::#first) }
        }
    }
}

/// The enum of the words that a field or an argument can be.
pub(super) fn word_enum(
    kind: &TokenStream,
    name: &str,
    doc: &str,
    words: &Many<At<Word>>,
) -> TokenStream {
    let doc = doc_of(doc, name);
    let variants = words.iter().map(|word| {
        let text = &*word.value;
        let ident = type_of(text);
        let doc = format!(" `{text}`");
        quote! { #[doc = #doc] #[strum(serialize = #text)] #ident }
    });
    quote! {
        #[doc = #doc]
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, rt::strum::Display, rt::strum::EnumString, rt::strum::EnumIter,
            rt::strum::IntoStaticStr,
        )]
        #[strum(crate = "rt::strum")]
        pub enum #kind { #(#variants),* }
    }
}
