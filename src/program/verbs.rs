//! The machine's verbs: whatever transitions its file opens to an agent or a person.

use clap::{ArgMatches, FromArgMatches as _, Subcommand as _};
use jiff::Timestamp;

use super::app::{App, Program};
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::extension::{LOOP, NotTaken, OwnVerb};
use super::settings::Settings;
use super::verb_args::LoopArgs;
use super::{attempts, command_line, incompatible, loops, messages, out, slash_arguments, start};
use crate::behaviours::ask::Answer;
use crate::behaviours::words;
use crate::machine::LoopHandle;
use crate::machine::{Actor, Refusal};
use crate::store::LoopId;
use crate::text;

/// Takes a verb, as the command line has it, or as it was typed after its slash command.
pub(super) fn verb<M: App>(program: &Program<M>, verb: M::Verb) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    let name = M::transition(&verb).replace('_', "-");
    let (verb, actor) = match M::parts(&verb).1.from_prompt {
        false => (verb, caller.actor(false)),
        true => {
            let typed = slash_arguments::taken(info, &name, &caller)?;
            (from_typed(program, &name, &typed)?, caller.actor(true))
        }
    };
    let (transition, loop_args) = M::parts(&verb);
    let named = loop_args.id.as_deref();
    let found = loops::find_called(info, named, &caller);
    let (store, id) =
        found.or_else(|failure| loops::find_to_look(info, named).map_err(|_| failure))?;
    let settings = settings::<M>(transition, &store)?;
    let opened = M::open(&store, &id, actor);
    if loops::can_be_given_up(&opened, M::TABLE, transition) {
        return loops::give_up(&store, &id);
    }
    let held = loops::opened::<M>(opened)?;
    if let Some(arguments) = program
        .extension
        .start_instead(&held, &verb)
        .filter(|_| actor == Actor::Person)
    {
        return start::start_with(program, arguments);
    }
    program.prepare(&held, &settings, actor);
    let now = take(program, verb, held, &settings)?;
    tell(program, &name, &now, &settings);
    Ok(Exit::Complete)
}

/// Runs a verb of the program's own.
pub(super) fn own<M: App>(
    program: &Program<M>,
    (name, own): (&str, &OwnVerb<M::Any>),
    given: &ArgMatches,
) -> Result<Exit, Failure> {
    let caller = Caller::from_env();
    let named = given.get_one::<String>(LOOP).map(String::as_str);
    let (store, id) = loops::find_called(program.info, named, &caller)?;
    let settings = settings::<M>(name, &store)?;
    let actor = caller.actor(false);
    let held = loops::opened::<M>(M::open(&store, &id, actor))?;
    program.prepare(&held, &settings, actor);
    let before = held.raw().record().revision();
    let now = taken(program, (name, actor), held, &settings, |held| {
        (own.run)(held, given)
    })?;
    // With `--json` the verb itself has said what it did.
    let is_json = matches!(given.try_get_one("json"), Ok(Some(&true)));
    if now.raw().record().revision() != before && !is_json {
        tell(program, name, &now, &settings);
    }
    Ok(Exit::Complete)
}

/// Says what a verb did, and what comes next.
pub(super) fn tell<M: App>(program: &Program<M>, name: &str, now: &M::Any, settings: &Settings) {
    let info = program.info;
    let raw = now.raw();
    let id = raw.id();
    let edge = raw.taken();
    let message = edge.and_then(|edge| edge.words(M::TABLE));
    let over = messages::phase(raw).terminal;
    if edge.is_none_or(|edge| edge.message.is_none()) || over {
        out::line(&format!(
            "Loop {id}: {name}, now in phase {}",
            messages::phase(raw).name
        ));
    }
    if over {
        out::line(&format!(
            "It is over. Its files stay in {}",
            text::shown(raw.store().folder())
        ));
        return;
    }
    let own = program.words(now, settings, Timestamp::now());
    match own.and_then(|own| words::render(raw, message, own).map_err(|error| error.to_string())) {
        Ok(Some(text)) if edge.is_some_and(|edge| edge.message.is_none()) => {
            out::text(&format!("\n{}\n", text.trim()));
        }
        Ok(Some(text)) => out::text(&format!("{}\n", text.trim())),
        Ok(None) => {}
        Err(problem) => out::note(&info.line(&problem)),
    }
}

