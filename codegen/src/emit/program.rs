//! Views of what a stop does, of verbs and of the plugin.

use std::collections::HashSet;

use minijinja::{Value, context};

use super::ident::{camel, constant_of, kebab, type_of, value_of};
use super::{Context, expr, literal, seq};
use crate::model::texts::Template;
use crate::model::{
    Argument, At, AtStart, Behaviour, Blocking, Call, Does, Earlier, Evidence, Phase, SlashCommand,
};

/// The transition that the command line's own `resume` takes. It has no verb.
const RESUME: &str = "resume";

impl<'m> Context<'m> {
    /// Returns the phases in which a loop is not over.
    fn open_phases(&self) -> impl Iterator<Item = &'m Phase> + Clone {
        self.machine.phases.iter().filter(|phase| !phase.terminal)
    }

    /// Returns the phases with such a behaviour.
    fn phases_with(&self, is: fn(&Behaviour) -> bool) -> Vec<&'m Phase> {
        self.open_phases()
            .filter(|phase| phase.on_stop.as_ref().is_some_and(is))
            .collect()
    }

    /// Returns the phases that a transition leaves.
    fn sources(&self, transition: &str) -> HashSet<&str> {
        let edges = self.machine.edges().into_iter();
        let edges = edges.filter(|edge| edge.declared.name.value == transition);
        edges
            .map(|edge| self.machine.phases[edge.from].name.as_str())
            .collect()
    }
}

/// Returns what the templates say of `OnStop`.
pub(super) fn on_stop(context: &Context<'_>) -> Value {
    let asking = context.phases_with(Behaviour::asks_in_rust);
    context! {
        reviews => seq(context.open_phases().filter_map(|phase| review(context, phase))),
        stops => seq(context.open_phases().map(|phase| stop(context, phase))),
        asking => seq(asking.iter().map(|phase| type_of(&phase.name.value))),
        verifies => !context.phases_with(Behaviour::verifies).is_empty(),
        subjects => !context.phases_with(Behaviour::reviews_in_rust).is_empty(),
        before_stop => seq(before_stop(context)),
    }
}

fn review(context: &Context<'_>, phase: &Phase) -> Option<Value> {
    let review = phase.on_stop.as_ref()?.review()?;
    let name = &phase.name.value;
    let templates = |list: &[At<Template>]| seq(list.iter().map(|one| one.to_string()));
    let personas = context.machine.personas.iter();
    let personas = review.personas.iter().filter_map(|name| {
        personas
            .clone()
            .position(|persona| persona.name.value == name.value)
    });
    Some(context! {
        phase => name,
        ident => constant_of(&format!("{name}_review")),
        subject => seq(review.subject.iter().map(|one| one.to_string())),
        since => review.since.as_ref().map_or("", |since| &since.value),
        round => &review.round.value,
        reviewers => templates(&review.reviewer),
        models => templates(&review.model),
        personas => seq(personas),
        prompt => context.message(review.prompt.as_ref()),
        blocking => format!("{:?}", review.blocking.as_ref().map_or(Blocking::Low, |one| one.value)),
        fresh => review.earlier.as_ref().is_some_and(|earlier| earlier.value == Earlier::Fresh),
        findings_file => review.findings_file.as_ref().map_or("", |file| &file.value),
        verdicts => seq(review.verdicts.iter().map(|word| word.to_string())),
    })
}

/// Returns the transitions to try in each phase before its own behaviour, if a rule is broken.
fn before_stop(context: &Context<'_>) -> Vec<Value> {
    let names = &context.machine.before_stop;
    let sources: Vec<_> = names.iter().map(|name| context.sources(name)).collect();
    let arms = context.open_phases().filter_map(|phase| {
        let leaving = names.iter().zip(&sources);
        let leaving = leaving.filter(|(_, from)| from.contains(phase.name.as_str()));
        let attempts = leaving.fold(None, |before: Option<String>, (name, _)| {
            let before = before.unwrap_or_else(|| "rt::attempt(held)".to_owned());
            Some(format!("rt::or_else({before}, Loop::{})", value_of(name)))
        });
        Some(context! { phase => type_of(&phase.name.value), attempts => attempts? })
    });
    arms.collect()
}

