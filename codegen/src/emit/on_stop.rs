//! The `OnStop` trait: for each phase what a stop does there.
//!
//! A phase whose `on_stop` names a behaviour of the catalogue gets a default method, the adapter from the behaviour's
//! outcomes to transitions. A phase without one gets a required method: forgetting it does not compile.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::ident::{camel, constant_of, type_of, value_of};
use super::transitions::words_of_argument;
use super::{Context, table};
use crate::model::texts::Template;
use crate::model::{
    Argument, ArgumentKind, At, Behaviour, Blocking, Call, Constant, Earlier, Evidence, Phase,
};

pub(super) fn emit(context: &Context<'_>) -> TokenStream {
    let open: Vec<_> = context
        .machine
        .phases
        .iter()
        .filter(|phase| !phase.terminal)
        .collect();
    let methods = open.iter().map(|phase| method(context, phase));
    let arms = context.machine.phases.iter().map(|phase| {
        let (ident, method) = (type_of(&phase.name.value), value_of(&phase.name.value));
        if phase.terminal {
            quote! { AnyLoop::#ident(held) => Ok(rt::Step::Over(held.into_any())) }
        } else {
            quote! { AnyLoop::#ident(held) => self.#method(held) }
        }
    });
    let reviews: Vec<_> = open
        .iter()
        .filter_map(|phase| Some((phase, phase.on_stop.as_ref()?.review()?)))
        .collect();
    let specs = reviews.iter().map(|(phase, review)| {
        let name = constant_of(&format!("{}_review", phase.name.value));
        let subject = review.subject.iter().map(|one| &*one.value);
        let reviewers = review.reviewer.iter().map(|one| &*one.value);
        let models = review.model.iter().map(|one| &*one.value);
        let round = &review.round.value;
        let since = review.since.as_ref().map_or("", |since| &*since.value);
        let findings_file = review.findings_file.as_ref();
        let findings_file = findings_file.map_or("", |file| &*file.value);
        let verdicts = match &*review.verdicts {
            [clean, not] => {
                let (clean, not) = (&*clean.value, &*not.value);
                quote! { Some((#clean, #not)) }
            }
            _ => quote! { None },
        };
        let personas = review.personas.iter().filter_map(|name| {
            let mut known = context.machine.personas.iter();
            known.position(|persona| persona.name.value == name.value)
        });
        let prompt = review.prompt.as_ref().map(|path| &*path.value);
        let prompt = table::message(context, prompt);
        let blocking = match review.blocking.as_ref().map(|blocking| blocking.value) {
            None | Some(Blocking::Low) => quote! { Low },
            Some(Blocking::Medium) => quote! { Medium },
            Some(Blocking::High) => quote! { High },
        };
        let earlier = review.earlier.as_ref();
        let fresh = earlier.is_some_and(|earlier| earlier.value == Earlier::Fresh);
        let doc = format!(" What a review in phase `{}` looks at.", phase.name.value);
        quote! {
            #[doc = #doc]
            pub static #name: rt::ReviewSpec = rt::ReviewSpec {
                subject: &[#(#subject),*], since: #since, round: #round,
                reviewers: &[#(#reviewers),*], models: &[#(#models),*],
                personas: &[#(PERSONAS[#personas]),*], prompt: #prompt,
                blocking: rt::Blocking::#blocking, fresh: #fresh,
                findings_file: #findings_file, verdicts: #verdicts,
            };
        }
    });
    let review_arms = reviews.iter().map(|(phase, _)| {
        let (ident, name) = (
            type_of(&phase.name.value),
            constant_of(&format!("{}_review", phase.name.value)),
        );
        quote! { Phase::#ident => Some(&#name) }
    });
    let review_of = if reviews.is_empty() {
        quote! { None }
    } else {
        let known: HashSet<&str> = reviews
            .iter()
            .map(|(phase, _)| phase.name.as_str())
            .collect();
        let others: Vec<_> = context
            .machine
            .phases
            .iter()
            .filter(|phase| !known.contains(phase.name.as_str()))
            .map(|phase| type_of(&phase.name.value))
            .collect();
        let otherwise = match others.as_slice() {
            [only] => quote! { Phase::#only => None },
            _ => quote! { _ => None },
        };
        quote! { match self { #(#review_arms,)* #otherwise } }
    };
    let (violations, before) = before_stop(context, &open);
    let (verifies, given) = verifies(&open);
    let (subjects, read) = subjects(&open);
    let doc = format!(
        " What a stop does in each phase. A phase of `{}` without `on_stop` is a method to write.",
        context.options.file
    );
    let (asking, asks) = asks(context, &open);
    quote! {
        #(#specs)*

        impl Phase {
            /// What a review in this phase looks at, where it has one.
            #[must_use]
            pub fn review(self) -> Option<&'static rt::ReviewSpec> {
                #review_of
            }
        }

        #[doc = #doc]
        pub trait OnStop {
            #violations
            #verifies
            #subjects
            #(#methods)*

            #(#asking)*

            /// A stop, whatever the phase.
            ///
            /// # Errors
            /// The step was refused for another reason than a guard; the loop is handed back.
            fn stop(&self, held: AnyLoop) -> Result<rt::Step<AnyLoop>, rt::Refused<AnyLoop>> {
                #given
                #read
                #before
                match held { #(#arms),* }
            }

            #asks
        }
    }
}

/// What a stop looks at before the phase: a method to write, and what is done where it finds something. A phase that none of the
/// transitions leaves goes on as it is.
fn before_stop(context: &Context<'_>, open: &[&Phase]) -> (TokenStream, TokenStream) {
    let names = &context.machine.before_stop;
    if names.is_empty() {
        return Default::default();
    }
    let from = |name: &str| -> HashSet<&str> {
        let edges = context.edges_of(name).into_iter();
        edges
            .map(|edge| context.machine.phases[edge.from].name.as_str())
            .collect()
    };
    let arms = open.iter().filter_map(|phase| {
        let leaving = names
            .iter()
            .filter(|name| from(&name.value).contains(phase.name.as_str()));
        let attempts = leaving.fold(None, |before, name| {
            let before = before.unwrap_or(quote! { attempt });
            let method = value_of(&name.value);
            Some(quote! { rt::or_else(#before, Loop::#method) })
        })?;
        let ident = type_of(&phase.name.value);
        Some(quote! {
            AnyLoop::#ident(held) => {
                let attempt = rt::attempt(held);
                return rt::settle(#attempts);
            }
        })
    });
    let violations = quote! {
        /// What breaks the machine's rules as the loop stands, each a sentence; nothing: the stop goes on as the phase says.
        fn violations(&self, held: &AnyLoop) -> Vec<String>;
    };
    let before = quote! {
        let held = if held.raw().violated(self.violations(&held)) {
            match held {
                #(#arms)*
                other => other,
            }
        } else {
            held
        };
    };
    (violations, before)
}

/// By what the program gives the commands that verify the work: a method to write, and where a stop tells the loop of them.
fn verifies(open: &[&Phase]) -> (TokenStream, TokenStream) {
    let in_rust = |phase: &&Phase| phase.on_stop.as_ref().is_some_and(Behaviour::verifies);
    if !open.iter().any(in_rust) {
        return Default::default();
    }
    let method = quote! {
        /// Returns the commands that verify the work as the loop stands, each one line: the name of a `[commands.NAME]` of the
        /// user's configuration, or a line for `sh -c` that its `allow_commands` has. Asked if machine.toml says `{program}`.
        ///
        /// # Errors
        /// A sentence says why they are not known: nothing is run then.
        fn verifies(&self, held: &AnyLoop) -> Result<Vec<String>, String>;
    };
    (
        method,
        quote! { rt::verify::tell(held.raw(), || self.verifies(&held)); },
    )
}

/// By what the program gives what is reviewed: a method to write, and where a stop tells the loop of it.
fn subjects(open: &[&Phase]) -> (TokenStream, TokenStream) {
    let in_rust = |phase: &&Phase| {
        phase
            .on_stop
            .as_ref()
            .is_some_and(Behaviour::reviews_in_rust)
    };
    if !open.iter().any(in_rust) {
        return Default::default();
    }
    let method = quote! {
        /// Returns what is reviewed as the loop stands, in order: in the place where machine.toml says `{program}`, and part of the digest
        /// that the evidence is bound to.
        ///
        /// # Errors
        /// A sentence says why it is not known: nothing is reviewed then.
        fn subjects(&self, held: &AnyLoop) -> Result<Vec<rt::Subject>, String>;
    };
    (
        method,
        quote! { rt::subject::tell(held.raw(), || self.subjects(&held)); },
    )
}

/// The methods by which the program asks: one for each phase whose question is Rust's, and one for a loop in any phase where
/// there is such a phase.
fn asks(context: &Context<'_>, open: &[&Phase]) -> (Vec<TokenStream>, TokenStream) {
    let in_rust = |phase: &&&Phase| phase.on_stop.as_ref().is_some_and(Behaviour::asks_in_rust);
    let asking: Vec<&Phase> = open.iter().filter(in_rust).copied().collect();
    let methods = asking.iter().map(|phase| {
        let (ident, method) = (
            type_of(&phase.name.value),
            format_ident!("{}_asks", phase.name.value),
        );
        let doc = format!(
            " Returns what a person is asked in `{}`; `None`: nothing, and a stop does as if nobody had answered.",
            phase.name.value
        );
        quote! {
            #[doc = #doc]
            ///
            /// # Errors
            /// A sentence says why nothing can be asked: the turn ends with it, and nothing is changed.
            fn #method(&self, held: &Loop<#ident>) -> Result<Option<rt::Asked>, String>;
        }
    });
    let arms = asking.iter().map(|phase| {
        let (ident, method) = (
            type_of(&phase.name.value),
            format_ident!("{}_asks", phase.name.value),
        );
        quote! { AnyLoop::#ident(held) => self.#method(held) }
    });
    let is_other = |phase: &&Phase| !asking.iter().any(|one| one.name.value == phase.name.value);
    let others: Vec<_> = context.machine.phases.iter().filter(is_other).collect();
    let otherwise = match others.as_slice() {
        [only] => {
            let only = type_of(&only.name.value);
            quote! { AnyLoop::#only(_) => Ok(None) }
        }
        _ => quote! { _ => Ok(None) },
    };
    let any = (!asking.is_empty()).then(|| {
        quote! {
            /// Returns what a person is asked where the program asks: `None` in any other phase.
            ///
            /// # Errors
            /// A sentence says why nothing can be asked.
            fn asks(&self, held: &AnyLoop) -> Result<Option<rt::Asked>, String> {
                match held { #(#arms,)* #otherwise }
            }
        }
    });
    (methods.collect(), quote! { #any })
}

fn method(context: &Context<'_>, phase: &Phase) -> TokenStream {
    let (ident, method) = (type_of(&phase.name.value), value_of(&phase.name.value));
    let doc = if phase.doc.is_empty() {
        format!(" A stop in `{}`.", phase.name.value)
    } else {
        super::prose::comment(&phase.doc)
    };
    let signature = quote! {
        #[doc = #doc]
        ///
        /// # Errors
        /// See [`OnStop::stop`].
        fn #method(&self, held: Loop<#ident>) -> Result<rt::Step<AnyLoop>, rt::Refused<AnyLoop>>
    };
    match &phase.on_stop {
        None => quote! { #signature; },
        Some(behaviour) => {
            let body = adapter(context, phase, behaviour);
            quote! { #signature { #body } }
        }
    }
}

/// What a stop does for outcomes that do the same.
struct Arm {
    patterns: Vec<TokenStream>,
    /// The evidence that they show to their transitions; patterns of one arm bind one type.
    shown: Option<Evidence>,
    attempts: TokenStream,
}

/// What a transition gets for an argument.
fn given(call: &Call, argument: &Argument) -> TokenStream {
    let mut with = call.with.iter();
    let value = with.find(|(name, _)| name.value == argument.name.value);
    let value = value.map(|(_, value)| match &value.value {
        Constant::Text(word) if matches!(argument.kind, ArgumentKind::OneOf(_)) => {
            let (kind, word) = (words_of_argument(&call.then.value, argument), type_of(word));
            quote! { #kind::#word }
        }
        Constant::Text(text) => quote! { #text.to_owned() },
        Constant::Flag(flag) => quote! { #flag },
        Constant::Count(count) => {
            let count = table::number(*count);
            quote! { #count }
        }
    });
    match (value, argument.optional) {
        (Some(value), true) => quote! { Some(#value) },
        (Some(value), false) => value,
        (None, _) => quote! { None },
    }
}

fn adapter(context: &Context<'_>, phase: &Phase, behaviour: &Behaviour) -> TokenStream {
    let function = value_of(behaviour.name());
    let seen = format_ident!("{}Seen", camel(behaviour.name()));
    let text = |value: &Option<At<Template>>| {
        let value = value.as_ref().map_or("", |value| &*value.value);
        quote! { #value }
    };
    // The table has the words of a question and the commands that verify, for verbs and reviews too.
    let parameters = match behaviour {
        Behaviour::Review(_) => {
            let spec = constant_of(&format!("{}_review", phase.name.value));
            quote! { &#spec }
        }
        Behaviour::RequireFile { path, before, .. } => {
            let (path, before) = (&*path.value, text(before));
            quote! { #path, #before }
        }
        Behaviour::Run { command, .. } => {
            let command = &*command.value;
            quote! { #command }
        }
        Behaviour::WaitFor { file, field, .. } => {
            let file = text(file);
            let field = field.as_ref().map_or("", |field| &*field.value);
            quote! { #file, #field }
        }
        Behaviour::Approve { .. }
        | Behaviour::Announce { .. }
        | Behaviour::Ask { .. }
        | Behaviour::Verify { .. } => quote! {},
    };
    // Outcomes that do the same share an arm.
    let mut arms: Vec<Arm> = Vec::new();
    for outcome in behaviour.outcomes() {
        let variant = type_of(outcome.name);
        let transitions = match outcome.calls {
            [] => outcome.fallback,
            calls => calls,
        };
        let uses = transitions
            .iter()
            .any(|call| context.first(&call.then.value).requires.is_some());
        let binding = match (outcome.evidence.is_some(), uses) {
            (false, _) => quote! {},
            (true, true) => quote! { (evidence) },
            (true, false) => quote! { (_) },
        };
        let attempts = transitions.iter().fold(quote! { attempt }, |before, call| {
            let (method, declared) = (value_of(&call.then.value), context.first(&call.then.value));
            let evidence = (declared.requires.is_some() && uses).then(|| quote! { &evidence });
            let arguments = declared.args.iter().map(|argument| given(call, argument));
            let given: Vec<_> = evidence.into_iter().chain(arguments).collect();
            if given.is_empty() {
                return quote! { rt::or_else(#before, Loop::#method) };
            }
            quote! { rt::or_else(#before, |held| held.#method(#(#given),*)) }
        });
        let pattern = quote! { rt::#seen::#variant #binding };
        let shown = outcome.evidence.filter(|_| uses);
        let same =
            |arm: &&mut Arm| arm.shown == shown && arm.attempts.to_string() == attempts.to_string();
        match arms.iter_mut().find(same) {
            Some(arm) => arm.patterns.push(pattern),
            None => arms.push(Arm {
                patterns: vec![pattern],
                shown,
                attempts,
            }),
        }
    }
    let arms = arms.iter().map(|arm| {
        let (patterns, attempts) = (&arm.patterns, &arm.attempts);
        quote! { #(#patterns)|* => #attempts }
    });
    quote! {
        let observed = match rt::observe::#function(held.raw(), #parameters) {
            Ok(observed) => observed,
            Err(refusal) => return Err(rt::Refused::new(held.into_any(), refusal)),
        };
        let attempt = rt::attempt(held.noting(observed.run));
        rt::settle(match observed.seen { #(#arms),* })
    }
}
