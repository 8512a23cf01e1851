//! The commands of the pipeline: `next` and `validate` change nothing, `report` and `recover` take the
//! result of a stage.

use camino::Utf8PathBuf;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Group, Program, incompatible, loops, out};
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

pub(crate) fn add(program: Program) -> Program {
    fn command(name: &'static str, group: Group, about: &'static str) -> Command {
        Command::new(name).about(about).display_order(group.place())
    }
    fn path(id: &'static str, name: &'static str) -> Arg {
        let path = Arg::new(id).value_name(name);
        path.value_parser(value_parser!(Utf8PathBuf))
    }
    let next_command = || {
        let about = "Print the next instruction; changes nothing";
        let id = Arg::new(ID).value_name("LOOP");
        let id = id.help("The pipeline [default: the active one]");
        let json = Arg::new(JSON).long("json").action(ArgAction::SetTrue);
        let json = json.help("As JSON");
        command("next", Group::Look, about).arg(id).arg(json)
    };
    let validate_command = || {
        let about = "Check summaries against the contract; changes nothing";
        let files = path(FILE, "FILE").num_args(1..).required(true);
        command("validate", Group::Look, about).arg(files)
    };
    let report_command = || {
        let about = "Take the summary of the open stage and print the next instruction";
        let file = path(FILE, "FILE").help("The summary [default: that of the open stage]");
        Command::new("report").about(about).arg(file)
    };
    let recover_command = || {
        let about = "Take what a coordinator left that ended without a report";
        Command::new("recover").about(about)
    };
    let orchestrator_command = || {
        let about = "Print the instructions for the orchestrator";
        command("orchestrator", Group::SetUp, about)
    };
    let take_up_command = || {
        let about = "Continue from a state document that another program wrote";
        command("take-up", Group::Person, about)
    };
    let demo_command = || {
        let about = "Run the whole pipeline by a script, in a new folder: no model, no network";
        let folder = path(FOLDER, "FOLDER").default_value("stages-demo");
        let folder = folder.help("The folder that is made; it stays, to look at");
        Command::new("demo").about(about).arg(folder)
    };
    program
        .command(demo_command, demo)
        .takes_up("take-up")
        .command(take_up_command, take_up::take_up)
        .command(orchestrator_command, |_, _| {
            out::text(include_str!("../messages/orchestrator.md"));
            Ok(Exit::Complete)
        })
        .command(next_command, next)
        .command(validate_command, validate)
        .verb(report_command, |held, matches| {
            report::report(held, matches.get_one(FILE))
        })
        .verb(recover_command, |held, _| report::recover(held))
}

/// Runs `demo.sh`, which takes a pipeline to its end, in a new folder.
fn demo(_: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = matches.get_one::<Utf8PathBuf>(FOLDER).cloned();
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
