//! The machine's verbs: the transitions that an agent or the user may take.

use std::collections::HashSet;

use super::app::{HeldLoop, Program, REJECTING, Verb, into_typed, into_untyped};
use super::arguments::{self, LoopArgs};
use super::caller::{self, Caller};
use super::exit::{CommandResult, Exit, Failure};
use super::extension::Variables;
use super::settings::Settings;
use super::{attempts, loops, next_action, open_error, out, start};
use crate::behaviours::ask::Answer;
use crate::machine::table::FieldKind;
use crate::machine::{Actor, EdgeAt, EdgeInfo, LoopHandle, Refusal, Refused, Requirement, Table};
use crate::text;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args as _};
use miette::Diagnostic as _;

/// The changed loop, or the refused transition with the loop. After a failure nothing has changed.
pub type ChangeResult<A> = Result<Result<A, Refused<A>>, Failure>;

/// Returns the first edge of each verb on the command line. `resume` is a common command.
pub(super) fn on_command_line(table: &'static Table) -> impl Iterator<Item = EdgeAt> {
    let mut seen = HashSet::new();
    table.edges().filter(move |edge| {
        edge.is_verb() && edge.transition != "resume" && seen.insert(edge.transition)
    })
}

pub(super) fn find(table: &'static Table, name: &str) -> Option<EdgeAt> {
    on_command_line(table).find(|edge| arguments::long(edge.transition) == name)
}

pub(super) fn command(edge: &EdgeInfo) -> clap::Command {
    let rejecting = Arg::new(REJECTING)
        .long(REJECTING)
        .value_name("WHY")
        .allow_hyphen_values(true)
        .help("Why findings that are still open are rejected; the summary shows it");
    let settles = edge.requires == Some(Requirement::Settled);
    let flags = edge.args.iter().map(|argument| {
        let is_flag = matches!(argument.kind, FieldKind::Flag);
        let flag = arguments::flag(argument.name, argument.doc, argument.kind);
        if is_flag && !argument.optional {
            flag.default_value("false").hide_default_value(true)
        } else {
            flag.required(!argument.optional)
        }
    });
    LoopArgs::augment_args(clap::Command::new(arguments::long(edge.transition)))
        .about(edge.doc.trim_end_matches('.').to_owned())
        .long_about(None)
        .args(settles.then_some(rejecting))
        .args(flags)
}

/// Parses the verb of a transition, as if it had been typed with these flags.
pub(super) fn parse(
    table: &'static Table,
    transition: &str,
    flags: Vec<String>,
) -> clap::error::Result<Verb> {
    let mut edges = table.edges().filter(|edge| !edge.by.is_empty());
    let edge = edges
        .find(|edge| edge.transition == transition)
        .ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))?;
    let command = command(&edge).no_binary_name(true);
    Ok(Verb::new(&edge, &command.try_get_matches_from(flags)?))
}

pub(super) fn run(program: &Program, edge: &EdgeInfo, matches: &ArgMatches) -> CommandResult {
    let info = program.info;
    let actor = Caller::from_env().actor();
    let verb = Verb::new(edge, matches);
    let name = arguments::long(verb.transition);
    if edge.by == [Actor::Person] {
        loops::check_person(info, &name, verb.id.as_deref())?;
    }
    let (store, id) = loops::find_or_newest(info, verb.id.as_deref())?;
    // A verb that ends loops always works, also with wrong settings or a wrong loop.
    let ends = open_error::ends_anywhere(info.table, verb.transition);
    let settings = match loops::settings(info, store.root(), None) {
        Err(_) if ends => Settings::defaults(info),
        settings => settings?,
    };
    let opened = program.app.open(&store, &id, actor);
    // This version of the machine cannot open the loop.
    if ends && matches!(opened, Err(Refusal::Loop { .. })) {
        store.archive(&id).map_err(Failure::refusal)?;
        let archive = format!("{}/archive/{id}", text::printable(store.folder()));
        let line = format!("Loop {id} was cancelled; its files were moved to {archive}");
        out::line(&line);
        return Ok(Exit::Complete);
    }
    let held = opened.map_err(|error| open_error::failure(info, error))?;
    loops::check_opened(info, held.raw(), actor)?;
    let start = program.extension.start_instead(&*held, &verb);
    if let Some(arguments) = start.filter(|_| actor == Actor::Person) {
        return start::start_with(program, arguments);
    }
    program.prepare(&*held, &settings, actor);
    let now = take(program, verb, held)?;
    print_result(program, &name, &*now);
    Ok(Exit::Complete)
}