/// Makes the verb of an answer. Its arguments are parsed as if they had been typed.
///
/// # Errors
/// The transition takes other arguments.
pub(super) fn of_answer<M: App>(answer: &Answer, id: &LoopId) -> Result<M::Verb, String> {
    let transition = answer.transition;
    if answer.arguments.is_empty()
        && let Some(verb) = M::plain(transition, LoopArgs::with_id(id.as_str()))
    {
        return Ok(verb);
    }
    let name = transition.replace('_', "-");
    let command =
        M::Verb::augment_subcommands(clap::Command::new(M::INFO.program).no_binary_name(true));
    let is_switch = |flag: &str| {
        let verb = command.find_subcommand(&name);
        let mut arguments = verb.into_iter().flat_map(clap::Command::get_arguments);
        arguments.any(|one| one.get_long() == Some(flag) && !one.get_action().takes_values())
    };
    let mut words = vec![name.clone()];
    for (argument, value) in &answer.arguments {
        let flag = argument.replace('_', "-");
        match (is_switch(&flag), value.as_str()) {
            (true, "true") => words.push(format!("--{flag}")),
            (true, "false") => {}
            _ => words.push(format!("--{flag}={value}")),
        }
    }
    words.extend(["--".to_owned(), id.to_string()]);
    let refused = |error: clap::Error| {
        let why = error.to_string();
        let why = why
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        format!("{name} cannot be taken: {}", text::one_line(why, 300))
    };
    let matches = command.try_get_matches_from(words).map_err(refused)?;
    M::Verb::from_arg_matches(&matches).map_err(refused)
}

/// Loads the settings for a verb: a slip in a file keeps nobody from giving a loop up, so what ends one takes the defaults.
fn settings<M: App>(transition: &str, store: &crate::store::Store) -> Result<Settings, Failure> {
    let info = M::INFO;
    match loops::settings(info, store.root(), None) {
        Err(_) if incompatible::ends_loops(M::TABLE, transition) => Ok(Settings::usual(info)),
        settings => settings,
    }
}

/// Parses what was typed after a verb's slash command as if it had been typed in a terminal.
fn from_typed<M: App>(program: &Program<M>, name: &str, typed: &str) -> Result<M::Verb, Failure> {
    let info = program.info;
    let mut command = command_line::command(program);
    let verb = command.find_subcommand(name).cloned().unwrap_or_default();
    let is_there = |id: &LoopId| {
        info.state.ids == crate::store::IdForm::Stamp
            || loops::find(info, Some(id.as_str())).is_ok()
    };
    let given = slash_arguments::of_verb(&verb, typed, is_there, info);
    let all = [info.program.to_owned(), name.to_owned()]
        .into_iter()
        .chain(given);
    let matches = command
        .try_get_matches_from_mut(all)
        .map_err(|error| Failure::usage(&error))?;
    M::Verb::from_arg_matches(&matches).map_err(|error| Failure::usage(&error))
}

/// Takes a verb's transition, and says why where it is refused.
pub(super) fn take<M: App>(
    program: &Program<M>,
    verb: M::Verb,
    held: M::Any,
    settings: &Settings,
) -> Result<M::Any, Failure> {
    let (name, actor) = (M::transition(&verb).replace('_', "-"), held.raw().actor());
    taken(program, (&name, actor), held, settings, |held| {
        program.run(verb, held)
    })
}

/// Has somebody change a loop, says why where that is refused, and does what follows where it is not.
fn taken<M: App>(
    program: &Program<M>,
    (name, actor): (&str, Actor),
    held: M::Any,
    settings: &Settings,
    change: impl FnOnce(M::Any) -> Result<M::Any, NotTaken<M::Any>>,
) -> Result<M::Any, Failure> {
    let info = program.info;
    let (store, id) = (held.raw().store().clone(), held.raw().id().clone());
    let now = change(held).map_err(|why| {
        let refused = match why {
            NotTaken::Refused(refused) => refused,
            NotTaken::Failed(failure) => {
                if failure.exit == Exit::Refused {
                    attempts::note(&store, &id, actor, name, &failure.to_string());
                }
                return failure;
            }
        };
        store.log(&format!("{id} {name} refused: {refused}"));
        attempts::refused(&store, &id, actor, name, &refused.refusal);
        let own = || program.extension.refusal_help(&refused.held, &name.replace('-', "_"));
        let help = match &*refused.refusal {
            Refusal::Actor { .. } if actor == Actor::Person => format!(
                "nothing was changed: only the agent takes it, from the client’s shell; tell it to run:\n    {} {name} {id}",
                info.program
            ),
            Refusal::Actor { .. } => format!(
                "nothing was changed; a person decides it:{}",
                info.command(&format!("{name} {id}"))
            ),
            _ => own().unwrap_or_else(|| messages::unchanged(refused.held.raw())),
        };
        Failure::plain(
            Exit::Refused,
            "claudex::verb",
            format!("loop {id}: {refused}"),
            &help,
        )
    })?;
    store.log(&format!(
        "{id} {name} by {actor}: now {}",
        messages::phase(now.raw()).name
    ));
    messages::clear(now.raw());
    program
        .extension
        .entered(&now, settings)
        .map_err(|problem| {
            Failure::plain(
                Exit::Internal,
                "claudex::verb::entered",
                format!("loop {id}: {name} was done, and what follows from it was not: {problem}"),
                &format!(
                    "make room or the folder writable, then:\n    {} resume {id}",
                    info.program
                ),
            )
        })?;
    Ok(now)
}
