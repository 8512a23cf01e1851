//! Makes a machine a program of its own: the `CommandLine` that the runtime's program is generic over.
//!
//! Everything that can be read from the machine's table at run time is left to the runtime; here stands only what needs
//! the generated types. Emitted with the command line alone, since it needs clap.

use proc_macro2::TokenStream;
use quote::quote;

use super::ident::{camel, type_of, value_of};
use super::{Context, plugin};
use crate::model::{AtStart, Behaviour, Phase};

pub(super) fn emit(context: &Context<'_>) -> TokenStream {
    if !context.options.commands {
        return quote! {};
    }
    let machine = context.machine;
    let marker = type_of(&machine.name.value);
    let required = machine
        .fields
        .iter()
        .filter(|field| field.at_start == AtStart::Required)
        .map(|field| &field.name.value);
    let no_verbs = machine
        .transitions
        .iter()
        .all(|transition| transition.by.is_empty())
        .then(empty_verb);
    let declared = declared(context);
    let any = |is: fn(&Behaviour) -> bool| {
        let mut phases = machine.behaviours();
        phases.any(is)
    };
    let (asks, verifies) = (any(Behaviour::asks_in_rust), any(Behaviour::verifies));
    let subjects = any(Behaviour::reviews_in_rust);
    let shared = |method: TokenStream| {
        quote! { { let on_stop = std::rc::Rc::clone(&on_stop); move |held| on_stop.#method(held) } }
    };
    let program = if asks || verifies || subjects {
        let stop = shared(quote! { stop });
        let asks = asks.then(|| shared(quote! { asks })).into_iter();
        let verifies = verifies.then(|| shared(quote! { verifies })).into_iter();
        let subjects = subjects.then(|| shared(quote! { subjects })).into_iter();
        quote! {
            let on_stop = std::rc::Rc::new(on_stop);
            rt::program::Program::new(#stop) #(.asks(#asks))* #(.verifies(#verifies))* #(.subjects(#subjects))*
        }
    } else {
        quote! { rt::program::Program::new(move |held| on_stop.stop(held)) }
    };
    let plugin = plugin::emit(context);
    quote! {
        impl rt::program::CommandLine for #marker {
            type Any = AnyLoop;
            type Verb = Verb;
            const VERSION: &'static str = env!("CARGO_PKG_VERSION");
            const REQUIRED: &'static [&'static str] = &[#(#required),*];
            const PLUGIN: Option<rt::program::plugin::PluginInfo> = #plugin;

            fn open(store: &rt::Store, id: &rt::LoopId, actor: rt::Actor) -> Result<AnyLoop, rt::OpenError> {
                AnyLoop::open(store, id, actor)
            }

            fn begin(
                mode: &'static rt::ModeInfo,
                given: Vec<(&'static str, rt::Value)>,
                store: &rt::Store,
                how: rt::Beginning,
                actor: rt::Actor,
            ) -> Result<AnyLoop, rt::StartError> {
                rt::begin::<Self>(store, mode, given, how, actor).map(AnyLoop::wrap)
            }

            fn import(
                bytes: &[u8],
                file: rt::Utf8PathBuf,
                store: &rt::Store,
                how: rt::Beginning,
                actor: rt::Actor,
            ) -> Result<AnyLoop, rt::ImportError> {
                rt::import::<Self>(store, bytes, file, how, actor).map(AnyLoop::wrap)
            }

            fn transition(verb: &Verb) -> &'static str {
                verb.transition().into()
            }

            fn id(verb: &Verb) -> Option<&str> {
                verb.id()
            }

            fn from_prompt(verb: &Verb) -> bool {
                verb.from_prompt()
            }

            fn plain(transition: &str, id: String) -> Option<Verb> {
                Verb::plain(transition.parse().ok()?, id)
            }

            fn run(verb: Verb, held: AnyLoop) -> Result<AnyLoop, rt::Refused<AnyLoop>> {
                verb.run(held)
            }
        }

        /// The program of this machine, for its `main`: its command line and its hooks.
        pub fn program(on_stop: impl OnStop + 'static) -> rt::program::Program<#marker> {
            #program
        }

        #no_verbs
        #declared
    }
}

/// clap derives nothing usable for an enum without variants.
fn empty_verb() -> TokenStream {
    quote! {
        impl rt::clap::FromArgMatches for Verb {
            fn from_arg_matches(_: &rt::clap::ArgMatches) -> Result<Self, rt::clap::Error> {
                Err(rt::clap::Error::new(rt::clap::error::ErrorKind::InvalidSubcommand))
            }

            fn update_from_arg_matches(&mut self, _: &rt::clap::ArgMatches) -> Result<(), rt::clap::Error> {
                match *self {}
            }
        }

        impl rt::clap::Subcommand for Verb {
            fn augment_subcommands(command: rt::clap::Command) -> rt::clap::Command {
                command
            }

            fn augment_subcommands_for_update(command: rt::clap::Command) -> rt::clap::Command {
                command
            }

            fn has_subcommand(_: &str) -> bool {
                false
            }
        }
    }
}

/// `claudex_loop::main!(name)` asks for a machine whose file says everything. Where a phase is left to Rust, the compiler
/// answers with the phase, its line, and what to write.
fn declared(context: &Context<'_>) -> TokenStream {
    let machine = context.machine;
    let open = || machine.phases.iter().filter(|phase| !phase.terminal);
    let left: Vec<&Phase> = open().filter(|phase| phase.on_stop.is_none()).collect();
    let asking: Vec<&Phase> = open()
        .filter(|phase| phase.on_stop.as_ref().is_some_and(Behaviour::asks_in_rust))
        .collect();
    let named = |what: &str, phases: &[&Phase]| {
        let names = phases
            .iter()
            .map(|phase| format!("`{}` ({})", phase.name.value, context.place(&phase.span)));
        let names: Vec<String> = names.collect();
        let noun = if phases.len() == 1 {
            "phase"
        } else {
            "the phases"
        };
        (!phases.is_empty()).then(|| format!("{what} in {noun} {}", names.join(", ")))
    };
    let verifying: Vec<&Phase> = open()
        .filter(|phase| phase.on_stop.as_ref().is_some_and(Behaviour::verifies))
        .collect();
    let reviewing: Vec<&Phase> = open()
        .filter(|phase| {
            phase
                .on_stop
                .as_ref()
                .is_some_and(Behaviour::reviews_in_rust)
        })
        .collect();
    let checks = machine.before_stop.first();
    let missing = [
        named("no `on_stop` says what a stop does", &left),
        named("no `options` say what a person can answer", &asking),
        named(
            "the program gives the commands that verify the work",
            &verifying,
        ),
        named("the program gives what is reviewed", &reviewing),
        checks.map(|name| {
            let place = context.place(&name.span);
            format!("nothing says what breaks the rules, which `before_stop` asks for ({place})")
        }),
    ];
    let message = missing
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", and ");
    let stops = left.iter().map(|phase| {
        format!(
            "fn {}(&self, held: Loop<{}>) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {{ .. }}",
            value_of(&phase.name.value),
            camel(&phase.name.value),
        )
    });
    let questions = asking.iter().map(|phase| {
        format!(
            "fn {}_asks(&self, held: &Loop<{}>) -> Result<Option<Asked>, String> {{ .. }}",
            phase.name.value,
            camel(&phase.name.value),
        )
    });
    let violations =
        checks.map(|_| "fn violations(&self, held: &AnyLoop) -> Vec<String> { .. }".to_owned());
    let commands = (!verifying.is_empty()).then(|| {
        "fn verifies(&self, held: &AnyLoop) -> Result<Vec<String>, String> { .. }".to_owned()
    });
    let subjects = (!reviewing.is_empty()).then(|| {
        "fn subjects(&self, held: &AnyLoop) -> Result<Vec<Subject>, String> { .. }".to_owned()
    });
    let methods = violations.into_iter().chain(commands).chain(subjects);
    let methods: Vec<String> = methods.chain(stops).chain(questions).collect();
    let (name, marker) = (&machine.name.value, type_of(&machine.name.value));
    let there = match asking.is_empty() && verifying.is_empty() && reviewing.is_empty() {
        true => "give it an `on_stop` there",
        false => "say it there",
    };
    let note = format!(
        "{there}, or write it: `struct Own; impl {name}::OnStop for Own {{ {} }}` and \
         `claudex_loop::main!({name}, Own);`",
        methods.join(" "),
    );
    let is_whole = methods.is_empty();
    let whole = is_whole.then(|| {
        quote! {
            impl super::OnStop for AsDeclared {}
            impl Whole for AsDeclared {}
        }
    });
    let told = (!is_whole).then(|| {
        // Braces mean parameters there.
        let note = note.replace('{', "{{").replace('}', "}}");
        quote! {
            #[diagnostic::on_unimplemented(
                message = #message, label = "the machine file leaves this to Rust", note = #note
            )]
        }
    });
    quote! {
        #[doc(hidden)]
        pub mod declared {
            /// What a stop does, as the machine file says it.
            #[derive(Debug, Clone, Copy)]
            pub struct AsDeclared;

            /// Says what a stop does in every phase.
            #told
            pub trait Whole: super::OnStop {}

            #whole

            /// The program of a machine whose file says everything.
            pub fn program(on_stop: impl Whole + 'static) -> super::rt::program::Program<super::#marker> {
                super::program(on_stop)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, generate_with};

    const HEAD: &str = r#"name = "door"

[modes.door]
start = "open"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }
"#;
    const REST: &str = r#"
[phases.closed]
terminal = true

[[transitions.shut]]
from = "open"
to   = "closed"
"#;

    fn rust(open: &str, commands: bool) -> String {
        let options = Options {
            commands,
            file: "machine.toml".to_owned(),
        };
        let source = format!("{HEAD}\n[phases.open]\n{open}\n{REST}");
        generate_with(&source, &options).unwrap().rust
    }

    #[test]
    fn a_machine_that_says_everything_is_a_program_as_it_is() {
        let rust = rust("on_stop = { approve = { then = \"shut\" } }", true);
        assert!(rust.contains("impl Whole for AsDeclared {}"), "{rust}");
        assert!(!rust.contains("leaves this to Rust"), "{rust}");
    }

    #[test]
    fn a_phase_that_is_left_to_rust_is_named_with_its_line_and_the_method_to_write() {
        let rust = rust("", true);
        assert!(!rust.contains("impl Whole for"), "{rust}");
        for part in [
            "no `on_stop` says what a stop does in phase `open` (machine.toml:14)",
            "fn open(&self, held: Loop<Open>)",
            "claudex_loop::main!(door, Own);",
        ] {
            assert!(rust.contains(part), "{part}\n{rust}");
        }
    }

    #[test]
    fn a_question_that_is_left_to_rust_is_named_with_its_line_and_the_method_to_write() {
        let rust = rust("on_stop = { ask = { unanswered = \"shut\" } }", true);
        assert!(!rust.contains("impl Whole for"), "{rust}");
        for part in [
            "no `options` say what a person can answer in phase `open` (machine.toml:14)",
            "fn open_asks(&self, held: &Loop<Open>) -> Result<Option<Asked>, String>",
            "claudex_loop::main!(door, Own);",
        ] {
            assert!(rust.contains(part), "{part}\n{rust}");
        }
    }

    #[test]
    fn the_bare_library_gets_nothing_that_needs_clap() {
        let rust = rust("", false);
        assert!(
            !rust.contains("clap") && !rust.contains("rt::program"),
            "{rust}"
        );
    }
}