/// Refuses a command inside a reviewer or drafter, whose environment would pass for the user's, and
/// where a review would wait for itself.
pub(super) fn check_outside_reviewer(command: &str) -> Result<(), Failure> {
    if !caller::is_in_reviewer() {
        return Ok(());
    }
    let problem = format!("a reviewer or drafter may not run ‘{command}’, which changes loops");
    Err(Failure::refuse(
        problem,
        "run status, list or journal instead",
    ))
}

impl Program {
    /// Changes the given ([`loop_flag`](super::loop_flag)) or active loop. Prints the next step.
    ///
    /// # Errors
    /// Returns an error if the loop is not found or `run` fails.
    pub fn change<A: LoopHandle>(
        &self,
        name: &str,
        arguments: &ArgMatches,
        run: impl FnOnce(A) -> ChangeResult<A>,
    ) -> CommandResult {
        check_outside_reviewer(name)?;
        loops::check_folders(self.info)?;
        let named = arguments.get_one::<String>("id").map(String::as_str);
        let held = into_typed::<A>(loops::open_found(self, named)?);
        let before = held.raw().record().revision;
        let now = self.change_held(name, held, run)?;
        if now.raw().record().revision != before {
            print_result(self, name, &now);
        }
        Ok(Exit::Complete)
    }

    /// Changes an opened loop, and does the work of the phase that it has entered.
    ///
    /// # Errors
    /// Returns an error if `run` fails or is refused, or if the work fails. The change then stays.
    pub fn change_held<A: LoopHandle>(
        &self,
        name: &str,
        held: A,
        run: impl FnOnce(A) -> ChangeResult<A>,
    ) -> Result<A, Failure> {
        let now = change(self, name, into_untyped(held), |held| {
            let taken = run(into_typed(held))?;
            Ok(taken
                .map(into_untyped)
                .map_err(|refused| refused.map(into_untyped)))
        })?;
        Ok(into_typed(now))
    }
}

pub(super) fn print_result(program: &Program, name: &str, now: &dyn LoopHandle) {
    let raw = now.raw();
    let id = raw.id();
    let edge = raw.last_edge();
    let phase = raw.phase_info();
    let has_own_message = edge.is_some_and(|edge| edge.message.is_some());
    if !has_own_message || phase.terminal {
        out::line(&format!("Loop {id}: {name}, now in phase {}", phase.name));
    }
    if phase.terminal {
        let state = text::escape_hidden(raw.store().path_of(id));
        return out::line(&format!("It is over. Its state is kept: {state}"));
    }
    let message = edge.and_then(|edge| edge.effective_message(raw.table()));
    program.print(now, message, Variables::new(), has_own_message);
}

/// Takes the transition of an answer. Its arguments are parsed as if they had been typed.
pub(super) fn take_answer(
    program: &Program,
    answer: &Answer,
    held: HeldLoop,
) -> Result<HeldLoop, Failure> {
    let raw = held.raw();
    let arguments = answer.arguments.iter();
    let flags = arguments.map(|(name, value)| format!("--{}={value}", arguments::long(name)));
    let verb = parse(raw.table(), answer.transition, flags.collect()).map_err(|error| {
        let why = text::one_line(&Failure::from(error).to_string(), 300);
        let transition = answer.transition;
        let problem = format!("{transition} cannot be taken: {why}");
        Failure::refuse(problem, &next_action::unchanged(raw))
    })?;
    take(program, verb, held)
}

pub(super) fn take(program: &Program, verb: Verb, held: HeldLoop) -> Result<HeldLoop, Failure> {
    let name = arguments::long(verb.transition);
    change(program, &name, held, |mut held| {
        program.extension.before_take(&mut *held, &verb)?;
        Ok(program.app.take(verb, held))
    })
}