/// Returns how a stop observes a phase, and the transitions that it tries for each outcome.
fn stop(context: &Context<'_>, phase: &Phase) -> Value {
    let Some(behaviour) = &phase.on_stop else {
        return context! { function => () };
    };
    let text = |text: &Option<At<Template>>| literal(text.as_ref().map_or("", |text| &text.value));
    let parameters = match behaviour {
        Behaviour::Review(_) => {
            vec![format!(
                "&{}",
                constant_of(&format!("{}_review", phase.name.value))
            )]
        }
        Behaviour::RequireFile(one) => vec![literal(&one.path), text(&one.before)],
        Behaviour::Run(one) => vec![literal(&one.command)],
        Behaviour::WaitFor(one) => {
            vec![
                text(&one.file),
                literal(one.field.as_ref().map_or("", |field| &field.value)),
            ]
        }
        Behaviour::Approve(_)
        | Behaviour::Announce(_)
        | Behaviour::Ask(_)
        | Behaviour::Verify(_) => Vec::new(),
    };
    context! {
        function => value_of(behaviour.name()),
        parameters => seq(parameters),
        arms => seq(arms(context, behaviour)),
    }
}

/// Returns the arms of a stop. Outcomes that do the same share one.
fn arms(context: &Context<'_>, behaviour: &Behaviour) -> Vec<Value> {
    let mut arms: Vec<(Option<Evidence>, String, Vec<String>)> = Vec::new();
    for outcome in behaviour.outcomes() {
        let calls = match outcome.calls {
            [] => outcome.fallback,
            calls => calls,
        };
        let requires = |call: &Call| context.first(&call.then.value).requires.is_some();
        let uses_evidence = calls.iter().any(requires);
        let binding = match (outcome.evidence, uses_evidence) {
            (None, _) => "",
            (Some(_), true) => "(evidence)",
            (Some(_), false) => "(_)",
        };
        let attempts = calls.iter().fold("attempt".to_owned(), |before, call| {
            let method = value_of(&call.then.value);
            let declared = context.first(&call.then.value);
            let evidence = requires(call).then(|| "&evidence".to_owned());
            let arguments = declared.args.iter().map(|argument| given(call, argument));
            let given: Vec<_> = evidence.into_iter().chain(arguments).collect();
            match given.as_slice() {
                [] => format!("rt::or_else({before}, Loop::{method})"),
                given => format!(
                    "rt::or_else({before}, |held| held.{method}({}))",
                    given.join(", ")
                ),
            }
        });
        let pattern = format!(
            "rt::{}Seen::{}{binding}",
            camel(behaviour.name()),
            type_of(outcome.name)
        );
        let shown = outcome.evidence.filter(|_| uses_evidence);
        match arms
            .iter_mut()
            .find(|arm| arm.0 == shown && arm.1 == attempts)
        {
            Some((_, _, patterns)) => patterns.push(pattern),
            None => arms.push((shown, attempts, vec![pattern])),
        }
    }
    let arms = arms.into_iter();
    arms.map(|(_, attempts, patterns)| context! { attempts, patterns => seq(patterns) })
        .collect()
}

/// Returns what a call gives a transition for an argument.
fn given(call: &Call, argument: &Argument) -> String {
    let mut with = call.with.iter();
    let Some((_, value)) = with.find(|(name, _)| name.value == argument.name.value) else {
        return "None".to_owned();
    };
    let value = expr::argument_constant(&call.then.value, argument, &value.value);
    if argument.optional {
        format!("Some({value})")
    } else {
        value
    }
}

/// Returns what the template says of verbs, the program and its plugin.
pub(super) fn view(context: &Context<'_>) -> Value {
    let machine = context.machine;
    let required = machine
        .fields
        .iter()
        .filter(|field| field.at_start == AtStart::Required);
    let is_verb = |name: &&str| !context.first(name).by.is_empty();
    let verbs = context.names.iter().copied().filter(is_verb);
    context! {
        required => seq(required.map(|field| field.name.as_str())),
        resume => RESUME,
        covers_all => verbs.clone().all(|name| context.sources(name).len() == machine.phases.len()),
        plugin => plugin(context),
        missing => missing(context),
    }
}

