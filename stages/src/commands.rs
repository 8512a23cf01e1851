//! The commands of the pipeline: `next` and `validate` change nothing, `report` and `recover` take the
//! result of a stage.

use camino::Utf8PathBuf;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use claudex_loop::program::exit::{Ended, Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Group, Program, incompatible, loop_flag, loops, out};
use claudex_loop::{Actor, files, text};

use crate::contract::Context;
use crate::instruction::Instruction;
use crate::state::Pipeline;
use crate::typestate::{AnyLoop, Phase};
use crate::{contract, digest, report, take_up};

/// The names of the arguments.
const FILE: &str = "file";
const JSON: &str = "json";
const ID: &str = "id";
const FOLDER: &str = "folder";

/// Returns the commands of the program's own.
pub(crate) fn all() -> Vec<Command> {
    let command = |name: &'static str, about: &'static str| Command::new(name).about(about);
    let id = Arg::new(ID).value_name("LOOP");
    let json = Arg::new(JSON).long("json").action(ArgAction::SetTrue);
    let file = Arg::new(FILE).value_name("FILE");
    let file = file.value_parser(value_parser!(Utf8PathBuf));
    let folder = Arg::new(FOLDER).value_name("FOLDER");
    vec![
        command("next", "Print the next instruction; changes nothing")
            .display_order(Group::Look.place())
            .arg(id.help("The pipeline [default: the active one]"))
            .arg(json.help("As JSON")),
        command(
            "validate",
            "Check summaries against the contract; changes nothing",
        )
        .display_order(Group::Look.place())
        .arg(file.clone().num_args(1..).required(true)),
        command(
            "report",
            "Take the summary of the open stage and print the next instruction",
        )
        .arg(file.help("The summary [default: that of the open stage]"))
        .arg(loop_flag()),
        command(
            "recover",
            "Take what a coordinator left that ended without a report",
        )
        .arg(loop_flag()),
        command(
            "orchestrator",
            "Print the instructions for the orchestrator",
        )
        .display_order(Group::SetUp.place()),
        command(
            "take-up",
            "Continue from a state document that another program wrote",
        )
        .display_order(Group::Person.place()),
        command(
            "demo",
            "Run the whole pipeline by a script, in a new folder: no model, no network",
        )
        .arg(
            folder
                .default_value("stages-demo")
                .help("The folder that is made; it stays, to look at"),
        ),
    ]
}

/// Runs a command of the program's own.
pub(crate) fn run(program: &Program, name: &str, arguments: &ArgMatches) -> Option<Ended> {
    let info = program.info;
    Some(match name {
        "next" => next(info, arguments),
        "validate" => validate(info, arguments),
        "report" => program.change(name, arguments, |held| {
            report::report(held, arguments.get_one(FILE))
        }),
        "recover" => program.change(name, arguments, report::recover),
        "orchestrator" => {
            out::text(include_str!("../messages/orchestrator.md"));
            Ok(Exit::Complete)
        }
        "take-up" => take_up::take_up(info),
        "demo" => demo(arguments),
        _ => return None,
    })
}

/// Runs `demo.sh`, which takes a pipeline to its end, in a new folder.
fn demo(matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = matches.get_one::<String>(FOLDER).cloned();
    let folder = folder.unwrap_or_default();
    let run = || {
        std::fs::create_dir(&folder)?;
        let mut script = std::process::Command::new("sh");
        script.args(["-c", include_str!("../demo.sh"), "demo.sh"]);
        script.current_dir(&folder);
        script.env("STAGES", std::env::current_exe()?).status()
    };
    let problem = match run() {
        Ok(status) if status.success() => return Ok(Exit::Complete),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    let message = format!("cannot run the demo in {}: {problem}", text::shown(&folder));
    let help = "name a folder that is not there yet:\n    stages demo FOLDER";
    Err(Failure::plain(Exit::Usage, message, help))
}

fn next(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let id = matches.get_one::<String>(ID).map(String::as_str);
    let (store, id) = loops::find_to_look(info, id)?;
    let held = AnyLoop::open(&store.to_look(), &id, Actor::Person)
        .map_err(|error| incompatible::failure(info, error))?;
    // The digest may have been lost.
    digest::write(Pipeline(held.raw())).map_err(|error| {
        let message = format!("pipeline {id}: cannot write the digest of earlier rounds: {error}");
        let help = "make room or the folder writable, then:\n    stages next";
        Failure::plain(Exit::Internal, message, help)
    })?;
    let instruction = Instruction::current(&held).map_err(|problem| {
        let message = format!("pipeline {id} has no instruction: {problem}");
        let help = "tell the user, and end your turn";
        Failure::plain(Exit::Refused, message, help)
    })?;
    if matches.get_flag(JSON) {
        out::json(&instruction.json);
    } else {
        out::text(&instruction.text);
    }
    Ok(Exit::Complete)
}

fn validate(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let active = loops::find_to_look(info, None).ok();
    let root = match &active {
        Some((store, _)) => store.root().to_owned(),
        None => loops::here()?,
    };
    let held =
        active.and_then(|(store, id)| AnyLoop::open(&store.to_look(), &id, Actor::Person).ok());
    let held = held.filter(|held| held.phase() == Phase::Dispatched);
    let open = held.as_ref().map(|held| Pipeline(held.raw()));
    let mut exit = Exit::Complete;
    for path in matches.get_many::<Utf8PathBuf>(FILE).into_iter().flatten() {
        let name = text::shown(path);
        let open = open.filter(|pipeline| pipeline.is_summary(path));
        let dispatch = open.map(Pipeline::dispatch);
        let context = Context {
            project: Some(&root),
            dispatch: dispatch.as_ref(),
        };
        let bytes = match files::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                out::line(&format!("{name}: {error}; name the file of a summary"));
                exit = Exit::Refused;
                continue;
            }
        };
        let reading = contract::read(&bytes, &context);
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
