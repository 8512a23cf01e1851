//! The machine's verbs: the transitions that an agent or the user may take.

use clap::ArgMatches;

use super::app::{HeldLoop, ParsedVerb};
use super::arguments::LOOP;
use super::builder::Program;
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::extension::{NotTaken, OwnVerb, Variables};
use super::info::ProgramInfo;
use super::settings::Settings;
use super::{attempts, command_line, incompatible, loops, messages, out, slash_arguments, start};
use crate::behaviours::ask::Answer;
use crate::behaviours::loop_message;
use crate::machine::held::OpenError;
use crate::machine::{Actor, LoopHandle, Refusal, Refused};
use crate::store::{LoopId, Store};
use crate::text;

/// Takes a verb, as the command line has it, or as it was typed after its slash command.
pub(super) fn verb(program: &Program, verb: ParsedVerb) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    let name = verb.name();
    let (verb, actor) = if verb.loop_args.from_prompt {
        let typed = slash_arguments::taken(info, &name, &caller)?;
        (from_typed(program, &name, &typed)?, caller.actor(true))
    } else {
        (verb, caller.actor(false))
    };
    let named = verb.loop_args.id.as_deref();
    let (store, id) = loops::find_to_look(info, named)?;
    let settings = settings(info, verb.transition, &store)?;
    let opened = program.app.open(&store, &id, actor);
    if let Err(OpenError::Phase { .. } | OpenError::Field { .. }) = opened
        && incompatible::ends_anywhere(info.table, verb.transition)
    {
        return give_up(&store, &id);
    }
    let held = loops::check_open(info, opened)?;
    if let Some(arguments) = program
        .extension
        .start_instead(&*held, &verb)
        .filter(|_| actor == Actor::Person)
    {
        return start::start_with(program, arguments);
    }
    program.prepare(&*held, &settings, actor);
    let now = take(program, verb, held, &settings)?;
    tell(program, &name, &*now, &settings);
    Ok(Exit::Complete)
}

/// Archives a loop that this version of the machine cannot open.
fn give_up(store: &Store, id: &LoopId) -> Result<Exit, Failure> {
    store
        .archive(id)
        .map_err(|error| Failure::new(Exit::Refused, error))?;
    out::line(&format!(
        "Loop {id} was given up; its files were moved to {}/archive/{id}",
        text::shown(store.folder())
    ));
    Ok(Exit::Complete)
}

/// Runs the program's own verb.
pub(super) fn own(
    program: &Program,
    (name, own): (&str, &OwnVerb),
    given: &ArgMatches,
) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    let named = given.get_one::<String>(LOOP).map(String::as_str);
    let (store, id) = loops::find(info, named)?;
    let settings = settings(info, name, &store)?;
    let actor = caller.actor(false);
    let held = loops::open(program, &store, &id, actor)?;
    program.prepare(&*held, &settings, actor);
    let before = held.raw().record().revision();
    let run = |held| (own.run)(held, given);
    let now =
        change(program, name, held, &settings, run).map_err(|why| failure(program, name, why))?;
    // With `--json` the verb itself has printed its result.
    let is_json = matches!(given.try_get_one("json"), Ok(Some(&true)));
    if now.raw().record().revision() != before && !is_json {
        tell(program, name, &*now, &settings);
    }
    Ok(Exit::Complete)
}

/// Prints the result of a verb, and the next step.
pub(super) fn tell(program: &Program, name: &str, now: &dyn LoopHandle, settings: &Settings) {
    let raw = now.raw();
    let id = raw.id();
    let edge = raw.taken();
    let phase = messages::phase(raw);
    let has_own_message = edge.is_some_and(|edge| edge.message.is_some());
    if !has_own_message || phase.terminal {
        out::line(&format!("Loop {id}: {name}, now in phase {}", phase.name));
    }
    if phase.terminal {
        out::line(&format!(
            "It is over. Its files stay in {}",
            text::shown(raw.store().folder())
        ));
        return;
    }
    let message = edge.and_then(|edge| edge.words(raw.table()));
    match program.render(now, message, settings, Variables::new()) {
        Ok(Some(text)) => {
            let gap = if has_own_message { "" } else { "\n" };
            out::text(&format!("{gap}{}\n", text.trim()));
        }
        Ok(None) => {}
        Err(problem) => out::note(&program.info.line(&problem)),
    }
}

/// Makes the verb of an answer. Its arguments are parsed as if they had been typed.
pub(super) fn of_answer(
    program: &Program,
    answer: &Answer,
    id: &LoopId,
) -> Result<ParsedVerb, String> {
    let transition = answer.transition;
    if answer.arguments.is_empty()
        && let Some(verb) = program.app.plain(transition, id)
    {
        return Ok(verb);
    }
    let name = transition.replace('_', "-");
    let command = clap::Command::new(program.info.program).no_binary_name(true);
    let command = program.app.add_verbs(command);
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
    program.app.parse(&matches).map_err(refused)
}

/// Loads the settings for a verb. A verb that ends loops takes the defaults if a file is wrong, so that it always works.
fn settings(
    info: &'static ProgramInfo,
    transition: &str,
    store: &Store,
) -> Result<Settings, Failure> {
    match loops::settings(info, store.root(), None) {
        Err(_) if incompatible::ends_anywhere(info.table, transition) => Ok(Settings::usual(info)),
        settings => settings,
    }
}