/// Returns what the machine file leaves to Rust, for the compiler's message.
fn missing(context: &Context<'_>) -> Value {
    let left: Vec<_> = context
        .open_phases()
        .filter(|phase| phase.on_stop.is_none())
        .collect();
    let asking = context.phases_with(Behaviour::asks_in_rust);
    let verifying = context.phases_with(Behaviour::verifies);
    let reviewing = context.phases_with(Behaviour::reviews_in_rust);
    let check = context.machine.before_stop.first();
    let named = |what: &str, phases: &[&Phase]| {
        let name = |phase: &&Phase| format!("`{}` ({})", phase.name, context.place(&phase.span));
        let names: Vec<_> = phases.iter().map(name).collect();
        let noun = if phases.len() == 1 {
            "phase"
        } else {
            "the phases"
        };
        (!phases.is_empty()).then(|| format!("{what} in {noun} {}", names.join(", ")))
    };
    let parts = [
        named("no `on_stop` says what a stop does", &left),
        named("no `options` say what a person can answer", &asking),
        named(
            "the program gives the commands that verify the work",
            &verifying,
        ),
        named("the program gives what is reviewed", &reviewing),
        check.map(|name| {
            let place = context.place(&name.span);
            format!("nothing says what breaks the rules, which `before_stop` asks for ({place})")
        }),
    ];
    let mut methods: Vec<String> = Vec::new();
    let mut method = |is_needed: bool, text: &str| {
        if is_needed {
            methods.push(format!("fn {text} {{ .. }}"));
        }
    };
    method(
        check.is_some(),
        "violations(&self, held: &AnyLoop) -> Vec<String>",
    );
    let verifies = "verifies(&self, held: &AnyLoop) -> Result<Vec<String>, String>";
    method(!verifying.is_empty(), verifies);
    let subjects = "subjects(&self, held: &AnyLoop) -> Result<Vec<Subject>, String>";
    method(!reviewing.is_empty(), subjects);
    for name in left.iter().map(|phase| &phase.name.value) {
        let fn_name = value_of(name);
        let ty = camel(name);
        let returns = "Result<Step<AnyLoop>, Refused<AnyLoop>>";
        method(
            true,
            &format!("{fn_name}(&self, held: Loop<{ty}>) -> {returns}"),
        );
    }
    for name in asking.iter().map(|phase| &phase.name.value) {
        let returns = "Result<Option<Asked>, String>";
        method(
            true,
            &format!(
                "{name}_asks(&self, held: &Loop<{}>) -> {returns}",
                camel(name)
            ),
        );
    }
    let is_only_left = asking.is_empty() && verifying.is_empty() && reviewing.is_empty();
    let name = &context.machine.name.value;
    let note = format!(
        "{}, or write it: `struct Own; impl {name}::OnStop for Own {{ {} }}` and `claudex_loop::main!({name}, Own);`",
        if is_only_left {
            "give it an `on_stop` there"
        } else {
            "say it there"
        },
        methods.join(" "),
    );
    context! {
        is_whole => methods.is_empty(),
        message => parts.into_iter().flatten().collect::<Vec<_>>().join(", and "),
        // Braces mean parameters in the attribute.
        note => note.replace('{', "{{").replace('}', "}}"),
    }
}

fn plugin(context: &Context<'_>) -> Value {
    let Some(plugin) = &context.machine.plugin else {
        return Value::from(());
    };
    let commands = context.machine.slash_commands();
    context! {
        commands => seq(commands.iter().map(|one| command(context, one))),
        files => seq(plugin.files.iter().map(|file| context.message(Some(file)))),
        permits => seq(plugin.permits.iter().map(|rule| rule.to_string())),
    }
}

fn command(context: &Context<'_>, command: &SlashCommand<'_>) -> Value {
    let (does, own_doc) = match command.does {
        Does::Start(mode) => (format!("Start({})", literal(&mode.name.value)), &*mode.doc),
        Does::Take => {
            let name = command.name;
            (
                format!("Take({})", literal(name)),
                &*context.first(name).doc,
            )
        }
        Does::Own => ("Own".to_owned(), ""),
    };
    let declared = command.declared;
    let doc = declared
        .map(|declared| declared.doc.as_str())
        .filter(|doc| !doc.is_empty());
    context! {
        name => kebab(command.name),
        does,
        doc => doc.unwrap_or(own_doc),
        arguments => declared.and_then(|declared| declared.arguments.as_ref()),
        text => context.message(declared.and_then(|declared| declared.text.as_ref())),
    }
}
