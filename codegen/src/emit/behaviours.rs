//! What the const table says of a phase's `on_stop`: the behaviour with its parameters, and the question that it asks.

use proc_macro2::TokenStream;
use quote::quote;

use super::Context;
use crate::model::{Behaviour, Choice, Phase};

/// The behaviour of a phase that goes on, as an `Option`.
fn of(phase: &Phase) -> Option<&Behaviour> {
    phase.on_stop.as_ref().filter(|_| !phase.terminal)
}

/// `Option<BehaviourInfo>`
pub(super) fn on_stop(phase: &Phase) -> TokenStream {
    let Some(behaviour) = of(phase) else {
        return quote! { None };
    };
    let name = &behaviour.name.value;
    let parameters = behaviour.parameters.iter().map(|(key, value)| {
        let (key, value) = (&key.value, &value.value);
        quote! { (#key, #value) }
    });
    quote! { Some(rt::BehaviourInfo { name: #name, parameters: &[#(#parameters),*] }) }
}

/// `Option<Question>`
pub(super) fn question(context: &Context<'_>, phase: &Phase) -> TokenStream {
    let Some(behaviour) = of(phase).filter(|behaviour| !behaviour.options.is_empty()) else {
        return quote! { None };
    };
    let parameter = |key: &str| behaviour.parameter(key).map_or("", |value| &value.value);
    let (question, header) = (parameter("question"), parameter("header"));
    let options = behaviour.options.iter().map(|choice| {
        let (label, transition) = (&choice.label.value, &choice.then.value);
        let description = description(context, choice);
        quote! { rt::Choice { label: #label, description: #description, transition: #transition } }
    });
    quote! { Some(rt::Question { question: #question, header: #header, options: &[#(#options),*] }) }
}

/// What an option says of itself, else what its transition says.
fn description<'m>(context: &Context<'m>, choice: &'m Choice) -> &'m str {
    match &choice.description {
        Some(description) => &description.value,
        None => &context.first(&choice.then.value).doc,
    }
}