/// Parses the text typed after a verb's slash command as if it had been typed in a terminal.
fn from_typed(program: &Program, name: &str, typed: &str) -> Result<ParsedVerb, Failure> {
    let info = program.info;
    let mut command = command_line::command(program);
    let verb = command.find_subcommand(name).cloned().unwrap_or_default();
    let is_there = |id: &LoopId| {
        info.state.ids == crate::store::IdForm::Stamp
            || loops::find(info, Some(id.as_str())).is_ok()
    };
    let arguments = slash_arguments::of_verb(&verb, typed, is_there, info);
    let all = [info.program.to_owned(), name.to_owned()]
        .into_iter()
        .chain(arguments);
    let matches = command
        .try_get_matches_from_mut(all)
        .map_err(|error| Failure::usage(&error))?;
    let parsed = program.app.parse(&matches);
    parsed.map_err(|error| Failure::usage(&error))
}

/// Takes a verb's transition.
pub(super) fn take(
    program: &Program,
    verb: ParsedVerb,
    held: HeldLoop,
    settings: &Settings,
) -> Result<HeldLoop, Failure> {
    let name = verb.name();
    try_take(program, verb, held, settings).map_err(|why| failure(program, &name, why))
}

/// Takes a verb's transition, and hands the loop back if it is refused.
pub(super) fn try_take(
    program: &Program,
    verb: ParsedVerb,
    held: HeldLoop,
    settings: &Settings,
) -> Result<HeldLoop, NotTaken<HeldLoop>> {
    let name = verb.name();
    let take = |mut held: HeldLoop| {
        program.extension.before_take(&mut *held, &verb)?;
        Ok(program.app.take(verb, held)?)
    };
    change(program, &name, held, settings, take)
}

/// Changes a loop by a verb, and does the work of the phase after it.
fn change(
    program: &Program,
    name: &str,
    held: HeldLoop,
    settings: &Settings,
    take: impl FnOnce(HeldLoop) -> Result<HeldLoop, NotTaken<HeldLoop>>,
) -> Result<HeldLoop, NotTaken<HeldLoop>> {
    let store = held.raw().store().clone();
    let id = held.raw().id().clone();
    let actor = held.raw().actor();
    let now = take(held).inspect_err(|why| match why {
        NotTaken::Refused(refused) => {
            store.log(&format!("{id} {name} refused: {refused}"));
            attempts::note_refusal(&store, &id, actor, name, &refused.refusal);
        }
        NotTaken::Failed(failure) if failure.exit == Exit::Refused => {
            attempts::note(&store, &id, actor, name, &failure.to_string());
        }
        NotTaken::Failed(_) => {}
    })?;
    let phase = messages::phase(now.raw()).name;
    store.log(&format!("{id} {name} by {actor}: now {phase}"));
    messages::clear(now.raw());
    program
        .extension
        .entered(&*now, settings)
        .map_err(|error| {
            let resume = text::command_lines(&[format!("{} resume {id}", program.info.program)]);
            Failure::plain(
                Exit::Internal,
                format!("loop {id} is in phase {phase} after {name}, but its work failed: {error}"),
                &format!("free disk space or make the folder writable, then:{resume}"),
            )
        })?;
    Ok(now)
}

/// Returns the error of a verb that changed nothing, with the next step.
fn failure(program: &Program, name: &str, why: NotTaken<HeldLoop>) -> Failure {
    match why {
        NotTaken::Refused(refused) => refusal(program, name, &refused),
        NotTaken::Failed(failure) => failure,
    }
}

/// Returns the error of a refused transition, with the next step.
fn refusal(program: &Program, name: &str, refused: &Refused<HeldLoop>) -> Failure {
    let info = program.info;
    let raw = refused.held.raw();
    let id = raw.id();
    let transition = name.replace('-', "_");
    let edge = info.table.edges_at(&transition, raw.phase()).next();
    let call = edge.map_or_else(
        || format!("{name} {id}"),
        |edge| loop_message::call(id.as_str(), &edge),
    );
    let own = || program.extension.refusal_help(&*refused.held, &transition);
    let (message, help) = match &*refused.refusal {
        Refusal::Actor { .. } if raw.actor() == Actor::Person => (
            format!("loop {id}: only the agent may run ‘{name}’"),
            format!(
                "nothing was changed; tell the agent to run:{}",
                text::command_lines(&[format!("{} {call}", info.program)])
            ),
        ),
        Refusal::Actor { .. } => (
            format!("loop {id}: an agent may not run ‘{name}’"),
            format!(
                "nothing was changed; ask the user to:{}",
                info.command(&call)
            ),
        ),
        Refusal::Undeclared { phase, .. } => (
            format!("loop {id}: cannot {name} in phase {phase}"),
            own().unwrap_or_else(|| messages::unchanged(raw)),
        ),
        _ => (
            format!("loop {id}: {refused}"),
            own().unwrap_or_else(|| messages::unchanged(raw)),
        ),
    };
    Failure::plain(Exit::Refused, message, &help)
}
