//! The commands of the pipeline: `next` and `validate` change nothing, `report` and `recover` take the result of a stage.

use camino::Utf8PathBuf;
use clap::{ArgMatches, Command, arg, value_parser};
use claudex_loop::program::exit::{Ended, Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Group, Program, incompatible, loop_flag, loops, out};
use claudex_loop::{Actor, files, text};

use crate::instruction::Instruction;
use crate::state::Pipeline;
use crate::typestate::{AnyLoop, Phase};
use crate::{contract, digest, report, take_up};

/// Returns the commands of the program's own.
pub(crate) fn all() -> Vec<Command> {
    fn look(name: &'static str, about: &'static str) -> Command {
        let place = Group::Look.place();
        Command::new(name).about(about).display_order(place)
    }
    let path = || value_parser!(Utf8PathBuf);
    let file = arg!([FILE] "The summary [default: that of the open stage]");
    vec![
        look("next", "Print the next instruction; changes nothing")
            .arg(arg!([LOOP] "The pipeline [default: the active one]"))
            .arg(arg!(--json "As JSON")),
        look(
            "validate",
            "Check summaries against the contract; changes nothing",
        )
        .arg(arg!(<FILE>...).value_parser(path())),
        Command::new("report")
            .about("Take the summary of the open stage and print the next instruction")
            .arg(file.value_parser(path()))
            .arg(loop_flag()),
        Command::new("recover")
            .about("Take what a coordinator left that ended without a report")
            .arg(loop_flag()),
        Command::new("orchestrator")
            .about("Print the instructions for the orchestrator")
            .display_order(Group::SetUp.place()),
        Command::new("take-up")
            .about("Continue from a state document that another program wrote")
            .display_order(Group::Person.place()),
    ]
}

/// Runs a command of the program's own.
pub(crate) fn run(program: &Program, name: &str, arguments: &ArgMatches) -> Option<Ended> {
    let info = program.info;
    Some(match name {
        "next" => next(info, arguments),
        "validate" => validate(info, arguments),
        "report" => program.change(name, arguments, |held| {
            report::report(held, arguments.get_one("FILE"))
        }),
        "recover" => program.change(name, arguments, report::recover),
        "orchestrator" => {
            out::text(include_str!("../messages/orchestrator.md"));
            Ok(Exit::Complete)
        }
        "take-up" => take_up::take_up(info),
        _ => return None,
    })
}

fn next(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let id = matches.get_one::<String>("LOOP").map(String::as_str);
    let (store, id) = loops::find_to_look(info, id)?;
    let held = AnyLoop::open(&store.to_look(), &id, Actor::Person)
        .map_err(|error| incompatible::failure(info, error))?;
    // The digest may have been lost.
    digest::write(Pipeline(held.raw())).map_err(|error| {
        let message = format!("pipeline {id}: cannot write the digest of earlier rounds: {error}");
        let help = "make room or the folder writable, then:\n    stages next";
        Failure::with_help(Exit::Internal, message, help)
    })?;
    let instruction = Instruction::current(&held).map_err(|problem| {
        let message = format!("pipeline {id} has no instruction: {problem}");
        let help = "tell the user, and end your turn";
        Failure::with_help(Exit::Refused, message, help)
    })?;
    if matches.get_flag("json") {
        out::json(&instruction.json);
    } else {
        out::text(&instruction.text);
    }
    Ok(Exit::Complete)
}

fn validate(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let held = loops::find_to_look(info, None)
        .ok()
        .and_then(|(store, id)| AnyLoop::open(&store.to_look(), &id, Actor::Person).ok());
    let root = match &held {
        Some(held) => held.raw().root(),
        None => loops::here()?,
    };
    let open = held.filter(|held| held.phase() == Phase::Dispatched);
    let mut exit = Exit::Complete;
    let paths = matches.get_many::<Utf8PathBuf>("FILE");
    for path in paths.into_iter().flatten() {
        let name = text::shown(path);
        let bytes = match files::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                out::line(&format!("{name}: {error}; name the file of a summary"));
                exit = Exit::Refused;
                continue;
            }
        };
        let pipeline = open.as_ref().map(|held| Pipeline(held.raw()));
        let dispatch = pipeline
            .filter(|pipeline| pipeline.is_summary(path))
            .map(Pipeline::dispatch);
        let reading = contract::read(&bytes, Some(&root), dispatch.as_ref());
        for finding in &reading.findings {
            out::line(&format!("{name}:{}", finding.line()));
        }
        if reading.findings.is_empty() {
            out::line(&format!("{name}: valid"));
        }
        if !reading.is_valid() {
            exit = Exit::Refused;
        }
    }
    Ok(exit)
}