/// Changes a loop by a verb, and does the work of the next phase.
fn change(
    program: &Program,
    name: &str,
    held: HeldLoop,
    take: impl FnOnce(HeldLoop) -> ChangeResult<HeldLoop>,
) -> Result<HeldLoop, Failure> {
    let store = held.raw().store().clone();
    let id = held.raw().id().clone();
    let actor = held.raw().actor();
    let taken = take(held).inspect_err(|failure| {
        if failure.exit == Exit::Refused {
            attempts::note(&store, &id, actor, name, &failure.to_string());
        }
    });
    let now = taken?.map_err(|refused| {
        store.log(&format!("{id} {name} refused: {refused}"));
        attempts::note_refusal(&store, &id, actor, name, &refused.refusal);
        refusal(program, name, &refused)
    })?;
    let phase = now.raw().phase_info().name;
    store.log(&format!("{id} {name} by {actor}: now {phase}"));
    let Err(error) = program.enter(&*now) else {
        return Ok(now);
    };
    let program = program.info.program;
    let problem =
        format!("loop {id} is in phase {phase} after {name}, but its work failed: {error}");
    let help =
        format!("free disk space or make the folder writable, then:\n    {program} resume {id}");
    Err(Failure::with_help(Exit::Internal, problem, &help))
}

fn refusal(program: &Program, name: &str, refused: &Refused<HeldLoop>) -> Failure {
    let raw = refused.held.raw();
    let id = raw.id();
    let transition = name.replace('-', "_");
    let problem = match &*refused.refusal {
        Refusal::Undeclared { phase, .. } => format!("cannot run ‘{name}’ in phase {phase}"),
        refusal => attempts::describe(name, refusal),
    };
    let of_fault = refused.refusal.help().map(|help| help.to_string());
    let own = || program.extension.refusal_help(&*refused.held, &transition);
    let usual = || match &*refused.refusal {
        // It says what is missing.
        Refusal::Evidence { .. } => "nothing was changed".to_owned(),
        _ => next_action::unchanged(raw),
    };
    let help = of_fault.or_else(own).unwrap_or_else(usual);
    Failure::refuse(format!("loop {id}: {problem}"), &help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::table::ArgumentInfo;

    #[test]
    fn typed_words_become_arguments_or_a_refusal() {
        let declared = [
            ("why", FieldKind::Text, false),
            ("file", FieldKind::Path, true),
            ("most", FieldKind::Count, true),
            ("quick", FieldKind::Flag, false),
            ("back_to", FieldKind::OneOf(&["a", "b"]), true),
        ];
        let args = declared.map(|(name, kind, optional)| ArgumentInfo {
            name,
            doc: "",
            kind,
            optional,
        });
        let edge = EdgeInfo {
            transition: "drop",
            args: Box::leak(Box::new(args)),
            ..*crate::plan::INFO.table.edges().next().unwrap().edge
        };
        let parsed = |words: &str| {
            let command = command(&edge).no_binary_name(true);
            let matches = command.try_get_matches_from(words.split(' '));
            matches.map(|matches| {
                Verb::new(&edge, &matches)
                    .typed::<serde_json::Value>()
                    .to_string()
            })
        };
        let found = [
            "--why x,\"] --file -a/b --most 3 --quick --back-to b",
            "--why -x --quick=false L",
            "--why w --most -1",
            "--why w --quick=maybe",
            "--why w --back-to c",
            "--quick",
        ]
        .map(|words| {
            let found = parsed(words).map_err(|error| error.to_string());
            let text = found.unwrap_or_else(|error| error);
            text.lines().next().unwrap().to_owned()
        });
        insta::assert_snapshot!(found.join("\n"), @r#"
        {"drop":{"why":"x,\"]","file":"-a/b","most":3,"quick":true,"back_to":"b"}}
        {"drop":{"why":"-x","file":null,"most":null,"quick":false,"back_to":null}}
        error: invalid value '-1' for '--most <N>': invalid digit found in string
        error: invalid value 'maybe' for '--quick[=<true|false>]'
        error: invalid value 'c' for '--back-to <BACK-TO>'
        error: the following required arguments were not provided:
        "#);
    }
}
