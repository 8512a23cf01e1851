//! Adds what the agent calls and people type, besides what every machine has: `next` and `validate` move nothing, `report` and `recover` take
//! what a coordinator wrote.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Group, NotTaken, Program, incompatible, loops, out};
use claudex_loop::{Actor, text};
use serde::Serialize;

use crate::contract::Outcome;
use crate::instruction::Instruction;
use crate::state::Pipeline;
use crate::typestate::{AnyLoop, Phase, Stages};
use crate::{contract, demo, notes, report, take_up};

/// Names the arguments.
const FILE: &str = "file";
const JSON: &str = "json";
const ID: &str = "id";

/// Adds the commands to the program.
pub(crate) fn add(program: Program<Stages>) -> Program<Stages> {
    let json = || {
        Arg::new(JSON)
            .long("json")
            .action(ArgAction::SetTrue)
            .help("As JSON")
    };
    let file = || {
        Arg::new(FILE)
            .value_name("FILE")
            .value_parser(value_parser!(Utf8PathBuf))
    };
    let next_command = move || {
        Command::new("next")
            .about("Say the one thing that is to be done now; it moves nothing")
            .display_order(Group::Look.place())
            .arg(
                Arg::new(ID)
                    .value_name("LOOP")
                    .help("The pipeline; else the active one"),
            )
            .arg(json())
    };
    let validate_command = move || {
        Command::new("validate")
            .about("Check summaries against the contract, strictly; it moves nothing")
            .display_order(Group::Look.place())
            .arg(file().num_args(1..).required(true))
            .arg(json())
    };
    let report_command = move || {
        Command::new("report")
            .about("Take the summary that a coordinator wrote, and go on with what it says")
            .arg(file().help("The summary; else that of the stage under way"))
            .arg(json())
    };
    let recover_command = || {
        Command::new("recover")
            .about("Take what a coordinator left that has ended without a report")
    };
    let orchestrator = || {
        Command::new("orchestrator")
            .about("Print what the commands of the plugin go by")
            .display_order(Group::SetUp.place())
    };
    let take_up_command = || {
        Command::new("take-up")
            .about("Take up a state document that another program wrote")
            .display_order(Group::Person.place())
    };
    program
        .command(demo::command, demo::demo)
        .takes_up("take-up")
        .command(take_up_command, take_up::take_up)
        .command(orchestrator, |_, _| {
            out::text(include_str!("../messages/orchestrator.md"));
            Ok(Exit::Complete)
        })
        .command(next_command, next)
        .command(validate_command, validate)
        .verb(report_command, taken)
        .verb(recover_command, |held, _| report::recover(held))
}

fn next(info: &'static ProgramInfo, given: &ArgMatches) -> Result<Exit, Failure> {
    let (store, id) = loops::find_to_look(info, given.get_one::<String>(ID).map(String::as_str))?;
    let held = AnyLoop::open(&store.to_look(), &id, Actor::Person)
        .map_err(|error| incompatible::failure(info, error))?;
    // What a coordinator is pointed to may have been lost.
    notes::write(Pipeline(held.raw()), held.phase().is_terminal()).map_err(|error| {
        let message =
            format!("pipeline {id}: what lies beside the summaries cannot be written: {error}");
        let help = "make room or the folder writable, then:\n    stages next";
        Failure::plain(Exit::Internal, "claudex::next::notes", message, help)
    })?;
    let instruction = Instruction::of(&held).map_err(|problem| {
        let message = format!("pipeline {id} has no instruction: {problem}");
        Failure::plain(
            Exit::Refused,
            "claudex::next",
            message,
            "tell the person, and end your turn",
        )
    })?;
    match given.get_flag(JSON) {
        true => out::json(&instruction),
        false => out::text(&instruction.text()),
    }
    Ok(Exit::Complete)
}

fn validate(info: &'static ProgramInfo, given: &ArgMatches) -> Result<Exit, Failure> {
    let here = loops::here()?;
    let root = match loops::find_to_look(info, None) {
        Ok((store, _)) => store.root().to_owned(),
        Err(_) => here,
    };
    let files: Vec<Utf8PathBuf> = given
        .get_many(FILE)
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let checked = contract::validate(&files, &root);
    let exit = match checked.iter().all(|one| one.valid) {
        true => Exit::Complete,
        false => Exit::Refused,
    };
    if given.get_flag(JSON) {
        out::json(&checked);
        return Ok(exit);
    }
    for one in checked {
        one.lines().iter().for_each(|line| out::line(line));
    }
    Ok(exit)
}

fn taken(held: AnyLoop, given: &ArgMatches) -> Result<AnyLoop, NotTaken<AnyLoop>> {
    let pipeline = Pipeline(held.raw());
    let expected = Pipeline::summary_file(pipeline.stage());
    let path = match given.get_one::<Utf8PathBuf>(FILE) {
        Some(path) => inside(&pipeline.0.root(), path)?,
        None => expected.clone(),
    };
    let Some(bytes) = pipeline.file(&path) else {
        return Err(not_read(&path, "it is not there, or is no file of the project’s").into());
    };
    let reading = report::reading(pipeline, &bytes);
    // One that names no stage would be taken for that of the stage under way.
    if Utf8Path::new(&path) != expected && reading.outcome != Outcome::Refused {
        let why = format!("the summary of the stage under way is {expected}");
        return Err(not_read(&path, &why).into());
    }
    let name = text::shown(&path);
    if !given.get_flag(JSON) || held.phase() != Phase::Dispatched {
        return report::report(held, &bytes, &name);
    }
    let taken = report::report(held, &bytes, &name);
    let next = taken
        .as_ref()
        .ok()
        .and_then(|now| Instruction::of(now).ok());
    out::json(&Reported {
        report: contract::report(&reading),
        next,
    });
    taken
}

/// Holds what `report` says as JSON.
#[derive(Serialize)]
struct Reported<'r> {
    #[serde(flatten)]
    report: contract::Report<'r>,
    /// What is to be done now; `None`: nothing was changed.
    next: Option<Instruction>,
}

/// Returns a path as it is from the project's root.
fn inside(root: &Utf8Path, path: &Utf8Path) -> Result<String, Failure> {
    // What an agent is told is from the root, wherever it stands.
    let is_there = !path.is_absolute() && root.join(path).is_file();
    let full = match is_there {
        true => root.join(path),
        false => loops::here()?.join(path),
    };
    match full.strip_prefix(root) {
        Ok(inside) => Ok(inside.to_string()),
        Err(_) => Err(not_read(path.as_str(), "it lies outside of the project")),
    }
}

fn not_read(path: &str, why: &str) -> Failure {
    Failure::plain(
        Exit::Refused,
        "claudex::report::file",
        format!("{} cannot be taken: {why}", text::shown(path)),
        "nothing was changed; when the coordinator has ended without a summary:\n    stages recover",
    )
}
