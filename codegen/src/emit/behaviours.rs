//! What the const table says of a phase's `on_stop`: the behaviour with its parameters, and the question that it asks.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Context, option, table};
use crate::model::{Argument, At, Behaviour, Choice, Constant, Parameter, Phase};

/// Returns the behaviour of a phase that is not terminal.
fn behaviour_of(phase: &Phase) -> Option<&Behaviour> {
    phase.on_stop.as_ref().filter(|_| !phase.terminal)
}

/// `Option<BehaviourInfo>`
pub(super) fn on_stop(phase: &Phase) -> TokenStream {
    let Some(behaviour) = behaviour_of(phase) else {
        return quote! { None };
    };
    let name = behaviour.name();
    let parameters = behaviour.parameters().into_iter();
    let parameters = parameters.map(|Parameter { key, value, .. }| quote! { (#key, #value) });
    let reminds = reminds(behaviour);
    quote! {
        Some(rt::BehaviourInfo { name: #name, parameters: &[#(#parameters),*], reminds: &[#(#reminds),*] })
    }
}

/// Returns the transitions of the outcomes that the loop could also wait at: nothing has happened since the last stop.
fn reminds(behaviour: &Behaviour) -> impl Iterator<Item = &str> {
    let outcomes = behaviour.outcomes().into_iter();
    outcomes
        .filter(|outcome| !outcome.is_required && outcome.evidence.is_none())
        .flat_map(|outcome| outcome.calls)
        .map(|call| call.then.value.as_str())
}

/// `Option<Question>`
pub(super) fn question(context: &Context<'_>, phase: &Phase) -> TokenStream {
    let Some(Behaviour::Ask {
        question,
        header,
        options,
        text,
        ..
    }) = behaviour_of(phase)
    else {
        return quote! { None };
    };
    let question = question.as_ref().map_or("", |question| &*question.value);
    let header = header.as_ref().map_or("", |header| &*header.value);
    let options =
        match options {
            None => quote! { Program },
            Some(choices) => {
                let choices = choices.value.iter().map(|choice| {
                let (label, taker) =
                    (&choice.label.value, taker(context, &choice.then, &choice.with));
                let description = description(context, choice);
                quote! { rt::Choice { label: #label, description: #description, taker: #taker } }
            });
                quote! { These(&[#(#choices),*]) }
            }
        };
    let text = option(text.as_ref().map(|then| taker(context, then, &[])));
    quote! {
        Some(rt::Question { question: #question, header: #header, options: rt::Options::#options, text: #text })
    }
}

/// `Taker`: the transition, and the argument that gets the answer.
fn taker(
    context: &Context<'_>,
    then: &At<String>,
    with: &[(At<String>, At<Constant>)],
) -> TokenStream {
    let transition = &then.value;
    let is_given = |argument: &&Argument| {
        with.iter()
            .any(|(name, _)| name.value == argument.name.value)
    };
    let mut open = context
        .first(transition)
        .args
        .iter()
        .filter(|argument| !is_given(argument));
    let argument = option(open.next().map(|argument| &argument.name.value));
    let with = with.iter().map(|(name, value)| {
        let (name, value) = (&name.value, table::plain_text(&value.value));
        quote! { (#name, #value) }
    });
    quote! { rt::Taker { transition: #transition, argument: #argument, with: &[#(#with),*] } }
}

/// What an option says of itself, else what its transition says.
fn description<'m>(context: &Context<'m>, choice: &'m Choice) -> &'m str {
    match &choice.description {
        Some(description) => &description.value,
        None => &context.first(&choice.then.value).doc,
    }
}
